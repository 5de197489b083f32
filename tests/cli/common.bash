# What the tests of the command line share, beside ../common.bash.
#
#     TESTS   where make_image, json and gconv_faulty were built
#     BUILD   the build directory
# shellcheck shell=bash

load ../common

FAULTY=$TESTS/gconv_faulty
MAKE_IMAGE=$TESTS/make_image

make_image() { "$MAKE_IMAGE" make "$@"; }
dump() { "$MAKE_IMAGE" dump "$1"; }

# Two small images, for tests that do not care for their pixels.
setup_images() {
    make_image png:grey in.png 40 30 noise
    make_image pgm other.pgm 8 3 noise
}

# An input, an output that is there already, and a copy of that: whether a failure left it alone.
setup_old() {
    make_image png:grey in.png 90 70 noise
    make_image png:rgb old.png 3 3 noise
    cp old.png kept.png
}

# The rows of an image, without the line that describes it, on one line.
rows() { "$MAKE_IMAGE" dump "$1" | tail -n +2 | paste -sd / -; }

# makes FILE PATTERN COMMAND...: it prints nothing, and the line that describes the image FILE is then
# like the pattern.
makes() {
    local file=$1 pattern=$2
    shift 2
    silently "$@"
    like "$(dump "$file" | head -n 1)" "$pattern"
}

# gives FILE WANTED COMMAND...: it prints nothing, and FILE is then the same as WANTED.
gives() {
    local file=$1 wanted=$2
    shift 2
    silently "$@"
    cmp "$wanted" "$file"
}

# holds NAME...: fails unless these are the names in the directory, temporary files included.
holds() {
    same "$(find . -mindepth 1 | sed 's,^\./,,' | LC_ALL=C sort | paste -sd ' ' -)" "$*"
}

# is_json: fails unless $out is valid JSON, one value a line.
is_json() { printf '%s\n' "$out" | "$TESTS/json"; }

# json STATUS COMMAND...: it ends with STATUS and prints valid JSON, which $out is then.
json() {
    expect "$@"
    is_json
}

# key NAME: the values of a key in $out, which is JSON, in order.
key() { printf '%s\n' "$out" | "$TESTS/json" "$1"; }

# names_of KIND: the implementations of the registry that run on a "cpu", or on a "cuda" device.
names_of() {
    gconv info --json | grep -o '{"name": [^{}]*"kind": "'"$1"'"' | cut -d '"' -f 4
}

has_gpu() { "$GCONV" info | grep -q '^  cuda:0 '; }

# wait_for CONDITION...: until the command succeeds, for five seconds.
wait_for() {
    for _ in $(seq 500); do
        "$@" && return
        sleep 0.01
    done
    echo "waited in vain: $*"
    return 1
}
