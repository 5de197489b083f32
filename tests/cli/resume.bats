#!/usr/bin/env bats
# bench --resume: a sweep that was interrupted goes on where it ended.

load common

NEEDS_LAB=yes

# The sweep of these tests, into the file `kept`.
SWEEP=(bench --impl cpu,reference --sizes 64,96 --filters 1..9x1..5 --time 2 --resume kept)
POINTS=60

# What a file holds, without figures: sizes, filter and name of each point.
points_of() {
    tail -n +2 "$1" | sed -E 's/^\{"width": ([0-9]+), "height": ([0-9]+), "filter": "([^"]*)".*"name": "([^"]*)".*/\1x\2 \3 \4/'
}
wanted_points() {
    local size filter name
    for size in 64 96; do
        for filter in {1,3,5,7,9}x{1,3,5}; do
            for name in reference cpu; do echo "${size}x$size $filter $name"; done
        done
    done
}
lines_are() { [ -e kept ] && [ "$(wc -l <kept)" -ge "$1" ]; }

# interrupt SIGNAL: begins the sweep and ends it by the signal when some points are there. bash makes
# background jobs ignore SIGINT; `ending` hands it on.
interrupt() {
    local ending=()
    [ "$1" = KILL ] || ending=("$TESTS/ending" how)
    "${ending[@]}" "$GCONV" "${SWEEP[@]}" >/dev/null 2>err 3>&- &
    local pid=$!
    wait_for lines_are $((10 + RANDOM % 20))
    kill -s "$1" $pid
    wait $pid || true
}

@test "bench --resume goes on behind SIGINT and SIGKILL" {
    for signal in INT KILL; do
        rm -f kept
        interrupt $signal
        out=$(<kept)
        is_json # whole lines
        [ "$(wc -l <kept)" -lt $((POINTS + 1)) ] # it was interrupted
        [ $signal = KILL ] || like "$(tail -n 1 err)" "*gconv: stopped: * of $POINTS measured; the same command measures the others"
        cp kept first
        there=$(($(wc -l <kept) - 1))
        expect 0 gconv "${SWEEP[@]}" --csv
        same "$err" "gconv: kept: $there of $POINTS measurements are there"
        same "$(printf '%s\n' "$out" | wc -l)" $((POINTS + 1))
        printed=$out
        out=$(<kept)
        is_json
        same "$(head -n $((there + 1)) kept)" "$(<first)" # nothing was measured again
        same "$(points_of kept)" "$(wanted_points)"
        # All points are printed, and a third run measures nothing.
        cp kept second
        expect 0 gconv "${SWEEP[@]}" --csv
        same "$out" "$(printf '%s\n' "$printed" | head -n 1)
$(printf '%s\n' "$out" | tail -n +2)"
        same "$(printf '%s\n' "$out" | cut -d, -f 1-9)" "$(printf '%s\n' "$printed" | cut -d, -f 1-9)"
        cmp kept second
    done
}

@test "bench --resume cuts off what is left of a line" {
    expect 0 gconv bench --impl cpu --sizes 32 --filters 3..9 --time 0.2 --resume kept
    cp kept whole
    for cut in 1 20 300; do # in the last line, or in the line before it
        head -c -$cut whole >kept
        there=$(($(wc -l <kept) - 1))
        expect 0 gconv bench --impl cpu --sizes 32 --filters 3..9 --time 0.2 --resume kept
        same "$err" "gconv: kept: $there of 4 measurements are there"
        same "$(points_of kept)" "$(points_of whole)"
    done
    for first in 0 1 100; do # nothing but a part of the first line, or nothing
        head -c $first whole >kept
        tells 0 '' gconv bench --impl cpu --sizes 32 --filters 3..9 --time 0.2 --resume kept
        same "$(points_of kept)" "$(points_of whole)"
    done
}

@test "bench --resume refuses other circumstances, and leaves the file" {
    expect 0 gconv bench --impl cpu --sizes 32 --filters 3 --time 0.1 --resume kept
    cp kept whole
    for change in "--filters 5:'filters' was '3' and is '5' now" "--time 0.2:'time' was 0.1 and is 0.2 now" \
        "--border wrap:'border' was the default and is 'wrap' now" "--samples rgb8:'samples' was the default and is 'rgb8' now" \
        "-j 1:'threads' was 0 and is 1 now" "--preset quick:'preset' was the default and is 'quick' now" \
        "--correlate:'correlate' was 0 and is 1 now"; do
        # shellcheck disable=SC2086
        complains 2 "kept: made under other circumstances: ${change#*:}; name another file" \
            gconv bench --impl cpu --sizes 32 --filters 3 --time 0.1 --resume kept ${change%%:*}
        cmp kept whole
    done
    sed -i '1s/"processor": "/&Other /' kept
    complains 2 "kept: made under other circumstances: 'processor' was 'Other *" \
        gconv bench --impl cpu --sizes 32 --filters 3 --time 0.1 --resume kept
    # The filters of --kernel count, wherever they came from.
    echo '1 2 1' >a.txt
    expect 0 gconv bench --impl cpu --sizes 32 -k a.txt --time 0.1 --resume chain
    expect 0 gconv bench --impl cpu --sizes 32 -k '3x1: 1,2,1' --time 0.1 --resume chain
    same "$err" 'gconv: chain: 1 of 1 measurements are there'
    echo '1 3 1' >a.txt
    complains 2 "chain: made under other circumstances: 'chain' was *" \
        gconv bench --impl cpu --sizes 32 -k a.txt --time 0.1 --resume chain
}

@test "bench --resume refuses what it did not make" {
    echo 'precious' >file
    gconv bench --json --impl cpu --sizes 32 --filters 3 --time 0.1 >json
    printf 'x' >byte
    for name in file json byte; do
        cp $name before
        complains 2 "$name: --resume did not make this file; name another one" gconv bench --resume $name
        cmp $name before
    done
    mkfifo pipe
    complains 2 'pipe: not a regular file' gconv bench --resume pipe
    complains 2 '/dev/null: not a regular file' gconv bench --resume /dev/null
    complains 1 'none/file: cannot open: *' gconv bench --resume none/file
    complains 1 '.: cannot open: *' gconv bench --resume .
    complains 2 "option '--resume': the file's name is empty" gconv bench --resume ''
    # A line in the middle that is no measurement.
    expect 0 gconv bench --impl cpu --sizes 32 --filters 3,5 --time 0.1 --resume kept
    sed -i '2s/.*/{"verdict": "perfect"}/' kept
    complains 2 'kept:2: no measurement; remove this line' \
        gconv bench --impl cpu --sizes 32 --filters 3,5 --time 0.1 --resume kept
}

@test "bench --resume: one program at a time; a full disk is an error" {
    expect 0 gconv bench --impl cpu --sizes 32 --filters 3 --time 0.1 --resume kept
    needs flock
    complains 1 'kept: another gconv writes to it' \
        flock kept "$GCONV" bench --impl cpu --sizes 32 --filters 3 --time 0.1 --resume kept
    rm kept
    # 4 KiB: several of the 15 measurements, whose lines differ in length from run to run.
    expect 1 bash -c 'ulimit -f 4; exec "$@"' sh "$GCONV" bench --impl cpu --sizes 32 --filters 1..9x1..5 --time 0.1 --resume kept
    like "$err" 'gconv: kept: cannot write: File too large'
    expect 0 gconv bench --impl cpu --sizes 32 --filters 1..9x1..5 --time 0.1 --resume kept
    like "$err" 'gconv: kept: [0-9]* of 15 measurements are there'
}

@test "bench --resume: a wrong result stays wrong" {
    for _ in 1 2; do
        expect 3 "$FAULTY" bench --time 0.1 --impl wrong --sizes 32 --filters 3 --resume kept
        like "$out" '*wrong* WRONG*'
    done
    same "$err" 'gconv: kept: 1 of 1 measurements are there'
}
