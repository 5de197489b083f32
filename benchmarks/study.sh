#!/bin/sh
# Every experiment of the sources on this machine: tables and data in docs/results/ were written by
# this script. A run that was interrupted goes on where it ended. A preset that fails stops no other
# one; the exit status is then 1. (fft-locality refuses options of images, such as --sizes.)
#
# Usage: study.sh GCONV DIR [OPTION...]
#   GCONV is the program. DIR gets, for each preset, a report (PRESET.html), its data (PRESET.json),
#   its table below a head that says where it comes from (PRESET.txt), and its measurements as they
#   were made (PRESET.jsonl). OPTIONs go to gconv bench: on a machine without a GPU, say
#   --impl reference,cpu --sample 40 --time 60.
# Environment: PRESETS, names with spaces between them: all where it is not set. COMMIT, that of the
#   sources, where they are no git checkout.
set -eu
if [ $# -lt 2 ]; then
  sed -n 's/^# \{0,1\}//; 2,13p' "$0" >&2
  exit 2
fi
gconv=$1
directory=$2
shift 2
presets=${PRESETS:-kth lecture adaptive-2011 adaptive-2014 fft-map fft-locality roofline ours quick}
commit=${COMMIT:-$(git -C "$(dirname "$0")" describe --always --dirty 2>/dev/null || echo unknown)}
mkdir -p "$directory"

# head_of PRESET OPTION...: comment lines that say by what, where and how the table is measured.
head_of() {
  about=$("$gconv" info)
  echo "# benchmarks/study.sh, preset $1, $(date -u +%Y-%m-%d)"
  printf '%s\n' "$about" | sed -n '/^devices:/,/^$/s/^  \(c[pu][a-z0-9:]* .*\)/# machine:  \1/p'
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 || true)
  [ -z "$driver" ] || echo "# driver:   $driver"
  printf '%s\n' "$about" | sed -n 's/^build: */# build:    /p; s/^instructions: */# CPU code: /p; s/^system: */# system:   /p'
  echo "# commit:   $commit"
  echo "# command:  gconv bench --preset $*"
  echo
}

status=0
for preset in $presets; do
  echo "== $preset"
  head_of "$preset" "$@" >"$directory/$preset.txt"
  "$gconv" bench --preset "$preset" --quiet --json --resume "$directory/$preset.jsonl" \
    --html "$directory/$preset.html" "$@" >"$directory/$preset.json" || status=1
  # All is measured: this prints the table.
  COLUMNS=200 "$gconv" bench --preset "$preset" --quiet --resume "$directory/$preset.jsonl" "$@" \
    >>"$directory/$preset.txt" || status=1
done
exit $status
