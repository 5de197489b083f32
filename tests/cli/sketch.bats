#!/usr/bin/env bats
# gconv sketch, and thresholds and blurs of gconv edges that suit an image. model_drawings compares
# pixels with the definition.

load common

# A dark bar on a bright ground.
setup_bar() {
    local row
    row="$(yes 220 | head -n 30 | paste -sd ' ') 30 30 $(yes 220 | head -n 28 | paste -sd ' ')"
    # shellcheck disable=SC2086
    make_image png:grey bar.png 60 3 $row $row $row
}

# count IMAGE SAMPLE: how often it occurs.
count() {
    rows "$1" | tr '/ ' '\n\n' | grep -cx "$2"
}

# The first and the 31st pixel of an image: paper and ink.
paper_and_ink() {
    rows "$1" | cut -d / -f 1 | cut -d ' ' -f "1-$2,$((30 * $2 + 1))-$((31 * $2))"
}

@test "a sketch is black on white, 8 bits of grey, in PNG where nothing else is said" {
    setup_bar
    makes out.png 'png grey 8 60x3*' gconv sketch bar.png out.png
    same "$(paper_and_ink out.png 1)" '255 0'
    makes dir/bar.png 'png grey 8 60x3*' gconv sketch -o dir bar.png
    cmp out.png dir/bar.png
    gconv sketch <bar.png | cmp - out.png
    makes out.jpg 'jpeg grey 8 60x3*' gconv sketch bar.png out.jpg
    makes out.ppm 'ppm rgb 8 60x3*' gconv sketch bar.png out.ppm
    makes out.pgm 'pgm grey 8 60x3*' gconv sketch bar.png out.pgm
    same "$(rows out.pgm)" "$(rows out.png)"
    makes out.pfm 'pfm grey 32 60x3*' gconv sketch bar.png out.pfm
    same "$(rows out.pfm)" "$(rows out.png)"
    complains 2 "option '--depth' does not belong to 'gconv sketch'" gconv sketch --depth 1 bar.png x.png
}

@test "ink and paper are colours, and the paper may be transparent" {
    setup_bar
    gconv sketch bar.png grey.png
    makes out.png 'png rgb 8 60x3*' gconv sketch --ink '#203080' bar.png out.png
    same "$(paper_and_ink out.png 3)" '255 255 255 32 48 128'
    makes out.png 'png rgb 8 60x3*' gconv sketch --paper '#ffe' --ink 7 bar.png out.png
    same "$(paper_and_ink out.png 3)" '255 255 238 7 7 7'
    makes out.png 'png grey 8 60x3*' gconv sketch --paper black --ink white bar.png out.png
    same "$(rows out.png)" "$(rows grey.png | sed 's,/, / ,g' | tr ' ' '\n' |
        awk '{ print $1 == "/" ? "/" : 255 - $1 }' | paste -sd ' ' - | sed 's, / ,/,g')"
    makes out.png 'png grey-alpha 8 60x3*' gconv sketch --paper transparent bar.png out.png
    same "$(paper_and_ink out.png 2)" '0 0 0 255'
    makes out.png 'png rgba 8 60x3*' gconv sketch --paper transparent --ink '#f00' bar.png out.png
    same "$(paper_and_ink out.png 4)" '255 0 0 0 255 0 0 255'
    complains 2 "*--paper transparent needs a format with alpha, such as PNG; jpeg has none" \
        gconv sketch --paper transparent bar.png out.jpg
    complains 2 "*option '--paper': 'wite' is not transparent, a grey from 0 to 255, *, or a name: *did you mean 'white'*" \
        gconv sketch --paper wite bar.png out.png
    gconv sketch --paper Aqua --ink MAROON bar.png out.png
    same "$(paper_and_ink out.png 3)" '0 255 255 128 0 0'
}

@test "a sketch is the same by every implementation and number of threads" {
    make_image png:grey in.png 301 203 noise
    gconv sketch in.png out.png
    gconv sketch -j 3 in.png other.png
    cmp out.png other.png
    gconv sketch --impl reference in.png other.png
    cmp out.png other.png
    expect 0 gconv sketch --verify -v --json in.png other.png
    cmp out.png other.png
    like "$out" '*"promise": "exact"*"within": true*'
    like "$err" '*verified, exact: largest difference from the reference 0, bound 0*'
}

@test "a sketch tells its sigma" {
    setup_bar
    json 0 gconv sketch --json bar.png out.png
    same "$(key command) $(key sigma)" 'sketch 0.7'
    expect 0 gconv sketch -v bar.png out.png
    like "$err" '*sigma 0.7 pixels*'
    json 0 gconv sketch --sigma 5% --json bar.png out.png
    same "$(key sigma)" 3
    complains 2 '*bar.png: --sigma is 60 pixels here, and a sketch takes 0.3 to 10' \
        gconv sketch --sigma 100% bar.png out.png
}

@test "a journal records sketches, and check computes them again" {
    make_image png:grey in.png 60 50 noise
    silently gconv sketch --journal journal -o out in.png
    expect 0 gconv sketch -v --journal journal -o out in.png
    like "$err" '*0 failed, 1 skipped*'
    expect 0 gconv check --verify -v journal
    like "$out" '*verified*'
    make_image png:grey out/in.png 60 50 noise
    expect 1 gconv check journal
}

@test "--sigma puts a Gaussian in the place of gauss5" {
    make_image png:grey in.png 40 30 noise
    for sigma in 0.7 2 5%; do
        pixels=${sigma/5%/2}
        gconv filter -k "gaussian:$pixels" -k laplace3 in.png response.pfm
        gconv edges --sigma "$sigma" --threshold 3 -f pgm in.png out.pgm
        same "$(rows out.pgm)" "$(dump response.pfm | tail -n +2 |
            awk '{ for (x = 1; x <= NF; x++) printf "%s%d", (x > 1 ? " " : ""), ($x > 3 || $x < -3) * 255; print "" }' |
            paste -sd / -)"
    done
    echo 'no filter' >gaussian:2
    gconv edges --sigma 2 --threshold 3 -f pgm in.png other.pgm
    gconv edges --sigma 5% --threshold 3 -f pgm in.png out.pgm
    cmp out.pgm other.pgm
    expect 0 gconv edges --sigma 2 --explain --verify in.png out.png
    like "$err" '*promise: rounded once*'
    for method in zero-crossing gradient canny; do
        expect 0 gconv edges --sigma 2 --method $method --explain --verify in.png sigma.png
        like "$err" '*promise: exact*'
        silently gconv edges --method $method in.png usual.png
        ! cmp -s sigma.png usual.png
    done
    complains 2 "option '--sigma': with --like opencv there is no blur" \
        gconv edges --like opencv --sigma 2 in.png out.png
    for wrong in 0 -1 nan 601 101% 0% % 1%% ''; do
        complains 2 "*option '--sigma': '$wrong' is neither pixels*" gconv edges --sigma "$wrong" in.png out.png
    done
}

@test "a threshold may be a part of the pixels, or found" {
    make_image png:grey in.png 200 100 noise
    json 0 gconv edges --json --threshold 10% in.png ten.pgm
    like "$(key edge_share)" '0.0999*'
    json 0 gconv edges --json --threshold 10% in.png ten.png
    like "$(key edge_share)" '0.0999*'
    local told
    told=$(key threshold)
    silently gconv edges --threshold "$told" in.png other.png
    cmp ten.png other.png
    silently gconv edges --threshold auto in.png out.png
    cmp ten.png out.png
    silently gconv edges --threshold 10% --invert --depth 8 in.png out.pgm
    gconv edges --threshold "$told" --invert in.png other.pgm
    cmp out.pgm other.pgm
    for depth in 1 8 16; do
        gconv edges --depth "$depth" --threshold 10% in.png out.png
        gconv edges --depth "$depth" --threshold "$told" in.png other.png
        cmp out.png other.png
    done
    gconv edges --threshold 10% in.png out.pfm
    gconv edges --threshold "$told" in.png other.pfm
    cmp out.pfm other.pfm
    make_image png:grey flat.png 200 100 "$(yes 77 | head -n 20000 | paste -sd ' ')"
    json 0 gconv edges --json --threshold auto flat.png out.png
    same "$(key edge_share)" 0
    complains 2 "*option '--threshold': auto and per cent are for 'gconv edges' by --method laplace or gradient" gconv compare --threshold auto in.png
    complains 2 '*by --method laplace or gradient' gconv edges --method zero-crossing --threshold 5% in.png out.png
    complains 2 "*'101%' is not 0% to 100% of the pixels" gconv edges --threshold 101% in.png out.png
    complains 2 '*the whole image decides what is drawn' gconv edges --threshold auto --rows 0:1 in.png out.png
    complains 2 '*the whole image decides what is drawn' gconv sketch --rows 0:1 in.png out.png
}

@test "a line says that a threshold leaves hardly any edges, or too many" {
    make_image png:grey in.png 400 250 noise
    expect 0 gconv edges --threshold 1000 in.png out.png
    same "$err" 'gconv: less than 0.1 % of the pixels are edges; --threshold auto finds a threshold'
    expect 0 gconv edges --threshold 0 --invert in.png out.png
    same "$err" 'gconv: more than 50 % of the pixels are edges; --threshold auto finds a threshold'
    expect 0 gconv edges --threshold 1000 -o out in.png
    same "$err" 'gconv: less than 0.1 % of the pixels in in.png are edges; --threshold auto finds a threshold'
    # Of floats of another scale the threshold is not what has to change.
    gconv filter -k identity --scale 0.003 --depth 32 -f npy in.png -o floats
    tells 0 'gconv: *--white 1 if 1 is white' gconv edges floats/in.npy out.png
    tells 0 'gconv: more than 50 *' gconv edges --white 1 floats/in.npy out.png
    silently gconv edges -q --threshold 1000 in.png out.png
    silently gconv edges --threshold 0.1% in.png out.png
    make_image png:grey in.png 400 249 noise
    silently gconv edges --threshold 1000 in.png out.png
    for depth in 1 8 16; do
        json 0 gconv edges --json --depth "$depth" --threshold 0 in.png out.png
        share=$(key edge_share)
        json 0 gconv edges --json --depth "$depth" --invert --threshold 0 in.png out.png
        same "$(key edge_share)" "$share"
        same "$(key threshold)" 0
    done
    expect 0 gconv edges -v --threshold 0 in.png out.png
    like "$err" '*threshold 0: [0-9]*.[0-9]* % of the pixels are edges*'
}

@test "lines are thinned to one pixel, by gconv thin too" {
    make_image png:grey thick.png 9 5 0 0 0 0 0 0 0 0 0 \
        0 255 255 255 255 255 255 255 0 0 255 255 255 255 255 255 200 0 \
        0 255 255 255 255 255 255 255 0 0 0 0 0 0 0 0 0 0
    makes out.png 'png grey 1 9x5*' gconv thin thick.png out.png
    same "$(rows out.png)" '0 0 0 0 0 0 0 0 0/0 0 0 0 0 0 0 0 0/0 0 1 1 1 1 1 0 0/0 0 0 0 0 0 0 0 0/0 0 0 0 0 0 0 0 0'
    makes out.png 'png grey 8 9x5*' gconv thin --depth 8 --invert thick.png out.png
    like "$(rows out.png)" '*/255 255 0 0 0 0 0 255 255/*'
    makes dir/thick.png 'png grey 1 9x5*' gconv thin -o dir thick.png
    make_image png:grey in.png 80 60 noise
    gconv edges --depth 8 in.png edges.png
    gconv thin edges.png out.png
    gconv edges --thin in.png other.png
    cmp out.png other.png
    gconv edges --thin --threshold 5 --impl reference in.png other.png
    cmp out.png other.png
    makes out.png 'png grey 8 80x60*' gconv sketch --lines thin in.png out.png
    gconv edges --method canny --high auto --sigma 1.05 --min-length 8 --invert --depth 8 in.png other.png
    cmp out.png other.png
    gconv sketch --lines thin --sigma 2 --min-length 5 --ink navy in.png out.ppm
    gconv edges --method canny --high auto --sigma 2 --min-length 5 in.png other.pgm
    same "$(rows out.ppm | tr '/ ' '\n\n' | grep -c 128)" "$(rows other.pgm | tr '/ ' '\n\n' | grep -c 255)"
    json 0 gconv sketch --lines thin --json in.png out.png
    same "$(key sigma)" 1.05
    { printf 'P5 400 250 255\n' && head -c 100000 /dev/zero; } >flat.pgm
    expect 0 gconv sketch --lines thin flat.pgm out.png
    same "$err" 'gconv: less than 0.1 % of the pixels are edges; another --sigma takes finer or wider details'
    expect 0 gconv sketch flat.pgm out.png
    lighter="'gconv filter -k identity --scale 16' lightens a dark image, as of 12 bits in 16"
    same "$err" "gconv: less than 0.1 % of the pixels are paper; $lighter"
    same "$(rows out.png | tr "/ " "\n\n" | sort -u)" 0
    make_image png:grey:16 dim.png 400 250 noise
    gconv filter -k identity --scale 0.0625 dim.png dark.png # 12 bits
    expect 0 gconv sketch -o dir dark.png
    same "$err" "gconv: less than 0.1 % of the pixels in dark.png are paper; $lighter"
    expect 0 gconv thin dark.png out.png
    same "$err" "gconv: less than 0.1 % of the pixels are white; $lighter"
    silently gconv filter -k identity --scale 16 dark.png light.png
    silently gconv sketch light.png out.png
    silently gconv filter -k identity --offset -90 light.png fewer.png
    silently gconv thin fewer.png out.png
}

@test "--min-length leaves out small marks" {
    make_image png:grey in.png 8 3 255 255 0 0 0 0 255 0 0 0 0 0 0 0 0 255 255 0 0 0 0 0 0 0
    gconv thin --min-length 3 in.png out.png
    same "$(rows out.png)" '0 0 0 0 0 0 0 0/0 0 0 0 0 0 0 0/0 0 0 0 0 0 0 0'
    gconv thin --min-length 2 in.png out.png
    same "$(rows out.png)" '1 1 0 0 0 0 1 0/0 0 0 0 0 0 0 1/0 0 0 0 0 0 0 0'
    complains 2 '--min-length of a sketch is about thin lines; add --lines thin' gconv sketch --min-length 2 in.png out.png
    complains 2 "*option '--min-length': '0' is not a whole number of at least 1" gconv thin --min-length 0 in.png out.png
}

@test "--overlay draws edges over the picture" {
    make_image png:rgb in.png 4 1 9 8 7 9 8 7 200 150 100 200 150 100
    makes out.png 'png rgb 8 4x1*' gconv edges --overlay '#f00' in.png out.png
    same "$(rows out.png)" '255 0 0 255 0 0 255 0 0 255 0 0'
    gconv edges --overlay '#f00' --threshold 1000 in.png out.png
    same "$(rows out.png)" '9 8 7 9 8 7 200 150 100 200 150 100'
    make_image png:grey:16 in.png 4 1 0 257 65535 300
    gconv edges --overlay white --threshold 1000 in.png out.png
    same "$(rows out.png)" '0 0 0 1 1 1 255 255 255 1 1 1'
    complains 2 "option '--overlay' needs a value (COLOUR); in a shell # takes quotes" gconv edges --overlay
    complains 2 '*; --high auto finds thresholds of canny' \
        gconv edges --method canny --threshold auto in.png out.png
    complains 2 '*--overlay reads its input twice*' gconv edges --overlay white - out.png <in.png
    gconv edges --overlay white --threshold 1000 --depth 16 in.png out.png
    same "$(rows out.png)" '0 0 0 257 257 257 65535 65535 65535 257 257 257'
    for option in '--depth 1' --invert; do # shellcheck disable=SC2086
        complains 2 '*--overlay draws in one colour over the picture; leave out*' \
            gconv edges --overlay white $option in.png out.png
    done
    local width times
    for width in 1499 1500; do # stripes
        times=$((width / 1500 + 1))
        # shellcheck disable=SC2046
        make_image png:grey in.png $width 4 $(yes '0 0 0 255 255 255' | tr ' ' '\n' | head -n $((4 * width)))
        gconv edges --method canny in.png lines.pgm
        gconv edges --method canny --overlay 77 in.png wide.pgm
        same "$(count wide.pgm 77)" "$((times * $(count lines.pgm 255)))"
    done
}

@test "--high auto finds the thresholds of Canny, from memory, a pipe or a file that is read twice" {
    make_image png:grey in.png 200 100 noise
    make_image pgm:grey:16 large.pgm 2900 2900 noise
    for image in in.png large.pgm; do
        for options in '' '--like opencv' '--sigma 2 --norm l2 --operator scharr --min-length 3'; do # shellcheck disable=SC2086
            json 0 gconv edges --method canny --high auto $options --json $image out.png
            low=$(key low) high=$(key threshold) share=$(key edge_share)
            awk "BEGIN { exit !($high > 5 && $low / $high > 0.3999 && $low / $high < 0.4001) }"
            gconv edges --method canny $options $image - --high auto <$image | cmp - out.png
            json 0 gconv edges --method canny $options --low "$low" --high "$high" --json $image other.png
            cmp out.png other.png
            same "$(key edge_share)" "$share"
            [ $image = in.png ] || break
        done
    done
    expect 0 gconv edges -v --method canny --low auto in.png out.png
    like "$err" '*thresholds [0-9.]* (low) and [0-9.]* (high): [0-9.]* % of the pixels are edges*'
    silently gconv edges --method canny --high auto --impl reference in.png other.png
    cmp out.png other.png
    json 0 gconv edges --method canny --high 100 --low auto --json in.png out.png
    same "$(key low) $(key threshold)" '40 100'
    json 0 gconv edges --method canny --low 0 --json in.png out.png
    same "$(key low) $(key threshold)" '0 100'
    json 0 gconv edges --method canny --high auto --low 3000 --json in.png out.png
    same "$(key low) $(key threshold)" '3000 3000'
    silently gconv edges --journal journal --method canny --high auto -o out in.png
    expect 0 gconv check --verify journal
    cat in.png >several.png
    gconv filter -k identity in.png a.pgm
    gconv filter -k gauss5 in.png b.pgm
    cat a.pgm b.pgm | gconv edges --method canny --high auto --format pgm - both.pgm
    gconv edges --method canny --high auto a.pgm a.out.pgm
    gconv edges --method canny --high auto b.pgm b.out.pgm
    cat a.out.pgm b.out.pgm | cmp - both.pgm
    complains 2 "option '--high': auto is for 'gconv edges'" gconv compare --method canny --high auto in.png
    complains 2 "option '--low': 'x' is not a number of at least 0, nor auto" gconv edges --method canny --low x in.png out.png
}

@test "a gradient's threshold may be found, and its values written" {
    make_image png:grey in.png 200 100 noise
    json 0 gconv edges --json --method gradient --threshold 10% in.png ten.png
    like "$(key edge_share)" '0.[01]*'
    silently gconv edges --method gradient --threshold "$(key threshold)" in.png other.png
    cmp ten.png other.png
    silently gconv edges --method gradient --threshold auto --impl reference in.png other.png
    cmp ten.png other.png
    for output in out.pfm out.png out.pgm; do
        expect 0 gconv edges -v --method gradient --norm l2 --values --verify in.png $output
        like "$err" '*verified, exact*'
    done
}

@test "what would be drawn in vain is refused or said" {
    make_image png:grey in.png 40 30 noise
    complains 2 '--ink and --paper are the same colour: nothing would be seen' gconv sketch --ink white in.png out.png
    complains 2 'in.png: the colour of --ink needs an output that holds colours; pgm holds grey' gconv sketch --ink '#f00' in.png out.pgm
    complains 2 'in.png: the colour of --overlay needs an output that holds colours; pgm holds grey' gconv edges --overlay '#f00' in.png out.pgm
    silently gconv edges --overlay 200 in.png out.pgm
    gconv edges --threshold 10% --invert in.png black.png
    expect 0 gconv thin black.png out.png
    like "$err" "gconv: more than 50 % of the pixels are white, and lines are white on black; 'gconv filter -k identity --scale -1 --offset 255' turns an image round"
    gconv filter -k identity --scale -1 --offset 255 black.png white.png
    silently gconv thin white.png out.png
    for option in '-b wrap' --exact; do # shellcheck disable=SC2086
        complains 2 "option '--*' does not belong to 'gconv thin'" gconv thin $option in.png out.png
    done
    expect 0 gconv edges --sigma 2 --threshold auto --explain in.png out.png
    like "$err" '*promise: bounded*'
    expect 0 gconv edges --sigma 2 --threshold auto --exact --explain in.png out.png
    like "$err" '*promise: rounded once*'
    gconv edges --sigma 2 --threshold auto --exact --impl reference in.png other.png
    cmp out.png other.png
    make_image png:grey in.png 400 250 noise
    expect 0 gconv edges --method gradient --threshold 5000 in.png out.png
    same "$err" 'gconv: less than 0.1 % of the pixels are edges; --threshold auto finds a threshold'
    expect 0 gconv edges --method canny --high 5000 in.png out.png
    same "$err" 'gconv: less than 0.1 % of the pixels are edges; --high auto finds thresholds'
    expect 0 gconv edges --method zero-crossing --threshold 5000 in.png out.png
    same "$err" 'gconv: less than 0.1 % of the pixels are edges; --threshold sets the least slope'
    make_image pgm:grey in.pgm 2000 1500 noise
    "$GCONV" edges -j 1 --exact --sigma 200 --threshold auto --explain in.pgm out.png 2>err &
    until [ -s err ]; do sleep 0.02; done
    kill $!
    like "$(cat err)" "gconv: in.pgm: about [0-9]* s by '*', rounded once"
}

@test "--values writes responses, --grey makes filter compute from grey" {
    make_image png:grey in.png 40 30 noise
    gconv filter -k gauss5 -k laplace3 in.png wanted.pfm
    gconv edges --values in.png out.pfm
    cmp wanted.pfm out.pfm
    gconv filter -k gauss5 -k laplace3 --scale 0.125 --offset 128 --depth 16 in.png wanted.png
    gives out.png wanted.png gconv edges --values in.png out.png
    complains 2 '*--values writes responses, and no edges*' gconv edges --values --threshold 3 in.png out.png
    complains 2 '*--values writes responses, and no edges*' gconv edges --values --depth 1 in.png out.png
    make_image png:rgb in.png 9 7 noise
    makes out.png 'png grey 8 9x7*' gconv filter --grey -k gauss5 in.png out.png
    gconv filter -k identity in.png grey.pgm
    gconv filter -k gauss5 grey.pgm wanted.png
    cmp wanted.png out.png
}

@test "docs/edges.md shows what its commands make" {
    ln -s "$SOURCE/samples" samples
    mkdir -p docs/images
    sed -e :a -e '/\\$/N; s/ *\\\n */ /; ta' "$SOURCE/docs/edges.md" | grep '^gconv .*\.png$' >commands
    [ "$(wc -l <commands)" -ge 4 ]
    while IFS= read -r command; do
        eval "$command"
        image=${command##* }
        dump "$image" >made
        dump "$SOURCE/$image" | cmp - made
    done <commands
}
