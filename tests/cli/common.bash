# What all command-line tests share. Each test runs in an empty directory of its own.
#
#     GCONV   the program            TESTS    where make_image and gconv_faulty were built
#     BUILD   the build directory    SOURCE   the top of the source tree

FAULTY=$TESTS/gconv_faulty
MAKE_IMAGE=$TESTS/make_image
unset POSIXLY_CORRECT GCONV_INSTRUCTIONS GCONV_CUDA_MEMORY

setup() {
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return 1
}

gconv() { "$GCONV" "$@"; }
make_image() { "$MAKE_IMAGE" make "$@"; }
dump() { "$MAKE_IMAGE" dump "$1"; }

# The rows of an image, without the line that describes it, on one line.
rows() { "$MAKE_IMAGE" dump "$1" | tail -n +2 | paste -sd / -; }

# expect STATUS COMMAND...: runs a command, keeps what it says in $out and $err, fails unless it ends
# with STATUS.
expect() {
    local wanted=$1 status=0
    shift
    "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
    { # bash drops NUL bytes, and says so
        out=$(<"$BATS_TEST_TMPDIR/out")
        err=$(<"$BATS_TEST_TMPDIR/err")
    } 2>/dev/null
    if [ "$status" -ne "$wanted" ]; then
        printf '%s\nstatus %s instead of %s\nstdout: %.500s\nstderr: %s\n' \
            "$*" "$status" "$wanted" "$out" "$err"
        return 1
    fi
}

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

# succeeds / refuses / fails MESSAGE COMMAND...: what is said, and on which stream.
silently() {
    expect 0 "$@"
    same "$out$err" ''
}

# complains STATUS MESSAGE COMMAND...: nothing on stdout, one line on stderr that is "gconv: " and the
# pattern.
complains() {
    local wanted=$1 pattern=$2
    shift 2
    expect "$wanted" "$@"
    same "$out" ''
    like "$err" "gconv: $pattern"
    is_one_line "$BATS_TEST_TMPDIR/err"
}

# is_one_line FILE: fails unless it holds one line, with its end.
is_one_line() {
    local line rest
    { IFS= read -r line && ! IFS= read -r rest && [ -z "$rest" ]; } <"$1"
}

# holds WANTED...: fails unless these are the names in the directory, temporary files included.
holds() {
    same "$(find . -mindepth 1 | sed 's,^\./,,' | LC_ALL=C sort | paste -sd ' ' -)" "$*"
}

valid_json() {
    command -v python3 >/dev/null || skip "no python3"
    python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)'
}

# key NAME: the values of a key in $out, which is JSON, in order.
key() {
    command -v python3 >/dev/null || skip "no python3"
    printf '%s\n' "$out" | python3 -c 'import json, sys
def walk(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == sys.argv[1]: print(inner)
            walk(inner)
    elif isinstance(value, list):
        for inner in value: walk(inner)
for line in sys.stdin: walk(json.loads(line))' "$1"
}

has_gpu() { "$GCONV" info | grep -q '^  cuda:0 '; }

needs() {
    command -v "$1" >/dev/null || skip "no $1"
}
