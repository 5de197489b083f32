#!/bin/sh
# Draws docs/performance/chart.svg from docs/results: times of gconv and of other libraries over the
# size of a square filter, on a GPU and on a CPU. Every figure comes from the files of results.
#
# Usage: chart.sh [PEERS CPU] >docs/performance/chart.svg
#        PEERS is what gconv_peers and peers.py printed (docs/results/peers-h200.txt),
#        CPU what benchmark_cpu printed by all instructions and by AVX2 (docs/results/cpu-zen5.txt)
set -eu
LC_ALL=C
export LC_ALL
results=$(cd "$(dirname "$0")/../docs/results" && pwd)
case $# in
0) set -- "$results/peers-h200.txt" "$results/cpu-zen5.txt" ;;
2) ;;
*)
  sed -n 's/^# \{0,1\}//; 2,7p' "$0" >&2
  exit 2
  ;;
esac

# The times of the chart, one a line: PANEL SIZE MICROSECONDS NAME. If a library has two ways,
# the faster one counts. A line "# panel N TEXT" is a heading.
measured() {
  awk '
    function keep(name, size, microseconds) {
      if (microseconds + 0 <= 0) return # a wrong result has no time
      key = size SUBSEP name
      if (!(key in best) || microseconds < best[key]) best[key] = microseconds
    }
    $1 == "#" && $2 == "machine:" { sub(/^# machine: */, ""); print "# panel 1 " $0 }
    $1 == "floors" && /copy float32 by cudaMemcpyAsync/ { copy = $(NF - 4) }
    $1 == "float" {
      for (at = 2; at <= NF && $at !~ /^[0-9]+x[0-9]+$/; at++) { }
      split($at, side, "x")
      sizes[side[1]] = 1
      if (/ gconv /) keep("gconv", side[1], $(at + 1))
      if (/ NPP /) keep("NPP", side[1], $(at + 1))
      if (/ cuFFT /) keep("cuFFT", side[1], $(at + 1))
      if (/ cuDNN /) keep("cuDNN", side[1], $(at + 1))
      if (/ CuPy /) keep("CuPy", side[1], $(at + 1))
    }
    END {
      for (size in sizes) print 1, size, copy, "a copy"
      for (key in best) {
        split(key, part, SUBSEP)
        print 1, part[1], best[key], part[2]
      }
    }' "$1"
  awk '
    $1 == "#" && $2 == "machine:" { sub(/^# machine: */, ""); print "# panel 2 " $0 }
    $1 == "#" && $2 == "command:" { tables++ }
    $1 ~ /^[0-9]+x[0-9]+$/ {
      split($1, side, "x")
      print 2, side[1], 1000 * $2, tables == 1 ? "gconv, AVX-512" : "gconv, AVX2"
    }
    tables == 1 && $1 ~ /^[0-9]+x[0-9]+$/ {
      print 2, side[1], 1000 * $3, "OpenCV"
      print 2, side[1], 1000 * $4, "FFTW"
      print 2, side[1], 1000 * $5, "plain C loop"
    }' "$2"
}

measured "$1" "$2" | sort -k1,1n -k4,5 -k2,2n | awk '
  BEGIN {
    width = 965; height = 470
    panel_width = 330; panel_height = 300; top = 120
    left[1] = 65; left[2] = 515
    low[1] = 20; high[1] = 20000; unit[1] = 1; unit_name[1] = "microseconds"
    low[2] = 4000; high[2] = 4000000; unit[2] = 1000; unit_name[2] = "milliseconds"
    title[1] = "GPU: float32, any weights"; title[2] = "CPU, one thread: 16 bits to float32, any weights"
    # Colours that people with colour blindness can tell apart (Okabe and Ito).
    colour["gconv"] = colour["gconv, AVX-512"] = "#d55e00"; colour["gconv, AVX2"] = "#e69f00"
    colour["a copy"] = "#999999"
    colour["NPP"] = "#0072b2"; colour["OpenCV"] = "#0072b2"
    colour["cuDNN"] = "#009e73"; colour["plain C loop"] = "#009e73"
    colour["CuPy"] = "#cc79a7"; colour["cuFFT"] = "#56b4e9"; colour["FFTW"] = "#56b4e9"
  }
  function text(x, y, anchor, size, more, words) {
    gsub(/&/, "\\&amp;", words); gsub(/</, "\\&lt;", words)
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\"%s>%s</text>\n", x, y,
      anchor, size, more, words
  }
  function rule(x1, y1, x2, y2, stroke) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2,
      stroke
  }
  function x_of(panel, size) {
    return left[panel] + (place[panel, size] - 0.5) * panel_width / columns[panel]
  }
  function y_of(panel, time) {
    return top + panel_height * log(high[panel] / time) / log(high[panel] / low[panel])
  }
  function draw_axes(panel,   tick, base, n, size) {
    text(left[panel], 62, "start", 15, " font-weight=\"bold\"", title[panel])
    text(left[panel], 80, "start", 11, " fill=\"#555555\"", heading[panel])
    for (base = unit[panel]; base <= high[panel]; base *= 10)
      for (n = 1; n <= 3; n += 2) {
        tick = n * base
        if (tick < low[panel] || tick > high[panel]) continue
        rule(left[panel], y_of(panel, tick), left[panel] + panel_width, y_of(panel, tick), "#e5e5e5")
        text(left[panel] - 6, y_of(panel, tick) + 4, "end", 11, "", tick / unit[panel])
      }
    for (n = 1; n <= columns[panel]; n++) {
      size = sizes[panel, n]
      text(x_of(panel, size), top + panel_height + 16, "middle", 11, "", size)
    }
    rule(left[panel], top + panel_height, left[panel] + panel_width, top + panel_height, "#333333")
    text(left[panel] + panel_width / 2, top + panel_height + 34, "middle", 12, "",
      "side of the filter in pixels")
    text(left[panel], 102, "start", 11, "", unit_name[panel] ", logarithmic: the lower the better")
  }
  # A curve, with its name at the right end.
  function draw_curve(panel, name,   n, size, points, x, y, weight, bold) {
    weight = name ~ /^gconv/ ? 3.5 : 1.75
    for (n = 1; n <= columns[panel]; n++) {
      size = sizes[panel, n]
      if (!((panel, size, name) in time)) continue
      x = x_of(panel, size)
      y = y_of(panel, time[panel, size, name])
      points = points sprintf("%s%.1f,%.1f", points == "" ? "" : " ", x, y)
    }
    printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.2f\"%s/>\n", points,
      colour[name], weight, (name == "a copy" ? " stroke-dasharray=\"5 4\"" : "")
    if (name == "gconv") y += 9
    if (name == "gconv, AVX2") y -= 3
    if (name == "gconv, AVX-512") y += 5
    if (name ~ /FFT/) y -= 8
    if (name == "CuPy") { # it ends among other curves: above its end
      x -= 20
      y -= 12
    }
    bold = name ~ /^gconv/ ? " font-weight=\"bold\"" : ""
    text(x + 8, y + 4, "start", 12, " fill=\"" colour[name] "\"" bold, name)
  }
  $1 == "#" { panel = $3; sub(/^# panel [0-9]+ /, ""); heading[panel] = $0; next }
  {
    panel = $1; size = $2; name = $4 ($5 == "" ? "" : " " $5) ($6 == "" ? "" : " " $6)
    time[panel, size, name] = $3
    if (!((panel, size) in place)) place[panel, size] = -1
    if (!((panel, name) in known)) {
      known[panel, name] = 1
      names[panel, ++curves[panel]] = name
    }
  }
  END {
    for (panel = 1; panel <= 2; panel++)
      for (size = 1; size <= 255; size++)
        if ((panel, size) in place) {
          place[panel, size] = ++columns[panel]
          sizes[panel, columns[panel]] = size
        }
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\"",
      width, height, width, height
    print " font-family=\"sans-serif\" fill=\"#333333\" role=\"img\">"
    print "<title>Time of one convolution of 4096 x 4096 pixels, gconv and other libraries</title>"
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height
    text(left[1], 32, "start", 18, " font-weight=\"bold\"",
      "One convolution of 4096 x 4096 pixels in memory")
    for (panel = 1; panel <= 2; panel++) {
      draw_axes(panel)
      for (n = 1; n <= curves[panel]; n++) draw_curve(panel, names[panel, n])
    }
    print "</svg>"
  }'
