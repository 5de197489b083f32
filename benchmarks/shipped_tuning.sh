#!/bin/sh
# Rows of src/gpu/tunings/shipped.c from what `gconv tune` prints.
#
# Usage: gconv tune | shipped_tuning.sh
set -eu
if [ $# -ne 0 ]; then
  sed -n 's/^# \{0,1\}//; 2,4p' "$0" >&2
  exit 2
fi
awk -v date="$(date -u +%Y-%m-%d)" '
  BEGIN {
    type["float32"] = "GC_FLOAT"; type["8-bit"] = "GC_BYTE"
    order["one"] = "GC_ONE_TILE"; order["queue"] = "GC_QUEUE"
  }
  $1 == "direct" || $1 == "separable" || $1 == "adaptive:unrolled" {
    split($2, side, "x")
    printf "    {%d, %d, %s, %s, {GC_FORM_%s, %d, %d, %s, %d}, %.3f, \"%s\"},\n", side[1], side[2],
      type[$3], type[$3], toupper($4), $5, $6, order[$7], $8, $9, date
  }'
