# Batches on a pretended GPU (README.md here). Every image of a batch gets the file and the message that
# the CPU gives, whatever the images are, and whatever the GPU or its kernels that decode do.

load ../cli/common

# In `in` pictures of all kinds, one of them damaged and one cut off; in `sound` JPEG files that a GPU
# takes; in `hurt` JPEG files that are damaged, crafted or unusual, and some that are sound; in
# `expected` what the CPU makes of them.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    mkdir in sound hurt expected
    make_sound
    cp sound/* in
    make_others
    "$TESTS/damage_jpeg" 14 120 hurt >verdicts # a line each: its name, and `sound` or why it is not
    for command in edges box3 sobel; do
        on_cpu $command in
        on_cpu $command sound
        on_cpu $command hurt
    done
}

setup() {
    WORK=$BATS_TEST_TMPDIR/work
    mkdir "$WORK"
    cd "$WORK" || return 1
    ln -s "$BATS_FILE_TMPDIR"/{in,sound,hurt,expected,verdicts} .
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache GC_DOUBLE_LOG=$BATS_TEST_TMPDIR/log
    export GC_DOUBLE_REPORT=$BATS_TEST_TMPDIR/report
    unset "${!GC_DOUBLE_FAIL@}" "${!GC_DOUBLE_MEMORY@}" GC_DOUBLE_TAKEN GC_DOUBLE_DEVICES
}

gconv() { timeout 60 "$TESTS/double/gconv_double" "$@"; }

# ---- Pictures ------------------------------------------------------------------------------------

make_sound() {
    local i sizes='1x1 2x3 7x1 1x9 8x8 17x33 40x16 131x77 300x200' size
    for size in $sizes; do
        make_image jpeg:grey:quality=85 sound/grey$size.jpg "${size%x*}" "${size#*x}" noise
        for i in 11 21 22; do
            make_image jpeg:ycc:sampling=$i:quality=90 sound/colour$size-$i.jpg "${size%x*}" "${size#*x}" noise
        done
    done
    for i in 1 2 3 4 5 6 7 8; do
        make_image jpeg:ycc:exif=$i:icc sound/turned$i.jpg 37 21 noise
        make_image jpeg:grey:exif=$i sound/turned-grey$i.jpg 19 50 noise
    done
    make_image jpeg:ycc:restart=2 sound/restart.jpg 90 60 noise
    make_image jpeg:grey:restart=1:exif=5 sound/restart-grey.jpg 70 61 noise
    make_image jpeg:ycc:sampling=21:restart=7:exif=3 sound/restart-21.jpg 200 90 noise
}

make_others() {
    make_image jpeg:ycc:progressive in/progressive.jpg 70 50 noise
    make_image jpeg:grey:progressive in/progressive-grey.jpg 33 20 noise
    make_image jpeg:rgb in/rgb.jpg 30 40 noise
    make_image jpeg:cmyk in/cmyk.jpg 40 30 noise
    make_image jpeg:ycck in/ycck.jpg 25 31 noise
    make_image png:grey in/grey.png 120 80 noise
    make_image png:grey:1 in/bits.png 65 9 noise
    make_image png:grey-alpha in/grey-alpha.png 21 22 noise
    make_image png:rgb:interlaced in/colour.png 50 70 noise
    make_image png:rgb:16 in/deep.png 33 44 noise
    make_image png:rgba in/alpha.png 90 40 noise
    make_image png:rgba:16:exif=6 in/deep-alpha.png 14 23 noise
    make_image png:palette:4 in/palette.png 31 17 noise
    make_image pgm in/tall.pgm 5 300 noise
    make_image pgm:16:maxval=65535 in/deep-grey.pgm 40 30 noise
    make_image ppm in/wide.ppm 400 3 noise
    make_image jpeg:ycc whole.jpg 70 50 noise
    head -c 1500 whole.jpg >in/cut.jpg
    { head -c 1500 whole.jpg && head -c 40 /dev/zero && tail -c +1541 whole.jpg; } >in/damaged.jpg
    # Zeros behind the last code, where encoders write ones: libjpeg-turbo does not mind, kernels reject it.
    make_image jpeg:grey:quality=90 in/rejected.jpg 24 20 noise
    local size last
    size=$(wc -c <in/rejected.jpg)
    last=$(od -An -tu1 -j $((size - 3)) -N 1 in/rejected.jpg)
    printf %b "\\0$(printf %o $((last & 254)))" | dd of=in/rejected.jpg bs=1 seek=$((size - 3)) conv=notrunc status=none
    head -c 900 in/grey.png >in/cut-off.png
    : >in/empty.jpg
}

# ---- Running -------------------------------------------------------------------------------------

# options COMMAND: the words of a command line.
options() {
    case $1 in
        edges) echo edges ;;
        box3) echo filter -k box3 --alpha keep ;;
        sobel) echo filter -k gauss3 -k sobel-x --abs --format png ;;
    esac
}

# batch COMMAND DIRECTORY OPTIONS...: runs it on the directory; outputs in `out`.
batch() {
    local command=$1 directory=$2
    shift 2
    rm -rf out
    # shellcheck disable=SC2046
    gconv $(options "$command") "$@" -o out "$directory"
}

# on_cpu COMMAND DIRECTORY: keeps outputs, status and messages of the CPU.
on_cpu() {
    local status=0
    batch "$1" "$2" --device cpu -j 2 2>"expected/$1-$2.err" || status=$?
    echo $status >"expected/$1-$2.status"
    mv out "expected/$1-$2"
}

# messages FILE: all but that a device is lost, and a summary.
messages() {
    grep -vE '^gconv: cuda:[0-9]+ .* failed and is not used any more: ' "$1" || true
}

nothing_is_left() {
    ! grep -E '^(device_bytes|pinned_bytes|streams|events|modules) [^0]' "$GC_DOUBLE_REPORT"
    same "$(find . -name '.*.gconv-*')" ''
}

# as_cpu COMMAND DIRECTORY OPTIONS...: files, messages and status are those of the CPU, and nothing is
# left behind.
as_cpu() {
    expect "$(cat "expected/$1-$2.status")" batch "$@"
    diff -r "expected/$1-$2" out
    diff "expected/$1-$2.err" <(messages "$BATS_TEST_TMPDIR/err")
    nothing_is_left
}

# done_or_said COMMAND DIRECTORY OPTIONS...: each file is there and right, or there is a message about
# its image.
done_or_said() {
    local status=0 name input
    batch "$@" 2>"$BATS_TEST_TMPDIR/err" || status=$?
    [ $status = 0 ] || [ $status = 1 ] || { cat "$BATS_TEST_TMPDIR/err" && same $status 1; }
    for input in "$2"/*; do
        name=${input##*/}
        grep -qF "gconv: $input: " "$BATS_TEST_TMPDIR/err" && said=yes || said=
        set -- "$1" "$2" "out/${name%.*}".*
        [ -n "$said" ] || [ -e "$3" ] || { echo "$input is lost" && return 1; }
        [ ! -e "$3" ] || cmp "$3" "expected/$1-$2/${3#out/}"
    done
    nothing_is_left
}

# calls NAME: how many calls of it there were in the runs since the log was removed.
calls() { grep -c "^[0-9]* $1 " "$GC_DOUBLE_LOG" || true; }

# ---- Files ---------------------------------------------------------------------------------------

@test "pictures of all kinds: the files and the messages of the CPU" {
    local command way
    same "$(cat expected/edges-in.status) $(cat expected/edges-sound.status)" '1 0'
    for command in edges box3 sobel; do
        for way in '--device cuda' '--decoder cuda' '--device auto'; do
            # shellcheck disable=SC2086
            as_cpu $command in $way -j 4
        done
    done
    as_cpu edges in --device cuda -j 1
}

# by_kernels DIRECTORY: names of images that kernels have decoded in the last run, which was one with
# --json.
by_kernels() {
    printf '%s\n' "$out" | sed -n 's/.*"input": "'"$1"'\/\([^"]*\)".*"decoder": "cuda".*/\1/p' | LC_ALL=C sort
}

# proved: names in `hurt` of those that are sound.
proved() { sed -n 's/ sound$//p' verdicts; }

@test "kernels decode all that are sound, and no others" {
    expect 1 batch box3 in --decoder cuda -j 4 --json
    same "$(by_kernels in)" "$(cd sound && ls)"
    expect 1 batch box3 hurt --decoder cuda -j 4 --json
    same "$(by_kernels hurt)" "$(proved)"
}

@test "kernels decode Y alone of all that are sound, and of no others that libjpeg-turbo warns of" {
    local name
    expect 1 batch edges hurt --decoder cuda -j 4 --json
    same "$(comm -13 <(by_kernels hurt) <(proved))" ''
    for name in $(by_kernels hurt); do
        ! grep -F "hurt/$name: " expected/edges-hurt.err
        [ -e "expected/edges-hurt/${name%.jpg}.png" ]
    done
}

@test "damaged files: the files and the messages of libjpeg-turbo" {
    local command way
    [ "$(cat expected/box3-hurt.status)" = 1 ]
    for command in edges box3 sobel; do
        for way in '--decoder cuda' '--device cuda'; do
            # shellcheck disable=SC2086
            as_cpu $command hurt $way -j 4
        done
    done
}

@test "what a kernel compresses is downloaded in part, and whole where a block is longer; it counts edges" {
    local threshold copies few=0
    make_image jpeg:grey:quality=95 noise.jpg 10432 800 noise # 1.04 MB of bits are eight blocks
    silently gconv edges --decoder cuda in/grey40x16.jpg first.png # measures the device
    for threshold in 250 5; do # few edges, and many
        GC_DOUBLE_LOG=/dev/null expect 0 gconv edges -t $threshold --device cpu noise.jpg expected.png
        like "$err" '*% of the pixels are edges*'
        printf '%s\n' "$err" >expected.err
        rm -f "$GC_DOUBLE_LOG"
        expect 0 gconv edges -t $threshold --decoder cuda noise.jpg out.png
        cmp expected.png out.png
        same "$err" "$(cat expected.err)"
        copies=$(grep -cE '^[0-9]* cudaMemcpy(2D)?Async ' "$GC_DOUBLE_LOG")
        [ $few = 0 ] || [ "$copies" -eq $((few + 1)) ]
        few=$copies
    done
}

@test "what kernels do not decode: -v, --json and --explain say who has, and why" {
    cp in/progressive.jpg in/grey.png in/grey40x16.jpg in/rejected.jpg .
    expect 0 gconv edges --decoder cuda -v -o out grey40x16.jpg progressive.jpg grey.png rejected.jpg
    like "$err" '*progressive.jpg: decoded on the CPU: a coding other than baseline*'
    like "$err" '*grey.png: decoded on the CPU: not a JPEG*'
    like "$err" '*rejected.jpg: decoded on the CPU: data that the GPU rejects, or lacks memory for*'
    [[ $err != *grey40x16.jpg:\ decoded\ on* ]]
    expect 0 gconv edges --decoder cuda --json -o json grey40x16.jpg progressive.jpg
    like "$out" '*"grey40x16.jpg"*"decoder": "cuda"*"progressive.jpg"*"decoder": "libjpeg-turbo"*'
    expect 0 gconv edges --decoder cuda --explain --timings grey40x16.jpg out.png
    like "$err" '*decode * ms by cuda, *'
    like "$err" '*
decoder: cuda*'
    GCONV_CUDA_MEMORY=200000 expect 0 gconv edges --decoder cuda -v in/grey300x200.jpg large.png
    like "$err" '*grey300x200.jpg: decoded on the CPU: *'
    cmp large.png expected/edges-in/grey300x200.png
}

# ---- Memory --------------------------------------------------------------------------------------

@test "images of all sizes at one time take no more memory of the device than they may" {
    local i jobs most memory=16000000
    mkdir many
    for i in {1..40}; do
        cp in/grey300x200.jpg many/$i-large.jpg
        cp in/colour131x77-22.jpg many/$i-small.jpg
    done
    make_image jpeg:grey:quality=90 many/largest.jpg 900 700 noise
    for jobs in 2 4 5 6 8; do
        GCONV_CUDA_MEMORY=$memory silently gconv edges -q --decoder cuda -j $jobs -o out many
        most=$(sed -n 's/^most_device_bytes //p' "$GC_DOUBLE_REPORT")
        echo "-j $jobs: $most bytes"
        # Tables of filters, and what a slot holds that was larger and is just taken, come on top.
        [ "$most" -le $((memory * 11 / 10)) ]
        rm -r out
    done
}

@test "colours that kernels decode go through kernels that read samples where they lie" {
    mkdir colours
    # 640 columns: the planes have no gaps, as the rows of grey samples that such kernels read.
    "$GCONV" filter -k identity --device cpu "$SOURCE/samples/harbour.jpg" colours/harbour.jpg
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$BATS_TEST_TMPDIR
    for implementation in direct naive; do
        rm -rf out expected/colours
        "$GCONV" filter -k box:4x3 --device cpu -o expected/colours colours
        gconv filter -k box:4x3 --impl $implementation --decoder cuda --json -o out colours >out.json
        like "$(cat out.json)" '*"channels": 3*"decoder": "cuda"*'
        diff -r expected/colours out
        nothing_is_left
    done
}

@test "a batch larger than the memory of the GPU" {
    local command memory way
    for command in edges box3; do
        for memory in $([ $command = edges ] && echo 4000 1500000 || echo 100000); do
            GC_DOUBLE_MEMORY=$memory as_cpu $command in -j 4
            for way in '' '--decoder cuda'; do
                # shellcheck disable=SC2086
                GC_DOUBLE_MEMORY=$memory done_or_said $command sound --device cuda $way -j 4
            done
        done
        # Memory for the largest picture, and not for all at one time.
        GC_DOUBLE_MEMORY=3000000 as_cpu $command in --device cuda -j 4
        GC_DOUBLE_MEMORY=3000000 as_cpu $command in --decoder cuda -j 4
    done
}

@test "a batch on a GPU that is shorter of memory than it says" {
    local command taken
    for command in edges box3; do
        for taken in 1000000 2900000; do
            export GC_DOUBLE_MEMORY=3000000 GC_DOUBLE_TAKEN=$taken
            as_cpu $command in -j 4
            done_or_said $command sound --device cuda -j 4
            done_or_said $command sound --decoder cuda -j 4
        done
    done
}

@test "memory for decoding is short: rows of libjpeg-turbo go through the GPU, with the same bits" {
    local memory all some
    all=$(find -H sound -type f | wc -l)
    for memory in 100000000 400000 200000; do
        GCONV_CUDA_MEMORY=$memory expect 0 batch box3 sound --decoder cuda -j 2 --json
        diff -r expected/box3-sound out
        nothing_is_left
        some=$(by_kernels sound | wc -l)
        if [ $memory = 100000000 ]; then same "$some" "$all"; else [ "$some" -gt 0 ] && [ "$some" -lt "$all" ]; fi
    done
}

# ---- GPUs that break down ------------------------------------------------------------------------

# losses N: the last run said that N devices are lost.
losses() {
    same "$(grep -c '^gconv: cuda:[01] (.*) failed and is not used any more: ' "$BATS_TEST_TMPDIR/err")" "$1"
}

@test "one of two GPUs breaks down in the middle: nothing is lost, and one warning" {
    local calls part way
    export GC_DOUBLE_DEVICES=2
    for way in '--device cuda:0,1' '--decoder cuda' '--device auto'; do
        # shellcheck disable=SC2086
        as_cpu edges in -j 4 $way
        for part in 2 4; do
            calls=$(grep -c ' 0$' "$GC_DOUBLE_LOG")
            rm "$GC_DOUBLE_LOG"
            # shellcheck disable=SC2086
            GC_DOUBLE_FAIL_DEVICE=0 GC_DOUBLE_FAIL=$((calls * part / 6)):once:719 as_cpu edges in -j 4 $way
            # Under auto the CPU may have done all before the GPU failed.
            case $way in *auto) ;; *) losses 1 ;; esac
        done
    done
}

@test "both of two GPUs break down: under auto the CPU does the rest; where they are named, it is said" {
    local calls part
    export GC_DOUBLE_DEVICES=2
    as_cpu box3 in -j 4 --device cuda:all
    calls=$(grep -c ' 0$' "$GC_DOUBLE_LOG") # not the questions whether work is done
    for part in 1 3 5; do
        GC_DOUBLE_FAIL=$((calls * part / 6)):from:719 as_cpu box3 in -j 4
        GC_DOUBLE_FAIL=$((calls * part / 6)):from:719 done_or_said box3 in -j 4 --device cuda:all
        losses 2
    done
}

# ---- Signals -------------------------------------------------------------------------------------

# interrupted OPTIONS...: sends SIGINT to a slow batch when its first file is there. bash starts
# background jobs with SIGINT ignored: env undoes that.
interrupted() {
    local status=0 pid start i file
    rm -rf out
    env --default-signal=INT "$TESTS/double/gconv_double" edges -j 4 "$@" -o out sound 2>err &
    pid=$!
    for i in $(seq 500); do
        [ -z "$(ls out 2>/dev/null)" ] || break
        sleep 0.02
    done
    [ -n "$(ls out)" ]
    start=$(date +%s%N)
    kill -s INT $pid
    wait $pid || status=$?
    [ $((($(date +%s%N) - start) / 1000000)) -lt 3000 ]
    same $status 130
    like "$(cat err)" 'gconv: stopped: * of * images done, 0 failed, 0 skipped; the same command with --no-clobber does the others'
    same "$(find . -name '.*.gconv-*')" ''
    [ "$(find out -type f | wc -l)" -lt "$(find -H sound -type f | wc -l)" ]
    for file in out/*; do cmp "$file" "expected/edges-sound/${file#out/}"; done
}

@test "SIGINT in the middle of a batch: what is done is whole, and nothing else is left" {
    env --default-signal=INT true 2>/dev/null || skip "env cannot reset signals"
    export GC_DOUBLE_DELAY=5000
    interrupted --device cuda
    interrupted --decoder cuda
    GC_DOUBLE_DEVICES=2 interrupted --device cuda:all
}
