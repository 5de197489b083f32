#!/bin/sh
# The ladder of GPU implementations on this machine: what stands in docs/results/ was printed by
# this script. Every result is checked before it is timed.
#
# Usage: ladder.sh GCONV [OPTION...]    GCONV is the program, OPTIONs go to gconv bench
# Environment: COMMIT, if this is not a git checkout.
set -eu
if [ $# -lt 1 ]; then
  sed -n 's/^# \{0,1\}//; 2,6p' "$0" >&2
  exit 2
fi
gconv=$1
shift
here=$(cd "$(dirname "$0")/.." && pwd)
commit=${COMMIT:-$(git -C "$here" rev-parse HEAD)}
implementations=naive,shared,const,tiled,adaptive,twopass,fft

echo "# commit:   $commit"
echo "# build:    $("$gconv" info | sed -n 's/^build: //p')"
echo "# device:   $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)"
echo "# command:  gconv bench --impl $implementations --time 60 $*"
echo "#           kernel ms: median of many runs by events, L2 emptied before each, from float32 planes"
echo "#           to float32 planes, the extended image for the border included; total: with transfers"
COLUMNS=120 "$gconv" bench --impl $implementations --time 60 "$@"
