# Images in the caller's memory on a pretended GPU (tests/gpu/caller.c).

load ../cli/common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache GC_DOUBLE_REPORT=$BATS_TEST_TMPDIR/report
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$BATS_FILE_TMPDIR
    mkdir -p "$XDG_CACHE_HOME"
    unset GC_DOUBLE_FAIL GC_DOUBLE_MEMORY GC_DOUBLE_TAKEN
}

caller() { "$TESTS/double/double_caller" --lacking "$@"; }

# right OPTION...: all is right, and nothing is left behind.
right() {
    prints 0 '*[1-9]* checked, 0 failed,*' caller "$@"
    leaves_nothing
}

leaves_nothing() {
    same "$(sed -n '/^\(device_bytes\|pinned_bytes\|streams\|modules\) [^0]/p' report)" ''
}

@test "device memory: every address and stride, every kind of samples" {
    for implementation in naive twopass direct; do
        right --impl $implementation --only device --cases 40
    done
}

@test "device memory: frames in several streams, and what is refused" {
    right --impl const --only order --cases 24
    right --impl direct --only order --cases 24
    right --impl naive --only refusals
}

@test "device memory of another device is refused" {
    GC_DOUBLE_DEVICES=2 right --impl naive --only other
}

@test "samples that are rounded once, of kernels compiled for a filter" {
    for implementation in direct separable; do
        prints 0 '*[1-9]* checked, 0 failed,*' "$TESTS/double/double_rounded" \
            --impl $implementation --cases 12 --runs 1000000000
        leaves_nothing
    done
}

@test "memory of the host: pageable, from the library, registered" {
    right --impl naive --only memory --cases 24
    right --impl direct --only memory --cases 60
}

@test "memory of the host, band by band in three streams" {
    GC_DOUBLE_LOG=$PWD/log right --impl direct --only bands --cases 6 --seed 3
    [ "$(grep -c ' cudaStreamWaitEvent ' log)" -gt 100 ]
}

# sweep STEP OPTION...: calls fail, every STEP-th, in one way after the other.
sweep() {
    local step=$1 ways=(once:2 once:999 once:719 from:999) call calls tried=0
    shift
    GC_DOUBLE_REPORT=$PWD/whole caller "$@" >/dev/null
    calls=$(sed -n 's/^calls //p' whole)
    for ((call = 1 + RANDOM % step; call <= calls; call += step)); do
        GC_DOUBLE_FAIL=$call:${ways[tried++ % 4]} expect 0 timeout 60 "$TESTS/double/double_caller" \
            --lacking --failing "$@"
        leaves_nothing
    done
    [ "$tried" -ge 4 ]
}

@test "calls that fail: a right image or a message, and nothing is left behind" {
    sweep 11 --impl naive --only device --cases 1 --seed 3
    sweep 11 --impl direct --only device --cases 1 --seed 9
    sweep 11 --impl direct --only memory --cases 2 --seed 4
    sweep 131 --impl direct --only bands --cases 6 --seed 3
}
