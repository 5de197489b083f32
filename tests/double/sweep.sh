#!/bin/bash
# Makes every CUDA call of a run fail: one after the other, once and from then on, with errors that
# pass and errors that stay. Holds the program to its promise. Either it gives the output that the
# CPU gives, and exit status 0. Or it prints one line, ends with 1 or 4, and leaves the old output
# as it was. Of a batch this holds for each image. In both cases no temporary file and no memory of
# the device are left.
#
# Usage: sweep.sh PROGRAM MAKE_IMAGE [--step N] [--only SCENARIO]
#     --step N           only every N-th call, another one for each kind of failure
#     --only SCENARIO    one of those below
set -u
program=$(realpath "$1")
make_image=$(realpath "$2")
shift 2
step=1 only=
while [ $# -gt 1 ]; do
  case $1 in
    --step) step=$2 ;;
    --only) only=$2 ;;
  esac
  shift 2
done

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export XDG_CACHE_HOME=$top/cache
unset GC_DOUBLE_FAIL GC_DOUBLE_LOG GC_DOUBLE_MEMORY GC_DOUBLE_TAKEN GCONV_CUDA_MEMORY
runs=0 wrong=0

complain() {
  wrong=$((wrong + 1))
  echo "$scenario, GC_DOUBLE_FAIL=${GC_DOUBLE_FAIL-}: $1"
  [ ! -s "$top/err" ] || head -3 "$top/err" | sed 's/^/    /'
}

# ---- Inputs --------------------------------------------------------------------------------------

cd "$top" || exit 1
mkdir in out expected
"$make_image" make png:grey in/grey.png 21 17 noise
"$make_image" make ppm in/colour.ppm 19 13 noise
"$make_image" make png:rgba in/alpha.png 15 11 noise
"$make_image" make pgm in/tall.pgm 12 90 noise
"$make_image" make jpeg:ycc:quality=90 in/photo.jpg 40 30 noise
"$make_image" make jpeg:ycc:sampling=21:exif=6 in/turned.jpg 33 18 noise
"$make_image" make jpeg:grey in/tiny.jpg 3 2 noise
"$make_image" make jpeg:ycc:progressive in/progressive.jpg 20 30 noise
"$make_image" make jpeg:grey:quality=95 in/long.jpg 800 600 noise
# Zeros behind the last code, where encoders write ones: libjpeg-turbo does not mind, kernels reject it.
"$make_image" make jpeg:grey:quality=90 in/rejected.jpg 24 20 noise
size=$(wc -c <in/rejected.jpg)
last=$(od -An -tu1 -j $((size - 3)) -N 1 in/rejected.jpg)
printf %b "\\0$(printf %o $((last & 254)))" | dd of=in/rejected.jpg bs=1 seek=$((size - 3)) conv=notrunc status=none

# ---- Scenarios -----------------------------------------------------------------------------------

# Each sets `command`, the names of its outputs, and what is allowed beside exit status 0: `fails` 1
# where a failure may be reported, because the implementation is named or rows have been written
# already; `partial` 1 if some images may fail and others not. `reference` is what the command line
# of the CPU begins with, if that is another one.
scenarios='edges colour alpha verify named bands batch two mixed kernels packed both pipe compare tune'

edges() { command=(edges in/grey.png out/grey.png) outputs='grey.png'; }
colour() { command=(filter -k gauss3 -k sharpen3 in/colour.ppm out/colour.ppm) outputs='colour.ppm'; }
alpha() { command=(filter -k box3 --alpha keep in/alpha.png out/alpha.png) outputs='alpha.png'; }
verify() { command=(filter -k box3 --verify in/grey.png out/grey.png) outputs='grey.png'; }
# A process keeps an event for each device whose constant memory it used.
named() {
  command=(edges --impl const in/grey.png out/grey.png) reference=(edges in/grey.png out/grey.png)
  outputs='grey.png' fails=1 events=1
}
# The memory of a tenth of the image: later bands fail after the first has been written.
bands() {
  command=(filter -k box3 in/tall.pgm out/tall.pgm) outputs='tall.pgm' fails=1
  export GCONV_CUDA_MEMORY=5000
}
# With more threads the CPU would do it all while the GPU starts.
batch() {
  command=(filter -k box3 -j 1 -o out in/grey.png in/colour.ppm in/alpha.png)
  outputs='grey.png colour.ppm alpha.png'
}
# Of two GPUs one fails: the other one does its images.
two() {
  command=(filter -k box3 -j 3 --device cuda:0,1 -o out in/grey.png in/colour.ppm in/alpha.png)
  outputs='grey.png colour.ppm alpha.png'
  export GC_DOUBLE_DEVICES=2 GC_DOUBLE_FAIL_DEVICE=1
}
# On a GPU that is named, an image is done, or there is a message about it.
mixed() {
  command=(filter -k box3 --format png -j 3 --device cuda -o out in/grey.png in/colour.ppm in/photo.jpg in/alpha.png)
  reference=(filter -k box3 --format png -o out in/grey.png in/colour.ppm in/photo.jpg in/alpha.png)
  outputs='grey.png colour.png photo.png alpha.png' fails=1 partial=1
}
# The same with kernels that decode, and a picture that they reject.
jpegs='in/photo.jpg in/turned.jpg in/tiny.jpg in/progressive.jpg'
kernels() {
  # shellcheck disable=SC2206
  command=(filter -k box3 --format png -j 3 --decoder cuda -o out $jpegs in/rejected.jpg)
  # shellcheck disable=SC2206
  reference=(filter -k box3 --format png -o out $jpegs in/rejected.jpg)
  outputs='photo.png turned.png tiny.png progressive.png rejected.png' fails=1 partial=1
}
# Kernels that decode and compress: a file in several pieces, and a result in two downloads.
packed() {
  command=(edges -t 10 -j 2 --decoder cuda -o out in/long.jpg in/tiny.jpg)
  reference=(edges -t 10 -o out in/long.jpg in/tiny.jpg)
  outputs='long.png tiny.png' fails=1 partial=1
}
# Of two GPUs one fails: the other one does its images, and the CPU decodes.
both() {
  kernels
  fails=0
  export GC_DOUBLE_DEVICES=2 GC_DOUBLE_FAIL_DEVICE=1
}
pipe() { command=(edges --format pgm) outputs='stdout' input=in/grey.png; }
# What fails is a row of its own, and that of the CPU is there and right.
compare() {
  command=(compare --time 0.001 --impl cpu,naive,direct in/grey.png) outputs='' fails=1 prints=1 least=0
}
tune() {
  command=(tune --impl direct --time 0.05) outputs='' fails=1 prints=1 says=2
  export GC_DOUBLE_MEMORY=$((48 << 20))
}

begin() {
  command=() outputs='' input=/dev/null fails=0 partial=0 prints=0 least=1 says=1 events=0 reference=()
  unset GC_DOUBLE_FAIL GCONV_CUDA_MEMORY GC_DOUBLE_MEMORY GC_DOUBLE_DEVICES GC_DOUBLE_FAIL_DEVICE
  "$scenario"
}

# ---- A run ---------------------------------------------------------------------------------------

run() {
  rm -rf out cache report
  mkdir out
  for name in $outputs; do
    [ "$name" = stdout ] || echo "the old output" >"out/$name"
  done
  GC_DOUBLE_REPORT=$top/report timeout 60 "$program" "${command[@]}" <"$input" >"$top/said" 2>"$top/err"
  status=$?
  [ "$outputs" != stdout ] || mv said out/stdout
  runs=$((runs + 1))
  [ $status = 0 ] || failed=$((failed + 1))
}

# The names in out/ and, elsewhere, none that was not there.
check_names() {
  local names
  names=$(cd out && echo .[!.]* *)
  [ "$names" = ".[!.]* ${names_expected:-*}" ] || complain "in out/: $names"
  names=$(echo .[!.]*)
  [ "$names" = '.[!.]*' ] || complain "beside it: $names"
  names=$(echo cache/gconv/.*.*)
  [ "$names" = 'cache/gconv/.*.*' ] || [ "$names" = 'cache/gconv/..' ] || complain "in the cache: $names"
}

check_report() {
  local key value
  [ -f report ] || { complain "ended by something else than its end, status $status"; return; }
  while read -r key value; do
    case $key in
      events) [ "$value" -le "$events" ] || complain "left behind: $value events" ;;
      device_bytes | pinned_bytes | streams | modules)
        [ "$value" = 0 ] || complain "left behind: $value $key"
        ;;
    esac
  done <report
}

same_outputs() {
  local name
  for name in $outputs; do
    cmp -s "out/$name" "$1/$name" || return 1
  done
}

old_outputs() {
  local name
  for name in $outputs; do
    if [ "$name" = stdout ]; then
      continue # what was written to a pipe cannot be taken back
    fi
    [ "$(cat "out/$name")" = "the old output" ] || return 1
  done
}

# Each output is that of the CPU, or the old one, of which there is a message.
check_partial() {
  local name stem old=0
  for name in $outputs; do
    stem=${name%.*}
    if [ "$(head -c 15 "out/$name" | tr -d '\0')" = "the old output" ]; then
      old=$((old + 1))
      grep -q "^gconv: in/$stem\.[a-z]*: " err || complain "nothing is said of $name"
    else
      cmp -s "out/$name" "expected/$name" || complain "another $name"
    fi
  done
  [ "$lines" = $((old + 1)) ] || complain "$lines lines for $old failures"
}

check() {
  local lines
  # One line, and no more, may say that the device is not used any more.
  lines=$(awk '/^gconv: cuda:[01] .* failed and is not used any more: / && !seen++ { next } { lines++ } END { print lines + 0 }' err)
  check_names
  check_report
  if [ "$status" = 0 ]; then
    same_outputs expected || complain "another output"
    [ "$lines" = 0 ] || [ "$says" = 2 ] || complain "exit status 0, and said something"
  elif [ "$status" = 1 ] && [ "$partial" = 1 ] && [ "$fails" = 1 ]; then
    check_partial
  elif [ "$status" = 1 ] || [ "$status" = 4 ]; then
    [ "$fails" = 1 ] || complain "exit status $status, though the CPU could have done it"
    [ "$status" = 1 ] || [ "$scenario" != bands ] || complain "exit status 4, and nothing was named"
    [ "$lines" -ge "$least" ] && [ "$lines" -le "$says" ] || complain "$lines lines"
    old_outputs || complain "exit status $status, and the old output is gone"
    [ "$prints" = 1 ] || [ "$outputs" = stdout ] || [ ! -s said ] || complain "said something on stdout"
  else
    complain "exit status $status"
  fi
  [ "$scenario" != compare ] || grep -q '^cpu .* exact$' said || complain "no right row of the CPU"
}

# The error that is taken is known by its number: 2 is memory, 719 a launch that broke down and
# stays, 999 an unknown one.
sweep() {
  local call kind mode turn=0
  for kind in once:2 once:999 once:719 from:2 from:999; do
    turn=$((turn + 1))
    for ((call = 1 + turn * 3 % step; call <= calls; call += step)); do
      export GC_DOUBLE_FAIL=$call:$kind
      run
      check
    done
  done
}

for scenario in $scenarios; do
  [ -z "$only" ] || [ "$only" = "$scenario" ] || continue
  begin
  failed=0
  # Without a failure: the output is the CPU's.
  before=$runs
  saved=("${command[@]}")
  if [ -n "$outputs" ]; then
    [ ${#reference[@]} = 0 ] || command=("${reference[@]}")
    command+=(--device cpu)
    run
    [ "$status" = 0 ] || complain "the CPU fails: exit status $status"
    rm -rf expected
    cp -r out expected
  fi
  command=("${saved[@]}")
  names_expected=$(for name in $outputs; do echo "$name"; done | LC_ALL=C sort | paste -sd ' ' -)
  run
  calls=$(sed -n 's/^calls //p' report)
  [ "$calls" -gt 0 ] || complain "no call was made"
  [ "$scenario" = tune ] || check
  sweep
  [ "$fails" = 0 ] || [ $failed -gt 0 ] || complain "no failure came through"
  [ "$failed" -lt $((runs - before)) ] || [ $prints = 1 ] || complain "no run came through"
  echo "$scenario: $calls calls, $((runs - before)) runs, $failed of them failed"
done
[ $wrong = 0 ] || { echo "$wrong complaints in $runs runs"; exit 1; }
echo "$runs runs"
