# What all tests in bats share: of the command line (cli/common.bash), of the documents
# (docs/documents.bash) and of the pretended GPU (double/double.bats).
#
#     GCONV   the program            SOURCE   the top of the source tree
#
# Each test runs in an empty directory of its own, WORK.
# shellcheck shell=bash

: "${GCONV:?the gconv to test}" "${SOURCE:?the top of the source tree}"
unset POSIXLY_CORRECT GCONV_INSTRUCTIONS GCONV_CUDA_MEMORY GCONV_CUDA_MODULE

# A file whose tests all need gconv-lab sets NEEDS_LAB.
setup() {
    [ -z "${NEEDS_LAB-}" ] || needs_lab
    mkdir "$BATS_TEST_TMPDIR/work"
    WORK=$BATS_TEST_TMPDIR/work
    cd "$WORK" || return 1
}

gconv() { "$GCONV" "$@"; }

# needs PROGRAM: skips the test where there is none.
needs() {
    command -v "$1" >/dev/null || skip "no $1"
}

# needs_lab: skips the test if the build has no gconv-lab.
needs_lab() {
    [ -e "$(dirname "$GCONV")/gconv-lab" ] || skip 'this build has no gconv-lab'
}

# needs_fast_paths: skips the test if the build has none.
needs_fast_paths() {
    case $("$GCONV" --version) in
    *'without fast paths'*) skip 'this build has no fast paths' ;;
    esac
}

# ---- Running -------------------------------------------------------------------------------------

# expect STATUS COMMAND...: runs a command, keeps what it prints in $out and $err, fails unless it ends
# with STATUS.
expect() {
    local wanted=$1 status=0
    shift
    "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
    { # bash drops NUL bytes, and says so
        out=$(<"$BATS_TEST_TMPDIR/out")
        err=$(<"$BATS_TEST_TMPDIR/err")
    } 2>/dev/null
    case $err in
    *'needs the program gconv-lab'*) needs_lab ;; # a build may leave it out
    esac
    if [ "$status" -ne "$wanted" ]; then
        printf '%s\nstatus %s instead of %s\nstdout: %.500s\nstderr: %s\n' \
            "$*" "$status" "$wanted" "$out" "$err"
        return 1
    fi
}

# silently COMMAND...: it succeeds and prints nothing.
silently() {
    expect 0 "$@"
    same "$out$err" ''
}

# tells STATUS PATTERN COMMAND...: it ends with STATUS, and what it prints on stderr is like the pattern.
tells() {
    local wanted=$1 pattern=$2
    shift 2
    expect "$wanted" "$@"
    like "$err" "$pattern"
}

# prints STATUS PATTERN COMMAND...: the same of what it prints on stdout.
prints() {
    local wanted=$1 pattern=$2
    shift 2
    expect "$wanted" "$@"
    like "$out" "$pattern"
}

# complains STATUS PATTERN COMMAND...: it prints nothing on stdout, and on stderr one line that is
# "gconv: " and the pattern.
complains() {
    local wanted=$1 pattern=$2
    shift 2
    expect "$wanted" "$@"
    same "$out" ''
    like "$err" "gconv: $pattern"
    is_one_line "$BATS_TEST_TMPDIR/err"
}

# ---- Comparing -----------------------------------------------------------------------------------

# same GOT WANTED: fails, showing both, unless they are equal.
same() {
    [ "$1" = "$2" ] && return
    printf 'got:    %s\nwanted: %s\n' "$1" "$2"
    return 1
}

# like GOT PATTERN: fails, showing both, unless the pattern (as of `case`) matches.
like() {
    # shellcheck disable=SC2254
    case $1 in $2) return ;; esac
    printf 'got:    %s\nwanted: %s\n' "$1" "$2"
    return 1
}

# same_list WHAT GOT WANTED: fails, showing the differences, unless the lines are equal and there are
# some.
same_list() {
    local differences
    if [ -z "$3" ]; then
        echo "$1: nothing is wanted"
        return 1
    fi
    differences=$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3")) || {
        printf '%s: < got, > wanted\n%s\n' "$1" "$differences"
        return 1
    }
}

# is_one_line FILE: fails unless it holds one line, with its end.
is_one_line() {
    local line rest
    { IFS= read -r line && ! IFS= read -r rest && [ -z "$rest" ]; } <"$1"
}
