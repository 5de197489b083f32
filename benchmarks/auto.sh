#!/bin/sh
# How far `auto` is from the best choice by hand, file to file, on a machine with a GPU.
#
# Usage: auto.sh GCONV [RUNS [ONLY]]
#
# Images and filters of several sizes are run as one file and as a batch: sixteen files, or four of
# the largest size. Every implementation that might be the best one takes turns with `auto`, RUNS
# times (default 3). Prints the median wall times, their ratio, and what `auto` took. ONLY is a
# regular expression for the first two columns, with a blank between them. Files are binary PGM of
# noise, which cost next to nothing to read and write.
set -eu
LC_ALL=C
export LC_ALL
gconv=$1
runs=${2:-3}
only=${3:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
choices='cpu direct separable fused tensor fft'

# make_image SIDE FILE: noise that is the same in every run, the bytes of a compressed file.
noise=$(dirname "$0")/../samples/harbour.jpg
make_image() {
  printf 'P5\n%d %d\n255\n' "$1" "$1" >"$2"
  while cat "$noise" 2>/dev/null; do :; done | head -c "$(($1 * $1))" >>"$2"
}

milliseconds() {
  begun=$(date +%s%N)
  "$@" >"$work/log" 2>&1 || { echo - && return; }
  echo $((($(date +%s%N) - begun) / 1000))
}

# The median of the lines of a file, in microseconds as they stand there; nothing where a line is
# missing.
median() {
  ! grep -q -- - "$1" || return 0
  sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

# measure LABEL INPUT... : the row of one job.
measure() {
  label=$1
  filter=$2
  shift 2
  printf '%s\n' "$label $filter" | grep -qE -e "$only" || return 0
  rm -f "$work"/time-*
  run=0
  while [ "$run" -lt "$runs" ]; do
    for choice in $choices auto; do
      milliseconds "$gconv" filter --impl "$choice" --kernel "$filter" -o "$work/out" "$@" \
        >>"$work/time-$choice"
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
  took=$("$gconv" filter --explain --kernel "$filter" -o "$work/out" "$@" 2>&1 |
    sed -n 's/^chosen: \([a-z0-9]*\).*/\1/p' | head -n 1)
  awk -v label="$label" -v filter="$filter" -v best="$best" -v name="$name" -v auto="$auto" \
    -v took="$took" \
    'BEGIN { printf "%-16s %-16s %9.1f %-10s %9.1f %-10s %6.2f\n", label, filter, best / 1000,
             name, auto / 1000, took, auto / best }'
}

printf '%-16s %-16s %9s %-10s %9s %-10s %6s\n' images filter 'best ms' by 'auto ms' by ratio
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
done
