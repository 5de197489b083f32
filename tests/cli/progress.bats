#!/usr/bin/env bats
# Progress, as it is drawn on standard error.

load common

# What a command that draws progress has on stderr, a drawing a line, without the codes of the terminal.
bare() { tr '\r' '\n' <"$BATS_TEST_TMPDIR/err" | sed 's/\x1b\[K//g' | sed '/^$/d'; }

@test "--progress always, auto and never" {
    setup_images
    expect 0 gconv edges --progress always in.png out.png
    same "$out" ''
    like "$(bare)" '*[0-9] %  in.png'
    silently gconv edges --progress never in.png out.png
    silently gconv edges --progress auto in.png out.png # stderr is no terminal
    expect 1 gconv edges --progress always -j 1 -o out in.png none.png
    like "$(bare)" '*[0-9] %, 0 of 2 done  in.png
gconv: none.png: cannot open: No such file or directory
gconv: 1 of 2 images done, 1 failed, 0 skipped'
}

@test "progress runs while the reference computes" {
    make_image pgm in.pgm 300 300 noise
    for arguments in 'filter --impl reference in.pgm out.png' 'filter --verify --impl cpu in.pgm out.png' \
        'compare --time 0.01 -i cpu in.pgm'; do
        # shellcheck disable=SC2086
        expect 0 gconv $arguments -k box:33 --progress always
        bare >drawn
        # Drawn again while it computed: neither at the beginning nor at the end.
        grep -qE '^ *[1-9][0-9]? %' drawn || { cat drawn; return 1; }
    done
}

@test "progress tells the time that is left, within the line" {
    make_image png:grey in.png 9 7 noise
    mkfifo pipe.png
    name=$(printf '%0200d' 0).png
    cp in.png "$name"
    { sleep 1.1; cat in.png; } >pipe.png &
    expect 0 gconv edges --progress always -j 1 -o out in.png pipe.png "$name"
    like "$(bare)" '* %, 1 of 3 done, 0:0[1-9] left  pipe.png*'
    same "$(bare | awk 'length > 79')" ''
}

@test "compare and bench show progress" {
    setup_images
    expect 0 gconv compare --time 0.01 --impl cpu --progress always in.png
    like "$(bare)" '* %  the reference*[0-9] %  cpu*'
    expect 0 gconv bench --time 0.01 --impl cpu --progress always -k box3
    like "$(bare)" '*[0-9] %  cpu*'
    expect 0 gconv bench --time 0.01 --impl cpu --progress never -k box3
    same "$err" ''
}
