#!/bin/sh
# Every experiment of the sources on this machine: the reports in docs/results/ were written by this
# script. A run that was interrupted goes on where it ended. A preset that fails stops no other one;
# the exit status is then 1. (fft-locality refuses options of images, such as --sizes.)
#
# Usage: study.sh GCONV DIR [OPTION...]
#   GCONV is the program. DIR gets, for each preset, a report (PRESET.html) and its measurements
#   (PRESET.jsonl). OPTIONs go to gconv bench: on a machine without a GPU, say
#   --impl reference,cpu --sample 40 --time 60.
# Environment: PRESETS, names with spaces between them: all where it is not set.
set -eu
if [ $# -lt 2 ]; then
  sed -n 's/^# \{0,1\}//; 2,10p' "$0" >&2
  exit 2
fi
gconv=$1
directory=$2
shift 2
presets=${PRESETS:-kth lecture adaptive-2011 adaptive-2014 fft-map fft-locality roofline ours quick}
mkdir -p "$directory"
status=0
for preset in $presets; do
  echo "== $preset"
  "$gconv" bench --preset "$preset" --quiet --resume "$directory/$preset.jsonl" \
    --html "$directory/$preset.html" "$@" || status=1
done
exit $status
