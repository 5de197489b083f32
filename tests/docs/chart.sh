#!/bin/sh
# The committed charts show the committed results, and the scripts that draw them follow these. The
# first chart is drawn again. matplotlib draws the second one, so its figures are compared.
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
sed 's/^\(float  *gconv tilefft  *43x43 *\)114\.66/\1999.51/' "$results/peers-h200.txt" >"$work/peers.txt"
if cmp -s "$results/peers-h200.txt" "$work/peers.txt"; then
  echo "the row that this test changes is not in peers-h200.txt"
  exit 1
fi
"$draw" "$work/peers.txt" "$results/cpu-zen5.txt" >"$work/other.svg"
if cmp -s "$work/chart.svg" "$work/other.svg"; then
  echo "the chart does not follow the results"
  exit 1
fi

# The ratios of other libraries, of which the chart has one digit.
awk '$1 != "gconv" && $7 == "%" { printf "%.1f\n", $5 }' "$results/libraries-zen5.txt" | sort >"$work/ratios.txt"
[ "$(wc -l <"$work/ratios.txt")" -ge 40 ] || { echo "ratios are missing"; exit 1; }
sed -n 's/.*>\([0-9]*\.[0-9]\)<\/text>.*/\1/p' "$1/docs/performance/libraries.svg" | sort >"$work/told.txt"
if ! diff "$work/ratios.txt" "$work/told.txt"; then
  echo "docs/performance/libraries.svg does not show libraries-zen5.txt: benchmarks/libraries.py --chart draws it"
  exit 1
fi
for number in $(grep -E '^\| (.*[0-9] bits|gconv|IPP|OpenCV|SciPy|libvips|Pillow|kornia)' "$1/docs/performance/libraries.md" |
  grep -oE '[0-9]+\.[0-9]{2,}'); do
  grep -q " $number\( \|$\)" "$results/libraries-zen5.txt" ||
    { echo "libraries.md has $number, libraries-zen5.txt has not"; exit 1; }
done

steps=$1/benchmarks/ladder_chart.py
"$steps" --data >"$work/steps.txt"
[ "$(wc -l <"$work/steps.txt")" -eq 68 ] || { echo "points are missing"; exit 1; }
sed -n '/<desc id="figures">/,/<\/desc>/{s/.*">//;s/<\/desc>.*//;p}' "$1/docs/images/ladder.svg" >"$work/drawn.txt"
if ! diff "$work/steps.txt" "$work/drawn.txt"; then
  echo "docs/images/ladder.svg does not show what benchmarks/ladder_chart.py draws: run it again"
  exit 1
fi
cp "$results"/study-h200/squares.json "$results"/study-h200/rank1.json "$work"
sed '/"filter":"17x17".*"name":"t/s/"kernel_seconds":[^,]*/"kernel_seconds":1.23e-05/' \
  "$results/study-h200/ours.json" >"$work/ours.json"
DATA=$work "$steps" --data | grep '^1 direct,tensor,tilefft 17 12.3$' >/dev/null ||
  { echo "the steps do not follow the results"; exit 1; }
