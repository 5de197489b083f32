#!/bin/sh
# Builds gconv and runs everything that needs a GPU, without cmocka or bats.
#
# Usage: gpu.sh [--no-build] [--no-sanitizer] [--only REGEX] [--impl NAMES] [--thin N] [IMAGE...]
#
# Edges are found in samples/ and in every IMAGE, by each implementation. --no-build tests the build
# in BUILD_DIR as it is; --no-sanitizer leaves compute-sanitizer out; --only runs the parts whose
# names match; --impl, names with blanks between them, asks no other implementations. --thin
# checks one case in N of the implementations that take longest: where kernels are compiled at run
# time, or cuFFT plans. A part runs all implementations at one time, which takes the memory of some
# twenty contexts.
# Environment: BUILD_DIR (build/gpu), ARCHITECTURES (native), CUDACXX (nvcc). Logs are kept in
# BUILD_DIR/logs.
#
# Exit status: 0 all passed, 1 something failed, 77 skipped: no GPU, no nvcc or no CUDA part.
#
# shellcheck disable=SC2034 # parts.sh takes what is set here
set -u
LC_ALL=C
export LC_ALL
source=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$source/build/gpu}
gconv=$build/gconv
check=$build/tests/gconv_check
with_build=yes
with_sanitizer=yes
chosen=.      # by --only
chosen_names= # implementations, by --impl; all where it is empty
thin=1        # by --thin
only=.
passed=0
failed=0
skipped=0

while [ $# -gt 0 ]; do
  case $1 in
  --no-build) with_build= ;;
  --no-sanitizer) with_sanitizer= ;;
  --only)
    chosen=$2
    shift
    ;;
  --impl)
    chosen_names=$2
    shift
    ;;
  --thin)
    thin=$2
    shift
    ;;
  --help)
    sed -n 's/^# \{0,1\}//; 2,15p' "$0"
    exit
    ;;
  -*)
    echo "gpu.sh: unknown option '$1' (--no-build, --no-sanitizer, --only, --impl, --thin, --help)" >&2
    exit 2
    ;;
  *) break ;;
  esac
  shift
done

# ---- Reporting -----------------------------------------------------------------------------------

# One line a part: name, verdict, details.
say() {
  printf '%-26s %s\n' "$1" "$2"
}

skip() {
  skipped=$((skipped + 1))
  say "$1" "skipped: $2"
}

# Nothing can be tested here at all.
skip_everything() {
  say gpu "skipped: $1"
  echo '0 passed, 0 failed, 1 skipped'
  exit 77
}

# part NAME COMMAND...: runs it, with a log. Its last line of output says more.
part() {
  name=$1
  shift
  printf '%s\n' "$name" | grep -qE "$only" || return 0
  log=$logs/$(printf %s "$name" | tr -c '[:alnum:]\n' -).log
  started=$(date +%s)
  "$@" >"$log" 2>&1
  status=$?
  took=$(($(date +%s) - started))s
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    say "$name" "ok ($took) $(tail -n 1 "$log")"
  elif [ "$status" = 77 ]; then
    skip "$name" "$(tail -n 1 "$log")"
  else
    failed=$((failed + 1))
    say "$name" "FAILED ($took, exit $status), see $log"
    tail -n 25 "$log" | sed 's/^/    /'
  fi
  return "$status"
}

summary() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed = 0 ]
  exit
}

# ---- What is there -------------------------------------------------------------------------------

has_gpu() {
  nvidia-smi -L 2>/dev/null | grep -q GPU || [ -e /dev/nvidia0 ]
}

find_nvcc() {
  for nvcc in "${CUDACXX:-}" nvcc "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
    [ -n "$nvcc" ] && command -v "$nvcc" && return
  done
  return 1
}

find_sanitizer() {
  for directory in "$(dirname "$(find_nvcc || echo nvcc)")" /usr/local/cuda/bin; do
    [ ! -x "$directory/compute-sanitizer" ] || { echo "$directory/compute-sanitizer" && return; }
  done
  command -v compute-sanitizer
}

# Names of the implementations on a GPU that can be used, or of those in $chosen_names. detector has a
# part of its own: it takes other jobs.
implementations() {
  "$gconv" info -v | awk -v chosen=" $chosen_names " '
    /^implementations:/ { inside = 1; next }
    /^$/ { inside = 0 }
    inside && /^  [^ ]/ { names[++count] = $1 }
    inside && /not usable here:/ { unusable[count] = 1 }
    END {
      for (i = 1; i <= count; i++)
        if (!unusable[i] && names[i] !~ /^(reference|cpu|detector)/ &&
            (chosen == "  " || index(chosen, " " names[i] " ")))
          print names[i]
    }'
}

# shellcheck source=tests/gpu/parts.sh
. "$source/tests/gpu/parts.sh"

# ---- All of it -----------------------------------------------------------------------------------

has_gpu || skip_everything 'no GPU'
logs=$build/logs
if [ -n "$with_build" ]; then
  find_nvcc >/dev/null || skip_everything 'no nvcc (set CUDACXX)'
  mkdir -p "$logs"
  part build build_all || summary
elif ! [ -x "$gconv" ] || ! [ -x "$check" ]; then
  echo "gpu.sh: no build in $build (set BUILD_DIR)" >&2
  exit 1
elif ! "$gconv" info | grep -q '^  module  .*(CUDA [0-9]'; then
  skip_everything 'the build has no CUDA module'
fi
mkdir -p "$logs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

"$gconv" info >"$logs/info.log"
if [ -z "$(implementations)" ]; then
  failed=$((failed + 1))
  say devices "FAILED: a GPU is there, but no implementation can use it, see $logs/info.log"
  summary
fi
only=$chosen
part 'cases' check_shared
part 'sweep' check_shared --sweep
for image in "$source"/samples/*.png "$source"/samples/*.jpg "$@"; do
  part "edges $(basename "$image")" same_everywhere "$image" edges
done
part 'filter gauss5' same_everywhere "$source/samples/harbour.jpg" filter --kernel gauss5
part 'bands' bands_everywhere
part 'narrow bands' narrow_bands
# Numbers without a small common denominator: the chain is not exact.
echo '.1000001 .2000001 .3000001
-.4000001 .5000001 .6000001
.7000001 -.8000001 .9000001' >"$work/fractions.txt"
echo '.1100001 -.2000001 .3000001 .4000001 .5000001 .6000001 -.7000001 .8000001 .9000001
.2000001 .3000001 -.4000001 .5000001 .6000001 .7000001 .8000001 -.9000001 .1000001
.3000001 .4000001 .5000001 -.6000001 .7000001 .8000001 .9000001 .1000001 .2000001
-.4000001 .5000001 .6000001 .7000001 .8000001 .9000001 .1000001 .2000001 -.3000001
.5000001 .6000001 .7000001 .8500001 .9000001 -.1000001 .2000001 .3000001 .4000001
.6000001 -.7000001 .8000001 .9000001 .1000001 .2000001 .3000001 .4000001 .5000001
.7000001 .8000001 .9000001 .1000001 -.2000001 .3000001 .4000001 .5000001 .6000001
.8000001 .9000001 .1000001 .2000001 .3000001 .4000001 .5000001 .6000001 .7000001
.9000001 .1000001 .2000001 .3000001 -.4000001 .5000001 .6000001 .7000001 .8000001' >"$work/full.txt"
part 'inexact bands' inexact_bands
part 'transforms in bands' transforms_in_bands
part 'fallbacks' fall_back
if "$gconv" info | grep -q '^  cuda:1 '; then
  part 'several GPUs' use_all_gpus
else
  skip 'several GPUs' 'there is one'
fi
part 'batches' batches
part 'run-time compilation' compile_at_run_time
part 'time of compilation' time_compilation
part "the caller's memory" check_caller
part 'model in fractions' check_model
part 'rounded once' check_rounded
part 'detector' check_detector
part 'JPEG kernels' check_kernels
part 'JPEG kernels, damaged' check_damaged 20000
part 'compression' check_compression
part 'tune' tune
part 'lines' time_lines
part 'compare edges' compare
part 'compare gaussian' compare --kernel gaussian:2

if [ -z "$with_sanitizer" ]; then
  skip 'compute-sanitizer' 'left out by --no-sanitizer'
elif ! sanitizer=$(find_sanitizer); then
  for tool in memcheck 'batch memcheck' leaks racecheck initcheck synccheck 'caller memcheck' \
    'caller racecheck' 'JPEG memcheck' \
    'JPEG racecheck' 'JPEG initcheck' 'JPEG synccheck' 'compression memcheck' \
    'compression racecheck' 'compression initcheck' 'compression synccheck' 'detector memcheck' \
    'detector racecheck' 'detector initcheck' 'detector synccheck'; do
    skip "$tool" 'no compute-sanitizer'
  done
else
  part memcheck check_memory
  part 'batch memcheck' check_batch_memory
  part leaks check_leaks
  for tool in racecheck initcheck synccheck; do
    part $tool sanitize $tool
  done
  part 'caller memcheck' sanitize_caller memcheck --padding 256
  part 'caller racecheck' sanitize_caller racecheck
  for tool in memcheck racecheck initcheck synccheck; do
    part "JPEG $tool" sanitize_decoding $tool
    part "compression $tool" sanitize_compression $tool
    part "detector $tool" sanitize_detector $tool
  done
fi
summary
