#!/usr/bin/env bats
# How gconv finds, checks and loads its CUDA module. Modules of tests/modules stand in for it, and
# copies of the program lie in installations of their own, without the module of this build.
# shellcheck disable=SC2154 # expect sets out and err

load common

MODULES=$TESTS/modules

# The installation that the tests try, and what gconv calls the place of the module there.
prepare() {
    mkdir -p prefix/bin
    cp "$GCONV" prefix/bin/gconv
    GCONV=$WORK/prefix/bin/gconv
    export GC_TEST_LOADED=$WORK/loaded
    make_image png:grey small.png 40 30 noise
    PLACE=$(reason | sed -n 's/^there is no CUDA module \(.*\)$/\1/p')
    [ -n "$PLACE" ]
}

# Why there is no GPU, as `info` says it in one line.
reason() {
    gconv info | sed -n 's/^  cuda      none: //p'
}

# cpu_works REASON: the CPU computes, --device cuda fails with the reason, and info tells it.
cpu_works() {
    expect 0 gconv edges small.png out.png
    like "$(reason)" "$1"
    expect 0 gconv info --json
    like "$out" "*\"cuda_reason\": \"*"
    complains 4 "no implementation can run on device 'cuda': $1" gconv edges --device cuda small.png out.png
}

@test "without a module the CPU works, and gconv says where it looked" {
    prepare
    like "$PLACE" "$WORK/prefix/*/libgconv-$(gconv --version | sed -n 's/^gconv \([0-9]*\.[0-9]*\)\..*/\1/p')/libgconv-cuda.so"
    cpu_works "there is no CUDA module $PLACE"
    expect 0 gconv filter --explain -k box3 small.png out.png
    same "$(grep -cE '^cuda +(not looked for: a GPU would take [0-9.]+ ms at least, with its start|is not part of this build)$' <<<"$err")" 1
}

@test "the installed module is found, also where the installation was moved or is called by a link" {
    prepare
    mkdir -p "$(dirname "$PLACE")"
    cp "$MODULES/right.so" "$PLACE"
    same "$(reason)" 'this is the module of a test'
    expect 0 gconv info
    like "$out" "*
  module    $PLACE (by a test)
*"
    mv prefix "it's moved"
    ln -s "it's moved/bin/gconv" elsewhere
    GCONV=$WORK/elsewhere
    same "$(reason)" 'this is the module of a test'
    expect 0 gconv info
    like "$out" "*
  module    $WORK/it's moved/*"
    PATH=$WORK/it\'s\ moved/bin:$PATH
    same "$(command gconv info | grep -c 'this is the module of a test')" 1
}

@test "GCONV_CUDA_MODULE comes before the installed module; empty, it is not set" {
    prepare
    export GCONV_CUDA_MODULE=$MODULES/right.so
    same "$(reason)" 'this is the module of a test'
    mkdir -p "$(dirname "$PLACE")"
    cp "$MODULES/right.so" "$PLACE"
    expect 0 gconv info
    like "$out" "*
  module    $MODULES/right.so (by a test)
*"
    GCONV_CUDA_MODULE=$WORK/nothing.so
    cpu_works "there is no CUDA module $WORK/nothing.so"
    cp "$MODULES/right.so" here.so
    GCONV_CUDA_MODULE=here.so
    same "$(reason)" 'this is the module of a test'
    GCONV_CUDA_MODULE=
    expect 0 gconv info
    like "$out" "*
  module    $PLACE (by a test)
*"
}

@test "a module of another build, a foreign, broken or cut library is refused with the reason" {
    prepare
    module() {
        mkdir -p "$(dirname "$PLACE")"
        cp "$1" "$PLACE"
    }
    module "$MODULES/other_version.so"
    cpu_works "the CUDA module $PLACE is of gconv 9.8.7, and this is gconv *"
    module "$MODULES/other_interface.so"
    cpu_works "the CUDA module $PLACE was built from other sources than this gconv *"
    module "$MODULES/foreign.so"
    cpu_works "$PLACE is no CUDA module of gconv"
    module "$MODULES/unresolved.so"
    cpu_works "cannot load the CUDA module: $PLACE: undefined symbol: gc_test_nobody_has_this*"
    local size part
    size=$(stat -c %s "$MODULES/right.so")
    for part in 1000 4096 $((size / 3)) $((size / 2)); do
        head -c "$part" "$MODULES/right.so" >"$PLACE"
        cpu_works "the CUDA module $PLACE is not a whole file"
    done
    : >"$PLACE"
    cpu_works "cannot load the CUDA module: $PLACE: *"
    echo 'a text' >"$PLACE"
    cpu_works "cannot load the CUDA module: $PLACE: *"
    rm "$PLACE"
    mkfifo "$PLACE"
    cpu_works "the CUDA module $PLACE is not a whole file"
    rm "$PLACE"
    mkdir "$PLACE"
    cpu_works "the CUDA module $PLACE is not a whole file"
}

@test "the module is loaded where a GPU is asked for, and nowhere else" {
    prepare
    export GCONV_CUDA_MODULE=$MODULES/right.so
    loads() { # loads NUMBER ARGUMENT...: so many times
        rm -f loaded
        "$GCONV" "${@:2}" >/dev/null 2>&1 || true
        same "$(cat loaded 2>/dev/null | wc -l)" "$1"
    }
    loads 0 --version
    loads 0 help
    loads 0 kernel gauss5
    loads 0 edges small.png out.png
    loads 0 edges --device cpu small.png out.png
    loads 0 filter -k box:3 -o outs small.png small.png
    loads 1 edges --device cuda small.png out.png
    loads 1 edges --impl naive small.png out.png
    loads 1 edges --decoder cuda small.png out.png
    loads 1 info
}

@test "a set-user-id program heeds no GCONV_CUDA_MODULE and no link to it" {
    [ "$(id -u)" = 0 ] || skip 'only root can make one for another user'
    needs setpriv
    [ -z "${SANITIZE-}" ] || skip 'sanitizers do not run set-user-id'
    prepare
    mkdir -p "$(dirname "$PLACE")"
    cp "$MODULES/right.so" "$PLACE"
    chmod 4755 prefix/bin/gconv
    local directory=$WORK
    while [ "$directory" != / ]; do
        chmod o+x "$directory"
        directory=$(dirname "$directory")
    done
    rm -f loaded
    out=$(GCONV_CUDA_MODULE=$MODULES/right.so setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$GCONV" info)
    like "$out" '*
  cuda      none: a set-user-id program that contains gconv loads no CUDA module
*'
    [ ! -e loaded ]
}
