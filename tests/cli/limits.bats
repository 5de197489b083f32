#!/usr/bin/env bats
# Limits of the system. Whatever runs out, either the result is right; or one line says what is wrong, the
# old output is unchanged, and no other file is left.

load common

# bears OUTPUT COMMAND...: fails unless the command either ends with 0 and OUTPUT equals the file `right`;
# or ends with 1 and one message, and OUTPUT still equals kept.png.
bears() {
    local output=$1 status=0
    shift
    "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || status=$?
    if [ $status -eq 0 ]; then
        cmp "$output" "$BATS_TEST_TMPDIR/right"
        [ ! -s "$BATS_TEST_TMPDIR/err" ]
        cp kept.png "$output"
    else
        same $status 1
        like "$(cat "$BATS_TEST_TMPDIR/err")" 'gconv: *'
        same "$(wc -l <"$BATS_TEST_TMPDIR/err" | tr -d ' ')" 1
        cmp "$output" kept.png
    fi
    ends="$ends$status"
}

# as_nobody DIRECTORY COMMAND...: runs the command as another user, who gets the directory, where the tests
# run as root. Permissions and limits on processes do not bind root.
as_nobody() {
    local directory=$1
    shift
    if [ "$(id -u)" -ne 0 ]; then
        "$@"
        return
    fi
    chown 65534 "$directory"
    setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all -- "$@"
}

# needs_nobody: skips where as_nobody would not work. Leaves, in $open, a directory that nobody may use,
# with a program in it that nobody may run.
needs_nobody() {
    open=$(mktemp -d "${TMPDIR:-/tmp}/gconv-limits-XXXXXX")
    chmod 755 "$open"
    cp "$GCONV" "$open/gconv"
    chmod 755 "$open/gconv"
    # The search for leaks needs a thread.
    ASAN_OPTIONS=detect_leaks=0 as_nobody "$open" "$open/gconv" --version >/dev/null 2>&1 ||
        skip "no other user to run as"
}

teardown() {
    [ -z "${open-}" ] || rm -r "$open"
    [ -z "${mounted-}" ] || umount "$mounted"
}

# ---- Processes, memory, descriptors

@test "no thread to be had" {
    needs_nobody
    cd "$open"
    setup_old
    make_image pgm tall.pgm 60 1500 noise
    chmod a+r ./*
    limited=(as_nobody "$open" env ASAN_OPTIONS=detect_leaks=0
        bash -c 'ulimit -u 1; exec "$0" "$@"' ./gconv)
    silently gconv filter -k box:9 -j 4 tall.pgm right.pgm
    gives made.pgm right.pgm "${limited[@]}" filter -k box:9 -j 4 tall.pgm made.pgm
    silently "${limited[@]}" edges -j 4 -o out in.png tall.pgm old.png
    (cd out && holds in.png old.png tall.png)
    expect 0 "${limited[@]}" compare -j 4 -i reference,cpu --time 0.001 in.png
}

@test "less and less memory" {
    [ -z "${SANITIZE-}" ] || skip "sanitizers take all addresses there are"
    setup_old
    make_image ppm big.ppm 2000 1000 noise
    silently gconv filter -k gauss3 -j 4 big.ppm "$BATS_TEST_TMPDIR/right.png"
    mv "$BATS_TEST_TMPDIR/right.png" "$BATS_TEST_TMPDIR/right"
    ends=
    for ((least = 1000; least < 1000000; least += 500)); do
        sh -c 'ulimit -v $1; "$0" --version' "$GCONV" $least >/dev/null 2>&1 && break
    done
    for more in 0 300 600 1000 1500 2500 4000 7000 12000 40000 90000 200000; do
        bears old.png sh -c 'ulimit -v $1; shift; exec "$0" "$@"' "$GCONV" $((least + more)) \
            filter -k gauss3 -j 4 big.ppm old.png
    done
    like "$ends" '1*0'
    holds big.ppm in.png kept.png old.png
}

@test "memory for one image at a time is enough for a batch" {
    [ -z "${SANITIZE-}" ] || skip "sanitizers take all addresses there are"
    make_image png:rgb in.png 1200 1200 flat
    mkdir in
    for number in 1 2 3 4 5 6; do cp in.png in/$number.png; done
    for ((least = 8000; least < 1000000; least += 1000)); do
        sh -c 'ulimit -v $1; "$0" filter -k laplace3 --offset 128 -j 1 -o out in' "$GCONV" $least >/dev/null 2>&1 && break
    done
    for more in 0 6000 24000 100000 400000; do
        silently sh -c 'ulimit -v $1; "$0" filter -k laplace3 --offset 128 -j 64 -o out in' "$GCONV" $((least + more))
    done
}

@test "memory for a few images is enough for a long list, and for a long journal" {
    [ -z "${SANITIZE-}" ] || skip "sanitizers take all addresses there are"
    make_image pgm in.pgm 64 64 noise
    echo in.pgm >list
    limited() {
        sh -c 'ulimit -v $1; shift; exec "$0" "$@"' "$GCONV" "$1" edges -q -j 1 -o out "${@:2}" 2>/dev/null
    }
    for ((least = 8000; least < 1000000; least += 2000)); do
        limited $least --files-from list && break
    done
    # 90000 names: 32 bytes each, in a table that doubles.
    seq -f 'none/%g.pgm' 90000 >names
    cat list >>names
    status=0
    limited $((least + 10000)) --files-from names --on-error continue || status=$?
    same $status 1
    rm -r out
    # A journal of 15 MB: 16 bytes an image.
    limited $((least + 8000)) --files-from list --journal j
    line=$(tail -n 1 j)
    awk -v rest="${line#*\", }" 'BEGIN { for (i = 0; i < 30000; i++) printf "{\"id\": \"%016x\", %s\n", i, rest }' >>j
    [ "$(stat -c %s j)" -gt 12000000 ]
    limited $((least + 8000)) --files-from list --journal j
}

@test "less and less descriptors" {
    setup_old
    silently gconv edges in.png "$BATS_TEST_TMPDIR/right.png"
    mv "$BATS_TEST_TMPDIR/right.png" "$BATS_TEST_TMPDIR/right"
    ends=
    for ((least = 4; least < 100; least++)); do # fewer, and the program cannot be loaded
        sh -c 'ulimit -n $1; "$0" --version' "$GCONV" $least >/dev/null 2>&1 && break
    done
    for more in 0 1 2 3 4 8; do
        bears old.png sh -c 'ulimit -n $1; shift; exec "$0" "$@"' "$GCONV" $((least + more)) \
            edges in.png old.png
    done
    like "$ends" '1*0'
    for number in 1 2 3 4 5 6; do cp in.png in$number.png; done
    for more in 0 1 2 3 4; do
        status=0
        sh -c 'ulimit -n $1; shift; exec "$0" "$@"' "$GCONV" $((least + more)) \
            edges -j 4 -o out$more in?.png 2>err || status=$?
        made=$(find out$more -name 'in?.png' 2>/dev/null | wc -l)
        failed=$(grep -c '^gconv: .*: Too many open files$' err) || true
        [ $status -eq 0 ] || like "$(tail -n 1 err)" "gconv: $made of 6 images done, $failed failed, 0 skipped"
        same "$((made + failed)) $((failed > 0))" "6 $status"
        same "$(find out$more -name '.*' 2>/dev/null | wc -l | tr -d ' ')" 0
    done
}

@test "few descriptors: fewer images at one time, and none fails that can be computed alone" {
    setup_old
    mkdir in
    for number in $(seq 40); do cp in.png in/$number.png; done
    for ((least = 4; least < 100; least++)); do
        sh -c 'ulimit -n $1; "$0" edges --in-place in/1.png' "$GCONV" $least >/dev/null 2>&1 && break
    done
    for more in 0 1 2 3 5 8 16; do
        silently sh -c 'ulimit -n $1; "$0" edges -j 16 -o out$1 in' "$GCONV" $((least + more))
    done
    for more in 1 2 3 5 8 16; do # a list is open, too
        find in -name '*.png' | silently sh -c 'ulimit -n $1; "$0" edges -j 16 --files-from - -o list$1' \
            "$GCONV" $((least + more))
    done
}

@test "a limit on the size of files is a failed write, with a message, on each way out" {
    make_image png:grey big.png 300 300 noise
    limited=(python3 -c 'import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
os.execv(sys.argv[1], sys.argv[1:])' "$GCONV")
    needs python3
    for way in 'big.png out.pgm' '-o out big.png' '--in-place big.png'; do
        tells 1 'gconv: *: cannot write: File too large*' "${limited[@]}" filter -k box3 --depth 16 $way
    done
    expect 1 "${limited[@]}" filter -k box3 --depth 16 big.png -
    same "$err" 'gconv: standard output: cannot write: File too large'
    for i in $(seq 60); do make_image pgm a$i.pgm 2 2 5; done
    tells 1 '*gconv: j: *File too large*' "${limited[@]}" edges -j 1 --journal j -o out a*.pgm
}

# ---- Room

@test "a limit on the size of files, in a batch and on standard output" {
    setup_old
    make_image png:grey big.png 300 300 noise
    mkdir out
    cp kept.png out/big.png
    limited=(sh -c 'ulimit -f 8; exec "$0" "$@"' "$GCONV" filter -k identity --depth 16)
    expect 1 "${limited[@]}" -o out big.png old.png
    same "$err" 'gconv: out/big.png: cannot write: File too large
gconv: 1 of 2 images done, 1 failed, 0 skipped'
    (cd out && holds big.png old.png)
    cmp out/big.png kept.png
    tells 1 'gconv: standard output: cannot write: File too large' "${limited[@]}" big.png -
}

@test "a full disk, in a batch, and one without inodes" {
    setup_old
    mkdir disk
    mount -t tmpfs -o size=96k tmpfs disk 2>/dev/null || skip "cannot mount"
    mounted=$PWD/disk
    make_image png:grey big.png 300 300 noise
    cp kept.png disk/big.png
    # One after the other: while the first fills the disk, there is no room for the second.
    expect 1 gconv filter -k identity --depth 16 -j 1 -o disk big.png old.png
    same "$err" 'gconv: disk/big.png: cannot write: No space left on device
gconv: 1 of 2 images done, 1 failed, 0 skipped'
    (cd disk && holds big.png old.png)
    cmp disk/big.png kept.png
    mount -o remount,nr_inodes=3 disk
    complains 1 'disk/new.png: cannot create: No space left on device' gconv edges in.png disk/new.png
    complains 1 'disk/more: cannot make the directory: No space left on device' \
        gconv edges -o disk/more in.png
    complains 1 'disk/big.png: cannot create: No space left on device' gconv edges in.png disk/big.png
    cmp disk/big.png kept.png
    (cd disk && holds big.png old.png)
}

# ---- Directories

@test "a directory that may not be written to" {
    needs_nobody
    cd "$open"
    setup_old
    mkdir out
    cp old.png out/old.png
    chmod 777 out/old.png
    chmod 555 out
    chmod a+r ./*
    export ASAN_OPTIONS=detect_leaks=0
    complains 1 'out/new.png: cannot create: Permission denied' as_nobody "$open" ./gconv edges in.png out/new.png
    complains 1 'out/old.png: cannot create: Permission denied' as_nobody "$open" ./gconv edges in.png out/old.png
    expect 1 as_nobody "$open" ./gconv edges -o out in.png old.png
    same "$err" 'gconv: out/in.png: cannot create: Permission denied
gconv: out/old.png: cannot create: Permission denied
gconv: 0 of 2 images done, 2 failed, 0 skipped'
    (cd out && holds old.png)
    cmp out/old.png kept.png
    chmod 755 out
}

@test "a journal that may not be written to" {
    needs_nobody
    cd "$open"
    setup_old
    gconv edges --journal j -o out in.png
    cp j kept.j
    chmod 444 j
    chmod 777 out
    chmod a+r ./*
    export ASAN_OPTIONS=detect_leaks=0
    complains 1 'j: cannot open the journal: Permission denied' \
        as_nobody "$open" ./gconv edges --journal j -o out in.png old.png
    complains 1 'new.j: cannot open the journal: Permission denied' \
        as_nobody "$open" sh -c 'chmod 555 . && exec ./gconv edges --journal new.j -o out old.png'
    cmp j kept.j
    (cd out && holds in.png)
    expect 0 as_nobody "$open" ./gconv check --journal j # which only reads
    same "$out" '1 image: 1 as recorded'
}

@test "a file system that may not be written to" {
    setup_old
    mkdir disk
    cp old.png disk/old.png
    mount --bind disk disk 2>/dev/null || skip "cannot mount"
    mounted=$PWD/disk
    mount -o remount,ro,bind disk 2>/dev/null || skip "cannot mount read-only"
    complains 1 'disk/new.png: cannot create: Read-only file system' gconv edges in.png disk/new.png
    complains 1 'disk/old.png: cannot replace: Read-only file system' gconv edges in.png disk/old.png
    complains 1 'disk/out: cannot make the directory: Read-only file system' \
        gconv edges -o disk/out in.png
    (cd disk && holds old.png)
    cmp disk/old.png kept.png
}

# half_way OUTPUT: starts gconv, as $pid, gives it half of its input, and waits for its temporary file.
# `finish` gives it the rest.
half_way() {
    [ -p pipe ] || mkfifo pipe
    "$GCONV" filter -k identity pipe "$1" 2>err &
    pid=$!
    exec 9>pipe
    head -c 3000 in.png >&9
    for _ in $(seq 1000); do
        ls "$(dirname "$1")"/.*.gconv-* >/dev/null 2>&1 && return
        sleep 0.02
    done
    return 1
}

finish() {
    tail -c +3001 in.png >&9
    exec 9>&-
    status=0
    wait $pid || status=$?
}

@test "an output directory that is removed meanwhile" {
    setup_old
    mkdir out
    half_way out/new.png
    rm -r out
    finish
    same "$status $(cat err)" '1 gconv: out/new.png: cannot name the output: No such file or directory'
    holds err in.png kept.png old.png pipe
}

# ---- Ends that cannot be caught

@test "SIGKILL leaves the old output, and the next run works" {
    setup_old
    half_way old.png
    kill -s KILL $pid
    exec 9>&-
    status=0
    wait $pid || status=$?
    same $status 137
    cmp old.png kept.png
    same "$(find . -name '.old.png.gconv-*' | wc -l | tr -d ' ')" 1
    half_way old.png
    finish
    same "$status $(cat err)" '0 '
    same "$(dump old.png)" "$(dump in.png)"
    same "$(find . -name '.old.png.gconv-*' | wc -l | tr -d ' ')" 1
}
