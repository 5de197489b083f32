#!/usr/bin/env bats
# What edges and filter say besides the image: -v, timings, explanations, JSON, verification.

load common

@test "silence is the rule" {
    setup_images
    silently gconv edges in.png out.png
    silently gconv filter -k box3 in.png out.png
    silently gconv edges -o out in.png other.pgm
    silently gconv edges --verify in.png out.png
}

@test "-v says what was done, for a batch too" {
    setup_images
    prints 0 '' gconv edges -v --impl cpu in.png out.png
    same "$err" 'gconv: in.png: 40x30, 1 channel of 8 bits to out.png by cpu
gconv: in.png: threshold 5: 71.00 % of the pixels are edges'
    expect 0 gconv edges -v --impl reference - - <in.png
    same "$err" 'gconv: standard input: 40x30, 1 channel of 8 bits to standard output by reference
gconv: standard input: threshold 5: 71.00 % of the pixels are edges'
    make_image png:rgba:16 in.png 40 30 noise
    expect 0 gconv filter -v -k box3 --impl cpu -o out in.png other.pgm
    same "$err" 'gconv: in.png: 40x30, 4 channels of 16 bits to out/in.png by cpu
gconv: other.pgm: 8x3, 1 channel of 8 bits to out/other.pgm by cpu'
}

@test "--timings names every stage, even with -q" {
    setup_images
    local decoder=libpng
    ! gconv info | grep -q ISA-L || decoder='libpng with ISA-L'
    for quiet in '' -q; do
        prints 0 '' gconv edges --timings $quiet in.png out.png
        like "$err" "gconv: in.png: decode *[0-9] ms by $decoder, upload * ms, compute * ms, download * ms, encode * ms, total * ms"
    done
}

@test "--explain gives the candidates and the choice" {
    setup_images
    prints 0 '' gconv edges --explain in.png out.png
    like "$err" 'gconv: in.png: how *chosen:
reference * ms estimated on *cpu * ms estimated on *chosen: *'
    expect 0 gconv edges --explain --impl cpu in.png out.png
    like "$err" 'gconv: in.png: how *chosen:
cpu on *: asked for by name*'
}

@test "--exact: only what rounds once computes, and nothing else is made" {
    make_image png:grey:16 in.png 300 200 noise
    make_image png:rgba alpha.png 9 5 noise
    gconv filter -k gaussian:1.3 -k sharpen3 --impl reference in.png wanted.png
    prints 0 '' gconv filter -k gaussian:1.3 -k sharpen3 --exact --explain in.png out.png
    like "$err" "*cpu        no: 'cpu' does not promise that each sample of this job is rounded once*
chosen: reference, *
promise: rounded once
*"
    cmp wanted.png out.png
    rm out.png
    complains 4 "in.png: 'cpu' does not promise that each sample of this job is rounded once" \
        gconv filter -k gaussian:1.3 -k sharpen3 --exact --impl cpu in.png out.png
    complains 4 'alpha.png: no implementation promises that each sample of this job is rounded once' \
        gconv filter -k gaussian:1.3 --exact --alpha premultiply alpha.png out.png
    [ ! -e out.png ]
    silently gconv edges --exact --impl cpu in.png out.png
}

@test "auto takes what rounds once unless a bounded result is much faster" {
    setup_images
    # cpu of this program takes 0.99 times as long as the reference, and rounds nothing once.
    expect 0 "$FAULTY" filter --explain -k gaussian:1.3 in.png out.png
    like "$err" '*cpu * ms estimated on *, bounded
*
chosen: reference, which rounds once, for little more than the least estimated time
*'
    expect 0 "$FAULTY" filter --explain -k gauss3 in.png out.png
    like "$err" '*
chosen: cpu, the least estimated time; reference would take [0-9.]* times as long
*'
}

@test "what decoded an image is told, and why no GPU did" {
    needs_fast_paths
    make_image jpeg:ycc sound.jpg 40 30 noise
    make_image jpeg:ycc:progressive other.jpg 40 30 noise
    make_image jpeg:ycc narrow.jpg 8 30 noise # the decoder of these tests refuses it
    make_image png:grey in.png 40 30 noise
    make_image pgm in.pgm 40 30 noise
    while read -r name decoder reason; do
        expect 0 "$FAULTY" edges --impl kernels -v --timings --explain --json $name out.png
        like "$(key decoder)" "$decoder"
        like "$(key explanation)" "*decoder: $decoder${reason:+ ($reason)}*"
        like "$err" "gconv: $name: 40x30, *by kernels${reason:+
gconv: $name: decoded on the CPU: $reason}
gconv: $name: threshold 5: *
gconv: $name: decode * ms by $decoder, upload *"
        expect 0 "$FAULTY" edges --impl kernels --explain $name out.png
        like "$err" "*
decoder: $decoder${reason:+ ($reason)}"
    done <<'END'
sound.jpg cuda
other.jpg libjpeg-turbo a coding other than baseline
in.png libpng*
in.pgm gconv
END
    expect 0 "$FAULTY" edges --impl kernels -v --explain narrow.jpg out.png
    like "$err" '*
gconv: narrow.jpg: decoded on the CPU: data that the GPU rejects, or lacks memory for
*
decoder: libjpeg-turbo (data that the GPU rejects, or lacks memory for)'
    expect 0 "$FAULTY" edges --impl kernels -v - out.png <sound.jpg
    like "$err" '*
gconv: standard input: decoded on the CPU: an input that cannot be read twice
gconv: standard input: threshold 5: *'
    expect 0 "$FAULTY" edges --impl kernels --verify --json sound.jpg out.png # reads rows
    same "$(key decoder)" libjpeg-turbo
}

@test "--decoder cpu keeps JPEG from a GPU, and warnings are the same" {
    make_image jpeg:ycc in.jpg 40 30 noise
    expect 0 "$FAULTY" edges --impl kernels --decoder cpu -v --json in.jpg out.png
    same "$(key decoder)" libjpeg-turbo
    like "$err" 'gconv: in.jpg: 40x30, 3 channels of 8 bits to out.png by kernels
gconv: in.jpg: threshold 5: *'
    echo more >>in.jpg
    for decoder in auto cpu; do
        expect 0 "$FAULTY" edges --impl kernels --decoder $decoder --json in.jpg out.png
        same "$(key warnings)" '["bytes after the end of the image ignored"]'
    done
    head -c 700 in.jpg >cut.jpg
    for decoder in auto cpu; do
        complains 1 'cut.jpg: truncated: the file ends in the image data' \
            "$FAULTY" edges --impl kernels --decoder $decoder cut.jpg out.png
    done
}

@test "--explain of a batch names the image before each explanation" {
    setup_images
    cp in.png other.png
    expect 0 gconv filter -k box3 --explain --impl cpu -o out in.png other.png
    like "$err" 'gconv: in.png: how *chosen:
cpu on *
gconv: other.png: how *chosen:
cpu on *'
}

# whole SIDE: rows of whole weights without structure; sharper SIDE: many in the centre, -1 around it.
whole() { awk -v n="$1" 'BEGIN { for (j = 0; j < n; j++) for (i = 0; i < n; i++)
    printf "%d%s", (i * i * 7 + j * i * 3 + j * j * 5) % 11 - 5, i < n - 1 ? " " : "\n" }'; }
sharper() { awk -v n="$1" 'BEGIN { for (j = 0; j < n; j++) for (i = 0; i < n; i++)
    printf "%d%s", i == j && i == int(n / 2) ? 2 * n * n : -1, i < n - 1 ? " " : "\n" }'; }

# with_instructions SET: --explain says how the CPU computes, and --verify agrees, with this set.
with_instructions() {
    needs_fast_paths
    export GCONV_INSTRUCTIONS=$1
    gconv info >/dev/null 2>&1 || skip "this processor or build lacks $1"
    make_image png:grey in.png 120 90 noise
    whole 31 >large.txt
    sharper 15 >sharper.txt
    for border in mirror constant:9 wrap; do
        expect 0 gconv filter --impl cpu --verify --explain -v -b $border -k large.txt in.png out.pfm
        like "$err" '*verified, exact: largest difference from the reference 0, bound 0
*cpu: 31x31 by transforms of tiles in double, rounded, *'
        expect 0 gconv filter --impl cpu --verify --explain -b $border -k sharper.txt in.png out.pfm
        like "$err" '*cpu: 15x15 by a sum of 2 separable filters, *'
    done
    expect 0 gconv filter --impl cpu --verify --explain -k gaussian:2,15 in.png out.pfm
    like "$err" '*cpu: 15x15 by a column and a row, *'
}

@test "transforms begin at larger filters on processors of Intel" {
    needs_fast_paths
    export GCONV_INSTRUCTIONS=avx2
    gconv info | grep -q '^instructions: avx2' || skip "this processor or build lacks avx2"
    local way='transforms of tiles'
    ! grep -q GenuineIntel /proc/cpuinfo || way='every tap'
    make_image png:grey in.png 512 512 noise
    whole 12 | awk '{ for (i = 1; i <= NF; i++) $i = sin($i + NR * i); print }' >weights.txt
    expect 0 gconv filter --impl cpu --explain -k weights.txt in.png out.pfm
    like "$err" "*cpu: 12x12 by $way, *"
}

@test "--explain says how the CPU computes, and --verify agrees: avx512" {
    with_instructions avx512
}

@test "--explain says how the CPU computes, and --verify agrees: avx2" {
    with_instructions avx2
}

@test "--explain says how the CPU computes, and --verify agrees: portable" {
    with_instructions portable
}

@test "-v says how the text of a filter was read" {
    setup_images
    printf '3 3 16\n1 2 1\n2 4 2\n1 2 1\n' >k.txt
    expect 0 gconv filter -v --impl cpu -k k.txt in.png out.png
    like "$err" 'gconv: k.txt: a filter of 3x4, read as rows of weights, not as the libvips matrix of 3x3 that it could be
gconv: in.png: *'
    printf '2 3\n1 2\n2 4\n1 2\n3 4\n' >k.txt
    expect 0 gconv filter -v -k k.txt in.png out.png
    like "$err" 'gconv: k.txt: a filter of 2x5, read as rows of weights
*'
    printf '3 2 16\n1 2 1\n2 4 2\n' >k.txt
    expect 0 gconv filter -v -k k.txt -k '3x1: 1,2,1' -k gauss3 in.png out.png
    like "$err" 'gconv: k.txt: a filter of 3x3, read as rows of weights, not as the libvips matrix of 3x2 *
gconv: 3x1: 1,2,1: a filter of 3x1, read as an ImageMagick string
gconv: in.png: *'
    printf '3 2\n1 2 1\n2 4 2\n' >k.txt
    expect 0 gconv compare -v --time 0.01 -i cpu -k k.txt in.png
    same "$err" 'gconv: k.txt: a filter of 3x2, read as a libvips matrix'
    expect 0 gconv filter -v -k gaussian:1,5 in.png out.png
    like "$err" 'gconv: gaussian:1,5: a filter of 5x5, read as SIGMA 1 and SIZE 5
gconv: in.png: *'
    tells 0 'gconv: in.png: *' gconv filter -v -k gaussian:1 in.png out.png
    expect 0 gconv filter -v -k 'log:1.5,7' in.png out.png
    like "$err" '*, read as SIGMA 1.5 and SIZE 7
*'
}

@test "--explain says it too, and a comma that may be a decimal one is pointed out" {
    setup_images
    printf '0,5 0,5\n' >k.txt
    tells 0 'gconv: k.txt: a filter of 4x1, read as rows of weights: each comma separates two weights (a decimal has a point)' \
        gconv filter -k k.txt --scale 0.1 in.png out.png
    silently gconv filter -q -k k.txt in.png out.png
    for option in --explain '-q --explain' -v; do
        expect 0 gconv filter $option -k k.txt in.png out.png
        like "$err" 'gconv: k.txt: a filter of 4x1, read as rows of weights: each comma separates two weights (a decimal has a point)
*'
    done
    expect 0 gconv filter -q --explain -k gaussian:1,5 in.png out.png
    like "$err" 'gconv: gaussian:1,5: a filter of 5x5, read as SIGMA 1 and SIZE 5
*'
    expect 0 gconv compare --explain --time 0.01 -i cpu -k k.txt in.png
    like "$err" 'gconv: k.txt: *each comma separates two weights*'
    printf '0,5 0.5\n' >k.txt
    expect 0 gconv filter --explain -k k.txt in.png out.png
    like "$err" '*read as rows of weights, computed in whole numbers over 2
*'
}

@test "-v says that the CPU took over, and --json names it" {
    needs_fast_paths # among them what expects times of GPUs
    make_image pgm big.pgm 450 450 noise
    expect 0 "$FAULTY" filter -v --json -k box:61 big.pgm out.pgm
    like "$err" "gconv: big.pgm: 450x450, 1 channel of 8 bits to out.pgm by cpu
gconv: big.pgm: the CPU took over: 'dead' broke down"
    same "$(key implementation)" cpu
    silently "$FAULTY" filter -k box:61 big.pgm out.pgm
}

@test "options without effect are named with -v" {
    setup_images
    silently gconv edges --quality 50 --tile 3 in.png out.png
    expect 0 gconv edges -v --device cpu -j 2 --quality 50 --compression 3 --tile 3 --block 8x8 --strip in.png out.pgm
    same "$(printf '%s\n' "$err" | sed 1,2d)" "gconv: option '--quality' had no effect: no output is of a format that has a quality
gconv: option '--compression' had no effect: no output is of a format that is compressed so
gconv: option '--strip' had no effect: the outputs hold nothing but pixels
gconv: option '--tile' had no effect: what ran takes no tiling factor
gconv: option '--block' had no effect: what ran takes no thread block"
    expect 0 gconv filter -v --impl reference -j 2 --alpha keep -k box3 --compression 3 in.png out.png
    same "$(printf '%s\n' "$err" | sed 1d)" "gconv: option '--alpha' had no effect: no transparency was filtered
gconv: option '--threads' had no effect: nothing ran on several threads of the CPU"
    make_image jpeg:ycc in.jpg 40 30 noise
    expect 0 gconv edges -v --impl cpu --decoder auto in.jpg out.png
    same "$(printf '%s\n' "$err" | sed 1,2d)" ''
    expect 0 gconv edges -v --impl cpu --decoder cpu in.jpg out.png
    same "$(printf '%s\n' "$err" | sed 1,2d)" ''
    expect 0 gconv edges -v --impl cpu --decoder cpu in.png out.png
    same "$(printf '%s\n' "$err" | sed 1,2d)" "gconv: option '--decoder' had no effect: no image came as a JPEG that it decides on"
    make_image png:rgba in2.png 8 3 noise
    expect 0 gconv filter -v -r --alpha keep -j 2 --impl reference -k box3 --quality 50 -o out in2.png other.pgm
    same "$(printf '%s\n' "$err" | sed 1,2d)" "gconv: option '--quality' had no effect: no output is of a format that has a quality
gconv: option '--recursive' had no effect: no directory is among the inputs"
    expect 0 gconv compare -v --time 0.01 -i cpu -t 4 -k box3 in.png
    same "$err" "gconv: option '--threshold' had no effect: --kernel takes the place of edges"
    expect 1 gconv edges -v --quality 50 none.png out.png
    same "$err" 'gconv: none.png: cannot open: No such file or directory'
}

# ---- JSON

@test "--json: one object a line for every image" {
    setup_images
    tells 0 '' gconv edges --json --impl cpu in.png out.png
    is_json
    same "$(key schema)" 1
    same "$(key command) $(key input) $(key output) $(key status)" 'edges in.png out.png done'
    same "$(key implementation) $(key exact)" 'cpu true'
    same "$(key width | paste -sd ' ' -)" '40 40'
    same "$(key depth | paste -sd ' ' -)" '8 1'
    expect 1 gconv filter -k box3 --json -o out in.png none.png other.pgm
    same "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 3
    same "$(key status | paste -sd ' ' -)" 'done failed done'
    same "$(key error)" 'cannot open: No such file or directory'
    expect 0 gconv filter -k box3 -n --json -o out in.png
    same "$(key status)" skipped
    json 0 gconv edges --json --explain --verify in.png out.png
    like "$(key explanation)" '*chosen: *'
    same "$(key within) $(key largest) $(key mismatches)" 'true 0 0'
    complains 2 '--json and the image cannot both go to standard output' gconv edges --json in.png -
}

@test "--json tells what the files hold, whatever is computed from it" {
    make_image png:rgb rgb.png 9 7 noise
    make_image png:rgba rgba.png 9 7 noise
    make_image png:grey grey.png 9 7 noise
    make_image jpeg:ycc ycc.jpg 9 7 noise
    while read -r name channels; do
        expect 0 gconv edges --json $name out.png
        same "$(key channels | paste -sd ' ' -)" "$channels 1"
    done <<<'rgb.png 3
rgba.png 4
grey.png 1
ycc.jpg 3'
    tells 0 'gconv: rgb.png: 9x7, 3 channels of 8 bits to out.png *' gconv edges -v rgb.png out.png
    while read -r name output channels; do
        expect 0 gconv filter -k box3 --json $name $output
        same "$(key channels | paste -sd ' ' -)" "$channels"
    done <<<'rgba.png out.png 4 4
rgba.png out.jpg 4 3
rgb.png out.pgm 3 1
grey.png out.ppm 1 3'
}

@test "--json has the warnings of each image, whether they are said or not" {
    make_image png:rgba in.png 40 30 noise
    echo more >>in.png
    tells 0 '' gconv filter --json --background white -k box3 in.png out.ppm
    like "$out" '*"warnings": \["bytes after the end of the image ignored", "transparent pixels were put on a background of #ffffff"\]*'
    head -c 3000 in.png >cut.png
    tells 0 '' gconv edges --json -q --tolerant cut.png out.png
    same "$(key warnings)" '["truncated: the file ends in the image data", "transparent pixels were put on a background of #ffffff"]'
    expect 1 gconv edges --json cut.png out.png
    same "$(key warnings)" '[]'
    expect 0 gconv compare --json --tolerant --time 0.01 --impl reference cut.png
    same "$err" 'gconv: cut.png: warning: truncated: the file ends in the image data'
    like "$(key warnings)" '\["truncated: the file ends in the image data", "transparent *"\]'
    setup_images
    expect 0 gconv edges --json -n in.png out.png
    same "$(key status) $(key warnings)" 'skipped []'
}

@test "--json keeps a hundred warnings, and counts the others" {
    make_image png:grey in.png 4 3 noise
    { # a chunk with a wrong checksum, behind IHDR
        head -c 33 in.png
        for _ in $(seq 250); do printf '\0\0\0\4gAMA\0\0\261\217\0\0\0\0'; done
        tail -c +34 in.png
    } >many.png
    json 0 gconv edges --json many.png out.png
    same "$(printf '%s\n' "$out" | grep -o 'PNG: gAMA: CRC error' | wc -l | tr -d ' ')" 100
    like "$(key warnings)" '*, "151 more warnings"\]' # one of them says that the chunk is lost
}

# ---- Verification

@test "--verify agrees, and leaves the output as it is" {
    setup_images
    gconv filter -k gaussian:1.3 in.png wanted.png
    gives out.png wanted.png gconv filter --verify -k gaussian:1.3 in.png out.png
    expect 0 gconv filter --verify -v -k gaussian:1.3 in.png out.png
    like "$err" '*
gconv: in.png: verified, rounded once: largest difference from the reference *, bound *'
    make_image png:rgba in.png 40 30 noise
    for alpha in keep filter premultiply; do
        silently gconv filter --verify -k gaussian:1.3 --alpha $alpha in.png out.png
    done
    silently gconv edges --verify --background black in.png out.png
    gconv edges --verify --background black <in.png >piped.png
    cmp piped.png out.png
}

@test "--verify finds a wrong value: exit 3, its size and place, the output all the same" {
    make_image png:grey in.png 5 5 0 0 0 0 0  0 0 0 0 0  0 0 99 0 0  0 0 0 0 0  0 0 0 0 0
    complains 3 "in.png: verification failed: 'wrong' differs from the reference by up to 64 (bound 0) at x 0, y 0, channel 0; 1 values beyond the bound" \
        "$FAULTY" filter -k identity --impl wrong --verify in.png out.png
    same "$(rows out.png)" '64 0 0 0 0/0 0 0 0 0/0 0 99 0 0/0 0 0 0 0/0 0 0 0 0'
    expect 3 "$FAULTY" filter -k identity --impl wrong --verify --json in.png out.png
    same "$(key status) $(key within) $(key largest) $(key mismatches)" 'mismatch false 64 1'
    expect 3 "$FAULTY" edges --impl wrong --verify -o out in.png
    silently "$FAULTY" edges --impl reference --verify -o out in.png
    expect 1 "$FAULTY" edges --impl wrong --verify -o out in.png none.png
    like "$err" "gconv: in.png: verification failed: *
gconv: none.png: *
gconv: 1 of 2 images done, 1 failed, 0 skipped"
    silently "$FAULTY" filter -k identity --impl wrong in.png out.png
}

@test "--verify and compare judge the output, not only chain values" {
    make_image png:grey in.png 5 5 0 0 0 0 0  0 0 0 0 0  0 0 99 0 0  0 0 0 0 0  0 0 0 0 0
    complains 3 "in.png: verification failed: 'wrong:output' writes other samples than the reference allows, promised exact, by up to 64 at x 0, y 0, channel 0; 1 wrong samples" \
        "$FAULTY" filter -k identity --impl wrong:output --verify in.png out.png
    same "$(rows out.png)" '64 0 0 0 0/0 0 0 0 0/0 0 99 0 0/0 0 0 0 0/0 0 0 0 0'
    expect 3 "$FAULTY" filter -k identity --impl wrong:output --verify --json in.png out.png
    same "$(key status) $(key within) $(key mismatches) $(key wrong_samples)" 'mismatch false 0 1'
    make_image png:rgba in.png 40 30 noise
    for options in '-k identity' '-k gaussian:1.3 --alpha keep' '-k gaussian:1.3 --alpha filter' '-k gaussian:1.3 --alpha premultiply'; do
        expect 3 "$FAULTY" filter $options --impl wrong:output --verify in.png out.png
        expect 3 "$FAULTY" compare --time 0.1 $options --impl wrong:output in.png
        like "$out" '*wrong:output *WRONG (bound *'
    done
    expect 3 "$FAULTY" bench --time 0.1 --impl wrong:output -k gaussian:1.3
}

# ---- Locale

@test "numbers have a point whatever the locale" {
    needs locale
    comma=$(locale -a | while read -r name; do
        [ "$(LC_ALL=$name locale decimal_point 2>/dev/null)" = , ] && echo "$name" && break
    done) || true
    if [ -z "$comma" ] && localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" 2>/dev/null; then
        export LOCPATH=$PWD
        comma=de_DE.UTF-8
    fi
    [ -n "$comma" ] || skip "no locale with a decimal comma"
    make_image png:grey in.png 3 1 10 20 30
    export LC_ALL=$comma
    printf 'divisor 2.5\n2.5\n' >k.txt
    expect 0 gconv filter -k k.txt --scale 0.5 --timings in.png out.png
    same "$(rows out.png)" '5 10 15'
    like "$err" '*[0-9].[0-9]* ms*'
    complains 2 "option '--scale': '0,5' is not *" gconv filter -k k.txt --scale 0,5 in.png out.png
    json 0 gconv edges --json in.png out.png
    like "$(gconv compare --time 0.01 in.png)" '*[0-9].[0-9]*'
}
