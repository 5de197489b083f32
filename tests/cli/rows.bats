#!/usr/bin/env bats
# Rows of the output alone: --rows, and parts that cat joins: --join.

load common

# parts N HEIGHT OPTIONS... IN: writes IN in N parts, joined, to standard output.
parts() {
    local count=$1 height=$2 i first last
    shift 2
    for ((i = 0; i < count; i++)); do
        first=$((i * height / count)) last=$(((i + 1) * height / count))
        gconv "${@:1:$#-1}" --rows $first:$((last - first)) --join --format pnm "${!#}" -
    done
}

# The rows of an image as `dump` prints them, from FIRST on, COUNT of them.
some_rows() { dump "$1" | tail -n +$(($2 + 2)) | head -n "$3"; }

@test "parts of PGM and PPM join by cat" {
    make_image pgm grey.pgm 61 203 noise
    make_image ppm colour.ppm 40 101 noise
    make_image pgm:16 deep.pgm 33 77 noise
    make_image pgm limited.pgm 30 50 noise maxval=200
    local file height options
    for file in grey.pgm:203 colour.ppm:101 deep.pgm:77 limited.pgm:50; do
        height=${file#*:} file=${file%:*}
        for options in edges 'filter -k gauss5 -k box:9' 'filter -k gaussian:4' \
            'filter -k gaussian:9 -b wrap' 'filter -k 5x9:1/7,2,-,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9 --scale 0.01 -i reference'; do
            # shellcheck disable=SC2086
            gconv $options --format pnm "$file" - >whole
            for count in 1 4 7; do
                # shellcheck disable=SC2086
                parts $count "$height" $options "$file" | cmp - whole
            done
        done
    done
    silently gconv edges --depth 1 --format pgm grey.pgm whole.pgm
    parts 3 203 edges --depth 1 grey.pgm | cmp - whole.pgm
}

@test "the first part has the header of the whole, the others have none" {
    make_image pgm in.pgm 10 20 noise
    silently gconv filter -k identity --rows 0:5 --join in.pgm first.pgm
    silently gconv filter -k identity --rows 5:15 --join in.pgm second.pgm
    same "$(head -c 12 first.pgm)" "$(printf 'P5\n10 20\n255')"
    same "$(wc -c <first.pgm) $(wc -c <second.pgm)" '63 150'
    cat first.pgm second.pgm | cmp - in.pgm
}

@test "without --join the rows are an image, in any format" {
    make_image png:rgba in.png 50 60 noise
    make_image pgm in.pgm 50 60 noise
    make_image jpeg:ycc in.jpg 50 60 noise
    gconv filter -k gauss3 --format pfm in.pgm - >in.pfm
    local input output
    for input in in.png in.pgm in.jpg in.pfm; do
        for output in png pgm ppm pfm; do
            gconv filter -q -k gaussian:2 $input whole.$output
            silently gconv filter -k gaussian:2 --background white --rows 17:20 $input part.$output
            same "$(dump part.$output | head -n 1 | cut -d ' ' -f 4)" 50x20
            same_list "$input to $output" "$(some_rows part.$output 0 20)" "$(some_rows whole.$output 17 20)"
        done
    done
    expect 0 gconv edges --rows 3:4 --json in.png out.png
    same "$(key height | paste -sd ' ' -)" '60 4'
}

@test "upright rows of every orientation" {
    local n
    for n in 1 2 3 4 5 6 7 8; do
        make_image jpeg:ycc in.jpg 40 30 noise exif=$n
        gconv filter -k gauss5 in.jpg whole.ppm
        gconv filter -k gauss5 --rows 11:9 in.jpg part.ppm
        same_list "orientation $n" "$(some_rows part.ppm 0 9)" "$(some_rows whole.ppm 11 9)"
        gconv edges in.jpg whole.pgm
        gconv edges --rows 11:9 in.jpg part.pgm
        same_list "orientation $n" "$(some_rows part.pgm 0 9)" "$(some_rows whole.pgm 11 9)"
    done
}

@test "rows of a pipe, a redirected file and a stream of images" {
    make_image pgm in.pgm 300 400 noise
    gconv edges --format pgm in.pgm - >whole.pgm
    some_rows whole.pgm 250 100 >wanted
    gconv edges --rows 250:100 --format pgm - - <in.pgm >part.pgm
    some_rows part.pgm 0 100 | cmp - wanted
    cat in.pgm | gconv edges --rows 250:100 --format pgm >part.pgm
    some_rows part.pgm 0 100 | cmp - wanted
    cat in.pgm in.pgm >two.pgm
    silently gconv edges --rows 250:100 two.pgm part.pgm
    some_rows part.pgm 0 100 | cmp - wanted
    silently gconv edges --rows 250:100 -b wrap two.pgm part.pgm
}

@test "a part reads little more than its share of the file" {
    [ -r /proc/self/io ] || skip 'no /proc/self/io'
    make_image pgm in.pgm 4000 4000 noise
    local read
    # What a shell has read counts what its children have read.
    read=$(bash -c '"$1" edges --rows 1000:1000 in.pgm out.pgm && grep rchar "/proc/$$/io"' - "$GCONV")
    read=${read#* }
    [ "$read" -gt 4000000 ] && [ "$read" -lt 5000000 ]
    # So does the upper part of a PFM, which lies at the end of the file.
    gconv filter -k identity --format pfm in.pgm - >in.pfm
    read=$(bash -c '"$1" filter -k gauss3 --rows 100:1000 in.pfm out.pfm && grep rchar "/proc/$$/io"' - "$GCONV")
    read=${read#* }
    [ "$read" -gt 16000000 ] && [ "$read" -lt 17500000 ]
}

@test "damage counts where rows are read" {
    make_image pgm in.pgm 50 100 noise
    gconv filter -k box3 in.pgm whole.pgm
    head -c 4000 in.pgm >short.pgm
    silently gconv filter -k box3 --rows 10:50 short.pgm part.pgm
    some_rows part.pgm 0 50 | cmp - <(some_rows whole.pgm 10 50)
    complains 1 'short.pgm: truncated: *' gconv filter -k box3 --rows 10:75 short.pgm part.pgm
    complains 1 'short.pgm: truncated: *' gconv filter -k box3 --rows 90:5 short.pgm part.pgm
    tells 0 'gconv: short.pgm: warning: truncated: *' gconv filter -k box3 --tolerant --rows 90:5 short.pgm part.pgm
    gconv filter -k box3 --tolerant short.pgm whole.pgm 2>/dev/null
    some_rows part.pgm 0 5 | cmp - <(some_rows whole.pgm 90 5)
}

@test "what --rows and --join do not take" {
    make_image pgm in.pgm 20 10 noise
    local value
    for value in '' : 1 1: :1 -1:2 1:0 1:-1 0:1:2 a:1 0:1x 99999999999:1 0:3000000000; do
        complains 2 "option '--rows': '$value' is not FIRST:COUNT, *" gconv edges "--rows=$value" in.pgm out.pgm
    done
    complains 2 'in.pgm: --rows 8:3 goes beyond the image, which has rows 0 to 9' \
        gconv edges --rows 8:3 in.pgm out.pgm
    complains 2 'in.pgm: --rows 10:1 goes beyond *' gconv edges --rows 10:1 in.pgm out.pgm
    complains 2 '--rows computes rows of one image; *' gconv edges --rows 0:1 -o out in.pgm
    complains 2 '--rows computes rows of one image; *' gconv edges --rows 0:1 --in-place in.pgm
    complains 2 '--rows reads a part of the image, and --verify needs all of it' \
        gconv edges --rows 0:1 --verify in.pgm out.pgm
    complains 2 '--rows is computed on the CPU, and --device asks for a GPU' \
        gconv edges --rows 0:1 -d cuda in.pgm out.pgm
    complains 2 '--rows is computed on the CPU, and --impl asks for a GPU' \
        gconv edges --rows 0:1 -i naive in.pgm out.pgm
    complains 2 '--rows is computed on the CPU, and --decoder asks for a GPU' \
        gconv edges --rows 0:1 --decoder cuda in.pgm out.pgm
    complains 2 '--join needs --rows' gconv edges --join in.pgm out.pgm
    complains 2 'in.pgm: --join makes parts of PGM and PPM, and the output is png; *' \
        gconv edges --rows 0:1 --join in.pgm out.png
    complains 2 'in.pgm: --join makes parts of PGM and PPM, and the output is pfm; *' \
        gconv filter -k gauss3 --rows 0:1 --join in.pgm out.pfm
    complains 2 "option '--rows' does not belong to 'gconv compare'" gconv compare --rows 0:1 in.pgm
    holds in.pgm
}
