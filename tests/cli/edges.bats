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
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --threshold 50/10
}

@test "the threshold is the fraction that is written, not a double next to it" {
    make_image png:grey step.png 16 1 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1
    for impl in reference cpu; do # responses of 34 / 289 = 2/17
        edges_are '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0' --threshold 2/17 --impl $impl
        edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --threshold 0x1.e1e1ep-4 --impl $impl
        edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --threshold 0.1 --impl $impl
    done
}

@test "--rule picks the side, --invert swaps" {
    setup_step
    edges_are '0 0 0 0 0 1 1 0 0 0 0 0 0 0 0 0' --rule positive
    edges_are '0 0 0 0 0 0 0 0 0 1 1 0 0 0 0 0' --rule negative
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --rule abs
    edges_are '1 1 1 1 1 0 0 1 1 0 0 1 1 1 1 1' --invert
    edges_are '1 1 1 1 1 0 0 1 1 1 1 1 1 1 1 1' --invert --rule positive
}

# The smoothed step is 0 10 30 55 75 85 from the sixth pixel on. Sobel's sum over three equal rows is
# 4 times the difference of the neighbours: 40 120 180 180 120 40.
@test "--method gradient compares the sums of an operator" {
    setup_step
    edges_are '0 0 0 0 0 0 1 1 1 1 0 0 0 0 0 0' --method gradient
    edges_are '0 0 0 0 0 0 1 1 1 1 0 0 0 0 0 0' --method gradient --threshold 119
    edges_are '0 0 0 0 0 0 0 1 1 0 0 0 0 0 0 0' --method gradient --threshold 120
    edges_are '1 1 1 1 1 1 1 0 0 1 1 1 1 1 1 1' --method gradient --threshold 120 --norm l2 --invert
    edges_are '0 0 0 0 0 0 0 1 1 0 0 0 0 0 0 0' --method gradient --threshold 480 --operator scharr
    edges_are '0 0 0 0 0 0 1 1 1 1 0 0 0 0 0 0' --method gradient --threshold 89 --operator prewitt
    edges_are '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0' --method gradient --threshold 135 --operator prewitt
}

@test "--method zero-crossing and canny draw one pixel" {
    setup_step
    line='0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0' none='0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'
    edges_are "$line" --method zero-crossing
    edges_are "$line" --method zero-crossing --threshold 9.9
    edges_are "$none" --method zero-crossing --threshold 10
    edges_are "$line" --method canny
    edges_are "$line" --method canny --high 179.5 --norm l2
    edges_are "$none" --method canny --low 0 --high 180
    edges_are "$line" --like opencv --low 339 --high 339
    edges_are "$none" --like opencv --low 0 --high 340
    make_image png:grey:16 step.png 16 1 0 0 0 0 0 0 0 0 21845 21845 21845 21845 21845 21845 21845 21845
    edges_are "$line" --method canny --high 179.5
    edges_are "$none" --method canny --high 180
    edges_are "$none" --method zero-crossing --threshold 10
}

@test "a line of Canny goes on above --low as far as it is connected" {
    # A step that falls from 60 to 39: magnitudes fall from 130 to 107.
    # shellcheck disable=SC2046
    make_image png:grey step.png 16 8 $(for v in 60 57 54 51 48 45 42 39; do
        echo 0 0 0 0 0 0 0 0 $v $v $v $v $v $v $v $v; done)
    silently gconv edges --method canny --low 60 --high 110 step.png out.png
    same "$(rows out.png | tr / '\n' | sort | uniq -c | xargs)" '8 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0'
    silently gconv edges --method canny --low 110 --high 110 step.png out.png
    same "$(rows out.png | cut -d / -f 1)" '0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0'
    same "$(rows out.png | cut -d / -f 8)" '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'
}

@test "options of another method are refused" {
    setup_step
    complains 2 "option '--low' needs --method canny" gconv edges --low 5 step.png out.png
    complains 2 "option '--norm' needs --method gradient or canny" gconv edges --norm l2 step.png out.png
    complains 2 "option '--rule' needs --method laplace" gconv edges --rule abs --method canny step.png out.png
    complains 2 "option '--threshold' needs --method laplace, zero-crossing or gradient" \
        gconv edges -t 5 --like opencv step.png out.png
    complains 2 "option '--like' needs --method canny" gconv edges --method gradient --like opencv step.png out.png
    complains 2 "option '--border': with --like opencv the border is replicate" gconv edges --border wrap --like opencv step.png out.png
    complains 2 "option '--rows': a line of Canny may begin anywhere in the image, so its rows cannot be computed alone" \
        gconv edges --rows 0:1 --method canny step.png out.png
    complains 2 'the thresholds 120 (low) and 100 (high) must be finite, and low from 0 to high' \
        gconv edges --method canny --low 120 step.png out.png
    complains 2 'like OpenCV, the operator is sobel, sobel5 or sobel7' \
        gconv edges --like opencv --operator scharr step.png out.png
    complains 2 'the operators sobel5 and sobel7 are those of Canny like OpenCV' \
        gconv edges --method gradient --operator sobel5 step.png out.png
    make_image png:grey:16 deep.png 2 1 0 0
    complains 2 'deep.png: like OpenCV, samples have 8 bits' gconv edges --like opencv deep.png out.png
    silently gconv filter -k gauss3 step.png out.pfm
    complains 2 'out.pfm: this method finds edges in samples of 8 or 16 bits, and these are floats' \
        gconv edges --method canny out.pfm out.png
    complains 4 "step.png: 'cpu:taps' finds edges by the method laplace alone; reference and cpu know all" \
        gconv edges --method canny --impl cpu:taps step.png out.png
    holds deep.png out.pfm step.png
}

@test "methods are verified, explained, computed by rows and recorded" {
    make_image png:grey photo.png 40 30 noise
    for method in zero-crossing gradient canny; do
        silently gconv edges --verify --method $method photo.png $method.png
        silently gconv edges --impl reference --method $method photo.png reference.png
        cmp $method.png reference.png
        run gconv edges --explain --method $method photo.png out.png
        like "$output" '*promise: exact*'
    done
    silently gconv edges --method gradient -f pgm photo.png whole.pgm
    silently gconv edges --method gradient -f pgm --rows 10:11 photo.png part.pgm
    same "$(rows part.pgm)" "$(rows whole.pgm | cut -d / -f 11-21)"
    run gconv compare --method canny --impl cpu,reference photo.png
    [ "$status" -eq 0 ]
    gconv edges --journal journal --method canny -o out photo.png
    run gconv edges --journal journal --method canny --high 101 -o out photo.png
    [ "$status" -eq 0 ]
    same "$(grep -c '"status": "done"' journal)" 2
    run gconv check --verify journal
    [ "$status" -eq 0 ]
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
    makes out.jpg 'jpeg grey 8 16x1*' gconv edges step.png out.jpg
}

@test "depths that a format does not have" {
    setup_step
    complains 2 'out.jpg: JPEG holds 8 bits a sample, not 1' gconv edges --depth 1 step.png out.jpg
    complains 2 'out.pfm: PFM holds 32 bits a sample, not 8' gconv edges --depth 8 step.png out.pfm
    complains 2 'JPEG holds 8 bits a sample, not 16' gconv edges --depth 16 -f jpeg -o d step.png
    complains 2 'step.png: PBM holds black and white alone; write PGM or PNG' gconv edges --overlay '#f00' step.png out.pbm
    complains 2 'step.png: PBM holds black and white alone; write PGM or PNG' gconv sketch step.png out.pbm
    complains 2 'step.png: PBM holds black and white alone; write PGM or PNG' gconv edges --values step.png out.pbm
    holds step.png
    makes out.pgm 'pgm grey 16 16x1*' gconv edges --values step.png out.pgm
}

@test "colour counts as luma, opaque alpha does not count" {
    setup_step
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    make_image png:rgb step.png 16 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \
        85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85 85
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    make_image png:grey-alpha step.png 16 1 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 \
        85 255 85 255 85 255 85 255 85 255 85 255 85 255 85 255
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
    # (19595 * 85 + 32768) >> 16 is 25: responses of 2.94 and 1.47.
    make_image png:rgb step.png 16 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \
        85 0 0 85 0 0 85 0 0 85 0 0 85 0 0 85 0 0 85 0 0 85 0 0
    edges_are '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0' --threshold 2.94
    edges_are '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0' --threshold 2.95
}

@test "edges of transparent pixels are those of the picture on its background" {
    local white='transparent pixels were put on white; --background COLOUR takes another colour'
    # A black square on clear: all of it is black.
    make_image png:rgba:16 clear.png 9 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 65535 0 0 0 65535 0 0 0 65535 \
        0 0 0 0 0 0 0 0 0 0 0 0
    make_image pgm wanted.pgm 9 1 255 255 255 0 0 0 255 255 255
    expect 0 gconv edges wanted.pgm wanted.png
    expect 0 gconv edges clear.png out.png
    same "$err" "gconv: $white"
    cmp out.png wanted.png
    [[ $(rows out.png) == *1* ]]
    gives out.png wanted.png gconv edges --background white clear.png out.png
    silently gconv edges -q clear.png out.png
    expect 0 gconv edges -v --json clear.png out.png
    like "$err" 'gconv: clear.png: warning: transparent pixels were put on a background of #ffffff*'
    [[ $err != *takes* ]]
    same "$(key warnings)" '["transparent pixels were put on a background of #ffffff"]'
    silently gconv edges --background black clear.png out.png
    [[ $(rows out.png) != *1* ]]
    gives out.png wanted.png gconv edges --verify --background '#fff' clear.png out.png
    # Noise under clear pixels is nothing to be seen.
    make_image png:rgba noise.png 64 9 noise
    "$MAKE_IMAGE" dump noise.png | awk 'NR > 1 { for (x = 4; x <= NF; x += 4) $x = 0; print }' >samples
    # shellcheck disable=SC2046
    make_image png:rgba noise.png 64 9 $(<samples)
    mv wanted.pgm grey.pgm
    expect 0 gconv edges -o out noise.png clear.png grey.pgm
    same "$err" "gconv: transparent pixels of noise.png, clear.png ${white#transparent pixels }"
    [[ $(rows out/noise.png) != *1* ]]
    # Opaque alpha says nothing.
    make_image png:rgba opaque.png 5 3 9 200 30 255 40 50 60 255
    make_image png:rgb plain.png 5 3 9 200 30 40 50 60
    silently gconv edges opaque.png out.png
    gives wanted.png out.png gconv edges plain.png wanted.png
    expect 0 gconv edges -v --background black opaque.png out.png
    like "$err" "*option '--background' had no effect: no output lost transparency"
    for value in transparent '#12' '#12345' '#1234567' '#ggg' 256 -1 '' none; do
        complains 2 "option '--background': '*' is not a grey from 0 to 255, #RGB or #RRGGBB (in quotes), or a name: white, black, *, fuchsia or purple*" \
            gconv edges --background "$value" clear.png out.png
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
    makes out.png 'png grey 1 1x2 phys=3000' gconv edges in.png out.png
    makes out.png 'png grey 1 2x1 phys=3000' gconv edges --no-auto-orient in.png out.png
    makes out.png 'png grey 1 1x2' gconv edges --strip in.png out.png
    make_image png:rgb:exif=6:phys=3000:icc in.png 2 1 0 0 0 255 255 255
    makes out.png 'png rgb 8 1x2 phys=3000 exif=1 icc' gconv edges --overlay red in.png out.png
    makes out.png 'png rgb 8 2x1 phys=3000 exif=6 icc' \
        gconv edges --overlay red --no-auto-orient in.png out.png
    makes out.png 'png rgb 8 1x2' gconv edges --overlay red --strip in.png out.png
}
