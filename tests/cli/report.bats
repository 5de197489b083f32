#!/usr/bin/env bats
# compare and bench --html: a report that is whole, well-formed and needs no other file.

load common

NEEDS_LAB=yes

# A python3 that draws the same page always, and keeps its arguments and what it is given.
setup_python() {
    mkdir -p bin
    cat >bin/python3 <<'END'
#!/bin/sh
echo "$*" >python.arguments
cat >python.input
echo '<html>drawn</html>'
END
    chmod +x bin/python3
    PATH=$PWD/bin:$PATH
}

# Fails unless the data that the program was given are one line of JSON with these texts.
given() {
    out=$(cat python.input)
    is_json
    has python.input "$@"
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

@test "the program gets the JSON of the command, with machine, compiler, commit and command" {
    setup_images
    setup_python
    tells 0 '' gconv compare --time 0.01 --impl reference,cpu --html report.html in.png
    like "$out" '*name *verdict*'
    same "$(cat report.html)" '<html>drawn</html>'
    like "$(cat python.arguments)" '-B /*/lab/report.py - -o -'
    given '"command": "compare"' '"subject": "40x30, 1 channel of 8 bits; gauss5 5x5' \
        '"arguments": ["compare", "--time", "0.01", "--impl", "reference,cpu", "--html", "report.html", "in.png"]' \
        '"commit": "' '"build": "' '"system": "' '"kind": "cpu"' '"name": "reference"'
    json 0 gconv bench --sizes 32 --filters 3 --impl cpu --time 0.1 --html report.html --json
    # What the report is made of is what was printed. The minute may have passed in between.
    printf '%s\n' "$out" | sed 's/"date": "[^"]*"//' >printed
    sed 's/"date": "[^"]*"//' python.input | cmp - printed
    holds bin bin/python3 in.png other.pgm printed python.arguments python.input report.html
}

@test "a page of matplotlib needs nothing outside and names all where it belongs" {
    python3 "$SOURCE/lab/report.py" - -o - </dev/null 2>&1 | grep -q 'no matplotlib\|matplotlib is missing' &&
        skip 'matplotlib is not there'
    setup_images
    tells 0 '' gconv compare --time 0.01 --impl reference,cpu --html report.html in.png
    well_formed report.html
    alone report.html
    has report.html '<h1>gconv compare: in.png</h1>' '40x30, 1 channel of 8 bits; gauss5 5x5' \
        "gconv $(gconv --version | sed -n '1s/gconv //p')" '<svg role="img"' '<td>reference</td>' \
        '<code>gconv compare --time 0.01 --impl reference,cpu --html report.html in.png</code>'
    same "$(grep -c '<figcaption>.*processors.*gconv compare --time 0.01' report.html)" 1
    expect 3 "$FAULTY" compare --time 0.01 --html report.html in.png
    well_formed report.html
    has report.html '<strong>2 are WRONG</strong>' '<span class="bad">WRONG</span>' 'not usable'
    same "$(grep -c '<td>wrong</td><td class="n">' report.html)" 0
}

@test "without what draws: no page, the data beside it, and a line that says what is missing" {
    setup_images
    echo old >report.html
    mkdir bin
    PATH=$PWD/bin expect 0 "$GCONV" bench --sizes 32 --filters 3,5 --impl cpu --time 1 \
        --html report.html
    like "$err" 'gconv: report.html: warning: no report: python3 is not installed (*python3-matplotlib); FILE.json has its data, for python3 /*/lab/report.py FILE.json -o FILE'
    same "$(cat report.html)" old
    out=$(cat report.html.json)
    is_json
    same "$(key name | sed -n 1p)" cpu
    printf '#!/bin/sh\nexit 3\n' >bin/python3
    chmod +x bin/python3
    PATH=$PWD/bin:$PATH
    expect 0 gconv compare --time 0.01 --html other.html in.png
    like "$err" 'gconv: other.html: warning: no report: python3 has no matplotlib (*'
    holds bin bin/python3 in.png other.html.json other.pgm report.html report.html.json
}

@test "a program that fails leaves the data" {
    setup_images
    setup_python
    for end in 'echo one >&2; echo "report.py: two" >&2; exit 1' 'kill -9 $$'; do
        printf '#!/bin/sh\n%s\n' "$end" >bin/python3
        expect 0 gconv compare --time 0.01 --html report.html in.png
        like "$err" 'gconv: report.html: warning: no report: drawing failed: *'
        [ ! -e report.html ]
        [ -s report.html.json ]
        rm report.html.json
    done
    mkdir report.html.json
    expect 0 gconv compare --time 0.01 --html report.html in.png
    like "$err" '*warning: no report: drawing failed: python3 was killed
gconv: report.html.json: warning: *'
}

@test "a pipe gets no data beside it" {
    setup_images
    mkdir bin
    mkfifo pipe
    cat pipe >from &
    PATH=$PWD/bin expect 0 "$GCONV" compare --time 0.01 --html pipe in.png
    wait
    like "$err" 'gconv: pipe: warning: no report: python3 is not installed*'
    holds bin from in.png other.pgm pipe
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
    cp r page.json
    complains 2 "the report of --html would replace the file of --baseline, 'page.json'; *" \
        bench --baseline page.json --html page
    complains 2 "the report of --html would replace the file of --baseline, 'r'; *" bench --baseline r --html r
    cmp r kept
}

@test "the file is opened before anything is measured" {
    setup_images
    prints 1 '' gconv compare --html nowhere/report.html in.png
    like "$err" 'gconv: nowhere/report.html: cannot create: *'
    prints 1 '' gconv bench --html nowhere/report.html
    tells 2 "gconv: option '--html': '-' is no file*" gconv bench --html -
    expect 2 gconv compare --html '' in.png
    holds in.png other.pgm
}

@test "a report appears whole or not at all" {
    setup_images
    setup_python
    echo old >report.html
    expect 1 gconv compare --html report.html missing.png
    same "$(cat report.html)" old
    printf 'P5 4 4 255\n' >short.pgm
    expect 1 gconv compare --html report.html short.pgm
    same "$(cat report.html)" old
    expect 0 gconv compare --time 0.01 --html report.html in.png
    has report.html '</html>'
    holds bin bin/python3 in.png other.pgm python.arguments python.input report.html short.pgm
}
