#!/usr/bin/env bats
# gconv-mpi: a batch on several ranks. What it makes is what gconv makes.

load common

# Ranks that wait for one another leave the processor to the others.
export OMPI_MCA_mpi_yield_when_idle=1

needs_mpi() {
    [ -n "${MPI:-}" ] || skip 'gconv-mpi is not built, or under the sanitizers'
    needs mpirun
}

# mpi RANKS ARGUMENT...: gconv-mpi on this many ranks of this machine.
mpi() {
    local ranks=$1 options=()
    shift
    if mpirun --version 2>&1 | grep -qi 'open mpi\|open-mpi\|openrte'; then
        options=(--oversubscribe --bind-to none)
        [ "$(id -u)" -ne 0 ] || options+=(--allow-run-as-root)
    fi
    # The memory that MPI keeps is not ours.
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
        timeout 120 mpirun "${options[@]}" -n "$ranks" "$MPI" "$@"
}

# said: what gconv-mpi said in `expect`, without mpirun's words.
said() { grep -a '^gconv' "$BATS_TEST_TMPDIR/err" || true; }

# refuses STATUS PATTERN RANKS ARGUMENT...: gconv-mpi says so once and writes nothing. Open MPI gives the
# other ranks two seconds to end; they have nothing to do.
refuses() {
    local wanted=$1 pattern=$2
    shift 2
    OMPI_MCA_odls_base_sigkill_timeout=0 expect "$wanted" mpi "$@"
    same "$out" ''
    like "$(said)" "gconv: $pattern"
    same "$(said | wc -l | tr -d ' ')" 1
}

# facts JOURNAL: its lines without times, sorted.
facts() {
    sed -E 's/"(seconds|output_time|finished)": [^,}]*/"\1": _/g' "$1" | LC_ALL=C sort
}

# done_in JOURNAL: how many images it has as done.
done_in() { cat "$1" 2>/dev/null | grep -c '"status": "done"' || true; }

# Images with odd names, a bad one and one in a directory below.
setup_odd() {
    mkdir -p in/deep
    make_image pgm model.pgm 40 30 noise
    make_image jpeg:ycc in/deep/photo.jpg 60 50 noise
    local name
    for name in plain 'a name' '-o' "new"$'\n'"line" $'not\xffutf8' '*' "'quoted'"; do
        cp model.pgm "in/$name.pgm"
    done
    echo broken >in/bad.png
}

@test "gconv does not link MPI" {
    needs_mpi
    needs ldd
    same "$(ldd "$GCONV" | grep -ci mpi || true)" 0
    ldd "$MPI" | grep -qi 'mpi'
}

@test "the same files, messages and journal on 1, 2 and 4 ranks" {
    needs_mpi
    setup_odd
    expect 1 gconv filter -k gauss5 -r -o wanted --journal journal in
    wanted=$(said)
    same "$(wc -l <<<"$wanted" | tr -d ' ')" 2
    facts journal >facts
    local ranks
    for ranks in 1 2 4; do
        rm -rf wanted.old out journal
        mv wanted wanted.old
        expect 1 mpi $ranks filter -j 1 -k gauss5 -r -o wanted --journal journal in
        same "$(said)" "$wanted"
        diff -r wanted.old wanted
        facts journal | diff facts -
    done
}

@test "ranks compute, and -v says how much" {
    needs_mpi
    mkdir in
    make_image ppm model.ppm 300 200 noise
    local n
    for n in $(seq 60); do cp model.ppm in/$n.ppm; done
    expect 0 mpi 3 filter -j 1 -v -k gaussian:5 -o out in
    like "$(said | sed -n 1p)" 'gconv: rank 0 of 3 on *: 1 image at one time*'
    like "$(said | tail -n 3)" "gconv: rank 1 of 3: [1-9]* images
gconv: rank 2 of 3: [1-9]* images
gconv: rank 0 of 3: * us of a processor for each image of other ranks"
    same "$(said | grep -c ' by cpu$')" 60
    same "$(find out -type f | wc -l | tr -d ' ')" 60
    # The reports come in the order of the images.
    json 0 mpi 3 filter --json -k gauss3 -o out in
    gconv filter --json -k gauss3 -o out in | "$TESTS/json" input >wanted
    same_list inputs "$(key input)" "$(cat wanted)"
}

@test "a list, a part, and names of outputs" {
    needs_mpi
    setup_odd
    find in -name '*.pgm' -print0 >list
    gconv edges --files0-from list --shard 2/3 --parents --name '{dir}/{stem}-e.{ext}' -o wanted
    expect 0 mpi 2 edges --files0-from - --shard 2/3 --parents --name '{dir}/{stem}-e.{ext}' -o out <list
    same "$out" ''
    diff -r wanted out
    prints 0 'in/plain.pgm -> other/plain.png' mpi 2 edges --dry-run -o other in/plain.pgm
    [ ! -e other ]
}

@test "what is done is not done again, and what failed stays failed" {
    needs_mpi
    setup_odd
    expect 1 mpi 2 edges -r -o out --journal journal in
    expect 1 mpi 4 edges -r -o out --journal journal in
    like "$(said | sed -n 1p)" 'gconv: in/bad.png: failed before: *'
    same "$(said | tail -n 1)" 'gconv: 0 of 9 images done, 1 failed, 8 skipped'
    rm out/deep/photo.png
    expect 1 mpi 3 edges -r -o out --journal journal in
    same "$(said | tail -n 1)" 'gconv: 1 of 9 images done, 1 failed, 7 skipped'
    prints 1 '*9 images: 8 verified, 1 failed' gconv check --verify --journal journal
}

@test "--in-place filters no image twice" {
    needs_mpi
    mkdir in
    local n
    for n in $(seq 20); do make_image pgm in/$n.pgm $((20 + n)) 30 noise; done
    cp -r in wanted
    gconv filter -k box3 --in-place wanted/*.pgm
    expect 0 mpi 3 filter -k box3 --in-place --journal journal in
    diff -r wanted in
    same "$(grep -c '"status": "intent"' journal) $(grep -c '"status": "done"' journal)" '20 20'
    mv in/1.pgm in/renamed.pgm
    mv wanted/1.pgm wanted/renamed.pgm
    expect 0 mpi 3 filter -k box3 --in-place --journal journal in
    diff -r wanted in
}

# rank_of PID: the rank of a process, as Open MPI and MPICH tell it.
rank_of() { tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | sed -nE 's/^(OMPI_COMM_WORLD_RANK|PMI_RANK)=//p' | head -n 1; }

# find_rank RANK: the process of a rank that works in this directory.
find_rank() {
    local pid
    for pid in $(pgrep -f "$MPI"); do
        [ "$(readlink "/proc/$pid/cwd")" = "$PWD" ] && [ "$(readlink "/proc/$pid/exe")" = "$MPI" ] &&
            [ "$(rank_of "$pid")" = "$1" ] && echo "$pid" && return
    done
    return 1
}

some_are_done() { [ "$(done_in journal)" -ge 3 ]; }

# wait_long CONDITION...: for half a minute; ranks take long to start where others work.
wait_long() {
    local n
    for n in 1 2 3 4 5 6; do wait_for "$@" >/dev/null && return; done
    echo "waited in vain: $*"
    return 1
}

@test "a rank that dies ends the job, and the same command does the rest" {
    needs_mpi
    needs pgrep
    [ -r /proc/self/environ ] || skip 'no /proc'
    mkdir in
    make_image ppm model.ppm 800 600 noise
    local n pid
    for n in $(seq 80); do cp model.ppm in/$n.ppm; done
    mpi 3 filter -j 1 -k gaussian:30 -b wrap -o out --journal journal in >said 2>&1 &
    local job=$!
    wait_long find_rank 1
    pid=$(find_rank 1)
    wait_long some_are_done
    kill -s KILL "$pid"
    local status=0
    wait $job || status=$?
    [ "$status" -ne 0 ]
    local done_before
    done_before=$(done_in journal)
    [ "$done_before" -lt 80 ]
    # Ranks that mpirun ended may live for a moment.
    none_is_left() { ! find_rank 0 && ! find_rank 2; }
    wait_long none_is_left
    expect 0 mpi 3 filter -k gaussian:30 -b wrap -o out --journal journal in
    "$TESTS/json" <journal
    gconv filter -k gaussian:30 -b wrap -o wanted model.ppm
    for n in $(seq 80); do cmp wanted/model.ppm out/$n.ppm; done
    same "$(find out -type f | wc -l | tr -d ' ')" 80
    same "$(said | tail -n 1)" "gconv: $((80 - done_before)) of 80 images done, 0 failed, $done_before skipped"
}

@test "SIGUSR1 has the ranks finish what they have" {
    needs_mpi
    needs pgrep
    [ -r /proc/self/environ ] || skip 'no /proc'
    mkdir in
    make_image ppm model.ppm 800 600 noise
    local n pid
    for n in $(seq 80); do cp model.ppm in/$n.ppm; done
    mpi 2 filter -j 1 -k gaussian:30 -b wrap -o out --journal journal in >said 2>&1 &
    local job=$! status=0
    wait_long find_rank 0
    pid=$(find_rank 0)
    wait_long some_are_done
    kill -s USR1 "$pid"
    wait $job || status=$?
    [ "$status" -ne 0 ]
    grep -q '^gconv: [0-9]* of 80 images done, 0 failed, 0 skipped, [0-9]* not begun$' said
    same "$(find out -type f -name '.*' | wc -l | tr -d ' ')" 0
    same "$(find out -type f | wc -l | tr -d ' ')" "$(done_in journal)"
}

@test "--on-error stop" {
    needs_mpi
    mkdir in
    local n
    for n in $(seq 10 99); do make_image pgm in/$n.pgm 300 300 noise; done
    echo broken >in/10.pgm
    expect 1 mpi 2 filter -j 1 -k gaussian:5 --on-error stop -o out in
    like "$(said | tail -n 1)" 'gconv: * of 90 images done, 1 failed, 0 skipped, * not begun'
}

@test "what gconv-mpi does not do" {
    needs_mpi
    make_image pgm in.pgm 20 10 noise
    refuses 2 'gconv-mpi computes batches by edges and filter; use gconv for the rest' 2 compare in.pgm
    refuses 2 'gconv-mpi computes batches; give -o DIR or --in-place, or use gconv' 2 edges in.pgm out.png
    refuses 2 "option '--shard': rank 0 hands the images out, *" 2 edges --shard auto -o out in.pgm
    refuses 2 '--rows computes rows of one image; *' 2 edges --rows 0:10 -o out in.pgm
    refuses 2 '--join needs --rows' 2 edges --join -o out in.pgm
    refuses 2 "unknown option '--frobnicate'*" 2 edges --frobnicate -o out in.pgm
    refuses 2 'gaus5: *' 2 filter -k gaus5 -o out in.pgm
    refuses 2 'which filter? *' 2 filter -o out in.pgm
    refuses 2 'no input is named' 3 edges -o out
    refuses 1 'nowhere/journal: cannot open the journal*' 2 edges --journal nowhere/journal -o out in.pgm
    GCONV_INSTRUCTIONS=none refuses 2 '*GCONV_INSTRUCTIONS*' 2 edges -o out in.pgm
    has_gpu || refuses 4 '*' 2 edges -d cuda -o out in.pgm
    holds in.pgm
}

@test "ranks of two builds refuse each other" {
    needs_mpi
    make_image pgm in.pgm 20 10 noise
    LC_ALL=C sed 's/build \([0-9a-f]\)[0-9a-f]\{15\}/build \1000000000000000/' "$MPI" >other
    chmod +x other
    ! cmp -s "$MPI" other
    refuses 1 'rank 1 on *: another build of gconv (build *) than that of rank 0 (build *); start the same *' \
        1 edges -o out in.pgm : -n 1 ./other edges -o out in.pgm
    [ ! -e out ]
}

@test "help and version come once" {
    needs_mpi
    expect 0 mpi 3 help
    same "$(grep -c '^usage:' <<<"$out")" "$(gconv help | grep -c '^usage:')"
    expect 0 mpi 3 --version
    same "$(grep -c '^gconv [0-9]' <<<"$out")" 1
}

@test "ranks of a host share its processors" {
    needs_mpi
    make_image pgm in.pgm 20 10 noise
    places() {
        expect 0 mpi "$@" edges -v -d cpu -o out in.pgm
        said | sed -n 's/^gconv: rank [0-9] of .*: \([0-9]*\) images* at one time$/\1/p' | awk '{ sum += $1 } END { print sum }'
    }
    local all
    all=$(places 1)
    same "$(places 2)" $((all > 2 ? all : 2))
    same "$(places 3)" $((all > 3 ? all : 3))
    expect 0 mpi 2 edges -v -d cpu -j 5 -o out in.pgm
    same "$(said | grep -c ': 5 images at one time$')" 2
}

@test "ranks of a host take different GPUs" {
    needs_mpi
    make_image pgm in.pgm 20 10 noise
    gpus() {
        CUDA_VISIBLE_DEVICES=$1 expect 0 mpi "$2" edges -v "${@:3}" -o out in.pgm
        said | sed -n 's/^gconv: rank [0-9] of .*at one time//p' | paste -sd '|' -
    }
    same "$(gpus 3,5,7 2)" ', GPUs 3,7|, GPUs 5'
    same "$(gpus 3,5 3)" ', GPUs 3|, GPUs 5|, GPUs 3'
    same "$(gpus 3,5 1)" ''
    same "$(gpus 3,5 2 -d cpu)" '|'
}
