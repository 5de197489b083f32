#!/usr/bin/env bats
# compare and bench --html: a report that is whole, well-formed and needs no other file.

load common

# A gnuplot that draws the same image always, and keeps its arguments and scripts.
setup_gnuplot() {
    mkdir -p bin
    cat >bin/gnuplot <<'END'
#!/bin/sh
echo "$*" >>gnuplot.arguments
cat >>gnuplot.scripts
echo '<?xml version="1.0"?><svg viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg"
 xmlns:xlink="http://www.w3.org/1999/xlink"><title>Gnuplot</title><desc>Produced</desc>
<path id="a" stroke="rgb(  0, 114, 178)" d="M0,0"/><use xlink:href="#a"/></svg>'
END
    chmod +x bin/gnuplot
    PATH=$PWD/bin:$PATH
}

# well_formed FILE: fails unless the file is XML, which HTML parsers take as well.
well_formed() {
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1"
    elif command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1"
    else
        skip 'neither xmllint nor python3 is there'
    fi
}

# has FILE TEXT...: fails unless the file has all these texts.
has() {
    local file=$1 text
    shift
    for text in "$@"; do
        grep -qF -- "$text" "$file" || {
            echo "$file: no '$text'"
            return 1
        }
    done
}

# alone FILE: fails where the page refers to anything outside.
alone() {
    ! grep -oE "(src|href|action|data)=[\"'][^#d\"'][^\"']*|href=[\"']d[^a][^\"']*|url\([^#)]*\)|@import[^;]*|<script|<link|<iframe" "$1"
}

@test "a report names machine, compiler, commit and command, at its head and under each chart" {
    setup_images
    setup_gnuplot
    expect 0 gconv compare --time 0.01 --impl reference,cpu --html report.html in.png
    same "$err" ''
    like "$out" '*name *verdict*'
    well_formed report.html
    alone report.html
    has report.html '<h1>gconv compare: in.png</h1>' '40x30, 1 channel of 8 bits; gauss5 5x5' \
        '<dt>processor</dt>' '<dt>build</dt>' '<dt>date</dt>' '<dt>system</dt>' \
        "gconv $(gconv --version | sed -n '1s/gconv //p')" \
        '<code>gconv compare --time 0.01 --impl reference,cpu --html report.html in.png</code>' \
        '<svg role="img"' 'spread %' '<td>reference</td>' '<td>cpu</td>'
    same "$(grep -c '<figcaption>.*processors.*gconv compare --time 0.01' report.html)" 1
    same "$(cat gnuplot.arguments)" -d
    has gnuplot.scripts "set terminal svg" "'reference'" "'cpu'"
}

@test "images of gnuplot become parts of the page" {
    setup_images
    setup_gnuplot
    expect 0 gconv bench --sizes 32 --filters 3,5 --impl cpu --time 1 --html report.html
    has report.html 'id="chart-1-a"' 'href="#chart-1-a"' 'stroke="var(--s0)"' \
        '<title>Rate over the side of square filters, 32x32, grey8</title>'
    same "$(grep -c 'Produced\|xlink\|<?xml' report.html)" 0
    has report.html 'prefers-color-scheme:dark' '@media print'
}

@test "data and script of a chart are links that need no server" {
    setup_images
    setup_gnuplot
    expect 0 gconv compare --time 0.01 --html report.html in.png
    has report.html 'download="chart-1.csv" href="data:text/csv;charset=utf-8,%22series%22' \
        'download="chart-1.gp" href="data:text/plain;charset=utf-8,set%20encoding'
    holds bin bin/gnuplot gnuplot.arguments gnuplot.scripts in.png other.pgm report.html
}

@test "without gnuplot: tables, what is missing, data and scripts in a directory" {
    setup_images
    mkdir bin
    PATH=$PWD/bin expect 0 "$GCONV" bench --sizes 32 --filters 3,5 --impl cpu --time 1 \
        --html report.html
    same "$err" ''
    well_formed report.html
    alone report.html
    has report.html 'Charts are missing:</strong> gnuplot is not installed' 'apt install gnuplot-nox' \
        '<code>report.html.data</code>' '<details open="open"><summary>Figures</summary>'
    same "$(grep -c '<svg' report.html)" 0
    holds bin in.png other.pgm report.html report.html.data report.html.data/chart-1.csv \
        report.html.data/chart-1.gp
    same "$(head -1 report.html.data/chart-1.csv)" \
        '"series","side of the square filter (weights)","GFLOP/s","lower quartile","upper quartile"'
    has report.html.data/chart-1.gp 'set terminal svg' 'END'
}

@test "a report is written also where its data cannot be" {
    setup_images
    mkdir bin
    printf '#!/bin/sh\nexit 1\n' >bin/gnuplot
    chmod +x bin/gnuplot
    PATH=$PWD/bin:$PATH
    echo mine >report.html.data
    expect 0 gconv compare --time 0.01 --html report.html in.png
    like "$err" 'gconv: report.html.data: warning: cannot *'
    well_formed report.html
    has report.html 'Charts are missing:</strong> gnuplot ' '<td>reference</td>'
    same "$(grep -c 'report.html.data' report.html)" 0
    same "$(cat report.html.data)" mine
}

@test "a report never replaces a file that the command reads or writes" {
    setup_images
    cp in.png photo
    ln -s photo link
    for report in photo ./photo link; do
        complains 2 "the report of --html would replace the input, 'photo'; *" \
            gconv compare --time 0.01 --html $report photo
    done
    cmp in.png photo
    for report in in.png other.JPG new.pnm; do
        complains 2 "option '--html': '$report' has the extension of an image; the report is a web page" \
            gconv compare --time 0.01 --html $report photo
    done
    cmp in.png photo
    echo '1 2 1' >own.txt
    complains 2 "the report of --html would replace the filter, 'own.txt'; *" \
        gconv compare --time 0.01 --html own.txt -k own.txt in.png
    bench() { gconv bench --sizes 32 --filters 3 --impl cpu --time 0.1 "$@"; }
    complains 2 "the report of --html would replace the file of --resume, 'r'; *" bench --resume r --html ./r
    [ ! -e r ]
    expect 0 bench --resume r
    cp r kept
    complains 2 "the report of --html would replace the file of --baseline, 'r'; *" bench --baseline r --html r
    cmp r kept
}

@test "a gnuplot that fails or draws nothing leaves a report with tables" {
    setup_images
    setup_gnuplot
    for end in 'exit 1' 'exit 0' 'kill -9 $$'; do
        printf '#!/bin/sh\n%s\n' "$end" >bin/gnuplot
        expect 0 gconv compare --time 0.01 --html report.html in.png
        well_formed report.html
        has report.html 'Charts are missing:</strong> gnuplot ' '<td>reference</td>'
        [ -s report.html.data/chart-1.gp ]
        rm -r report.html report.html.data
    done
}

@test "the scripts are such as gnuplot takes" {
    command -v gnuplot >/dev/null || skip 'gnuplot is not there'
    expect 0 gconv bench --preset adaptive-2014 --impl reference,cpu --sizes 64 \
        --filters 3..7x3..7 --time 4 --html map.html
    well_formed map.html
    same "$(grep -c '<svg' map.html)" "$(grep -c '<figure' map.html)"
    same "$(grep -c 'Charts are missing' map.html)" 0
    expect 0 gconv bench --preset kth --impl reference,cpu --sizes 32,64 --time 3 --html kth.html
    well_formed kth.html
    same "$(grep -c '<svg' kth.html)" "$(grep -c '<figure' kth.html)"
}

@test "figures of the source stand beside those of its preset" {
    setup_gnuplot
    expect 0 gconv bench --preset kth --impl reference --sizes 256 --filters 3 --time 2 \
        --html report.html
    has report.html 'Published figures and these' '<td>KTH 2018, table 2</td>'
    grep -q '<td class="n">0\.57747</td><td class="n">[0-9]' report.html
    expect 0 gconv bench --sizes 32 --filters 3 --impl cpu --time 1 --html report.html
    same "$(grep -c 'Published figures' report.html)" 0
}

@test "a wrong result is named and in no chart" {
    setup_images
    setup_gnuplot
    expect 3 "$FAULTY" compare --time 0.01 --html report.html in.png
    well_formed report.html
    has report.html '<strong>2 are WRONG</strong>' '<span class="bad">WRONG</span>' 'not usable'
    same "$(grep -c "'wrong'" gnuplot.scripts)" 0
    has gnuplot.scripts "'reference'"
}

@test "names are data in the page, too" {
    make_image png:grey "a<b>&'c.png" 8 8 noise
    setup_gnuplot
    expect 0 gconv compare --time 0.01 --html report.html "a<b>&'c.png"
    well_formed report.html
    has report.html '<h1>gconv compare: a&lt;b&gt;&amp;&#39;c.png</h1>'
    same "$(grep -c '<b>' report.html)" 0
}

@test "the file is opened before anything is measured" {
    setup_images
    expect 1 gconv compare --html nowhere/report.html in.png
    same "$out" ''
    like "$err" 'gconv: nowhere/report.html: cannot create: *'
    expect 1 gconv bench --html nowhere/report.html
    same "$out" ''
    expect 2 gconv bench --html -
    like "$err" "gconv: option '--html': '-' is no file*"
    expect 2 gconv compare --html '' in.png
    holds in.png other.pgm
}

@test "a report appears whole or not at all" {
    setup_images
    setup_gnuplot
    echo old >report.html
    expect 1 gconv compare --html report.html missing.png
    same "$(cat report.html)" old
    printf 'P5 4 4 255\n' >short.pgm
    expect 1 gconv compare --html report.html short.pgm
    same "$(cat report.html)" old
    expect 0 gconv compare --time 0.01 --html report.html in.png
    has report.html '</html>'
    holds bin bin/gnuplot gnuplot.arguments gnuplot.scripts in.png other.pgm report.html short.pgm
}
