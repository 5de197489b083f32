#!/bin/sh
# Rows of src/gpu/tunings/shipped.c from the file that `gconv tune` keeps (gconv tune -v says where).
#
# Usage: shipped_tuning.sh FILE
set -eu
if [ $# -ne 1 ]; then
  sed -n 's/^# \{0,1\}//; 2,4p' "$0" >&2
  exit 2
fi
awk '
  BEGIN {
    type["float32"] = "GC_FLOAT"; type["8-bit"] = "GC_BYTE"
    type["16-bit"] = "GC_SHORT"; type["1-bit"] = "GC_BIT"
    order["one"] = "GC_ONE_TILE"; order["queue"] = "GC_QUEUE"
  }
  $1 == "direct" || $1 == "separable" || $1 == "adaptive:unrolled" {
    printf "    {%d, %d, %s, %s, {GC_FORM_%s, %d, %d, %s, %d}, %s, \"%s\"},\n", $2, $3, type[$4],
      type[$5], toupper($6), $7, $8, order[$9], $10, $11, $12
  }' "$1"
