#!/bin/sh
# How far `auto` is from the best choice by hand, file to file, on a machine with a GPU.
#
# Usage: auto.sh GCONV [RUNS [ONLY]]
#
# Every choice by hand that might be the best one takes turns with `auto`, RUNS times (default 3).
# Prints the median wall times, their ratio, and what `auto` took. ONLY is a regular expression for
# the first two columns, with a blank between them. There are two grids:
#
# - PGM of noise, which cost next to nothing to read and write: by the implementation. One file and
#   a batch: sixteen files, or four of the largest size.
# - RGB photographs as JPEG and PNG: by the device and, where gconv has the options, by the decoder
#   of JPEG and by all GPUs at once. One file and a batch.
set -eu
LC_ALL=C
export LC_ALL
gconv=$1
runs=${2:-3}
only=${3:-.}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# make_image SIDE FILE: noise that is the same in every run, the bytes of a compressed file.
noise=$here/../samples/harbour.jpg
make_image() {
  printf 'P5\n%d %d\n255\n' "$1" "$1" >"$2"
  while cat "$noise" 2>/dev/null; do :; done | head -c "$(($1 * $1))" >>"$2"
}

milliseconds() {
  begun=$(date +%s%N)
  "$@" >"$work/log" 2>&1 || { echo - && return; }
  echo $((($(date +%s%N) - begun) / 1000))
}

# The median of the lines of a file, in microseconds as they stand there; nothing if a line is
# missing.
median() {
  ! grep -q -- - "$1" || return 0
  sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

# What `auto` took for a job, by --explain: in a batch the CPU may compute until the GPU has started.
chosen() {
  "$gconv" "$@" --explain 2>&1 | sed -n 's/^chosen: \([a-z0-9]*\).*/\1/p' | sort -u | paste -sd + -
}

# measure LABEL JOB INPUT: the row of one job, which is edges or a filter, by each of $choices. A
# choice is options with commas between.
measure() {
  label=$1
  job=$2
  input=$3
  printf '%s\n' "$label $job" | grep -qE -e "$only" || return 0
  set -- filter --kernel "$job"
  [ "$job" != edges ] || set -- edges
  rm -f "$work"/time-*
  run=0
  while [ "$run" -lt "$runs" ]; do
    for choice in $choices auto; do
      options=
      [ "$choice" = auto ] || options=$(echo "$choice" | tr , ' ')
      # shellcheck disable=SC2086 # options
      milliseconds "$gconv" "$@" $options -o "$work/out" "$input" >>"$work/time-$choice"
    done
    run=$((run + 1))
  done
  best=
  for choice in $choices; do
    time=$(median "$work/time-$choice")
    [ -n "$time" ] || continue
    if [ -z "$best" ] || [ "$time" -lt "$best" ]; then
      best=$time
      name=$choice
    fi
  done
  auto=$(median "$work/time-auto")
  took=$(chosen "$@" -o "$work/out" "$input")
  awk -v label="$label" -v job="$job" -v best="$best" -v name="$name" -v auto="$auto" \
    -v took="$took" \
    'BEGIN { gsub(/--(impl=)?/, "", name)
             printf "%-24s %-12s %9.1f %-32s %9.1f %-14s %6.2f\n", label, job, best / 1000, name,
               auto / 1000, took, auto / best }'
}

printf '%-24s %-12s %9s %-32s %9s %-14s %6s\n' images job 'best ms' by 'auto ms' by ratio

# ---- PGM, by implementation ----------------------------------------------------------------------

choices=
for name in cpu direct separable fused tensor tilefft fft; do
  choices="$choices --impl=$name"
done
for side in 8192 2048 512; do
  mkdir "$work/$side"
  number=0
  while [ "$number" -lt 16 ]; do
    make_image "$side" "$work/$side/$number.pgm"
    number=$((number + 1))
    [ "$side" -lt 8192 ] || [ "$number" -lt 4 ] || break
  done
  for filter in box:3 log:1.4,9 log:5,43; do
    measure "1 of $side" "$filter" "$work/$side/0.pgm"
    measure "$number of $side" "$filter" "$work/$side"
  done
  rm -rf "${work:?}/$side" "$work/out"
done

# ---- JPEG and PNG, by device and decoder ---------------------------------------------------------

# What gconv's help says to be there.
has() {
  "$gconv" edges --help | grep -q -e "$1"
}

devices=cuda
if has 'cuda:all' && [ "$(nvidia-smi -L 2>/dev/null | grep -c .)" -gt 1 ]; then
  devices='cuda cuda:all'
fi
decoders=
if has '--decoder'; then
  decoders='cpu cuda'
fi
choices=--device=cpu
for device in $devices; do
  [ -n "$decoders" ] || choices="$choices --device=$device"
  for decoder in $decoders; do
    choices="$choices --device=$device,--decoder=$decoder"
  done
done

"${CC:-cc}" -O3 -o "$work/files_image" "$here/files_image.c" -lpng -ljpeg
for shape in 4096x3072 1024x1024; do
  count=16
  [ "$shape" = 4096x3072 ] || count=128
  for kind in jpg png; do
    mkdir "$work/in"
    seq "$count" | xargs -P "$(nproc)" -I '{}' "$work/files_image" -s '{}' "$work/in/{}.$kind" \
      "${shape%x*}" "${shape#*x}" 3 "$here/../samples/harbour.jpg"
    for job in edges gaussian:3 log:5,43; do
      measure "1 of $shape $kind" "$job" "$work/in/1.$kind"
      measure "$count of $shape $kind" "$job" "$work/in"
    done
    rm -rf "$work/in" "$work/out"
  done
done
