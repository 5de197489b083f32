#!/usr/bin/env bats
# compare and bench: tables, JSON, verdicts, and what is timed.

load common

# row NAME: the line of $out that begins with this name, its blanks single.
row() { printf '%s\n' "$out" | tr -s ' ' | grep "^$1 "; }

# milliseconds COMMAND...: how long it takes.
milliseconds() {
    local start
    start=$(date +%s%N)
    "$@" >/dev/null
    echo $((($(date +%s%N) - start) / 1000000))
}

# ---- compare

@test "compare: a table, the reference first" {
    setup_images
    tells 0 '' gconv compare --time 0.01 in.png
    like "$out" '40x30, 1 channel of 8 bits; gauss5 5x5, laplace3 3x3; border mirror

name *verdict
reference *
cpu *'
    like "$(row reference)" 'reference * 1.00x*0 exact'
    like "$(row cpu)" 'cpu *[0-9]x*0 exact'
    expect 0 gconv compare --time 0.01 --impl cpu -k sobel-x -k '3x1:1,2,1' -b wrap other.pgm
    like "$out" '8x3, 1 channel of 8 bits; * 3x3, * 3x1; border wrap

*
cpu *exact
cpu: 3x3 by *
cpu: 3x1 by *'
    expect 0 gconv compare --time 0.01 --impl auto - <in.png
    like "$(row auto:)" 'auto: [a-z]* *exact'
    expect 0 gconv compare --time 0.01 --impl cpu,reference -k gaussian:1 in.png
    like "$(row cpu)" 'cpu *rounded once'
}

# results_alone: takes from $out what JSON says of machine and filters, which have names, too.
results_alone() {
    out=$(printf '%s\n' "$out" | sed 's/, "about": {.*}}$/}/; s/"filters": \[[^]]*\], //')
    is_json
}

@test "compare --json" {
    setup_images
    tells 0 '' gconv compare --json --time 0.01 --impl reference,cpu in.png
    is_json
    like "$out" '*"filters": \[{"name": "gauss5", "width": 5, "height": 5}, *'
    like "$(key arguments) $(key system) $(key kind)" '*"compare", *"in.png"*Linux* cpu'
    results_alone
    same "$(key schema) $(key command) $(key width)" '1 compare 40'
    same "$(key name | paste -sd ' ' -)" 'reference cpu'
    same "$(key verdict | paste -sd ' ' -)" 'exact exact'
    same "$(key largest_error | paste -sd ' ' -)" '0 0'
    same "$(key seconds | wc -l | tr -d ' ')" 2
}

@test "compare: the methods of the CPU side by side" {
    needs_fast_paths
    setup_images
    expect 0 gconv compare --time 0.01 -k box:9 in.png
    like "$out" '*
cpu *exact
cpu:taps *exact
*
cpu:products *exact
cpu:tiles *exact
cpu:box *exact
*'
    like "$(printf '%s\n' "$out" | grep '^cpu: ')" 'cpu: 9x9 by *' # behind the table, how cpu computes
    # Noisy measurements have a mark, and the mark a line that explains it.
    marked=$(printf '%s\n' "$out" | grep -cE '^(cpu|reference).*[0-9]!' || true)
    same "$(printf '%s\n' "$out" | grep -c '^! noisy: ')" "$((marked > 0))"
    # cpu:bytes stands beside it where the processor lacks its instructions.
    like "$(printf '%s\n' "$out" | grep 'not usable' | grep cpu:)" "*cpu:vectors not usable: 'cpu:vectors' refuses filters that are matrices*"
    # Methods that refuse the filter stand behind the table, with what they refuse.
    expect 0 gconv compare --time 0.01 -k gaussian:3 in.png
    [ "$(printf '%s\n' "$out" | grep -cE '(rounded once|within bound)$')" -ge 5 ]
    like "$(row cpu:vectors)" "cpu:vectors not usable: 'cpu:vectors' refuses filters that are matrices"
    like "$(row cpu:box)" "cpu:box not usable: 'cpu:box' refuses filters of unequal weights"
    same "$(printf '%s\n' "$out" | grep -c '^cpu:box')" 1
    expect 0 gconv bench --time 1 --sizes 64 --filters 9 --impl all --json
    names=$(key name | grep '^cpu')
    same "$names" "$(names_of cpu | grep '^cpu')"
    like "$(printf '%s\n' "$names" | paste -sd ' ')" \
        'cpu cpu:taps*cpu:sparse*cpu:bytes*cpu:products*cpu:tiles*cpu:box*cpu:vectors*'
    within=$(printf '%s\n' "$out" | grep -oE '"name": "[^"]*", "implementation": "[^"]*", "verdict": "(within|rounded)' | cut -d '"' -f 4)
    same "$(printf '%s\n' "$within" | grep -cxE 'reference|cpu(:(taps|sparse|bytes|products|tiles|box|vectors))?')" 5
    for method in taps sparse products tiles; do # of edges, too
        expect 0 gconv edges --impl cpu:$method in.png $method.pgm
        expect 0 gconv edges --impl cpu in.png cpu.pgm
        cmp $method.pgm cpu.pgm
    done
    tells 0 '*cpu: 5x5 by *' gconv edges --explain --impl cpu:tiles in.png out.png
    complains 4 "in.png: 'cpu:vectors' refuses filters that are matrices" \
        gconv filter --impl cpu:vectors -k box3 in.png out.png
}

@test "bench lists behind the table what refused which filters" {
    expect 4 gconv bench --time 1 --sizes 64 --filters 3,5 --impl reference,cpu:box,cpu:vectors
    same "$(printf '%s\n' "$out" | tail -n 2)" \
        "cpu:box not usable: 'cpu:box' refuses filters of unequal weights (3x3, 5x5)
cpu:vectors not usable: 'cpu:vectors' refuses filters that are matrices (3x3, 5x5)"
    same "$(printf '%s\n' "$out" | grep -c 'not usable')" 2
    expect 4 gconv bench --time 1 --sizes 64,65 --filters 3..17 --impl reference,cpu:box
    like "$(printf '%s\n' "$out" | tail -n 1)" "cpu:box not usable: * weights (64x64 3x3, 64x64 5x5, *, and 10 more)"
    expect 4 gconv bench --time 1 --sizes 64 --filters 3,5 --impl reference,cpu:box --markdown
    same "$(printf '%s\n' "$out" | grep -c '^| .*not usable')" 2 # a table to keep has every row
    expect 4 gconv bench --time 1 --sizes 64 -k gauss3 -k box3 --impl cpu:box
    like "$out" "*
cpu:box not usable: 'cpu:box' refuses filters of unequal weights: filter 1 of the chain, 3x3 (*)"
}

@test "--explain of a comparison names the image and the implementation" {
    setup_images
    # Standard error comes behind the table, as a terminal shows both.
    gconv compare --explain --time 0.01 -i cpu,cpu:taps,cpu:vectors -k box3 in.png >both 2>&1 || true
    like "$(tail -n +3 both)" "name *
cpu * exact
cpu:taps * exact
cpu: 3x3 by *
cpu:vectors not usable: *
gconv: in.png: how 'cpu' was chosen:
*
gconv: in.png: how 'cpu:taps' was chosen:
*"
    expect 0 gconv compare --explain --time 0.01 -i auto,cpu -k box3 in.png
    like "$err" "gconv: in.png: how 'auto' was chosen:
reference * ms estimated on *
gconv: in.png: how 'cpu' was chosen:
cpu on *: asked for by name*"
}

@test "compare: what is wrong is exit 3 and not ranked; what cannot run says why" {
    setup_images
    tells 3 '' "$FAULTY" compare --time 0.01 in.png
    like "$(row reference)" '*exact'
    like "$(row wrong)" 'wrong WRONG (bound 0, largest * at x [0-9]*, y [0-9]*); not timed'
    same "$(row wrong | grep -c '[0-9]x')" 0
    same "$(row picky)" "picky not usable: 'picky' takes images up to 8 wide"
    same "$(row not)" 'not usable: broken, dead: each broke down'
    expect 3 "$FAULTY" compare --json --time 0.01 in.png
    same "$(key verdict | paste -sd , -)" 'exact,WRONG,exact,WRONG,not usable,not usable,exact,exact,exact,exact,not usable'
    same "$(key seconds | wc -l | tr -d ' ')" 6
    same "$(key speed_up | wc -l | tr -d ' ')" 6
    expect 0 "$FAULTY" compare --time 0.01 --impl reference,picky other.pgm
    expect 4 "$FAULTY" compare --time 0.01 --impl reference,picky in.png
    expect 4 "$FAULTY" compare --time 0.01 --impl broken in.png
}

@test "compare runs the reference once where that takes longer than --time" {
    make_image pgm big.pgm 500 500 noise
    once=$(milliseconds gconv filter --impl reference -k box:25 big.pgm out.pgm)
    thrice=$(milliseconds gconv compare --impl reference,cpu --time 0.02 -k box:25 big.pgm)
    [ "$thrice" -lt $((2 * once + 500)) ]
    expect 0 gconv compare --json --impl reference --time 0.01 -k box:25 big.pgm
    same "$(key runs) $(key verdict) $(key speed_up)" '1 exact 1'
}

# ---- bench

# Seconds in which bench can run a fast implementation several times; sanitizers make it slower.
BRIEF=0.3
[ -z "${SANITIZE-}" ] || BRIEF=1

@test "bench" {
    tells 0 '' gconv bench --time $BRIEF --impl cpu -k box3
    like "$out" '*, 1 channel of 8 bits, *; border mirror
1 measurement in about *

filter *name *verdict
* cpu *exact*'
    json 0 gconv bench --time $BRIEF --impl cpu --json -k box3
    same "$(key schema) $(key command) $(key verdict)" '1 bench exact'
    prints 3 '* wrong *WRONG' "$FAULTY" bench --time 0.1 --impl wrong -k box3
}

@test "bench checks the image that it times: what is wrong there has no times" {
    # Right on the small image, wrong in the last sample of a large one.
    for filter in '-k box3' '-k gaussian:2' '--filters 5'; do
        # shellcheck disable=SC2086
        expect 0 "$FAULTY" bench --time 0.3 --impl wrong:far --sizes 300x301 $filter
        # shellcheck disable=SC2086
        expect 3 "$FAULTY" bench --time 0.6 --impl wrong:far,cpu --sizes 301 $filter --json
        results_alone
        like "$(key verdict | paste -sd ,)" 'WRONG,[ew]*'
        same "$(key reason | sed 's/[0-9.]*$/N/')" 'the timed image is wrong at x 300, y 300, by N'
        same "$(key seconds | wc -l | tr -d ' ')" 1
    done
}

@test "bench --samples: rows for each kind" {
    expect 0 gconv bench --time $BRIEF --impl cpu -k box3 --samples rgb8,grey16
    like "$out" '4096x4096, from memory to memory; *'
    like "$(row kernel)" 'kernel *rgb8 *cpu *exact*
kernel *grey16 *cpu *exact*'
    json 0 gconv bench --time $BRIEF --impl cpu -k box3 --samples rgba8 --json
    same "$(key samples) $(key verdict)" 'rgba8 exact'
    complains 2 "option '--samples': 'rgb' is not grey8, rgb8, rgba8, grey16, rgb16 or all; did you mean 'rgb8'?" \
        gconv bench --samples grey8,rgb
}

@test "bench --sizes and --filters: a row for each point" {
    tells 0 '' gconv bench --time $BRIEF --impl cpu --sizes 64,48x16 --filters 3,5x3,rank1:7,3..5x1
    like "$out" '*image *filter *
64x64 *3x3 *
64x64 *5x3 *
64x64 *7x7 rank 1 *
64x64 *3x1 *
64x64 *5x1 *
48x16 *3x3 *'
    same "$(printf '%s\n' "$out" | grep -cE '(exact|rounded once|within bound)$')" 10
    complains 2 "option '--sizes': '15' is not N or WxH, *" gconv bench --sizes 15
    complains 2 "option '--sizes': '64x' is not N or WxH, *" gconv bench --sizes 32,64x
    complains 2 "option '--sizes': '32768x32769' is not *" gconv bench --sizes 32768x32769
    for filters in '' 0 256 3x 3.. 5..3 3...5 rank2:3 rank1: 3x3x3 a; do
        complains 2 "option '--filters': '$filters' is not N, WxH, *" gconv bench --filters "$filters"
    done
    complains 2 "option '--filters': more than 1024 filters" gconv bench --filters 1..255x1..255
    complains 2 '*--kernel*--filters*give one' gconv bench -k box3 --filters 3
}

@test "bench --csv, --markdown and --json hold the same figures" {
    expect 0 gconv bench --time $BRIEF --impl cpu --sizes 64 --filters 3..5 --csv
    same "$(printf '%s
' "$out" | awk -F, '{ print NF }' | sort -u)" 19
    same "$(printf '%s\n' "$out" | cut -d, -f 1-6)" 'width,height,filter,samples,name,implementation
64,64,3x3,grey8,cpu,cpu
64,64,5x5,grey8,cpu,cpu'
    same "$(printf '%s\n' "$out" | awk -F, 'NR > 1 && !($10 <= $9 && $11 >= 0 && $16 * $9 > 4095)')" ''
    expect 0 gconv bench --time $BRIEF --impl cpu --sizes 64 --filters 3 --markdown
    like "$out" '*| filter |*| verdict |
|:--|*|:--|
| 3x3 | cpu |*|'
    expect 4 gconv bench --time 0.01 --impl cpu,naive --sizes 64 --filters 3 --markdown
    like "$out" '64x64, *

| filter |*
|:--|*|:--|
| 3x3 | cpu |*|

naive not usable: *'
    json 0 gconv bench --time $BRIEF --impl cpu --sizes 64,32 --filters 3 --json
    same "$(key width | paste -sd ' ')" '64 32'
    expect 4 gconv bench --time 0.01 --impl cpu,naive --sizes 64 --filters 3 --csv
    like "$out" '*
,,all,,naive,naive,not usable,0,,,,,,,,,,"*needs a CUDA device*"*'
    complains 2 'give one of --json, --csv and --markdown' gconv bench --csv --json
}

@test "bench --preset: experiments of the sources, thinned by other options" {
    for preset in kth lecture adaptive-2011 adaptive-2014 fft-map roofline ours quick; do
        expect 0 gconv bench --preset $preset --impl cpu --sizes 32 --filters 3,rank1:5 --time 0.01 --csv
        [ "$(printf '%s\n' "$out" | wc -l)" -gt 1 ]
        same "$(printf '%s\n' "$out" | sed 1d | cut -d, -f 7 | grep -vxE 'exact|rounded once|within bound')" ''
    done
    same "$(gconv bench --preset kth --impl cpu --filters 3 --time 0.1 --csv | cut -d, -f 1 | paste -sd ' ')" \
        'width 256 512 1024 2048 4096'
    # Speed-ups over the reference and over the step before.
    json 0 gconv bench --preset lecture --impl reference,cpu --sizes 64 --time 0.5 --json
    same "$(key speed_up)" "$(key step_speed_up)"
    [ "$(key speed_up | cut -d. -f 1)" -gt 1 ]
    expect 0 gconv bench --preset kth --impl reference,cpu --sizes 64 --filters 3 --time 0.5
    like "$out" '*Mpixel/s *x ref *verdict
* reference * - *rounded once
* cpu *[0-9]x *rounded once*'
    # Of two names both ratios are one. A ratio has three digits.
    same "$(printf '%s\n' "$out" | grep -c 'x step')" 0
    expect 0 gconv bench --preset kth --impl reference,cpu,cpu:taps --sizes 64 --filters 3 --time 0.5
    like "$out" '*x ref *x step *verdict
* reference * - *- *
* cpu *[0-9]x *[0-9]x *
* cpu:taps *[0-9]x *[0-9]x *'
    same "$(printf '%s\n' "$out" | grep -cE '[0-9]{2}\.[0-9]{2}x|[0-9]{3}\.[0-9]x')" 0
    # What a preset names need not be usable here.
    prints 0 '*border constant*3x3*reference*' gconv bench --preset kth --sizes 32 --time 0.1
    same "$(printf '%s\n' "$out" | grep -c 'not usable')" 1
    like "$(printf '%s\n' "$out" | tail -n 1)" 'not usable: naive, shared, *, ... (-v says why)'
    expect 0 gconv bench --preset kth --sizes 32 --filters 3 --time 0.1 -v
    like "$(printf '%s\n' "$out" | tail -n 1)" 'not usable: naive, *: each needs a CUDA device*'
    # The roofs of the processors are measured, and every rate has its intensity: 2 * 9 operations
    # for two bytes.
    expect 0 gconv bench --preset roofline --impl cpu,cpu:taps --sizes 64 --filters 3 --time 0.1 --json
    is_json
    same "$(for roof in cpu_bandwidth cpu_peak_flops; do key $roof; done | awk '!($1 > 1e8)')" ''
    same "$(key intensity | paste -sd ' ')" '9 9'
    same "$(key roofline_flops | uniq | wc -l)" 1
    expect 0 gconv bench --preset roofline --impl cpu --sizes 64 --filters 3 --time 0.1
    like "$out" '*roofs of the CPU, measured: * GB/s, * GFLOP/s*'
    # In 80 columns, of one image and of several.
    for sizes in 64 64,32; do
        expect 0 gconv bench --preset roofline --impl cpu,cpu:taps --sizes $sizes --filters 3,rank1:5 --time 0.1
        like "$out" '*FLOP/B *GFLOP/s *of roof *verdict
* cpu * 9.00 *[0-9]% *'
        same "$(printf '%s\n' "$out" | awk 'length > 80')" ''
    done
    complains 2 "option '--preset': 'kht' is not kth, lecture, *; did you mean 'kth'?" gconv bench --preset kht
}

@test "bench says how long it will take, and which figures are rough" {
    expect 0 gconv bench --preset kth --impl reference,cpu --sizes 32,64 --filters 3 --time 0.5
    like "$out" '*
4 measurements in about 0.5 s (--time)

*'
    like "$(gconv bench --preset kth --impl cpu --sizes 32 --filters 3..5 --time 0.3)" '*
2 measurements in about 0.3 s*'
    # As if there had been time for one run of the reference.
    expect 0 gconv bench --preset kth --impl reference,cpu --sizes 64 --filters 3 --time 0.5 --resume kept
    sed -i '/"name": "reference"/s/"runs": [0-9]*/"runs": 1/' kept
    expect 0 gconv bench --preset kth --impl reference,cpu --sizes 64 --filters 3 --time 0.5 --resume kept
    like "$out" '* cpu * ~[0-9]*x *
*~ rough: fewer than 3 runs of 1 of 2 measurements; --time gives more*'
    expect 0 gconv bench --preset kth --impl reference,cpu --sizes 64 --filters 3 --time 0.5
    same "$(printf '%s\n' "$out" | grep -c '~')" 0
}

@test "bench --with: results of another machine stand beside, and are none of this one" {
    COLUMNS=120 expect 0 gconv bench --preset kth --impl cpu --sizes 256,32 --filters 3,rank1:5 --time 0.2 --with h200
    same "$(printf '%s\n' "$out" | grep -c '^256x256 .*@h200 ')" 16
    same "$(printf '%s\n' "$out" | grep -c '^32x32 .*@h200 ')" 0
    like "$out" '*kernel ms*3x3 * cpu *3x3 * reference@h200 *3x3 *naive@h200 *0.0240 *5x5 rank 1 *twopass@h200 *'
    # What the source prints, in its words: 0.03028 seconds for 100 images, and 0.57747 by a CPU.
    # Rows of a machine are compared with each other.
    like "$out" '*naive@h200 * 183x *2.62x *reference@paper * - * - *naive@paper * 0.303 *19.1x *19.1x *printed
*5x5 rank 1 *twopass:kth@paper * 0.205 *printed*'
    same "$(printf '%s\n' "$out" | grep -c '@paper .*printed$')" 6
    # Without both passes 0.6 us are left of 25.9.
    like "$out" '*const@h200 * ~7600x *'
    # In 80 columns an image has a line above its rows, and the roofs of the H200 are those that it
    # is rated for: 3596.5 GFLOP/s of 0.25 * 4814.
    COLUMNS=80 expect 0 gconv bench --preset kth --impl cpu --sizes 256,32 --filters 3 --time 0.2 --with h200
    like "$out" '*verdict
256x256
3x3 * cpu *reference@h200 *

32x32
3x3 * cpu *'
    same "$(printf '%s\n' "$out" | awk 'length > 80')" ''
    COLUMNS=80 expect 0 gconv bench --preset roofline --impl cpu --sizes 1024,32 --filters 3 --time 0.2 --with h200
    like "$out" '*3x3 *naive@h200 *0.25 *3596.5 *298.8%*
above 100 %: caches serve *'
    same "$(printf '%s\n' "$out" | awk 'length > 80')" ''
    expect 0 gconv bench --preset kth --impl cpu --sizes 256 --filters 3 --time 0.1 --with h200 --json
    is_json
    same "$(key source)" h200
    same "$(key name | head -n 9 | paste -sd ' ')" \
        'cpu reference@h200 cpu@h200 naive@h200 shared@h200 const@h200 tiled@h200 adaptive@h200 const:kth@h200'
    # A file, without a preset; as a baseline it holds what was measured and nothing else.
    expect 0 gconv bench --impl cpu --sizes 64 --filters 3 --time 0.1 --json
    printf '%s\n' "$out" >mine
    expect 0 gconv bench --impl cpu --sizes 64 --filters 3,5 --time 0.1 --with mine
    same "$(printf '%s\n' "$out" | grep -c 'cpu@with')" 1
    expect 0 gconv bench --impl cpu --sizes 64 --filters 3 --time 0.1 --with mine --csv
    same "$(printf '%s\n' "$out" | wc -l)" 2
    expect 0 gconv bench --preset kth --impl cpu --sizes 256 --filters 3 --time 0.1 --with h100
    like "$out" '*naive@h100 *'
    complains 2 '--with h100 needs a --preset' gconv bench --with h100
    complains 1 'nothing: cannot open: *; results that come with gconv: h200 h100' gconv bench --with nothing
}

@test "study.sh: of each preset a report, measurements, and a table below its head" {
    export GCONV_INSTRUCTIONS=portable
    PRESETS='quick lecture' COMMIT=abc1234 expect 0 sh "$SOURCE/benchmarks/study.sh" "$GCONV" study \
        --impl cpu --sizes 32 --time 0.1
    same "$(ls study | grep -v html | paste -sd ' ')" \
        'lecture.json lecture.jsonl lecture.txt quick.json quick.jsonl quick.txt'
    same "$(sed -n 's/^# \([a-zA-Z]*\):.*/\1/p' study/quick.txt | uniq | paste -sd ' ')" \
        'machine build system commit command'
    like "$(cat study/quick.txt)" '# benchmarks/study.sh, preset quick, 20[0-9][0-9]-*
# machine:  cpu *
# CPU code: portable *
# commit:   abc1234
# command:  gconv bench --preset quick --impl cpu --sizes 32 --time 0.1

32x32, grey8, from memory to memory; border mirror

filter *3x3 *cpu *17x17 *'
    same "$(wc -l <study/quick.jsonl)" 6
}

@test "bench --preset fft-locality: transforms from memory to memory, and the bound" {
    expect 0 gconv bench --preset fft-locality --sample 3 --time 0.1
    like "$out" 'Fourier transforms of complex numbers of two float32, from memory to memory
3 measurements in about *

transform *name *GFLOP/s *theory *verdict
memory *cpu * - *- *exact
128 points *cpu *[0-9] *[0-9] *within bound
16384 points *cpu *[0-9] *[0-9] *within bound*'
    expect 0 gconv bench --preset fft-locality --impl reference,cpu --sample 2 --time 0.1 --json --resume kept
    is_json
    same "$err" "gconv: --impl: of these only 'cpu' and 'fft' transform lines, and are measured
gconv: --sample: 2 of the 15 filters and images of the sweep"
    same "$(key filter | paste -sd ,)" 'memory,16384 points'
    # 14 rounds of 5 operations for each of two times the numbers a second that are read and written.
    same "$(key pixels_per_second | head -n 1 | awk '{ printf "%.4g", 5 * 14 * 2 * $1 }')" \
        "$(key theory_flops | awk '{ printf "%.4g", $1 }')"
    cp kept before
    expect 0 gconv bench --preset fft-locality --impl reference,cpu --sample 2 --time 0.1 --json --resume kept
    same "$(tail -n 2 before)" "$(tail -n 2 kept)"
    # A baseline a thousand times as fast: slower each time that it is measured again.
    sed -E 's/(seconds": )[0-9.e-]+/\11e-05/g' kept >fast
    expect 5 gconv bench --preset fft-locality --sample 1 --time 0.1 --baseline fast --fail-above 50
    like "$err" '*1x33554432, filter memory, complex, cpu takes [0-9.]* % longer'
    complains 2 "option '--impl': only 'cpu' and 'fft' transform lines" gconv bench --preset fft-locality --impl reference
    for option in --sizes=64 --filters=3 --samples=rgb8 --border=wrap --kernel=gauss3 --correlate; do
        complains 2 "option '${option%%=*}': the preset 'fft-locality' convolves no images" \
            gconv bench --preset fft-locality $option
    done
}

@test "bench --sample thins a sweep, the same way each time" {
    expect 0 gconv bench --impl cpu --sizes 32 --filters 3..43x3..43 --sample 1% --time 0.1 --csv
    same "$(printf '%s\n' "$out" | tail -n +2 | cut -d, -f 3 | paste -sd ' ')" '3x3 3x43 23x23 43x3 43x43'
    same "$err" 'gconv: --sample: 5 of the 441 filters and images of the sweep'
    for sample in 5 1.1%; do
        expect 0 gconv bench -q --impl cpu,reference --sizes 16,32 --filters 3,5 --sample $sample --time 0.1 --csv
        same "$err" ''
    done
    same "$(printf '%s\n' "$out" | tail -n +2 | cut -d, -f 1,3,5 | paste -sd ' ')" '16,3x3,reference 16,3x3,cpu'
    for sample in 0 -1 1.5 0% 101% x; do
        complains 2 "option '--sample': '$sample' is not N, at least 1, or a percentage above 0% and up to 100%" \
            gconv bench --sample $sample
    done
}

@test "bench keeps to --time" {
    [ "$(milliseconds gconv bench --impl reference --time 0.05)" -lt 20000 ]
    expect 0 gconv bench --impl reference --time 0.05 -k box:9
    like "$(row kernel)" 'kernel reference exact, not measured: one run takes longer than --time'
    expect 0 gconv bench --impl reference --time 0.05 -k box:9 --json
    same "$(key verdict) $(key reason)" 'exact one run takes longer than --time'
    same "$(key runs)" ''
}

# ---- Both

@test "without gconv-lab: a line that says so, and status 4" {
    setup_images
    mkdir bin
    cp "$GCONV" bin/gconv
    for command in bench tune 'compare --html report.html in.png' 'kernel gauss3 --response r.png'; do
        # shellcheck disable=SC2086
        complains 4 '* needs the program gconv-lab, which is not installed with this gconv; the package gconv-lab has it, *' \
            bin/gconv $command
    done
    expect 0 bin/gconv compare --time 0.01 --impl cpu in.png
    expect 0 bin/gconv bench --help
    complains 2 "option '--invert' does not belong to 'gconv bench'" bin/gconv bench --invert
    # It is found beside the program, and takes its place with all that the program was given.
    printf '#!/bin/sh\necho "$PPID $$ $*"\nexit 7\n' >bin/gconv-lab
    chmod +x bin/gconv-lab
    # shellcheck disable=SC2016 # the inner shell has these numbers
    expect 7 sh -c 'echo $$; exec bin/gconv bench -k "6 4" --json'
    set -- $out
    same "$3" "$1"
    same "${*:4}" 'bench -k 6 4 --json'
    echo '#!/nowhere' >bin/gconv-lab
    complains 1 '/*/bin/gconv-lab: cannot be run: No such file or directory' bin/gconv tune
}

# below SECONDS: fails unless this is what every "seconds" of the JSON in $out is.
below() { same "$(key seconds | awk -v limit="$1" '!($1 < limit)')" ''; }

@test "compare and bench compile before the clock starts, and say how long it took" {
    setup_images
    expect 0 "$FAULTY" compare --time 0.1 --impl late --json -v in.png
    same "$err" "gconv: late: its kernels took 200 ms to compile, which is not counted"
    same "$(key compile_seconds)" 0.2
    below 0.1
    tells 0 '' "$FAULTY" compare --time 0.1 --impl late in.png
    for seconds in 1 3 10; do # until one run fits
        expect 0 "$FAULTY" bench --time $seconds --impl late --json -v -k identity # two plans
        [ -z "$(key seconds)" ] || break
    done
    same "$(key compile_seconds)" 0.4
    expect 0 "$FAULTY" compare --time 0.1 --impl cpu --json in.png
    same "$(key compile_seconds)" ''
}

@test "compare and bench go on beside what cannot run here: exit 4" {
    if has_gpu; then skip "there is a GPU"; fi
    setup_images
    tells 4 '' gconv compare --time 0.01 --impl cpu,tiled in.png
    like "$(row cpu)" 'cpu *exact'
    like "$(row tiled)" "tiled not usable: 'tiled' needs a CUDA device: *"
    expect 4 gconv bench --time 0.01 --impl cpu,naive
    same "$(printf '%s\n' "$out" | grep -c naive)" 1
    like "$(row naive)" "naive not usable: *"
    expect 0 gconv compare --time 0.01 -k identity in.png
    same "$(printf '%s\n' "$out" | grep -c 'needs a CUDA device')" 1
    like "$(row not | head -n 1)" 'not usable: *naive, shared, const, *, fft*: each needs a CUDA device: *'
    expect 0 gconv compare --time 0.01 -k identity --json in.png
    results_alone
    same_list names "$(key name | grep -vxF "$(names_of cpu)")" "$(names_of cuda | grep -v :)" # no variants
    same "$(gconv info -v | grep -c 'not usable here: see cuda above')" "$(names_of cuda | wc -l)"
    same "$(gconv info | grep -c '^  cuda .*none: ')" 1
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
