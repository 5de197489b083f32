#!/usr/bin/env bash
# A fuzzing campaign: runs the targets side by side, and says how many inputs each one ran, how much
# of the code they reach, and where lies what was found. Exits with 1 if something was found.
#
# Usage: run.sh --seconds N [--jobs J] [--seed S] [--work DIR] [--binaries DIR] [TARGET...]
#        run.sh --pack DIR        build, and gather all that a machine without a compiler needs
#        run.sh --merge [--work DIR] [TARGET...]
#                                 take the inputs that reach new code into tests/fuzz/corpus
#
# --seconds   how long the campaign takes: every target gets the same share of it
# --jobs      processes at one time (default: 1)
# --work      where corpora grow and findings are kept; a later campaign goes on from there
#             (default: gconv-fuzz in TMPDIR or /tmp)
# --binaries  a folder that --pack made; without it the targets are built with clang in build/fuzz
#
# DIR/run.sh of a packed folder takes its own binaries.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=0 jobs=1 seed=$((RANDOM * 32768 + RANDOM)) pack= merge= binaries=
work=${TMPDIR:-/tmp}/gconv-fuzz

fail() {
  echo "run.sh: $*" >&2
  exit 2
}

# ---- Programs ------------------------------------------------------------------------------------

# Libraries that are linked as archives make programs that run on other machines of the same kind.
archive_of() {
  archive=$(clang -print-file-name="$2")
  [ "$archive" = "$2" ] || printf -- '-D%s=%s\n' "$1" "$archive"
}

# Arguments: targets, all of them where there is none.
build() {
  command -v clang >/dev/null || fail "no clang; with --binaries none is needed"
  root=$(cd "$here/../.." && pwd)
  # shellcheck disable=SC2046
  cmake -S "$root" -B "$root/build/fuzz" -DCMAKE_C_COMPILER=clang -DGCONV_FUZZ=ON \
    -DGCONV_CUDA=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo '-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1' \
    $(archive_of PNG_LIBRARY libpng.a) $(archive_of ZLIB_LIBRARY libz.a) \
    $(archive_of JPEG_LIBRARY libjpeg.a) >&2
  if [ $# -eq 0 ]; then
    cmake --build "$root/build/fuzz" --target fuzz_targets >&2
  else
    cmake --build "$root/build/fuzz" --target "${@/#/fuzz_}" >&2
  fi
  binaries=$root/build/fuzz/tests/fuzz
}

# Names of the targets whose programs there are.
all_targets() {
  for program in "$binaries"/fuzz_*; do
    [ ! -f "$program" ] || [ ! -x "$program" ] || echo "${program##*/fuzz_}"
  done
}

make_pack() {
  build
  mkdir -p "$pack"
  cp -R "$here/run.sh" "$here/corpus" "$here/dictionaries" "$here/../lsan.supp" "$pack"
  for target in $(all_targets); do
    strip -g -o "$pack/fuzz_$target" "$binaries/fuzz_$target"
    # What is not an archive goes along.
    ldd "$pack/fuzz_$target" | awk '$3 ~ /libstdc|libgcc|libpng|libjpeg|libz/ { print $3 }' |
      xargs -r -I{} cp -L -u {} "$pack"
  done
  du -sh "$pack"
}

# ---- A target ------------------------------------------------------------------------------------

# Bytes of an input: enough for what the target can reach, few for speed.
length_of() {
  case $1 in
  number | text | kernel) echo 128 ;;
  options | cache | pnm | npy | bmp | y4m) echo 400 ;;
  exif | filter | runs | jpeg_sound) echo 1500 ;;
  *) echo 4096 ;;
  esac
}

# One process. Arguments: NUMBER TARGET SECONDS
run_piece() {
  number=$1 target=$2 piece=$3
  mkdir -p "$work/$target/corpus" "$work/$target/found"
  set -- "-max_total_time=$piece" "-seed=$((seed + number))" "-max_len=$(length_of "$target")" \
    "-artifact_prefix=$work/$target/found/" -timeout=100 -rss_limit_mb=2048 -print_final_stats=1 \
    -len_control=0 -reload=1
  [ ! -f "$here/dictionaries/$target.dict" ] || set -- "$@" "-dict=$here/dictionaries/$target.dict"
  set -- "$@" "$work/$target/corpus"
  [ ! -d "$here/corpus/$target" ] || set -- "$@" "$here/corpus/$target"
  # Libraries that are not built here allocate much, and libjxl writes lines about each bad file.
  sanitizer=
  case $target in heif | jxl) sanitizer=quarantine_size_mb=1:malloc_context_size=2 ;; esac
  [ "$target" != jxl ] || set -- -close_fd_mask=2 "$@"
  leaks=$here/lsan.supp
  [ -f "$leaks" ] || leaks=$here/../lsan.supp
  status=0
  LD_LIBRARY_PATH="$binaries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" UBSAN_OPTIONS=print_stacktrace=1 \
    ASAN_OPTIONS=$sanitizer LSAN_OPTIONS="suppressions=$leaks:print_suppressions=0" \
    "$binaries/fuzz_$target" "$@" >"$work/log/$target.$number" 2>&1 </dev/null || status=$?
  echo "status $status" >>"$work/log/$target.$number"
}

# The pieces of the campaign, one a line. A target has so many pieces that its share of the time is
# no longer than the campaign.
list_pieces() {
  share=$((seconds * jobs / $#))
  parts=$(((share + seconds - 1) / seconds))
  [ "$parts" -gt 0 ] || parts=1
  number=0
  for _ in $(seq $parts); do
    for target in "$@"; do
      number=$((number + 1))
      piece=$((share / parts))
      echo "$number $target $((piece > 0 ? piece : 1))"
    done
  done
}

# ---- The report ----------------------------------------------------------------------------------

sum_of() {
  awk -v name="stat::$1:" '$1 == name { sum += $2 } END { printf "%d", sum }' "${@:2}"
}

# The last figure of this name in lines of libFuzzer's, the largest over all processes.
largest_of() {
  sed -n "s/.* $1: \([0-9]*\).*/\1/p" "${@:2}" | sort -n | tail -1
}

report() {
  result=0
  total=0
  printf '%-12s %14s %9s %9s %9s  %s\n' target executions second edges features found
  for target in "$@"; do
    logs=("$work/log/$target."*)
    executions=$(sum_of number_of_executed_units "${logs[@]}")
    speed=$(sum_of average_exec_per_sec "${logs[@]}")
    total=$((total + executions))
    found=-
    if [ -n "$(grep -L '^status 0$' "${logs[@]}")" ]; then
      found="$work/$target/found, $work/log/$target.*"
      result=1
    fi
    printf '%-12s %14d %9d %9d %9d  %s\n' "$target" "$executions" "$speed" \
      "$(largest_of cov "${logs[@]}")" "$(largest_of ft "${logs[@]}")" "$found"
  done
  printf '%-12s %14d\n' all "$total"
  return $result
}

campaign() {
  [ $# -gt 0 ] || fail "no targets in $binaries"
  rm -rf "$work/log"
  mkdir -p "$work/log"
  echo "seed $seed, $seconds seconds, $jobs at one time, $# targets; corpora in $work"
  export seed work here binaries
  export -f run_piece length_of
  list_pieces "$@" | xargs -P "$jobs" -L 1 bash -c 'run_piece "$@"' run_piece
  report "$@"
}

merge_corpora() {
  for target in "$@"; do
    [ -d "$work/$target/corpus" ] || continue
    mkdir -p "$here/corpus/$target"
    "$binaries/fuzz_$target" -set_cover_merge=1 "-max_len=$(length_of "$target")" "$here/corpus/$target" \
      "$work/$target/corpus" 2>/dev/null </dev/null || fail "$target: the merge failed"
    echo "$target: $(find "$here/corpus/$target" -type f | wc -l) files"
  done
}

# ---- The command line ----------------------------------------------------------------------------

targets=()
while [ $# -gt 0 ]; do
  case $1 in
  --seconds | --jobs | --seed | --work | --binaries | --pack)
    [ $# -gt 1 ] || fail "$1 needs a value"
    declare "${1#--}=$2"
    shift
    ;;
  --merge) merge=yes ;;
  -h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit
    ;;
  -*) fail "unknown option $1" ;;
  *) targets+=("$1") ;;
  esac
  shift
done

for target in "${targets[@]}"; do
  [ ! -d "$here/targets" ] || [ -e "$here/targets/$target.c" ] || fail "no target $target"
done
if [ -n "$pack" ]; then
  make_pack
  exit
fi
[ -n "$merge" ] || [ "$seconds" -gt 0 ] || fail "--seconds N is missing"
[ -n "$binaries" ] || [ ! -x "$here/fuzz_number" ] || binaries=$here
[ -n "$binaries" ] || build "${targets[@]}"
binaries=$(cd "$binaries" && pwd)
# shellcheck disable=SC2207
[ ${#targets[@]} -gt 0 ] || targets=($(all_targets))
for target in "${targets[@]}"; do
  [ -x "$binaries/fuzz_$target" ] || fail "no target $target in $binaries"
done
mkdir -p "$work"
work=$(cd "$work" && pwd)
if [ -n "$merge" ]; then
  merge_corpora "${targets[@]}"
else
  campaign "${targets[@]}"
fi
