#!/bin/sh
# Draws docs/images/ladder.svg from docs/results with gnuplot: the published steps on a GPU and
# gconv's own kernels, over the size of a square filter. Every figure comes from the files of results.
#
# Usage: ladder_chart.sh [--data] >docs/images/ladder.svg
#        --data prints the times of the chart instead, one a line: PANEL NAME SIDE MICROSECONDS
# Environment: PRESETS and OURS, files in the place of presets-h200.txt and study-h200/ours.txt.
set -eu
LC_ALL=C
export LC_ALL
results=$(cd "$(dirname "$0")/../docs/results" && pwd)
presets=${PRESETS:-$results/presets-h200.txt}
ours=${OURS:-$results/study-h200/ours.txt}

# Of gconv's kernels for any weights the fastest counts. A line of presets-h200.txt without samples
# and size has the columns that its part names. The other table names its columns in its first line.
measured() {
  awk -F, '
    /^# --preset adaptive-2014/ { panel = 1 }
    /^# no preset, filters of rank 1/ { panel = 2 }
    /^# / && !/adaptive-2014|filters of rank 1/ { panel = 0 }
    panel == 0 || $7 !~ /exact|within bound/ { next }
    panel == 1 && $5 !~ /^(naive|const|tiled|adaptive|adaptive:unrolled)$/ { next }
    panel == 2 && $5 !~ /^(adaptive|twopass|twopass:lecture|twopass:transposed|twopass:tiled|separable)$/ { next }
    { split($3, side, "x"); printf "%d %s %d %.1f\n", panel, $5, side[1], 1e6 * $12 }' "$presets"
  awk '
    $1 == "filter" { gsub(/ (ms|%)/, ""); for (i = 1; i <= NF; i++) column[$i] = i; next }
    { time = $column["kernel"] }
    $1 !~ /^[0-9]+x[0-9]+$/ || $2 == "rank" || $3 !~ /^(direct|tensor|tilefft)$/ || time + 0 <= 0 { next }
    { split($1, side, "x") }
    side[1] !~ /^(3|5|9|17|31|43)$/ { next }
    !(side[1] in best) || time < best[side[1]] { best[side[1]] = time }
    END { for (n in best) printf "1 direct,tensor,tilefft %d %.1f\n", n, 1000 * best[n] }' "$ours"
}

data=$(measured | sort -k1,1n -k2,2 -k3,3n)
if [ "${1-}" = --data ]; then
  printf '%s\n' "$data"
  exit
elif [ $# -gt 0 ]; then
  sed -n 's/^# \{0,1\}//; 2,7p' "$0" >&2
  exit 2
fi

# The curves of a panel: NAME COLOUR WIDTH TITLE, from slow to fast. Colours that people with colour
# blindness can tell apart (Okabe and Ito).
curves_1='naive #56b4e9 1.8 naive
const #999999 1.8 const
tiled #009e73 1.8 tiled
adaptive #0072b2 1.8 adaptive
adaptive:unrolled #cc79a7 1.8 adaptive:unrolled
direct,tensor,tilefft #d55e00 3.5 fastest of direct, tensor, tilefft'
curves_2='adaptive #0072b2 1.8 adaptive
twopass:lecture #56b4e9 1.8 twopass:lecture
twopass:transposed #999999 1.8 twopass:transposed
twopass #009e73 1.8 twopass
twopass:tiled #cc79a7 1.8 twopass:tiled
separable #d55e00 3.5 separable'

# plot PANEL: the commands that draw it.
plot() {
  eval "curves=\$curves_$1"
  printf '%s\n' "$curves" | while read -r name _; do
    printf '$%s << END\n' "p$1_$(printf %s "$name" | tr -c a-z0-9 _)"
    printf '%s\n' "$data" | awk -v panel="$1" -v name="$name" '$1 == panel && $2 == name { print $3, $4 }'
    echo END
  done
  separator='plot '
  printf '%s\n' "$curves" | while read -r name colour width title; do
    printf "%s\$%s using 1:2 with linespoints linewidth %s pointtype 7 pointsize 0.4 linecolor rgb '%s' title '%s'" \
      "$separator" "p$1_$(printf %s "$name" | tr -c a-z0-9 _)" "$width" "$colour" "$title"
    separator=', '
  done
  echo
}

{
  cat <<END
set terminal svg size 940,470 font 'sans-serif,12' background '#ffffff'
set multiplot
set label 1 'A filter on an image of 4096 x 4096 with 8 bits, NVIDIA H200' at screen 0.02,0.95 font 'sans-serif:Bold,17'
set label 2 'microseconds on the GPU, from samples to samples, logarithmic: the lower the better' at screen 0.02,0.89
set logscale xy
set border 3
set tics nomirror scale 0.5
set grid ytics linecolor rgb '#e5e5e5' linetype 1 linewidth 1
set xtics ('3' 3, '5' 5, '9' 9, '17' 17, '31' 31, '43' 43)
set ytics ('30' 30, '100' 100, '300' 300, '1000' 1000, '3000' 3000, '10000' 10000)
set xrange [2.7:48]
set yrange [20:30000]
set xlabel 'side of the square filter in pixels'
set key left top reverse Left samplen 1.6 spacing 1.15
set lmargin at screen 0.065
set rmargin at screen 0.485
set tmargin at screen 0.79
set bmargin at screen 0.13
set title 'Any weights' offset 0,-0.4 font 'sans-serif:Bold,14'
END
  plot 1
  cat <<END
unset label
set lmargin at screen 0.565
set rmargin at screen 0.985
set title 'A column times a row (rank 1)'
END
  plot 2
} | gnuplot | awk -v data="$data" '
  # What a screen reader says, and the figures for those who look into the file.
  !told && /^<svg|^ *width=/ { open = 1 }
  open && !told && /> *$/ {
    print
    print "<title>Time of the published steps and of gconv over the size of the filter</title>"
    print "<desc id=\"figures\">" data "</desc>"
    told = 1
    next
  }
  { print }'
