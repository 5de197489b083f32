#!/usr/bin/env bats
# gconv edges, end to end: pixels worked out by hand.

load common

# A step of 85 in one row. Smoothed and differentiated, undivided, it is 17 * 85 * (2 2 1 -1 -2 -2)
# from the sixth pixel on, and 17 * 17 = 289 divides: responses of 10 10 5 -5 -10 -10, all exact.
setup_step() {
    make_image png:grey step.png 16 1 0 0 0 0 0 0 0 0 85 85 85 85 85 85 85 85
}

# edges_are WANTED OPTIONS...: the row of a 1-bit PNG.
edges_are() {
    local wanted=$1
    shift
    silently gconv edges "$@" step.png out.png
    same "$(rows out.png)" "$wanted"
}

@test "the threshold is 5 and strict" {
    setup_step
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --threshold 5
    edges_are '0 0 0 0 0 1 1 1 1 1 1 0 0 0 0 0' --threshold 4.9999999
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --threshold 9.9999999
    edges_are '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0' --threshold 10
    edges_are '0 0 0 0 0 1 1 1 1 1 1 0 0 0 0 0' --threshold 0
    edges_are '0 0 0 0 0 1 1 1 1 1 1 0 0 0 0 0' --threshold 0x1p-3
}

@test "--rule picks the side, --invert swaps" {
    setup_step
    edges_are '0 0 0 0 0 1 1 0 0 0 0 0 0 0 0 0' --rule positive
    edges_are '0 0 0 0 0 0 0 0 0 1 1 0 0 0 0 0' --rule negative
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --rule abs
    edges_are '1 1 1 1 1 0 0 1 1 0 0 1 1 1 1 1' --invert
    edges_are '1 1 1 1 1 0 0 1 1 1 1 1 1 1 1 1' --invert --rule positive
}

@test "the threshold is in 8-bit levels at 16 bits, too" {
    make_image png:grey:16 step.png 16 1 0 0 0 0 0 0 0 0 21845 21845 21845 21845 21845 21845 21845 21845
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    edges_are '0 0 0 0 0 1 1 1 1 1 1 0 0 0 0 0' --threshold 4.9999
    edges_are '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0' --threshold 10
}

@test "borders count" {
    make_image png:grey step.png 4 1 0 0 0 85
    edges_are '1 1 0 1' --border mirror
    edges_are '0 0 0 1' --border wrap
    edges_are '1 0 1 1' --border wrap --threshold 4.9
    edges_are '1 1 0 1' --border replicate
    make_image png:grey step.png 3 1 100
    edges_are '0 0 0'
    edges_are '1 1 1' --border zero
    edges_are '0 0 0' --border constant:100
}

@test "depth and levels of every output format" {
    setup_step
    silently gconv edges step.png out.png
    like "$(dump out.png)" 'png grey 1 16x1
*'
    silently gconv edges --depth 8 step.png out.png
    like "$(dump out.png)" 'png grey 8 16x1
0 0 0 0 0 255 255 0 *'
    silently gconv edges --depth 16 step.png out.png
    like "$(dump out.png)" 'png grey 16 16x1
0 0 0 0 0 65535 65535 0 *'
    silently gconv edges step.png out.pgm
    same "$(dump out.pgm)" 'pgm grey 8 16x1
0 0 0 0 0 255 255 0 0 255 255 0 0 0 0 0'
    silently gconv edges --depth 1 step.png out.pgm
    same "$(dump out.pgm)" 'pgm grey 8 16x1 maxval=1
0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    silently gconv edges step.png out.ppm
    like "$(dump out.ppm)" 'ppm rgb 8 16x1
0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 255 255 255 255 255 255 0 0 0 *'
    silently gconv edges step.png out.pfm
    like "$(dump out.pfm)" 'pfm grey 32 16x1
0 0 0 0 0 255 255 0 *'
    silently gconv edges step.png out.jpg
    like "$(dump out.jpg)" 'jpeg grey 8 16x1*'
}

@test "depths that a format does not have" {
    setup_step
    complains 2 'out.jpg: JPEG holds 8 bits a sample, not 1' gconv edges --depth 1 step.png out.jpg
    complains 2 'out.pfm: PFM holds floats; it takes no --depth' gconv edges --depth 8 step.png out.pfm
    complains 2 'JPEG holds 8 bits a sample, not 16' gconv edges --depth 16 -f jpeg -o d step.png
    holds step.png
}

@test "colour counts as luma, alpha does not count" {
    setup_step
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    make_image png:rgb step.png 16 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \
        85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    make_image png:grey-alpha step.png 16 1 0 9 0 255 0 1 0 0 0 77 0 8 0 1 0 0 \
        85 85 85 0 85 200 85 1 85 2 85 3 85 4 85 5
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    # (19595 * 85 + 32768) >> 16 is 25: responses of 2.94 and 1.47.
    make_image png:rgb step.png 16 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \
        85 0 0 85 0 0 85 0 0 85 0 0 85 0 0 85 0 0 85 0 0 85 0 0
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --threshold 2.94
    edges_are '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0' --threshold 2.95
}

@test "every colour type, depth and order of PNG, PNM and JPEG is read" {
    for kind in png:grey:1 png:grey:2 png:grey:4 png:grey:8 png:grey:16 png:palette:1 png:palette:8 \
        png:palette:4:trns png:rgb:8 png:rgb:16:trns png:grey-alpha:16 png:rgba:8 png:rgba:16:interlaced \
        png:grey:2:interlaced pgm ppm pgm:maxval=100 jpeg:grey jpeg:ycc jpeg:rgb jpeg:cmyk jpeg:ycck \
        jpeg:ycc:progressive; do
        values=noise
        [ $kind = pgm:maxval=100 ] && values='1 99 3'
        # shellcheck disable=SC2086
        make_image $kind in 13 9 $values
        silently gconv edges in out.png
        like "$(dump out.png)" 'png grey 1 13x9
*'
    done
}

@test "the chain is the built-in one, whatever files are called so" {
    setup_step
    echo 1 >gauss5
    echo 1 >laplace3
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
}

@test "the upright picture is searched; metadata are dropped but for the resolution" {
    make_image png:grey:exif=6:phys=3000:icc in.png 2 1 0 255
    silently gconv edges in.png out.png
    same "$(dump out.png | head -n 1)" 'png grey 1 1x2 phys=3000'
    silently gconv edges --no-auto-orient in.png out.png
    same "$(dump out.png | head -n 1)" 'png grey 1 2x1 phys=3000'
    silently gconv edges --strip in.png out.png
    same "$(dump out.png | head -n 1)" 'png grey 1 1x2'
}

# The usable implementations, but for those that refuse this job.
implementations() {
    expect 0 gconv info --json
    printf '%s' "$out" | tr '{' '\n' | sed -n 's/^"name": "\([a-z0-9-]*\)".*"usable": true.*/\1/p'
}

@test "every implementation and number of threads gives the same bytes" {
    for kind in png:grey png:grey:16 jpeg:ycc ppm; do
        make_image $kind in 103 61 noise
        for border in mirror mirror101 replicate wrap constant:9; do
            silently gconv edges --impl reference --border $border -t 25 in wanted.png
            for name in $(implementations) auto; do
                gconv edges --impl "$name" --border $border -t 25 in out.png 2>err || grep -q "'$name'" err
                [ ! -s err ] || continue
                cmp wanted.png out.png
            done
            for threads in 1 2 3 7; do
                silently gconv edges --impl cpu --threads $threads --border $border -t 25 in out.png
                cmp wanted.png out.png
            done
        done
    done
}
