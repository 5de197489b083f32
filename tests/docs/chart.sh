#!/bin/sh
# The committed chart is what benchmarks/chart.sh draws from the committed results, and follows them.
#
# Usage: chart.sh SOURCE_DIR
set -eu
draw=$1/benchmarks/chart.sh
results=$1/docs/results
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$draw" >"$work/chart.svg"
[ "$(grep -c '<polyline' "$work/chart.svg")" -ge 9 ] || { echo "curves are missing"; exit 1; }
if ! diff "$1/docs/performance/chart.svg" "$work/chart.svg"; then
  echo "docs/performance/chart.svg is not what benchmarks/chart.sh draws: run it again"
  exit 1
fi

# Another figure is another chart.
sed 's/^\(float  *gconv tensor  *43x43 *\)499\.49/\1999.49/' "$results/peers-h200.txt" >"$work/peers.txt"
if cmp -s "$results/peers-h200.txt" "$work/peers.txt"; then
  echo "the row that this test changes is not in peers-h200.txt"
  exit 1
fi
"$draw" "$work/peers.txt" "$results/cpu-epyc.txt" >"$work/other.svg"
if cmp -s "$work/chart.svg" "$work/other.svg"; then
  echo "the chart does not follow the results"
  exit 1
fi
