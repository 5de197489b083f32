#!/usr/bin/env bats
# Progress, as it is drawn on standard error.

load common

# What a command that draws progress has on stderr, a drawing a line, without the codes of the terminal.
bare() { tr '\r' '\n' <"$BATS_TEST_TMPDIR/err" | sed 's/\x1b\[K//g' | sed '/^$/d'; }

@test "--progress always, auto and never" {
    setup_images
    prints 0 '' gconv edges --progress always in.png out.png
    like "$(bare)" '*[0-9] %  in.png'
    silently gconv edges --progress never in.png out.png
    silently gconv edges --progress auto in.png out.png # stderr is no terminal
    expect 1 gconv edges --progress always -j 1 -o out in.png none.png
    like "$(bare)" '*[0-9] %, 0 of 2 done  in.png
*gconv: none.png: cannot open: No such file or directory
gconv: failed: none.png
gconv: 1 of 2 images done, 1 failed, 0 skipped'
}

@test "progress of a batch tells what has failed, and how many images a second" {
    make_image pgm slow.pgm 250 250 noise
    mkdir in
    for i in $(seq 300); do ln slow.pgm in/$i.pgm; done
    # Images are finished one after the other, for two seconds.
    mkfifo names
    { printf 'none.png\n'; for i in $(seq 60); do echo in/$i.pgm; sleep 0.04; done; } >names &
    expect 1 gconv edges --progress always -j 1 --files-from names -o out
    like "$(bare)" '*[0-9] done, 1 failed, [1-9]*/s  in/*'
    rm -r out
    for i in $(seq 40); do mkfifo in/pipe$i.pgm; done
    (for i in $(seq 40); do sleep 0.05; cat slow.pgm >"$(printf 'in/pipe%d.pgm' "$i")"; done) &
    # shellcheck disable=SC2046
    expect 1 gconv edges --progress always -j 1 -o out none.png $(seq -f 'in/pipe%g.pgm' 40)
    like "$(bare)" '* %, [1-9]* of 41 done, 1 failed, [1-9]*/s, 0:0[0-9] left  in/pipe*.pgm*'
    same "$(bare | grep -v ^gconv: | awk 'length > 79')" ''
}

@test "progress of check --verify counts the images of the journal" {
    mkdir in
    for i in 1 2 3 4 5 6 7 8; do make_image pgm in/$i.pgm 900 900 noise; done
    gconv edges -q --journal j -o out in
    prints 0 '8 images: 8 verified' gconv check --verify --threads 1 --progress always --journal j
    like "$(bare)" '*[0-9] %, 0 of 8 done  *'
    same "$(bare | grep -v ' of 8 done')" '' # also while an image is computed
}

@test "a summary gives the rate and names the failed, where progress is drawn" {
    setup_images
    expect 1 gconv edges --progress always -j 1 -o out in.png other.pgm none.png
    like "$(bare)" '*
gconv: 2 images in [0-9]*.[0-9]* s, [0-9]*.[0-9] a second
gconv: failed: none.png
gconv: 2 of 3 images done, 1 failed, 0 skipped'
    expect 1 gconv edges -q --progress always -o out in.png other.pgm none.png
    like "$(bare)" '*gconv: none.png: cannot open: No such file or directory'
    # More than ten are not named. Names are escaped, and long ones cut.
    long=$(printf '%0200d' 0)
    # shellcheck disable=SC2046
    expect 1 gconv edges --progress always -j 1 -o out in.png other.pgm "$(printf 'new\nline')" "$long" $(seq -f '%g.png' 12)
    like "$(bare | tail -n 3)" 'gconv: 2 images in *
gconv: failed: new\\nline, ...000*, 1.png, 2.png, * 8.png and 4 more
gconv: 2 of 16 images done, 14 failed, 0 skipped'
    # Nothing of this in a pipe or a file.
    expect 1 gconv edges -v -o out in.png other.pgm none.png
    like "$err" '*out/other.png by *
gconv: none.png: cannot open: No such file or directory
gconv: 2 of 3 images done, 1 failed, 0 skipped'
    silently gconv edges -o out in.png other.pgm
}

@test "progress runs while the reference computes" {
    make_image pgm in.pgm 450 450 noise
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
    same "$(bare | grep -v ^gconv: | awk 'length > 79')" ''
}

@test "compare and bench show progress" {
    setup_images
    expect 0 gconv compare --time 0.01 --impl cpu --progress always in.png
    like "$(bare)" '* %  the reference*[0-9] %  cpu*'
    expect 0 gconv bench --time 0.01 --impl cpu --progress always -k box3
    like "$(bare)" '*[0-9] %  cpu*'
    tells 0 '' gconv bench --time 0.01 --impl cpu --progress never -k box3
}

@test "the progress line fits a narrow terminal" {
    script --version 2>/dev/null | grep -q util-linux || skip 'no script(1) of util-linux'
    script -qec true /dev/null >/dev/null 2>&1 || skip 'no pseudo-terminal here'
    make_image pgm a-name-that-is-longer-than-a-line.pgm 50 50 noise
    export GCONV
    script -qec 'stty cols 30; "$GCONV" edges --progress always a-name*.pgm out.png' drawn </dev/null >/dev/null
    tr '\r' '\n' <drawn | sed 's/\x1b\[K//g' | grep ' %  a-name' >lines
    same "$(awk 'length > 29' lines)" ''
}
