#!/usr/bin/env bats
# Signals, whole lines, and closed descriptors.

load common

is_there() { compgen -G "$1" >/dev/null; }

# ---- Signals

@test "a program that is stopped dies of the signal within a second, and leaves nothing behind" {
    setup_old
    mkfifo pipe
    local start
    for signal in 1:HUP 2:INT 3:QUIT 15:TERM; do
        "$TESTS/ending" how "$GCONV" filter -k identity pipe old.png 2>err 3>&- &
        pid=$!
        exec 9<>pipe # does not wait for a reader, who may be gone
        head -c 3000 in.png >&9
        wait_for is_there '.old.png.gconv-*'
        start=$(date +%s%N)
        kill -s "${signal#*:}" $pid
        wait $pid
        [ $((($(date +%s%N) - start) / 1000000)) -lt 1000 ]
        exec 9>&-
        same "$(cat how err)" "signal ${signal%:*}"
        cmp old.png kept.png
        holds err how in.png kept.png old.png pipe
        rm how
    done
    "$TESTS/ending" how "$GCONV" edges none.png out.png 2>err
    same "$(cat how)" 'exit 1'
}

@test "a stopped batch says what it did, and ends the progress line" {
    for name in a c d; do make_image png:grey $name.png 9 7 noise; done
    : >b.png
    make_image png:grey e.png 9 7 noise
    mkfifo first.png second.png
    for arguments in '--progress always' '--progress never' -q; do
        rm -rf out
        # shellcheck disable=SC2086
        "$TESTS/ending" how "$GCONV" edges $arguments -j 1 -o out [a-d].png first.png second.png 2>err 3>&- &
        pid=$!
        wait_for is_there out/d.png
        sleep 0.15 # until the progress line may be drawn again
        timeout 10 cp e.png first.png
        wait_for is_there out/first.png
        sleep 0.05
        kill $pid
        wait $pid
        same "$(cat how)" 'signal 15'
        case $arguments in
        *always) like "$(tail -n 1 err)" "$(printf '*%%, [45] of 6 done, 1 failed*  first.png\r\033?Kgconv: stopped: 4 of 6 images done, 1 failed, 0 skipped; the same command with --no-clobber does the others')" ;;
        *never) same "$(tail -n 1 err)" 'gconv: stopped: 4 of 6 images done, 1 failed, 0 skipped; the same command with --no-clobber does the others' ;;
        -q) same "$(cat err)" 'gconv: b.png: the file is empty' ;;
        esac
    done
}

# stopped OPTIONS...: the last line of a batch that SIGTERM stops when out/a.png is there.
stopped() {
    local pid
    rm -f out/a.png
    "$TESTS/ending" how "$GCONV" edges -j 1 "$@" a.png pipe.png 2>err 3>&- &
    pid=$!
    wait_for is_there out/a.png
    sleep 0.05
    kill $pid
    wait $pid
    tail -n 1 err
}

@test "a stopped batch says how to go on, where a repetition does the rest" {
    make_image png:grey a.png 9 7 noise
    mkfifo pipe.png
    words='gconv: stopped: 1 of 2 images done, 0 failed, 0 skipped'
    same "$(stopped -o out)" "$words; the same command with --no-clobber does the others"
    for option in --no-clobber --update '--journal j'; do
        # shellcheck disable=SC2086
        same "$(rm -f j && stopped $option -o out)" "$words; the same command does the others"
    done
    # What was in the directory before may be in the way of an image that was not done.
    cp a.png out/pipe.png
    same "$(stopped -o out)" "$words"
    rm -r out
    mkdir out
    same "$(stopped -o out)" "$words; the same command with --no-clobber does the others"
}

has_bytes() { [ "$(wc -c <"$1")" -eq "$2" ]; }

# Sends one more image to a stream, descriptor 8. Succeeds where the progress line counts it.
is_counted() {
    cat a.pgm >&8
    sleep 0.1
    grep -q 'done' "$1"
}

@test "a stream counts its images, and says how many are done when it is stopped" {
    make_image pgm a.pgm 9 7 noise
    size=$(wc -c <a.pgm)
    mkfifo to
    exec 9<>to
    "$TESTS/ending" how "$GCONV" filter -k identity --progress always - - <to >got 2>err 3>&- 9>&- &
    pid=$!
    mkfifo to.file
    exec 8<>to.file
    "$TESTS/ending" how.file "$GCONV" filter -k identity --progress always to.file out.pnm 2>err.file 3>&- 8>&- 9>&- &
    pid_file=$!
    cat a.pgm a.pgm >&9
    wait_for has_bytes got $((2 * size))
    sleep 0.15 # until the progress line may be drawn again
    cat a.pgm >&9
    wait_for has_bytes got $((3 * size))
    wait_for is_counted err.file
    kill $pid $pid_file
    wait $pid
    wait $pid_file || true
    exec 8>&- 9>&-
    same "$(cat how how.file)" "$(printf 'signal 15\nsignal 15')"
    like "$(tail -n 1 err)" "$(printf '*\r\033?K2 done  standard input\r\033?Kgconv: stopped: 2 images done, 0 failed, 0 skipped')"
    like "$(tail -n 1 err.file)" "$(printf '*\r\033?K* done  to.file\r\033?Kgconv: stopped: * image* computed, none written')"
    holds a.pgm err err.file got how how.file to to.file
}

@test "nobody who does not read standard error holds up the end" {
    make_image png:grey a.png 9 7 noise
    mkfifo pipe.png said
    exec 8<>said
    head -c 65536 /dev/zero >&8 # full
    "$TESTS/ending" how "$GCONV" edges -j 1 -o out a.png pipe.png 2>said 3>&- &
    pid=$!
    wait_for is_there out/a.png
    sleep 0.05
    kill $pid
    wait $pid
    exec 8>&-
    same "$(cat how)" 'signal 15'
}

# ---- Lines of JSON

@test "--json gives a line when it is there, and whole lines to who is stopped" {
    make_image png:grey a.png 9 7 noise
    mkfifo pipe.png lines
    "$TESTS/ending" how "$GCONV" edges --json -j 1 -o out a.png pipe.png >lines 2>err 3>&- &
    pid=$!
    exec 8<lines
    IFS= read -r -t 5 -u 8 out
    same "$(key input)" a.png
    kill -s INT $pid
    wait $pid
    same "$(cat how)" 'signal 2'
    same "$(cat <&8)" ''
    exec 8<&-
}

# fill_pipe [COMMAND...]: fills a pipe, descriptor 8, with lines of JSON that nobody reads: the program,
# $pid, which the command starts, waits in one of them.
fill_pipe() {
    local name
    name=$(printf '%0250d' 0 | tr 0 '\001') # six bytes each in JSON
    local inputs=$name/$name/$name/$name/$name/$name/$name/$name
    mkdir -p "$inputs"
    make_image png:grey a.png 9 7 noise
    for i in 1 2 3 4 5 6 7 8 9; do cp a.png "$inputs/$i.png"; done
    mkfifo lines
    exec 8<>lines
    "$@" "$TESTS/ending" how "$GCONV" edges --json -j 1 -o out "$inputs" >lines 2>err 3>&- &
    pid=$!
    wait_for is_there out/4.png # the pipe holds about five lines
    sleep 0.2
}

@test "a signal waits for a line that is being written" {
    fill_pipe
    kill $pid
    timeout 0.5 cat <&8 >got || true
    wait $pid
    exec 8>&-
    same "$(cat how)" 'signal 15'
    [ "$(wc -c <got)" -gt 32768 ]
    "$TESTS/json" <got
    same "$(tail -c 1 got)" '' # the end of a line
}

@test "a signal waits a second for a line that nobody reads" {
    # The same where the parent ignores or blocks SIGALRM.
    local pids=() start how signal=--ignore-signal=ALRM
    env $signal --block-signal=ALRM true 2>/dev/null || signal=
    for how in '' $signal ${signal:+--block-signal=ALRM}; do
        mkdir "with$how"
        cd "with$how"
        # shellcheck disable=SC2086
        fill_pipe env $how
        pids+=("$pid")
        cd ..
    done
    start=$(date +%s%N)
    kill "${pids[@]}"
    for pid in "${pids[@]}"; do wait "$pid"; done
    [ $((($(date +%s%N) - start) / 1000000)) -lt 2000 ]
    exec 8>&-
    for how in with*; do same "$(cat "$how/how")" 'signal 15'; done
}

# ---- Descriptors

# ends STATUS COMMAND...: fails unless the command ends with STATUS. Its output is not looked at.
ends() {
    local wanted=$1 status=0
    shift
    "$@" || status=$?
    same "$status" "$wanted"
}

@test "messages do not go into an image where standard error is closed" {
    make_image png:grey in.png 9 7 noise
    echo trailing >>in.png
    gconv edges in.png wanted.png
    # If descriptor 2 is closed, the first file that is opened would get it.
    ends 0 gconv edges -v --timings --explain --progress always - out.png <in.png 2>&-
    cmp out.png wanted.png
    ends 0 gconv edges -v --timings --explain --progress always -f png in.png - >out.png 2>&-
    cmp out.png wanted.png
    ends 0 gconv edges -v --timings -o out in.png 2>&-
    cmp out/in.png wanted.png
    ends 1 gconv edges none.png out.png 2>&-
    ends 2 gconv edges --treshold 2>&-
    cmp out.png wanted.png
}

@test "results do not go into an image where standard output is closed" {
    make_image png:grey in.png 9 7 noise
    gconv edges in.png wanted.png
    ends 1 gconv edges --json - out.png <in.png >&- 2>err
    same "$(cat err)" 'gconv: standard output: cannot write: Bad file descriptor'
    cmp out.png wanted.png
    ends 1 gconv edges --json -o out in.png >&- 2>err
    cmp out/in.png wanted.png
    ends 1 gconv compare --json --time 0.01 --impl cpu in.png >&- 2>err
    same "$(cat err)" 'gconv: standard output: cannot write: Bad file descriptor'
}

@test "an image is not read from where standard input was closed" {
    make_image png:grey in.png 9 7 noise
    gconv edges in.png wanted.png
    ends 0 gconv edges in.png out.png <&-
    cmp out.png wanted.png
    ends 1 gconv edges - none.png <&- 2>err
    same "$(cat err)" 'gconv: standard input: cannot read: Bad file descriptor'
    ends 2 gconv filter -k /dev/stdin in.png none.png <&- 2>err # no weights
    [ ! -e none.png ]
}

# ---- Names

@test "control characters in names: escaped in messages, valid in JSON" {
    for code in 001 012 177 '302\205' 377 '355\240\200'; do
        name=$(printf "a\\$code""b.pgm")
        make_image pgm "$name" 2 2 5
        json 0 gconv edges --json "$name" out.png
        same "$(printf '%s' "$out" | tr -d '\040-\176\200-\377')" ''
        like "$(key input)" 'a*'
        complains 1 'none a*b.png: cannot open: *' gconv edges "none $(printf "a\\$code""b.png")" out.png
        same "$(printf '%s' "$err" | tr -d '\040-\176\200-\377')" ''
    done
    expect 0 gconv edges --json "$(printf 'a\177b.pgm')" out.png
    same "$(key input)" "$(printf 'a\177b.pgm')"
    like "$out" '*a\\u007fb.pgm*'
    complains 1 'none\\x7f: cannot open: *' gconv edges "$(printf 'none\177')" out.png
}
