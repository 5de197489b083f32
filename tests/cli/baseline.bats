#!/usr/bin/env bats
# bench --baseline and --fail-above: performance as a test.

load common

NEEDS_LAB=yes

# What is measured here.
RUN=(bench --impl cpu --sizes 128 --filters 3,5 --time 0.4)

# faster FACTOR <FILE: the file with times that are so many times as short.
faster() { perl -pe 's/("[a-z_]*seconds": )([0-9.e+-]+)/$1 . $2 \/ '"$1"'/ge'; }

@test "bench --fail-above: exit 5 where something is slower" {
    expect 0 gconv "${RUN[@]}" --json
    printf '%s\n' "$out" >before
    faster 20 <before >fast
    json 5 gconv "${RUN[@]}" --baseline fast --fail-above 50 --json
    same "$(key slower | paste -sd ,)" 'true,true'
    for change in $(key change_percent); do [ "${change%.*}" -gt 50 ]; done
    like "$err" 'gconv: fast: 128x128, filter 3x3, grey8, cpu takes [0-9.]* % longer
gconv: fast: 128x128, filter 5x5, grey8, cpu takes [0-9.]* % longer'
    prints 5 '*GFLOP/s *change %*+[0-9]*' gconv "${RUN[@]}" --baseline fast --fail-above 50 -q
    like "$err" 'gconv: fast: *longer' # even with -q
    # One of them is slower.
    expect 0 gconv "${RUN[@]}" --resume kept
    { head -n 2 kept; tail -n 1 kept | faster 20; } >mixed
    expect 5 gconv "${RUN[@]}" --baseline mixed --fail-above 400
    same "$(printf '%s\n' "$err" | grep -o 'filter.*cpu')" 'filter 5x5, grey8, cpu'
}

@test "bench --fail-above: exit 0 where nothing is slower, or noise explains it" {
    expect 0 gconv "${RUN[@]}" --json
    printf '%s\n' "$out" >before
    faster 0.05 <before >slow
    tells 0 '' gconv "${RUN[@]}" --baseline slow --fail-above 0 --csv
    like "$(printf '%s\n' "$out" | sed -n 2p)" '*,-[0-9.]*'
    expect 0 gconv "${RUN[@]}" --baseline before --fail-above 900
    # The middle halves overlap, or the shortest run was as long.
    faster 20 <before | perl -pe 's/("upper_quartile_seconds": )[0-9.e+-]+/${1}9/g' >wide
    expect 0 gconv "${RUN[@]}" --baseline wide --fail-above 50
    faster 20 <before | perl -pe 's/("shortest_seconds": )[0-9.e+-]+/${1}9/g' >short
    expect 0 gconv "${RUN[@]}" --baseline short --fail-above 50
    # Without --fail-above nothing fails.
    faster 20 <before >fast
    prints 0 '*change %*+[0-9]*' gconv "${RUN[@]}" --baseline fast
    expect 0 gconv "${RUN[@]}" --json
    same "$(key change_percent)" ''
}

@test "bench --baseline reads what --resume made, and says what is missing" {
    expect 0 gconv "${RUN[@]}" --resume kept
    faster 20 <kept >fast
    expect 5 gconv "${RUN[@]}" --baseline fast --fail-above 50
    expect 5 gconv "${RUN[@]}" --resume kept --baseline fast --fail-above 50 # kept points count, too
    head -c -9 fast >torn # an interrupted sweep
    expect 5 gconv "${RUN[@]}" --baseline torn --fail-above 50
    like "$err" 'gconv: torn: times of 1 of the 2 measurements
gconv: torn: 128x128, filter 3x3, *'
    complains 2 'fast: holds no time of what is measured here' \
        gconv bench --impl cpu --sizes 64 --filters 3 --time 0.1 --baseline fast
    echo 'no json' >text
    complains 2 'text: not JSON' gconv "${RUN[@]}" --baseline text
    complains 1 'none: cannot open: *' gconv "${RUN[@]}" --baseline none
    complains 1 '.: cannot *' gconv "${RUN[@]}" --baseline .
    complains 2 '--fail-above needs a --baseline' gconv "${RUN[@]}" --fail-above 3
    for percent in -1 x ''; do
        complains 2 "option '--fail-above': '$percent' is *" gconv bench --baseline fast --fail-above "$percent"
    done
}

@test "bench --fail-above: what is wrong or not usable keeps its status" {
    expect 0 gconv bench --impl cpu --sizes 64 --filters 3 --time 0.1 --json
    printf '%s\n' "$out" | faster 20 >fast
    expect 3 "$FAULTY" bench --impl cpu,wrong --sizes 64 --filters 3 --time 0.1 --baseline fast --fail-above 5
    expect 4 "$FAULTY" bench --impl cpu,broken --sizes 64 --filters 3 --time 0.1 --baseline fast --fail-above 5
    expect 5 "$FAULTY" bench --impl cpu --sizes 64 --filters 3 --time 0.1 --baseline fast --fail-above 5
}
