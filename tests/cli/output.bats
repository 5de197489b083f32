#!/usr/bin/env bats
# What is said besides the image: JSON, timings, explanations, verification, measurements.

load common

setup_images() {
    make_image png:grey in.png 40 30 noise
    make_image pgm other.pgm 8 3 noise
}

# The only words on stderr of a command that draws progress.
bare() { tr '\r' '\n' <"$BATS_TEST_TMPDIR/err" | sed 's/\x1b\[K//g' | sed '/^$/d'; }

# ---- edges and filter

@test "silence is the rule" {
    setup_images
    silently gconv edges in.png out.png
    silently gconv filter -k box3 in.png out.png
    silently gconv edges -o out in.png other.pgm
    silently gconv edges --verify in.png out.png
}

@test "-v says what was done, for a batch too" {
    setup_images
    expect 0 gconv edges -v --impl cpu in.png out.png
    same "$out" ''
    same "$err" 'gconv: in.png: 40x30, 1 channel of 8 bits to out.png by cpu'
    expect 0 gconv edges -v --impl reference - - <in.png
    same "$err" 'gconv: standard input: 40x30, 1 channel of 8 bits to standard output by reference'
    make_image png:rgba:16 in.png 40 30 noise
    expect 0 gconv filter -v -k box3 --impl cpu -o out in.png other.pgm
    same "$err" 'gconv: in.png: 40x30, 4 channels of 16 bits to out/in.png by cpu
gconv: other.pgm: 8x3, 1 channel of 8 bits to out/other.pgm by cpu'
}

@test "--timings names every stage, even with -q" {
    setup_images
    for quiet in '' -q; do
        expect 0 gconv edges --timings $quiet in.png out.png
        same "$out" ''
        like "$err" 'gconv: in.png: decode *[0-9] ms, upload * ms, compute * ms, download * ms, encode * ms, total * ms'
    done
}

@test "--explain gives the candidates and the choice" {
    setup_images
    expect 0 gconv edges --explain in.png out.png
    same "$out" ''
    like "$err" 'gconv: in.png: how *chosen:
reference * ms estimated on *cpu * ms estimated on *chosen: *'
    expect 0 gconv edges --explain --impl cpu in.png out.png
    like "$err" 'gconv: in.png: how *chosen:
cpu on *: asked for by name*'
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

@test "--explain of a comparison names the image and the implementation" {
    setup_images
    expect 0 gconv compare --explain --time 0.01 -i auto,cpu -k box3 in.png
    like "$err" "gconv: in.png: how 'auto' was chosen:
reference * ms estimated on *
gconv: in.png: how 'cpu' was chosen:
cpu on *: asked for by name*"
}

# whole SIDE: rows of whole weights without structure; sharper SIDE: many in the centre, -1 around it.
whole() { awk -v n="$1" 'BEGIN { for (j = 0; j < n; j++) for (i = 0; i < n; i++)
    printf "%d%s", (i * i * 7 + j * i * 3 + j * j * 5) % 11 - 5, i < n - 1 ? " " : "\n" }'; }
sharper() { awk -v n="$1" 'BEGIN { for (j = 0; j < n; j++) for (i = 0; i < n; i++)
    printf "%d%s", i == j && i == int(n / 2) ? 2 * n * n : -1, i < n - 1 ? " " : "\n" }'; }

@test "--explain says how the CPU computes, and --verify agrees with every instruction set" {
    make_image png:grey in.png 120 90 noise
    whole 31 >large.txt
    sharper 15 >sharper.txt
    for set in avx512 avx2 portable; do
        export GCONV_INSTRUCTIONS=$set
        gconv info >/dev/null 2>&1 || continue # this processor or build lacks them
        for border in mirror constant:9 wrap; do
            expect 0 gconv filter --impl cpu --verify --explain -v -b $border -k large.txt in.png out.pfm
            like "$err" '*verified: largest difference from the reference 0, bound 0
*cpu: 31x31 by transforms of tiles in double, rounded, *'
            expect 0 gconv filter --impl cpu --verify --explain -b $border -k sharper.txt in.png out.pfm
            like "$err" '*cpu: 15x15 by a sum of 2 separable filters, *'
        done
        expect 0 gconv filter --impl cpu --verify --explain -k gaussian:2,15 in.png out.pfm
        like "$err" '*cpu: 15x15 by a column and a row, *'
    done
}

@test "--json: one object a line for every image" {
    setup_images
    expect 0 gconv edges --json --impl cpu in.png out.png
    same "$err" ''
    printf '%s\n' "$out" | valid_json
    same "$(key schema)" 1
    same "$(key command) $(key input) $(key output) $(key status)" 'edges in.png out.png done'
    same "$(key implementation) $(key exact)" 'cpu True'
    same "$(key width | paste -sd ' ' -)" '40 40'
    same "$(key depth | paste -sd ' ' -)" '8 1'
    expect 1 gconv filter -k box3 --json -o out in.png none.png other.pgm
    same "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 3
    same "$(key status | paste -sd ' ' -)" 'done failed done'
    same "$(key error)" 'cannot open: No such file or directory'
    expect 0 gconv filter -k box3 -n --json -o out in.png
    same "$(key status)" skipped
    expect 0 gconv edges --json --explain --verify in.png out.png
    printf '%s\n' "$out" | valid_json
    like "$(key explanation)" '*chosen: *'
    same "$(key within) $(key largest) $(key mismatches)" 'True 0 0'
    complains 2 '--json and the image cannot both go to standard output' gconv edges --json in.png -
}

@test "--json has the warnings of each image, whether they are said or not" {
    make_image png:rgba in.png 40 30 noise
    echo more >>in.png
    expect 0 gconv filter --json -k box3 in.png out.ppm
    same "$err" ''
    like "$out" '*"warnings": \["bytes after the end of the image ignored", "ppm has no alpha: dropped"\]*'
    head -c 3000 in.png >cut.png
    expect 0 gconv edges --json -q --tolerant cut.png out.png
    same "$err" ''
    same "$(key warnings)" "['truncated: the file ends in the image data']"
    expect 1 gconv edges --json cut.png out.png
    same "$(key warnings)" '[]'
    expect 0 gconv compare --json --tolerant --time 0.01 --impl reference cut.png
    same "$err" 'gconv: cut.png: truncated: the file ends in the image data'
    same "$(key warnings)" "['truncated: the file ends in the image data']"
    setup_images
    expect 0 gconv edges --json -n in.png out.png
    same "$(key status) $(key warnings)" 'skipped []'
}

@test "--json keeps a hundred warnings, and counts the others" {
    needs python3
    make_image png:grey in.png 4 3 noise
    python3 - <<'END'
data = open("in.png", "rb").read()
wrong = b"\0\0\0\4gAMA\0\0\xb1\x8f\0\0\0\0"
open("many.png", "wb").write(data[:33] + 250 * wrong + data[33:])
END
    expect 0 gconv edges --json many.png out.png
    same "$(printf '%s\n' "$out" | python3 -c 'import json, sys
texts = json.load(sys.stdin)["warnings"]
print(len(texts), texts[0], "/", texts[100])')" '101 PNG: gAMA: CRC error / 150 more warnings'
}

@test "--verify agrees, and leaves the output as it is" {
    setup_images
    gconv filter -k gaussian:1.3 in.png wanted.png
    silently gconv filter --verify -k gaussian:1.3 in.png out.png
    cmp wanted.png out.png
    expect 0 gconv filter --verify -v -k gaussian:1.3 in.png out.png
    like "$err" '*
gconv: in.png: verified: largest difference from the reference *, bound *'
    make_image png:rgba in.png 40 30 noise
    for alpha in keep filter premultiply; do
        silently gconv filter --verify -k gaussian:1.3 --alpha $alpha in.png out.png
    done
    silently gconv edges --verify in.png out.png
    gconv edges --verify <in.png >piped.png
    cmp piped.png out.png
}

@test "--verify finds a wrong value: exit 3, its size and place, the output all the same" {
    make_image png:grey in.png 5 5 0 0 0 0 0  0 0 0 0 0  0 0 99 0 0  0 0 0 0 0  0 0 0 0 0
    complains 3 "in.png: verification failed: 'wrong' differs from the reference by up to 64 (bound 0) at x 0, y 0, channel 0; 1 values beyond the bound" \
        "$FAULTY" filter -k identity --impl wrong --verify in.png out.png
    same "$(rows out.png)" '64 0 0 0 0/0 0 0 0 0/0 0 99 0 0/0 0 0 0 0/0 0 0 0 0'
    expect 3 "$FAULTY" filter -k identity --impl wrong --verify --json in.png out.png
    same "$(key status) $(key within) $(key largest) $(key mismatches)" 'mismatch False 64 1'
    expect 3 "$FAULTY" edges --impl wrong --verify -o out in.png
    silently "$FAULTY" edges --impl reference --verify -o out in.png
    expect 1 "$FAULTY" edges --impl wrong --verify -o out in.png none.png
    like "$err" "gconv: in.png: verification failed: *
gconv: none.png: *
gconv: 1 of 2 images done, 1 failed, 0 skipped"
    silently "$FAULTY" filter -k identity --impl wrong in.png out.png
}

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

# ---- compare, bench

# row NAME: the line of $out that begins with this name, its blanks single.
row() { printf '%s\n' "$out" | tr -s ' ' | grep "^$1 "; }

@test "compare: a table, the reference first" {
    setup_images
    expect 0 gconv compare --time 0.01 in.png
    same "$err" ''
    like "$out" '40x30, 1 channel of 8 bits; gauss5 5x5, laplace3 3x3; border mirror

name *verdict
reference *
cpu *'
    like "$(row reference)" 'reference * 1.0x*0 exact'
    like "$(row cpu)" 'cpu *[0-9]x*0 exact'
    expect 0 gconv compare --time 0.01 --impl cpu -k sobel-x -k '3x1:1,2,1' -b wrap other.pgm
    like "$out" '8x3, 1 channel of 8 bits; * 3x3, * 3x1; border wrap

*
cpu *exact'
    expect 0 gconv compare --time 0.01 --impl auto - <in.png
    like "$(row auto:)" 'auto: [a-z]* *exact'
    expect 0 gconv compare --time 0.01 --impl cpu,reference -k gaussian:1 in.png
    like "$(row cpu)" 'cpu *within bound'
}

@test "compare --json" {
    setup_images
    expect 0 gconv compare --json --time 0.01 --impl reference,cpu in.png
    same "$err" ''
    printf '%s\n' "$out" | valid_json
    same "$(key schema) $(key command) $(key width)" '1 compare 40'
    same "$(key name | paste -sd ' ' -)" 'reference cpu'
    same "$(key verdict | paste -sd ' ' -)" 'exact exact'
    same "$(key largest_error | paste -sd ' ' -)" '0 0'
    same "$(key seconds | wc -l | tr -d ' ')" 2
}

@test "compare: what is wrong is exit 3 and not ranked; what cannot run says why" {
    setup_images
    expect 3 "$FAULTY" compare --time 0.01 in.png
    same "$err" ''
    like "$(row reference)" '*exact'
    like "$(row wrong)" 'wrong WRONG (bound 0, largest * at x [0-9]*, y [0-9]*); not timed'
    same "$(row wrong | grep -c '[0-9]x')" 0
    same "$(row picky)" "picky not usable: 'picky' takes images up to 8 wide"
    same "$(row broken)" "broken not usable: 'broken' broke down"
    expect 3 "$FAULTY" compare --json --time 0.01 in.png
    same "$(key verdict | paste -sd , -)" 'exact,WRONG,not usable,not usable,exact,exact,not usable'
    same "$(key seconds | wc -l | tr -d ' ')" 3
    same "$(key speed_up | wc -l | tr -d ' ')" 3
    expect 0 "$FAULTY" compare --time 0.01 --impl reference,picky other.pgm
    expect 4 "$FAULTY" compare --time 0.01 --impl reference,picky in.png
    expect 4 "$FAULTY" compare --time 0.01 --impl broken in.png
}

# below SECONDS: fails unless this is what every "seconds" of the JSON in $out is.
below() { same "$(key seconds | awk -v limit="$1" '!($1 < limit)')" ''; }

@test "compare and bench compile before the clock starts, and say how long it took" {
    setup_images
    expect 0 "$FAULTY" compare --time 0.1 --impl late --json -v in.png
    same "$err" "gconv: late: its kernels took 400 ms to compile, which is not counted"
    same "$(key compile_seconds)" 0.4
    below 0.1
    expect 0 "$FAULTY" compare --time 0.1 --impl late in.png
    same "$err" ''
    expect 0 "$FAULTY" bench --time 3 --impl late --json -v -k identity # two plans
    same "$(key compile_seconds)" 0.8
    expect 0 "$FAULTY" compare --time 0.1 --impl cpu --json in.png
    same "$(key compile_seconds)" ''
}

@test "bench" {
    expect 0 gconv bench --time 1 --impl cpu -k box3
    same "$err" ''
    like "$out" '*, 1 channel of 8 bits, *; border mirror

filter *name *verdict
* cpu *exact*'
    expect 0 gconv bench --time 1 --impl cpu --json -k box3
    printf '%s\n' "$out" | valid_json
    same "$(key schema) $(key command) $(key verdict)" '1 bench exact'
    expect 3 "$FAULTY" bench --time 0.1 --impl wrong -k box3
    like "$out" '* wrong *WRONG'
}

# width: of the longest line of $out that gives no reason.
width() { printf '%s\n' "$out" | grep -v 'not usable: \|not measured: ' | awk 'length > most { most = length } END { print most }'; }

@test "tables fit the line" {
    setup_images
    for arguments in '-k gaussian:1' ''; do
        # shellcheck disable=SC2086
        expect 4 "$FAULTY" compare --time 0.01 -i auto,reference,cpu,dead $arguments other.pgm
        [ "$(width)" -le 80 ]
    done
    like "$out" '*name *kernel ms *total ms *Mpixel/s *x ref *error *verdict*'
    expect 4 env COLUMNS=120 "$FAULTY" compare --time 0.01 -i reference,cpu,dead other.pgm
    like "$out" '*name *kernel ms *GFLOP/s *FLOP/B *of roof *x ref *x naive *error *verdict*'
    expect 0 gconv compare --time 0.01 -i auto,reference,cpu -k gaussian:1 in.png
    like "$out" '*name *total ms *Mpixel/s *GFLOP/s *x ref *error *verdict*'
    [ "$(width)" -le 80 ]
    expect 0 gconv bench --time 0.05 -i auto,cpu -k identity
    like "$out" '*filter *name *total ms *Mpixel/s *GFLOP/s *verdict*'
    [ "$(width)" -le 80 ]
    for command in edges filter compare bench tune info help; do
        expect 0 gconv help $command
        [ "$(width)" -le 80 ]
    done
}

@test "options without effect are named with -v" {
    setup_images
    silently gconv edges --quality 50 --tile 3 in.png out.png
    expect 0 gconv edges -v --impl cpu -j 2 --quality 50 --compression 3 --tile 3 --block 8x8 --strip in.png out.pgm
    same "$(printf '%s\n' "$err" | sed 1d)" "gconv: option '--quality' had no effect: no output is a JPEG
gconv: option '--compression' had no effect: no output is a PNG
gconv: option '--strip' had no effect: the outputs hold nothing but pixels
gconv: option '--block' had no effect: what ran takes no thread block
gconv: option '--tile' had no effect: what ran takes no tiling factor"
    expect 0 gconv filter -v --impl reference -j 2 --alpha keep -k box3 --compression 3 in.png out.png
    same "$(printf '%s\n' "$err" | sed 1d)" "gconv: option '--alpha' had no effect: no transparency was filtered
gconv: option '--threads' had no effect: nothing ran on several threads of the CPU"
    make_image png:rgba in2.png 8 3 noise
    expect 0 gconv filter -v -r --alpha keep -j 2 --impl reference -k box3 --quality 50 -o out in2.png other.pgm
    same "$(printf '%s\n' "$err" | sed 1,2d)" "gconv: option '--quality' had no effect: no output is a JPEG
gconv: option '--recursive' had no effect: no directory is among the inputs"
    expect 0 gconv compare -v --time 0.01 -i cpu -t 4 -k box3 in.png
    same "$err" "gconv: option '--threshold' had no effect: --kernel takes the place of edges"
    expect 1 gconv edges -v --quality 50 none.png out.png
    same "$err" 'gconv: none.png: cannot open: No such file or directory'
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
}

# milliseconds COMMAND...: how long it takes.
milliseconds() {
    local start
    start=$(date +%s%N)
    "$@" >/dev/null
    echo $((($(date +%s%N) - start) / 1000000))
}

@test "compare runs the reference once where that takes longer than --time" {
    make_image pgm big.pgm 500 500 noise
    once=$(milliseconds gconv filter --impl reference -k box:25 big.pgm out.pgm)
    thrice=$(milliseconds gconv compare --impl reference,cpu --time 0.02 -k box:25 big.pgm)
    [ "$thrice" -lt $((2 * once + 500)) ]
    expect 0 gconv compare --json --impl reference --time 0.01 -k box:25 big.pgm
    same "$(key runs) $(key verdict) $(key speed_up)" '1 exact 1'
}

@test "compare and bench go on beside what cannot run here: exit 4" {
    if has_gpu; then skip "there is a GPU"; fi
    setup_images
    expect 4 gconv compare --time 0.01 --impl cpu,tiled in.png
    same "$err" ''
    like "$(row cpu)" 'cpu *exact'
    like "$(row tiled)" "tiled not usable: 'tiled' needs a CUDA device: *"
    expect 4 gconv bench --time 0.01 --impl cpu,naive
    same "$(printf '%s\n' "$out" | grep -c naive)" 1
    like "$(row naive)" "naive not usable: *"
    expect 0 gconv compare --time 0.01 -k identity in.png
    same "$(printf '%s\n' "$out" | grep -c 'not usable')" 1
    like "$(row not)" 'not usable: naive, shared, const, *, fft: each needs a CUDA device: *'
    expect 0 gconv compare --time 0.01 -k identity --json in.png
    same "$(key verdict | grep -c 'not usable')" 11
    same "$(gconv info | grep -c 'not usable here: see cuda above')" 11
    same "$(gconv info | grep -c '^  cuda .*none: ')" 1
}

@test "bench keeps to --time" {
    [ "$(milliseconds gconv bench --impl reference --time 0.05)" -lt 20000 ]
    expect 0 gconv bench --impl reference --time 0.05 -k box:9
    like "$(row kernel)" 'kernel reference exact, not measured: one run takes longer than --time'
    expect 0 gconv bench --impl reference --time 0.05 -k box:9 --json
    same "$(key verdict) $(key reason)" 'exact one run takes longer than --time'
    same "$(key runs)" ''
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

@test "-v says that the CPU took over, and --json names it" {
    make_image pgm big.pgm 450 450 noise
    expect 0 "$FAULTY" filter -v --json -k box:29 big.pgm out.pgm
    like "$err" "gconv: big.pgm: 450x450, 1 channel of 8 bits to out.pgm by cpu
gconv: big.pgm: the CPU took over: 'dead' broke down"
    same "$(key implementation)" cpu
    silently "$FAULTY" filter -k box:29 big.pgm out.pgm
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
    expect 0 gconv edges --json in.png out.png
    printf '%s\n' "$out" | valid_json
    like "$(gconv compare --time 0.01 in.png)" '*[0-9].[0-9]*'
}
