#!/usr/bin/env bats
# Failures: one line, the right exit status, no partial file, and the old file as it was.

load common

# Names of temporary files begin with a dot: `holds` sees them.

# fails_clean MESSAGE COMMAND...: exit 1, one line, and old.png is what it was.
fails_clean() {
    complains 1 "$@"
    cmp old.png kept.png
}

# ---- Inputs

@test "inputs that are missing, empty, or no images" {
    setup_old
    : >empty.png
    echo 'just text' >text.png
    printf 'GIF89a..........' >gif.png
    printf 'P2\n1 1\n255\nx\n' >plain.pgm
    for command in edges 'filter -k box3'; do
        fails_clean 'none.png: cannot open: No such file or directory' gconv $command none.png old.png
        fails_clean 'empty.png: the file is empty' gconv $command empty.png old.png
        fails_clean 'text.png: not a PNG, JPEG, PGM, * image' gconv $command text.png old.png
        fails_clean "gif.png: this is GIF, which gconv does not read; 'vips copy' converts it" gconv $command gif.png old.png
        fails_clean 'plain.pgm: corrupt: the image data have a byte that is no part of a number' gconv $command plain.pgm old.png
    done
    complains 1 'none.png: cannot open: No such file or directory' gconv compare none.png
    complains 1 'empty.png: the file is empty' gconv compare empty.png
    gconv edges <empty.png >out.png 2>err && false
    same "$(cat err)" 'gconv: standard input: the file is empty'
    [ ! -s out.png ]
    holds empty.png err gif.png in.png kept.png old.png out.png plain.pgm text.png
}

@test "PNM headers that are wrong say what is" {
    setup_old
    while read -r header message; do
        printf "P5\n$header\n............" >x.pgm
        fails_clean "x.pgm: the header $message" gconv edges x.pgm old.png
    done <<'END'
0\n5\n255 says a width or height of 0
5\n0\n255 says a width or height of 0
5\n99999999999\n255 says a width or height of more than 2147483647
5\n5\n0 says a maximum that is not within 1 to 65535
5\n5\n65536 says a maximum that is not within 1 to 65535
5\n5\nx is not width, height and maximum, *
END
}

@test "truncated inputs" {
    setup_old
    for kind in png:grey png:rgb:interlaced jpeg:ycc jpeg:ycc:progressive pgm ppm; do
        make_image $kind whole 90 70 noise
        size=$(wc -c <whole)
        for bytes in 1 2 4 7 9 12 20 33 40 100 $((size / 2)) $((size - 14)) $((size - 1)); do
            head -c "$bytes" whole >cut
            fails_clean 'cut: *' gconv edges cut old.png
            fails_clean 'cut: *' gconv filter -k box3 --impl reference cut old.png
        done
        head -c $((size - 1)) whole >cut
        fails_clean 'cut: truncated*' gconv edges cut old.png
    done
    holds cut in.png kept.png old.png whole
}

@test "--tolerant takes what is there" {
    make_image png:grey whole.png 90 70 noise
    head -c 3000 whole.png >cut.png
    tells 0 'gconv: cut.png: warning: truncated*' gconv filter -k identity --tolerant -v cut.png out.png
    expect 0 gconv filter -k identity --tolerant cut.png out.png
    same "$err" 'gconv: cut.png: warning: truncated: the file ends in the image data'
    silently gconv filter -k identity --tolerant -q cut.png out.png
    silently gconv filter -k identity --tolerant whole.png out.png
    expect 0 gconv edges --tolerant -o out --threads 2 cut.png whole.png
    same "$err" 'gconv: cut.png: warning: truncated: the file ends in the image data'
    expect 0 gconv compare --tolerant --time 0.01 --impl reference cut.png
    same "$err" 'gconv: cut.png: warning: truncated: the file ends in the image data'
    rm -r out
    silently gconv filter -k identity --tolerant -q cut.png out.png
    same "$(dump out.png | sed -n 2p)" "$(dump whole.png | sed -n 2p)"
    like "$(dump out.png | tail -n 1)" '0 0 0 *0 0 0'
    head -c 20 whole.png >cut.png
    complains 1 'cut.png: *' gconv filter -k identity --tolerant cut.png new.png
    holds cut.png out.png whole.png
}

@test "--tolerant takes a JPEG whose end is a trailer, and stray bytes in its header" {
    make_image jpeg:ycc whole.jpg 700 500 noise # large enough for gconv's own decoder
    gconv filter -k identity whole.jpg wanted.png
    { head -c -2 whole.jpg && printf '\0\0\001Image_UTC_Data\377\330trailer'; } >trailer.jpg
    { head -c 20 whole.jpg && printf 'stray' && tail -c +21 whole.jpg; } >stray.jpg
    { head -c 2 whole.jpg && printf 'stray' && tail -c +3 whole.jpg; } >first.jpg
    for name in trailer stray first; do
        for decoder in auto cpu; do
            complains 1 "$name.jpg: *" gconv filter -k identity --decoder $decoder $name.jpg out.png
            expect 0 gconv filter -k identity --tolerant --decoder $decoder $name.jpg out.png
            like "$err" "gconv: $name.jpg: warning: *"
            cmp out.png wanted.png
        done
    done
    expect 0 gconv edges --tolerant -o out trailer.jpg stray.jpg whole.jpg
    same "$(printf '%s\n' "$err" | grep -c 'warning: ')" 2
}

@test "trailing bytes are a warning" {
    make_image png:grey in.png 9 7 noise
    gconv edges in.png wanted.png
    echo more >>in.png
    gives out.png wanted.png gconv edges in.png out.png
    expect 0 gconv edges -v in.png out.png
    like "$err" 'gconv: in.png: warning: bytes after the end of the image ignored
*'
}

@test "frames in a pipe, of which one image counts, are told without -v" {
    for kind in png:grey jpeg:ycc; do
        make_image "$kind" in 9 7 noise
        gconv edges in wanted.png
        frames() { cat in; sleep "$1"; cat in; }
        for seconds in 0 0.02; do
            expect 0 gconv edges - out.png < <(frames $seconds)
            like "$err" "gconv: standard input: warning: bytes after the end of the image *yuv4mpegpipe - | gconv *"
            cmp out.png wanted.png
        done
        silently gconv edges - out.png < <(cat in)
    done
}

@test "--max-pixels refuses from the header" {
    setup_old
    fails_clean 'in.png: 90 x 70 is 6300 pixels, more than the limit of 6299 (--max-pixels)' \
        gconv edges --max-pixels 6299 in.png old.png
    silently gconv edges --max-pixels 6300 in.png out.png
    printf 'P5\n65536 65536\n255\n' >huge.pgm
    fails_clean 'huge.pgm: *4294967296 pixels, *1073741824 (--max-pixels)' gconv edges huge.pgm old.png
    complains 1 'huge.pgm: *--max-pixels*' gconv compare huge.pgm
}

@test "broken images of a batch are reported and counted, the others are done" {
    mkdir in
    for name in a b c d; do make_image png:grey in/$name.png 9 7 noise; done
    : >in/b.png
    head -c 60 in/d.png >in/x.png
    prints 1 '' gconv edges -o out in missing.png
    like "$err" 'gconv: in/b.png: the file is empty
gconv: in/x.png: truncated*
gconv: missing.png: cannot open: No such file or directory
gconv: 3 of 6 images done, 3 failed, 0 skipped'
    (cd out && holds a.png c.png d.png)
    tells 1 'gconv: in/b.png: the file is empty' gconv edges -q -o out in/b.png
}

@test "a batch of many broken images keeps none of them open" {
    mkdir in
    make_image png:grey whole.png 9 7 noise
    make_image jpeg:ycc whole.jpg 9 7 noise
    for i in $(seq 100); do
        echo broken >in/$i.png
        head -c 60 whole.png >in/cut$i.png
        head -c 300 whole.jpg >in/short$i.jpg
    done
    ulimit -n 40
    tells 1 '*gconv: 0 of 300 images done, 300 failed, 0 skipped' gconv edges -j 1 -o out in
    same "$(grep -cE ': (not a PNG.*|truncated: .*)$' <<<"$err")" 300
}

@test "a directory that cannot be listed is a failure among others" {
    needs setpriv
    mkdir -p in/closed out
    make_image pgm in/a.pgm 2 2 5
    chmod 700 in/closed
    chmod 777 out
    cp "$GCONV" ./gconv
    chmod 755 . in # relative paths: nothing above matters
    setpriv --reuid=65534 --regid=65534 --clear-groups test -r in/a.pgm || skip "cannot be another user"
    expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups ./gconv edges -r -o out in
    same "$err" 'gconv: in/closed: cannot list the directory: Permission denied
gconv: 1 of 2 images done, 1 failed, 0 skipped'
}

# ---- Filters

# bad_filter MESSAGE TEXT: the text as a file.
bad_filter() {
    printf "$2" >k.txt
    complains 2 "k.txt:$1" gconv filter -k k.txt in.png out.png
    complains 2 "k.txt:$1" gconv filter -k box3 -k k.txt -o out in.png
    complains 2 "k.txt:$1" gconv compare -k k.txt in.png
    rm k.txt
}

@test "malformed filter files are exit 2, with file and line, and nothing is started" {
    make_image png:grey in.png 4 4 noise
    bad_filter '1: *' ''
    bad_filter '3: *' '# one\n1 2 3\n4 5\n'
    bad_filter '1: *' '3x3: 1,2,3\n'
    bad_filter "14: 'x' *" '# 1\n# 2\n\n\nname five\n\n\ndivisor 8\n\n\n\n1 2\n# 13\n3 x\n'
    bad_filter "1: '1/0' divides by zero" '1/0\n'
    holds in.png
}

@test "filters that are not there, or no filters" {
    make_image png:grey in.png 4 4 noise
    mkdir dir
    complains 2 "box33: no such file, *; did you mean 'box3'[?]*" gconv filter -k box33 in.png out.png
    complains 2 "sobel: no such file, *; did you mean 'sobel-x'[?]*" gconv filter -k sobel in.png out.png
    for name in gauss7 gaus; do
        complains 2 "$name: no such file, *; did you mean 'gauss3'[?] (gaussian:SIGMA*" \
            gconv filter -k $name in.png out.png
    done
    complains 2 "1 2 1: *, as in '3x1: 1,2,1'" gconv filter -k '1 2 1' in.png out.png
    complains 2 '1, -2.5 1/2: no such file, *' gconv filter -k '1, -2.5 1/2' in.png out.png
    complains 2 "*weights need their size before them, as in '40x1: v,v,...'" \
        gconv filter -k "$(yes 10 | head -n 40 | paste -sd ' ' -)" in.png out.png
    complains 2 'none.txt: no such file, *' gconv filter -k none.txt in.png out.png
    complains 2 'dir: a directory, *' gconv filter -k dir in.png out.png
    complains 2 'gaussian:700: SIGMA *at most 682.33, or SIZE *' gconv filter -k gaussian:700 in.png out.png
    complains 2 'identity:3: *' gconv filter -k identity:3 in.png out.png
    complains 2 'none: *' gconv filter -k none -o out missing.png
    complains 2 'none: *' gconv bench -k none
    holds dir in.png
    mkdir gauss5 # a directory is in nobody's way
    silently gconv filter -k gauss5 in.png out.png
}

@test "a filter file that cannot be read is exit 1" {
    make_image png:grey in.png 4 4 noise
    [ -e /proc/self/mem ] || skip "no /proc/self/mem"
    complains 1 '/proc/self/mem: cannot read the filter: Input/output error' \
        gconv filter -k /proc/self/mem in.png out.png
    ln -s loop loop
    complains 1 'loop: cannot open the filter: *' gconv filter -k box3 -k loop -o out in.png
    complains 1 'loop: cannot open the filter: *' gconv compare -k loop in.png
    complains 1 'loop: cannot open the filter: *' gconv bench -k loop
    # Room for the program, but not always for 4 MiB of a filter's text.
    for kilobytes in 9000 10000 11000 12000 13000 14000 16000; do
        status=0
        (ulimit -v $kilobytes && exec "$GCONV" filter -k "$SOURCE/filters/box3.txt" in.png out.png) 2>err || status=$?
        case $(cat err) in gconv:*memory*) same "$status" 1 ;; esac # not the loader's message
    done
    rm -f out.png
    holds err in.png loop
}

# ---- Outputs

@test "directories that are not there, or cannot be made" {
    setup_old
    cp in.png in2.png
    fails_clean 'none/x.png: cannot create: its directory does not exist' gconv edges in.png none/x.png
    : >file
    # Once, not for each image.
    fails_clean 'file/sub: cannot make * Not a directory' gconv edges -o file/sub in.png in2.png
    ln -s nowhere/at/all link
    fails_clean 'link: cannot make the directory: No such file or directory' \
        gconv edges -o link in.png in2.png
    holds file in.png in2.png kept.png link old.png
    silently gconv edges -o a/b/c in.png in2.png
    (cd a/b/c && holds in.png in2.png)
}

@test "a full device" {
    setup_old
    [ -w /dev/full ] || skip "no /dev/full"
    fails_clean '/dev/full: cannot write: No space left on device' gconv edges -f png in.png /dev/full
    for arguments in --help --version info 'info --json' 'help edges' 'compare --time 0.01 --impl cpu in.png' \
        'edges --json in.png out.png'; do
        status=0
        # shellcheck disable=SC2086
        gconv $arguments >/dev/full 2>err || status=$?
        same "$status $(cat err)" '1 gconv: standard output: cannot write: No space left on device'
    done
    status=0
    gconv edges in.png - >/dev/full 2>err || status=$?
    same "$status $(cat err)" '1 gconv: standard output: cannot write: No space left on device'
}

@test "closed standard streams" {
    setup_old
    for arguments in --help info 'edges in.png -' 'edges --json in.png out.png'; do
        status=0
        # shellcheck disable=SC2086
        gconv $arguments >&- 2>err || status=$?
        same "$status $(cat err)" '1 gconv: standard output: cannot write: Bad file descriptor'
    done
    like "$(dump out.png)" 'png *' # and holds no JSON
    rm -f out.png
    gconv edges in.png out.png >&-
    gconv edges -v --timings in.png out.png <&- >&- 2>&-
    like "$(dump out.png)" 'png *'
    gconv edges in.png wanted.png
    cmp wanted.png out.png
}

@test "a reader that goes away" {
    make_image png:grey in.png 500 500 noise
    status=0
    { gconv filter -k identity -f ppm in.png - 2>err || echo $? >status; } | head -c 10 >/dev/null
    same "$(cat status) $(cat err)" '1 gconv: standard output: cannot write: Broken pipe'
}

@test "a reader of help, info or a table may go away: exit 1 without a word" {
    make_image png:grey in.png 9 7 noise
    for arguments in 'help edges' --help info 'compare --impl cpu --time 0.01 in.png'; do
        status=0
        # shellcheck disable=SC2086
        { until [ -e gone ]; do sleep 0.01; done; gconv $arguments 2>err || echo $? >status; } | { exec <&-; : >gone; }
        same "$(cat status) $(cat err)" '1 '
        rm gone status
    done
    { until [ -e gone ]; do sleep 0.01; done; gconv info --json 2>err || echo $? >status; } | { exec <&-; : >gone; }
    same "$(cat status) $(cat err)" '1 gconv: standard output: cannot write: Broken pipe'
}

@test "a terminal gets no image, and gives none" {
    make_image png:grey in.png 9 7 noise
    needs script
    script -qec true /dev/null >/dev/null 2>&1 ||
        skip "no pseudo-terminal here, or script(1) is not that of util-linux"
    export GCONV
    for command in edges sketch thin filter\ -kgauss3; do
        status=0
        script -qec "\"\$GCONV\" $command" /dev/null >out </dev/null || status=$?
        same "$status $(tr -d '\r' <out)" "2 gconv: which image? $(gconv help "${command%% *}" | sed -n 's/^ *\(gconv .*IN OUT\]\)$/\1/p')"
    done
    for arguments in 'edges in.png -' 'edges -f png in.png /dev/stdout' 'edges -f png in.png /dev/tty'; do
        status=0
        script -qec "\"\$GCONV\" $arguments" /dev/null >out </dev/null || status=$?
        like "$status $(tr -d '\r' <out)" '2 gconv: * is a terminal; redirect it or name an output'
    done
    for arguments in 'edges - out.png' 'compare -'; do
        status=0
        script -qec "\"\$GCONV\" $arguments" /dev/null >out </dev/null || status=$?
        like "$status $(tr -d '\r' <out)" '2 gconv: standard input is a terminal; redirect it or name an input'
    done
    holds in.png out
}

# ---- Signals

@test "a signal while the output is opened, or computed" {
    setup_old
    mkfifo pipe
    "$GCONV" edges -f png in.png pipe &
    pid=$!
    sleep 0.2
    kill $pid
    status=0
    wait $pid || status=$?
    same $status 143
    make_image pgm big.pgm 1500 1500 noise
    "$GCONV" filter --impl reference -k box:41 big.pgm old.png &
    pid=$!
    sleep 0.3
    start=$(date +%s%N)
    kill $pid
    status=0
    wait $pid || status=$?
    same $status 143
    [ $((($(date +%s%N) - start) / 1000000)) -lt 1000 ]
    cmp old.png kept.png
    holds big.pgm in.png kept.png old.png pipe
}

@test "an ignored SIGHUP stays ignored" {
    setup_old
    mkfifo pipe
    (
        trap '' HUP
        exec "$GCONV" filter -k identity pipe out.png
    ) &
    pid=$!
    exec 9>pipe
    head -c 3000 in.png >&9
    sleep 0.1
    kill -s HUP $pid
    sleep 0.1
    tail -c +3001 in.png >&9
    exec 9>&-
    wait $pid
    same "$(dump out.png)" "$(dump in.png)"
}

# ---- Devices

@test "a GPU that is not there" {
    if has_gpu; then skip "there is one"; fi
    make_image png:grey in.png 9 7 noise
    complains 4 "'naive' needs a CUDA device: *" gconv edges --impl naive in.png out.png
    complains 4 "'naive' needs a CUDA device: *" gconv edges --impl naive -o out in.png
    complains 4 "no implementation can run on device 'cuda': *" gconv edges --device cuda in.png out.png
    complains 4 "no implementation can run on device 'cuda:3': *" gconv edges -d cuda:3 in.png out.png
    complains 4 "no implementation can run on device 'cuda:0,3': *" gconv edges -d cuda:0,3 in.png out.png
    complains 4 "no implementation can run on device 'cuda:all': *" gconv edges -d cuda:all in.png out.png
    complains 4 "'naive' needs a CUDA device: *" gconv compare --impl naive,tiled in.png
    complains 4 "no implementation can run on device 'cuda': *" gconv compare --device cuda in.png
    complains 4 "'naive' needs a CUDA device: *" gconv bench --impl naive
    complains 4 'there is nothing to tune: *' gconv tune
    complains 4 'there is nothing to tune: *' gconv tune --time 1 --json --device cuda:0
    complains 4 'there is nothing to tune: a CPU has no configurations' gconv tune --device cpu
    complains 2 "option '--filters' is for --impl adaptive:unrolled: *" gconv tune --filters 5x17
    complains 2 "option '--filters': the rank does not matter here; *" \
        gconv tune -i adaptive:unrolled --filters 5,rank1:9
    complains 2 "option '--filters': 625 filters are more than the 512 of a table" \
        gconv tune -i adaptive:unrolled --filters 3..51x3..51
    complains 4 'there is nothing to tune: *' gconv tune -i adaptive:unrolled --filters 3..9x3..9
    complains 4 "there is nothing to tune: 'tensor' has no configurations; *" gconv tune -i tensor
    needs="option '--decoder': 'cuda' needs a GPU"
    complains 4 "$needs: *[a-z]*" gconv edges --decoder cuda in.png out.png
    complains 4 "$needs: *[a-z]*" gconv edges --decoder cuda -d cuda:1,0 in.png out.png
    complains 4 "$needs: *[a-z]*" gconv edges --decoder cuda -d cuda:3 -o out in.png
    complains 2 "$needs, and --device is cpu" gconv edges --decoder cuda -d cpu in.png out.png
    complains 2 "$needs, and 'cpu' runs on the CPU" gconv edges --decoder cuda --impl cpu in.png out.png
    complains 4 "'cpu' does not run on device 'cuda'" gconv edges --impl cpu --device cuda in.png out.png
    holds in.png
}

@test "an implementation that refuses or breaks down is not replaced by another" {
    make_image png:grey in.png 9 7 noise
    make_image png:grey small.png 8 7 noise
    complains 4 "in.png: 'picky' takes images up to 8 wide" "$FAULTY" edges --impl picky in.png out.png
    complains 4 "in.png: 'broken' broke down" "$FAULTY" edges --impl broken in.png out.png
    silently "$FAULTY" edges --impl picky small.png out.png
    expect 1 "$FAULTY" edges --impl picky -o out small.png in.png
    same "$err" "gconv: in.png: 'picky' takes images up to 8 wide
gconv: 1 of 2 images done, 1 failed, 0 skipped"
    (cd out && holds small.png)
}

@test "JPEG by gconv's own code in any number of threads: outputs and messages of libjpeg-turbo" {
    make_image jpeg:ycc whole.jpg 1000 700 noise
    make_image jpeg:ycc:sampling=11 full.jpg 700 1000 noise
    size=$(wc -c <whole.jpg)
    head -c $((size * 2 / 3)) whole.jpg >cut.jpg
    { head -c $((size / 2)) whole.jpg; printf '\377\376\000'; tail -c +$((size / 2 + 4)) whole.jpg; } >marked.jpg
    { head -c $((size / 3)) whole.jpg; head -c 40 /dev/zero; tail -c +$((size / 3 + 41)) whole.jpg; } >zeros.jpg
    cat whole.jpg marked.jpg >behind.jpg
    for file in whole full cut marked zeros behind; do
        for command in edges 'filter -k box3' 'edges --tolerant'; do
            status=0
            gconv $command -v -f pnm --decoder cpu -j 1 $file.jpg wanted 2>text || status=$?
            mv text wanted-text
            for threads in 1 2 5; do
                got=0
                gconv $command -v -f pnm -j $threads $file.jpg out 2>text || got=$?
                same "$got" "$status"
                same "$(cat text)" "$(sed 's/ to wanted / to out /' wanted-text)"
                [ ! -e wanted ] || cmp wanted out
                rm -f out
            done
            rm -f wanted
        done
    done
}
