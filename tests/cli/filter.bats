#!/usr/bin/env bats
# gconv filter, end to end: pixels worked out by hand.

load common

# filtered WANTED OPTIONS...: the rows of in.png, filtered to out.png.
filtered() {
    local wanted=$1
    shift
    silently gconv filter "$@" in.png out.png
    same "$(rows out.png)" "$wanted"
}

# floats WANTED OPTIONS...: the same as PFM.
floats() {
    local wanted=$1
    shift
    silently gconv filter "$@" in.png out.pfm
    same "$(rows out.pfm)" "$wanted"
}

# float FILE SCALE HEX...: a PFM of one row, its samples big-endian floats
float() {
    local file=$1 scale=$2
    shift 2
    { printf 'Pf\n%d 1\n%s\n' $# "$scale"; printf "$(printf '\\x%s' $(echo "$@" | tr -d ' ' | sed 's/\(..\)/\1 /g'))"; } >"$file"
}

# ---- Numbers as written

@test "scale, offset and border are the fractions that are written, not doubles next to them" {
    make_image png:grey in.png 4 1 5 15 25 35
    local impl number double=0x1.999999999999ap-4
    for impl in reference cpu; do
        for number in 0.1 1/10 10e-2 0.2/2; do
            filtered '0 2 2 4' -k identity --impl $impl --scale $number
        done
        filtered '1 2 3 4' -k identity --impl $impl --scale $double
        filtered '0 2 4 6' -k identity --impl $impl --scale 0.2 --offset -1/2
        printf 'divisor 50\n1\n' >k.txt
        filtered '0 1 1 1' -k k.txt --impl $impl --offset 0.4 --scale 1
        filtered '1 1 1 1' -k k.txt --impl $impl --offset 0x1.99999ap-2 --scale 1
        printf 'divisor 50\noffset 0.4\n1\n' >k.txt
        filtered '0 1 1 1' -k k.txt --impl $impl
    done
    make_image png:grey in.png 1 1 0
    printf 'anchor 1 0\n5 0 0\n' >k.txt
    filtered 0 -k k.txt --impl reference --border constant:1/10
    filtered 0 -k k.txt --impl reference --border constant:0.1
    filtered 1 -k k.txt --impl reference --border constant:$double
    like "$(gconv filter -k k.txt --impl reference -b constant:0.1 --json in.png out.png)" \
        '*"promise": "rounded once"*'
    complains 2 "option '--scale': '1/0' is not a finite number or a fraction p/q, q above 0" \
        gconv filter -k identity --scale 1/0 in.png out.png
}

# ---- What a step computes

@test "an impulse gives the filter, correlation the flipped one" {
    make_image png:grey in.png 5 5 0 0 0 0 0  0 0 0 0 0  0 0 1 0 0  0 0 0 0 0  0 0 0 0 0
    printf '1 2 3\n4 5 6\n7 8 9\n' >k.txt
    floats '0 0 0 0 0/0 1 2 3 0/0 4 5 6 0/0 7 8 9 0/0 0 0 0 0' -k k.txt
    floats '0 0 0 0 0/0 9 8 7 0/0 6 5 4 0/0 3 2 1 0/0 0 0 0 0' -k k.txt --correlate
    printf 'anchor 0 0\n1 2 3\n4 5 6\n7 8 9\n' >k.txt
    floats '0 0 0 0 0/0 0 0 0 0/0 0 1 2 3/0 0 4 5 6/0 0 7 8 9' -k k.txt
}

@test "a column and a row are the matrix of their products" {
    make_image png:grey in.png 5 5 0 0 0 0 0  0 0 0 0 0  0 0 1 0 0  0 0 0 0 0  0 0 0 0 0
    printf 'column 1 2 3\nrow 1 0.5 -1\n' >k.txt
    floats '0 0 0 0 0/0 1 0.5 -1 0/0 2 1 -2 0/0 3 1.5 -3 0/0 0 0 0 0' -k k.txt
    floats '0 0 0 0 0/0 -3 1.5 3 0/0 -2 1 2 0/0 -1 0.5 1 0/0 0 0 0 0' -k k.txt --correlate
    printf 'anchor 0 2\ncolumn 1 2 3\nrow 1 0 -1\n' >k.txt
    floats '0 0 1 0 -1/0 0 2 0 -2/0 0 3 0 -3/0 0 0 0 0/0 0 0 0 0' -k k.txt
    printf 'divisor sum\nrow 1 2 1\ncolumn 2\n' >k.txt
    floats '0 0 0 0 0/0 0 0 0 0/0 0.25 0.5 0.25 0/0 0 0 0 0/0 0 0 0 0' -k k.txt
    tells 0 '*k.txt: a filter of 3x1, read as a column and a row*' gconv filter -v -k k.txt in.png out.png
}

@test "long filters" {
    make_image png:grey in.png 4 3 10 20 30 40  50 60 70 80  90 100 110 120
    for mode in mirror mirror101 replicate wrap constant:65; do
        silently gconv filter -k gaussian:250 -k gaussian:60,4095 -b $mode --verify in.png out.png
    done
    filtered '65 65 65 65/65 65 65 65/65 65 65 65' -k gaussian:600 -b wrap
    filtered '65 65 65 65/65 65 65 65/65 65 65 65' -k box:4000x3000 -b wrap
    filtered '65 65 65 65/65 65 65 65/65 65 65 65' -k box:4095 -b constant:65 -k box:300
    complains 2 'log:60: *SIGMA is at most 42.33*' gconv filter -k log:60 in.png out.png
    complains 4 '*' gconv filter -k gaussian:60 --impl naive in.png out.png
}

@test "long filters and boxes: the number of threads changes no bit" {
    make_image png:grey:16 in.png 301 422 noise
    make_image ppm in.ppm 133 650 noise
    printf 'row 0.1 0.1 0.1\ncolumn 0.3 0.3 0.3 0.3 0.3\n' >even.txt
    local chain input
    for chain in '-k gaussian:60' '-k box:60' '-k gaussian:50 -k gauss5' '-k even.txt -k even.txt'; do
        for input in in.png in.ppm; do
            silently gconv filter --impl cpu --threads 1 $chain $input one.pfm
            for threads in 2 3 7; do
                silently gconv filter --impl cpu --threads $threads $chain $input many.pfm
                cmp one.pfm many.pfm
            done
        done
        # A small image, since the reference sums every weight of the whole matrix.
        make_image pgm small.pgm 61 87 noise
        silently gconv filter --impl cpu --threads 2 $chain small.pgm one.pfm
        silently gconv filter --impl cpu --threads 2 --verify $chain small.pgm whole.pfm
        cmp one.pfm whole.pfm
    done
}

@test "an even filter has its anchor right of the middle" {
    make_image png:grey in.png 7 1 0 0 0 1 0 0 0
    echo '1 2 3 4' >k.txt
    floats '0 1 2 3 4 0 0' -k k.txt
    floats '0 0 4 3 2 1 0' -k k.txt --correlate
    floats '0 0 1 2 3 4 0' -k '4x1: 1,2,3,4'
    floats '1 2 3 4 0 0 0' -k '4x1+3+0: 1,2,3,4'
    printf '4 1\n1 2 3 4\n' >vips.txt
    floats '0 1 2 3 4 0 0' -k vips.txt
}

@test "a chain is one filter after the other" {
    make_image png:grey in.png 7 1 0 0 0 1 0 0 0
    echo '1 1' >a.txt
    echo '1 0 -1' >b.txt
    floats '0 1 2 1 0 0 0' -k a.txt -k a.txt
    floats '0 1 1 -1 -1 0 0' -k a.txt -k b.txt
    floats '0 1 1 -1 -1 0 0' -k b.txt -k a.txt
    silently gconv filter --verify -k '1x1: 1e-40' -k gauss5 -k '1x1: 0.7' in.png out.pfm # next to 0
    silently gconv filter --verify -k gauss5 -k "1x1: 0.7" in.png out.png
    complains 2 '*exceed float32*' gconv filter -k '1x1: 1e38' -k '1x1: 1e38' in.png out.png
}

@test "borders" {
    make_image png:grey in.png 4 1 10 20 30 40
    echo '0 0 0 0 1' >k.txt # the pixel two to the left
    for mode in mirror reflect symmetric; do filtered '20 10 10 20' -k k.txt --border $mode; done
    for mode in mirror101 reflect101; do filtered '30 20 10 20' -k k.txt --border $mode; done
    for mode in replicate clamp edge nearest; do filtered '10 10 10 20' -k k.txt --border $mode; done
    for mode in wrap periodic; do filtered '30 40 10 20' -k k.txt --border $mode; done
    for mode in constant constant:0 zero; do filtered '0 0 10 20' -k k.txt --border $mode; done
    filtered '7 7 10 20' -k k.txt -b constant:7
    filtered '20 10 10 20' -k k.txt
    floats '-300.5 -300.5 10 20' -k k.txt -b constant:-300.5
    make_image png:grey:16 in.png 4 1 10 20 30 40
    filtered '1799 1799 10 20' -k k.txt -b constant:7
}

@test "a filter larger than the image" {
    make_image png:grey in.png 2 1 10 20
    echo '0 0 0 0 0 0 0 0 0 0 1' >k.txt # the pixel five to the left
    filtered '10 10' -k k.txt -b mirror
    filtered '20 10' -k k.txt -b mirror101
    filtered '10 10' -k k.txt -b replicate
    filtered '20 10' -k k.txt -b wrap
    filtered '7 7' -k k.txt -b constant:7
}

@test "a constant border has its value at every step" {
    make_image png:grey in.png 2 1 10 20
    printf 'divisor 2\n2\n' >a.txt
    echo '0 0 1' >b.txt
    filtered '7 10' -k a.txt -k b.txt -b constant:7
    filtered '7 10' -k a.txt -k a.txt -k b.txt -b constant:7
}

# ---- The final conversion

@test "absolute values, scale, offset and depth, in this order; ties to even" {
    make_image png:grey in.png 5 1 1 3 5 200 0
    filtered '0 2 2 100 0' -k identity --scale 0.5
    filtered '99 97 95 0 100' -k '1x1: -1' --abs --scale -1 --offset 100
    filtered '257 771 1285 51400 0' -k identity --depth 16
    filtered '0 0 0 1 0' -k identity --depth 1
}

@test "PFM holds the value as it is" {
    make_image png:grey in.png 3 1 1 3 200
    floats '0.5 1.5 100' -k identity --scale 0.5
    floats '-49 -47 150' -k identity --offset -50
    floats '400 1200 80000' -k identity --scale 400
    make_image png:grey:16 in.png 2 1 1000 65535
    floats '1000 65535' -k identity
    floats '1257 65792' -k identity --offset 1
    make_image png:rgb in.png 1 2 1 2 3 4 5 6
    floats '1 2 3/4 5 6' -k identity
}

@test "floats of a PFM" {
    make_image png:grey in.png 5 1 1 3 200 4 255
    gconv filter -k identity --scale -1.25 in.png floats.pfm
    # passes WANTED OUT OPTIONS...: the floats, filtered
    passes() {
        local wanted=$1 result=$2
        shift 2
        silently gconv filter -k identity "$@" floats.pfm "$result"
        same "$(rows "$result")" "$wanted"
    }
    passes '-1.25 -3.75 -250 -5 -318.75' out.pfm
    passes '-2.5 -7.5 -500 -10 -637.5' out.pfm --scale 2
    passes '1 4 250 5 255' out.png --abs --depth 8
    passes '321 964 64250 1285 65535' out.png --abs # 16 bits by default
    passes '1 4 250 5 255' out.pgm --abs --depth 8
    passes '100 99 0 98 0' out.png --depth 8 --scale 0.4 --offset 100.4 --border constant:7
    silently gconv edges -t 1e9 floats.pfm out.pfm
    same "$(rows out.pfm)" '0 0 0 0 0'
    silently gconv edges --invert -t 1e9 floats.pfm out.pfm
    same "$(rows out.pfm)" '255 255 255 255 255'
    json 0 gconv filter -k box3 --json --verify floats.pfm out.pfm
    same "$(key exact) $(key within)" 'false true'
    make_image png:rgb in.png 2 3 1 2 3 4 5 6  7 8 9 10 11 12  13 14 15 16 17 18
    gconv filter -k identity in.png in.pfm
    gives out.pfm in.pfm gconv filter -k identity in.pfm out.pfm
    cat in.pfm floats.pfm | gconv filter -k identity >both.pfm
    cat in.pfm floats.pfm | cmp - both.pfm
    printf 'Pf\n1 1\n-1.0\n\0\0\300\177' >nan.pfm
    for command in 'filter -k identity' edges; do
        complains 1 "nan.pfm: a sample is infinite, not a number, or beyond 2^32: nan at x 0, y 0; 'gconv filter -k gaussian:1 --nan ignore IN OUT' fills small holes" \
            gconv $command nan.pfm out.tif
    done
    float hole.pfm 1.0 42c80000 7fc00000 42c80000 # 100, not a number, 100
    silently gconv filter -k gaussian:1 --nan ignore hole.pfm filled.pfm
    silently gconv edges filled.pfm out.png
}

@test "16-bit samples pass through PFM" {
    for kind in png:grey:16 png:rgb:16; do
        make_image $kind in 60 50 noise
        silently gconv filter -k identity -f pfm in back.pfm
        silently gconv filter -k identity -f png back.pfm back.png
        gives wanted.png back.png gconv filter -k identity in wanted.png
        silently gconv filter -k identity -f pfm back.pfm again.pfm # in 8-bit levels
        gives back.png wanted.png gconv filter -k identity again.pfm back.png
        silently gconv edges -t 20 in wanted.png
        gives back.png wanted.png gconv edges -t 20 back.pfm back.png
        silently gconv filter -k identity --rows 20:5 back.pfm back.png
        gives wanted.png back.png gconv filter -k identity --rows 20:5 in wanted.png
        expect 0 gconv filter --verify -k gauss3 back.pfm back.png
    done
}

@test "--white says what is white in a PFM" {
    float unit.pfm 1.0 00000000 3e800000 3f800000 # 0 0.25 1
    silently gconv filter -k identity --depth 8 --white 1 unit.pfm out.png
    same "$(rows out.png)" '0 64 255'
    silently gconv filter -k identity --white 0.5 --depth 8 unit.pfm out.png
    same "$(rows out.png)" '0 128 255'
    silently gconv filter -k identity --white 1 unit.pfm out.pfm
    same "$(rows out.pfm)" '0 63.75 255'
    silently gconv edges --white 1 -t 60 unit.pfm out.png
    warning='no sample exceeds 1 in magnitude, which is black where 255 is white; give --white 1 if 1 is white'
    expect 0 gconv filter -k identity unit.pfm out.png
    same "$err" "gconv: unit.pfm: warning: $warning"
    silently gconv filter -q -k identity unit.pfm out.png
    for change in '' '--border constant:0'; do # numbers that stay as they are
        silently gconv filter $change -k box3 unit.pfm out.pfm
    done
    for change in '--depth 8 -f pgm' '--offset 1' '--border constant:1'; do
        expect 0 gconv filter $change -k box3 unit.pfm -o float
        same "$err" "gconv: unit.pfm: warning: $warning"
    done
    prints 0 "*\"$warning\"*" gconv filter -k identity --json unit.pfm out.png
    float large.pfm 1.0 00000000 43800000 # 256
    expect 0 gconv filter -k identity large.pfm out.png
    same "$err" 'gconv: large.pfm: warning: samples of up to 256, and 255 is taken for white; --white V says what is'
    silently gconv filter -k identity --white 256 large.pfm out.png
    expect 0 gconv filter -v -k identity large.pfm out.pfm
    same "$(grep -c warning <<<"$err")" 0
    for scale in 255 65535; do # the header says it: no guess
        float said.pfm $scale 00000000 3f800000
        silently gconv filter -k identity said.pfm out.png
    done
    float said.pfm 255 00000000 43800000
    silently gconv filter -k identity said.pfm out.png
    tells 0 '*said.pfm: warning: samples of up to 256, and white is 255*' gconv filter -v -k identity said.pfm out.png
    float black.pfm 1.0 00000000 00000000
    silently gconv filter -k identity black.pfm out.png
    float below.pfm 1.0 bf800000 3f800000
    for command in 'filter -k identity' edges sketch; do
        expect 0 gconv $command below.pfm out.png
        same "$err" "gconv: below.pfm: warning: $warning"
    done
    float dark.pfm 1.0 c1800000 # -16
    tells 0 '*no sample exceeds 16 in *' gconv filter -k identity dark.pfm out.png
    float grey.pfm 1.0 00000000 c1810000 # -16.125
    silently gconv filter -k identity grey.pfm out.png
    for value in 0 -1 inf nan x ''; do
        complains 2 "option '--white': *" gconv filter -k identity --white "$value" unit.pfm out.png
    done
    complains 1 'large.pfm: a sample is infinite, not a number, or beyond 2^32: 6.528e+34 at x 1, y 0' \
        gconv filter -k identity --white 1e-30 large.pfm out.png
    make_image png:grey in.png 2 2 5
    tells 0 "*option '--white' had no effect: no input has float samples*" gconv filter -v -k identity --white 1 in.png out.png
}

@test "the offset of a filter, and of --offset" {
    make_image png:grey in.png 1 1 10
    printf 'offset 5\n1\n' >k.txt
    filtered 15 -k k.txt
    filtered 10 -k k.txt --offset 0
    filtered 12 -k k.txt --offset 2
    filtered 15 -k identity -k k.txt
    complains 2 'k.txt: has an offset, and only the last filter of a chain may have one' \
        gconv filter -k k.txt -k identity in.png out.png
    make_image png:grey:16 in.png 1 1 2570
    filtered 3855 -k k.txt
}

@test "channels are on their own, grey is luma" {
    make_image png:rgb in.png 2 1 10 20 30 200 100 50
    filtered '10 20 30 10 20 30' -k '3x1: 0,0,1'
    make_image png:rgb in.png 1 1 100 150 200
    silently gconv filter -k identity in.png out.pgm
    same "$(dump out.pgm)" 'pgm grey 8 1x1
141'
    make_image png:grey in.png 2 1 7 8
    silently gconv filter -k identity in.png out.ppm
    same "$(dump out.ppm)" 'ppm rgb 8 2x1
7 7 7 8 8 8'
    makes out.pnm 'pgm *' gconv filter -k identity in.png out.pnm
}

# ---- Alpha

@test "alpha: keep, filter, premultiply, auto" {
    make_image png:grey-alpha in.png 2 1 100 255 200 0
    printf 'divisor 2\n1 1\n' >mean.txt # with the pixel to the right
    filtered '150 255 200 0' -k mean.txt --alpha keep
    filtered '150 128 200 0' -k mean.txt --alpha filter
    filtered '100 128 0 0' -k mean.txt --alpha premultiply
    filtered '100 128 0 0' -k mean.txt --alpha auto
    filtered '100 128 0 0' -k mean.txt
    printf '1 1\n' >sum.txt # its gain is not 1
    filtered '255 255 255 0' -q -k sum.txt
    make_image png:grey-alpha in.png 2 1 100 255 200 255
    filtered '150 255 200 255' -k mean.txt
    filtered '150 255 200 255' -k mean.txt --alpha premultiply
}

@test "alpha: auto looks at the gain and at every sample" {
    make_image png:grey-alpha in.png 2 1 100 255 200 0
    printf '1/2 0.5000005\n' >near.txt
    filtered '100 128 0 0' -k near.txt
    printf '1/2 0.50002\n' >far.txt
    filtered '150 255 200 0' -k far.txt
    printf 'divisor 2\n1 1\n' >mean.txt
    for clear in 65534 65279 255; do
        make_image png:grey-alpha:16 in.png 2 1 1000 65535 2000 $clear
        silently gconv filter -k mean.txt in.png auto.png
        gives wanted.png auto.png gconv filter -k mean.txt --alpha premultiply in.png wanted.png
    done
}

@test "a batch treats every image as if it were alone" {
    mkdir in
    make_image png:grey-alpha in/1.png 9 5 100 255 200 255
    make_image png:grey-alpha in/2.png 9 5 100 255 200 0
    make_image png:grey-alpha in/3.png 9 5 100 255 200 255 7 255
    make_image png:grey-alpha:16 in/4.png 9 5 1000 65535 2000 65535
    make_image png:grey-alpha:16 in/5.png 9 5 1000 65535 2000 77
    make_image png:rgb in/6.png 9 5 noise
    make_image png:rgb:16 in/7.png 9 5 noise
    make_image png:rgb in/8.png 5 9 noise
    make_image ppm in/9.ppm 9 5 noise
    make_image png:exif=6:rgb in/a.png 9 5 noise
    for options in '-j 1' '-j 3' '-j 1 --depth 1' '-j 1 --depth 16 --alpha filter'; do
        silently gconv filter -k gauss3 $options -o out in
        for file in in/*; do
            silently gconv filter -k gauss3 $options "$file" "alone.${file##*.}"
            cmp "alone.${file##*.}" "out/${file#in/}"
        done
    done
}

@test "a constant border is opaque" {
    make_image png:grey-alpha in.png 1 1 100 0
    filtered '60 255' -k '3x1: 0,0,1' -b constant:60 --alpha filter
    filtered '60 255' -k '3x1: 0,0,1' -b constant:60 --alpha premultiply
    filtered '60 0' -k '3x1: 0,0,1' -b constant:60 --alpha keep
    make_image png:rgba in.png 1 1 100 110 120 0
    filtered '60 60 60 255' -k '3x1: 0,0,1' -b constant:60 --alpha filter
    filtered '60 60 60 255' -k '3x1: 0,0,1' -b constant:60 --alpha premultiply
    make_image png:rgb in.png 1 1 100 110 120
    filtered '60 60 60' -k '3x1: 0,0,1' -b constant:60
}

@test "alpha: a large image, decoded twice, is treated as a small one" {
    make_image png:rgba opaque.png 2400 1900 9 200 30 255 40 50 60 255 1 2 3 255
    make_image png:rgba clear.png 2400 1900 9 200 30 255 40 50 60 25 1 2 3 255
    for name in opaque:keep clear:premultiply; do
        silently gconv filter -k gauss3 "${name%:*}.png" auto.png
        silently gconv filter -k gauss3 --alpha "${name#*:}" "${name%:*}.png" wanted.png
        cmp auto.png wanted.png
        gconv filter -k gauss3 <"${name%:*}.png" >piped.png
        cmp auto.png piped.png
    done
    head -c 20000 clear.png >cut.png
    complains 1 'cut.png: truncated: *' gconv filter -k gauss3 cut.png out.png
}

@test "alpha: what is transparent in the last row alone counts, in large images too" {
    needs python3
    for size in '40 30' '2100 2100'; do # the second has 17.6 MB
        python3 - $size <<'END'
import struct, sys, zlib
width, height = int(sys.argv[1]), int(sys.argv[2])
row = bytes([0]) + bytes([9, 200, 30, 255, 40, 50, 60, 255]) * (width // 2)
last = bytearray(row)
last[-1] = 7
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(rows):
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))
open("clear.png", "wb").write(png(row * (height - 1) + bytes(last)))
open("damaged.png", "wb").write(png(row * (height - 1) + bytes(last))[:-40])
END
        silently gconv filter -k gauss3 clear.png auto.png
        gives wanted.png auto.png gconv filter -k gauss3 --alpha premultiply clear.png wanted.png
        cat clear.png | gconv filter -k gauss3 >piped.png # cannot be opened again
        cmp auto.png piped.png
        gconv filter -k gauss3 --alpha keep clear.png kept.png
        cmp -s auto.png kept.png && false
        # Damage that the first of two decodings meets.
        complains 1 'damaged.png: truncated: *' gconv filter -k gauss3 damaged.png new.png
        [ ! -e new.png ]
        expect 0 gconv filter -k gauss3 --tolerant damaged.png out.png
        same "$err" 'gconv: damaged.png: warning: truncated: the file ends in the image data'
        expect 0 gconv filter -k gauss3 --tolerant --alpha premultiply -q damaged.png wanted.png
        cmp out.png wanted.png
    done
}

@test "a large PFM is the same in a file, written backwards, as in a pipe" {
    make_image png:rgb in.png 500 401 noise
    silently gconv filter -k gauss3 in.png out.pfm
    gconv filter -k gauss3 -f pfm in.png - >piped.pfm
    cmp out.pfm piped.pfm
}

# clips BELOW ABOVE OPTIONS...: what --json says of the samples of in.png, by several implementations.
clips() {
    local wanted="$1 $2" options
    shift 2
    for options in '--impl reference' '--impl cpu -j 3' --verify '--impl cpu:taps -v'; do
        # shellcheck disable=SC2086
        expect 0 gconv filter -q --json $options "$@" in.png out.png
        same "$(key below) $(key above)" "$wanted"
    done
}

@test "samples that may be clipped are counted, and -v names what keeps them" {
    make_image png:grey in.png 8 2 0 0 200 200 0 0 100 255
    clips 0 0 -k gauss5 # no value can lie outside
    clips 0 0 -k identity
    clips 0 0 -k identity --scale 0.5 --offset 127
    clips 0 0 -k sobel-x --scale 0.125 --offset 128
    clips 0 0 -k gaussian:1.5 -b constant:200
    clips 0 6 -k identity --scale 2
    clips 8 0 -k identity --offset -1
    clips 16 0 -k identity --scale -1
    clips 0 2 -k identity --scale 1.01 --offset 1 --depth 16
    clips 0 14 -k sobel-x --abs --scale 2
    clips 6 10 -k sobel-x
    expect 0 gconv filter -v -k sobel-x in.png out.png
    like "$err" '*
gconv: in.png: clipped: at most 6 samples (37.5 %) below 0 and 10 (62.5 %) above white
gconv: in.png: --offset 128 or --abs keep more of what lies below 0, a PFM output all
gconv: in.png: a smaller --scale keeps more of what lies above white, a PFM output all*'
    silently gconv filter -k sobel-x in.png out.png
    make_image png:grey:16 in.png 10 30 noise
    expect 0 gconv filter --json -k sobel-x in.png out.png
    [ "$(key below)" -gt 100 ]
    for output in '--depth 1 out.png' out.pfm; do
        # shellcheck disable=SC2086
        expect 0 gconv filter --json -k sobel-x in.png $output
        same "$(key below)" ''
    done
    expect 0 gconv edges --json in.png out.png
    same "$(key below)" ''
    # Alpha does not count, but for what it makes of colours.
    make_image png:rgba in.png 2 2 0 10 255 0 0 255 20 255
    clips 4 0 -k identity --offset -1 --alpha keep
    clips 0 0 -k gauss3 --alpha premultiply
    # Floats may have any value.
    expect 0 gconv filter -q --rows 0:1 -k identity in.png part.pfm
    expect 0 gconv filter -q --json -k identity part.pfm out.png
    same "$(key below) $(key above)" '1 4'
}

@test "a filter that makes most samples white or black is told" {
    make_image png:grey in.png 8 2 9 10 200 200 0 0 100 255
    printf '1 1\n1 1\n' >sum.txt
    local most='gconv: more than 50 % of the samples'
    tells 0 "$most are clipped to white; 'divisor sum' in the filter or a smaller --scale keep more" \
        gconv filter -k identity --scale 30 in.png out.png
    local black="$most are black or clipped to black; --offset 128 or --abs keep more"
    tells 0 "$black" gconv filter -k identity --scale -1 in.png out.png
    tells 0 "$black" gconv filter -k sobel-y in.png out.png
    silently gconv filter -k sobel-y --abs in.png out.png
    silently gconv filter -k sobel-y --offset 128 in.png out.png
    silently gconv filter -k identity --scale 0.001 in.png out.png # black, and nothing is clipped
    expect 0 gconv filter -v -k identity --scale -1 in.png out.png
    like "$err" '*(100.0 %) below 0*'
    silently gconv filter -k identity --scale 2 in.png out.png # 10 of 16 samples are less than half of white
    silently gconv filter -q -k identity --scale -1 in.png out.png
    silently gconv filter -k identity --scale -1 --offset 255 in.png out.png
    silently gconv filter -k laplace3 in.png out.png
    silently gconv filter -k sum.txt in.png out.pfm
    cp in.png other.png
    tells 0 "$most of in.png, other.png are black or clipped to black*" gconv filter -k identity --scale -1 -o out in.png other.png
}

@test "an array of NumPy in the place of a filter is told how to become one" {
    make_image png:grey in.png 8 2 noise
    printf '\223NUMPY\1\0' >k.npy
    complains 2 'k.npy: an NPY array, not a text; numpy.savetxt*' gconv filter -k k.npy in.png out.png
}

# lies_on WANTED OPTIONS...: the row of in.png on a background, in each format without alpha.
lies_on() {
    local wanted=$1
    shift
    silently gconv filter -k identity "$@" in.png out.pnm
    same "$(rows out.pnm)" "$wanted"
    silently gconv filter -k identity "$@" --verify in.png out.pfm
    gives wanted.pfm out.pfm gconv filter -k identity "$@" out.pnm wanted.pfm
    silently gconv filter -k identity "$@" in.png out.pgm
    gives wanted.pgm out.pgm gconv filter -k identity "$@" out.pnm wanted.pgm
}

@test "formats without alpha get the picture on a background" {
    make_image png:rgba in.png 5 1 10 20 30 255 10 20 30 0 10 20 30 128 10 20 30 1 255 255 255 127
    lies_on '10 20 30 255 255 255 132 137 142 254 254 254 255 255 255' --background white
    lies_on '10 20 30 0 0 0 5 10 15 0 0 0 127 127 127' --background black
    lies_on '10 20 30 128 128 128 69 74 79 128 128 128 191 191 191' --background grey
    lies_on '10 20 30 7 7 7 9 14 19 7 7 7 131 131 131' --background 7
    lies_on '10 20 30 16 255 0 13 137 15 16 254 0 135 255 127' --background '#10ff00'
    lies_on '10 20 30 255 0 0 132 10 15 254 0 0 255 127 127' --background '#F00'
    expect 0 gconv filter -k identity in.png out.ppm
    same "$err" 'gconv: transparent pixels were put on white; --background COLOUR takes another colour'
    same "$(rows out.ppm)" '10 20 30 255 255 255 132 137 142 254 254 254 255 255 255'
    # Alpha that is kept is no matter of the background.
    for depth in 1 8 16; do
        silently gconv filter -k box3 --depth $depth in.png wanted.png
        silently gconv filter -k box3 --depth $depth --background black in.png out.png
        cmp out.png wanted.png
    done
    # --alpha says what becomes of alpha that is there.
    gconv filter -q -k gauss3 in.png wanted.ppm
    for alpha in keep filter premultiply; do
        gconv filter -q -k gauss3 --alpha $alpha in.png out.ppm
        cmp out.ppm wanted.ppm
    done
    expect 0 gconv filter -v -k gauss3 --alpha keep in.png out.jpg
    like "$err" "*option '--alpha' had no effect: no transparency was filtered"
}

@test "the background of grey is grey, of 16 bits of 16 bits; tRNS is alpha" {
    make_image png:grey-alpha:16 in.png 2 1 1000 30000 65535 1
    lies_on '35993 65535' --background 255
    lies_on '11083 19596' --background '#f00'
    make_image png:rgb:trns in.png 2 1 1 2 3 4 5 6
    same "$(gconv filter -k identity in.png rgba.png && rows rgba.png)" '1 2 3 255 4 5 6 255'
    lies_on '1 2 3 4 5 6'
}

@test "the background is that of the upright image, of rows and of batches" {
    make_image png:rgba:exif=6 in.png 5 4 noise
    make_image png:rgba:interlaced other.png 5 4 noise
    gconv filter -q -k identity in.png flat.ppm
    gconv filter -q -k gauss3 flat.ppm wanted.ppm
    for options in '' '--impl reference' --verify --no-clobber; do
        rm -f out.ppm
        # shellcheck disable=SC2086
        gconv filter -q -k gauss3 $options in.png out.ppm
        cmp out.ppm wanted.ppm
    done
    gconv filter -q -k gauss3 --rows 1:3 in.png part.ppm
    same "$(dump part.ppm | tail -n 3)" "$(dump wanted.ppm | sed -n 3,5p)"
    expect 0 gconv filter -k gauss3 -f ppm -o out in.png other.png
    same "$err" 'gconv: transparent pixels of in.png, other.png were put on white; --background COLOUR takes another colour'
    cmp out/in.ppm wanted.ppm
}

# ---- Filters by name

@test "every built-in filter can be used" {
    make_image png:rgb in.png 9 9 noise
    for file in "$SOURCE"/filters/*.txt; do
        name=$(basename "$file" .txt)
        silently gconv filter -k "$name" in.png a.pfm # nothing is clipped
        gives b.pfm a.pfm gconv filter -k "$file" in.png b.pfm
    done
}

@test "a filter is read from a pipe" {
    make_image png:grey in.png 3 1 0 240 0
    printf '1 2 1\ndivisor 4' | complains 2 '/dev/stdin:2: *' gconv filter -k /dev/stdin in.png out.png
    printf 'divisor 4\n1 2 1' | filtered '60 120 60' -k /dev/stdin
}

@test "a format without colours makes an image grey, and -v says so" {
    make_image png:rgb in.png 9 7 noise
    make_image png:grey grey.png 9 7 noise
    for format in pgm y4m; do
        silently gconv filter -k box3 in.png out.$format
        expect 0 gconv filter -v -k box3 in.png out.$format
        like "$err" "gconv: out.$format: warning: $format has no colours: made grey*"
        expect 0 gconv filter -v -k box3 grey.png out.$format
        like "$err" 'gconv: grey.png: 9x7*'
    done
}

# ---- Metadata

@test "profile, resolution and EXIF are kept, --strip drops them" {
    for format in png jpeg; do
        make_image $format:grey:exif=6:phys=3000:icc in.$format 2 1 0 255
        silently gconv filter -k identity in.$format out.$format
        same "$(dump out.$format | head -n 1)" "$format grey 8 1x2 phys=3000 exif=1 icc"
        silently gconv filter -k identity --no-auto-orient in.$format out.$format
        same "$(dump out.$format | head -n 1)" "$format grey 8 2x1 phys=3000 exif=6 icc"
        silently gconv filter -k identity --strip in.$format out.$format
        same "$(dump out.$format | head -n 1)" "$format grey 8 1x2"
    done
}

# tiff FILE: the offset of EXIF in a JPEG of make_image.
tiff() { LC_ALL=C grep -abo 'II\*' "$1" | head -n 1 | cut -d : -f 1; }

# poke FILE OFFSET BYTES: writes bytes, as printf takes them, over those of EXIF.
poke() {
    # shellcheck disable=SC2059
    printf "$3" | dd of="$1" bs=1 seek=$(($(tiff "$1") + $2)) conv=notrunc 2>/dev/null
}

@test "an orientation of any whole-number type is applied, one that means nothing is left alone" {
    for type in 1 3 4 6 8 9; do
        make_image jpeg:grey:exif=6 in.jpg 2 1 0 255
        poke in.jpg 12 "\\$(printf %o $type)"
        makes out.jpg 'jpeg grey 8 1x2 exif=1' gconv filter -k identity in.jpg out.jpg
        silently gconv filter -k identity --no-auto-orient in.jpg out.jpg
        same "$(dump out.jpg | head -n 1)" 'jpeg grey 8 2x1 exif=6'
        makes in.jpg 'jpeg grey 8 1x2 exif=1' gconv filter -k identity --in-place in.jpg
        same "$(od -An -tu1 -j $(($(tiff in.jpg) + 12)) -N 1 in.jpg | tr -d ' ')" $type
    done
    for value in 0 9 255; do
        make_image jpeg:grey:exif=6 in.jpg 2 1 0 255
        poke in.jpg 18 "\\$(printf %o $value)"
        makes in.jpg 'jpeg grey 8 2x1*' gconv filter -k identity --in-place in.jpg
        same "$(od -An -tu1 -j $(($(tiff in.jpg) + 18)) -N 1 in.jpg | tr -d ' ')" $value
    done
}

@test "what is lost by damage is said, and --in-place leaves the file alone" {
    make_image jpeg:grey:exif=6 cut.jpg 2 1 0 255
    poke cut.jpg 8 '\377\377'
    make_image jpeg:grey:exif=6 broken.jpg 2 1 0 255
    poke broken.jpg 4 '\377'
    make_image png:grey:exif=6 broken.png 2 1 0 255
    poke broken.png 22 x # the checksum is wrong now
    for name in cut.jpg broken.jpg broken.png; do
        lost=EXIF
        case $name in
        cut.jpg) lost='a part of EXIF' ;;
        *.png) lost='the eXIf chunk' ;;
        esac
        expect 0 gconv filter -k identity --json $name out.${name#*.}
        same "$err" "gconv: $name: warning: $lost is damaged: dropped"
        like "$out" "*\"$lost is damaged: dropped\"*"
        silently gconv filter -k identity -q $name out.${name#*.}
        # Nothing is lost that was to be kept.
        silently gconv filter -k identity --strip $name out.${name#*.}
        silently gconv filter -k identity $name out.pgm
        silently gconv edges $name out.png
        cp $name was
        expect 1 gconv filter -k identity --in-place $name
        like "$err" "gconv: $name: $lost is damaged and would be lost; --tolerant or --strip *"
        expect 1 gconv filter -k identity --in-place -o . $name
        cmp $name was
        mkdir dir
        expect 0 gconv filter -k identity --in-place -o dir $name
        rm -r dir
        expect 0 gconv filter -k identity --in-place --tolerant $name
        same "$err" "gconv: $name: warning: $lost is damaged: dropped"
        cp was $name
        silently gconv filter -k identity --in-place --strip $name
    done
    make_image jpeg:grey:exif=6 cut.jpg 2 1 0 255
    poke cut.jpg 8 '\377\377'
    expect 0 gconv filter -k identity cut.jpg out.jpg
    same "$(dump out.jpg | head -n 1)" 'jpeg grey 8 1x2 exif=1'
    silently gconv filter -k identity out.jpg again.jpg
}

@test "a filter of decimals is the filter of whole numbers that it means, on every implementation" {
    printf '0.05 0.10 0.05\n0.1 4e-1 1/10\n0.05 0.1 5e-2\n' >decimals.txt
    printf 'divisor 20\n1 2 1\n2 8 2\n1 2 1\n' >whole.txt
    for depth in 8 16; do
        make_image png:rgb:$depth in.png 101 47 noise
        expect 0 gconv filter -k whole.txt --impl reference in.png wanted.png
        for implementation in reference cpu; do
            expect 0 gconv filter -k decimals.txt --impl $implementation in.png out.png
            cmp out.png wanted.png
        done
    done
}

@test "--quality and --compression" {
    make_image png:rgb in.png 64 64 noise
    gconv filter -k identity --quality 10 in.png small.jpg
    gconv filter -k identity in.png middle.jpg
    gconv filter -k identity --quality 90 in.png same.jpg
    gconv filter -k identity --quality 100 in.png large.jpg
    cmp middle.jpg same.jpg
    [ "$(wc -c <small.jpg)" -lt "$(wc -c <middle.jpg)" ]
    [ "$(wc -c <middle.jpg)" -lt "$(wc -c <large.jpg)" ]
    make_image png:grey in.png 64 64 7 8
    gconv edges --compression 0 in.png stored.png
    gconv edges --compression 9 in.png packed.png
    [ "$(wc -c <packed.png)" -lt "$(wc -c <stored.png)" ]
    same "$(dump packed.png)" "$(dump stored.png)"
    complains 2 "lzw.png: png: lzw is for TIFF alone; deflate, or 0 to 9, compresses PNG" \
        gconv edges --compression lzw in.png lzw.png
}

# ---- Exactness
