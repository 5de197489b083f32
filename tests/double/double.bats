# The program on a pretended GPU (README.md here): what it computes there, and what it does when the
# GPU is short of memory, breaks down, or refuses a kernel.

load ../cli/common

# The device is measured at its first use. Most tests begin after that, and count calls.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    make_image pgm in.pgm 5 4 noise
    XDG_CACHE_HOME=$BATS_FILE_TMPDIR/measured gconv filter -k box3 in.pgm out.pgm
}

setup() {
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return 1
    cp -rp "$BATS_FILE_TMPDIR/measured" "$BATS_TEST_TMPDIR/cache"
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache GC_DOUBLE_LOG=$BATS_TEST_TMPDIR/log
    unset GC_DOUBLE_FAIL GC_DOUBLE_MEMORY GC_DOUBLE_TAKEN GC_DOUBLE_REFUSE
}

gconv() { "$TESTS/double/gconv_double" "$@"; }

# calls NAME: how many calls of it there were in the runs since the log was removed.
calls() { grep -c "^[0-9]* $1 " "$GC_DOUBLE_LOG" || true; }

# reckons WORDS: what `gconv info` says that auto reckons with.
reckons() {
    like "$(GC_DOUBLE_LOG=/dev/null gconv info)" "*
            auto reckons with $1
*"
}

# first NAME: the number of the first call of it in the log.
first() { sed -n "/^[0-9]* $1 /{s/ .*//p;q;}" "$GC_DOUBLE_LOG"; }

# on_cpu OUT COMMAND...: what the command, but for the output, gives on the CPU.
on_cpu() {
    local expected=$1
    shift
    GC_DOUBLE_LOG=/dev/null gconv --device cpu "$@" "$expected"
}

@test "every implementation with kernels in the double gives the reference's results" {
    make_image png:grey grey.png 37 21 noise
    make_image ppm colour.ppm 17 9 noise
    make_image png:rgba alpha.png 11 18 noise
    local every=naive,naive:const,shared,const,const:kth,tiled,tiled:nopad,adaptive,adaptive:nc
    every+=,twopass:kth
    for border in mirror mirror101 replicate wrap constant:9; do
        expect 0 gconv compare --time 0.001 --impl $every,twopass --border $border grey.png
        same "$(printf '%s\n' "$out" | grep -c ' exact$')" 11
        silently gconv filter --impl twopass:transposed --verify --border $border -k gauss5 grey.png out.png
    done
    for image in colour.ppm alpha.png; do
        expect 0 gconv compare --time 0.001 --impl $every -k gauss3 -k '4x2: 1 -2 3 4 5 0.5 7 1' $image
        same "$(printf '%s\n' "$out" | grep -cE ' (exact|within bound)$')" 10
    done
}

@test "twopass:transposed: sums of rows have to be integers of 16 bits" {
    make_image ppm colour.ppm 17 9 noise
    make_image png:rgba alpha.png 11 18 noise
    silently gconv filter --impl twopass:transposed --verify -k box3 -k gauss3 colour.ppm out.ppm
    complains 4 '*integers of 16 bits*' gconv filter --impl twopass:transposed -k box3 alpha.png out.png
}

@test "the threshold is the fraction that is written, not a double next to it" {
    make_image png:grey step.png 16 1 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1
    silently gconv edges --impl naive --threshold 2/17 step.png out.png # of responses of 34 / 289
    same "$(rows out.png)" '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'
    silently gconv edges --impl naive --threshold 0x1.e1e1ep-4 step.png out.png
    same "$(rows out.png)" '0 0 0 0 0 1 1 0 0 1 1 0 0 0 0 0'
}

@test "floats: in place and in planes" {
    make_image png:grey a.png 37 21 noise
    make_image png:grey b.png 64 21 noise # rows are whole lines
    make_image png:rgb c.png 33 18 noise
    local every=naive,naive:const,shared,const,tiled,tiled:nopad,adaptive,adaptive:nc,twopass
    for name in a b c; do
        gconv filter -k identity --scale 1.37 --offset -20 $name.png $name.pfm
        expect 0 gconv compare --time 0.001 --impl $every -k gauss3 -k laplace3 $name.pfm
        same "$(printf '%s\n' "$out" | grep -c ' within bound$')" 9
        for format in png pfm; do
            gconv filter -k identity --impl cpu $name.pfm wanted.$format
            gconv filter -k identity --impl naive $name.pfm got.$format
            cmp wanted.$format got.$format
        done
    done
    launches() {
        rm -f "$GC_DOUBLE_LOG"
        gconv filter -k gauss3 --impl naive "$1" got.png
        calls cudaLaunchKernel
    }
    same "$(launches b.pfm)" "$(($(launches a.pfm) - 1))" # nothing makes planes
    expect 4 gconv filter -k gauss5 --impl tensor a.pfm got.png
    like "$err" '*too far apart to be scaled together*'
}

@test "unrolled tiles: blocks and factors of their own, and those of --block and --tile" {
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$PWD
    make_image ppm colour.ppm 70 41 noise
    local tiling
    for tiling in '' '--tile 3 --block 16x8' '--tile 20 --block 4x1'; do
        expect 0 gconv compare --time 0.001 --impl adaptive:unrolled,twopass:tiled --border constant:9 \
            $tiling -k gauss5 -k '4x2: 1 -2 3 4 5 -6 7 1' colour.ppm
        like "$out" '*
adaptive:unrolled * exact*
twopass:tiled * exact*'
    done
    expect 0 gconv compare --explain --time 0.001 --impl adaptive:unrolled --tile 3 --block 16x8 \
        -k gauss5 colour.ppm
    like "$err" '*block 16x8, factor 3,*'
    complains 4 '*tiling factor 21 is more than 20*' \
        gconv filter --impl twopass:tiled --tile 21 -k gauss5 colour.ppm out.ppm
}

@test "kernels that are compiled for their sizes: the read-only cache, Hwu's and the lecture's" {
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$PWD
    make_image ppm colour.ppm 70 41 noise
    local names=adaptive:unrolled:nc,const:hwu,naive:lecture,const:lecture,twopass:lecture,twopass:lecture1d
    for filter in gauss5 '5x2: 1 -2 3 4 5 2 -4 6 8 10' box:17x1; do
        expect 0 gconv compare --time 0.001 --impl $names --border constant:9 -k "$filter" colour.ppm
        same "$(printf '%s\n' "$out" | grep -c ' exact$')" 6
    done
    expect 0 gconv compare --time 0.001 --impl const:hwu --block 16x8 --explain -k gauss5 colour.ppm
    like "$err" '*block 16x8, factor 1, 0.5 KiB*'
    complains 4 '*a 5x9 filter is larger than a block of 16x8 threads' \
        gconv filter --impl const:hwu --block 16x8 -k box:5x9 colour.ppm out.ppm
    complains 4 '*a filter of 19x1 has an apron that is wider than a block of 16x16' \
        gconv filter --impl twopass:lecture -k box:19x1 colour.ppm out.ppm
    silently gconv filter --impl naive:lecture --verify -k gaussian:8,17 -k sharpen3 colour.ppm out.ppm
}

@test "blocks: one is built in, others are compiled" {
    make_image pgm in.pgm 70 41 noise
    local names=shared,const,const:kth,tiled:nopad,adaptive,adaptive:kth
    expect 0 gconv compare --time 0.001 --impl $names -k box5 in.pgm
    same "$(printf '%s\n' "$out" | grep -c ' exact$')" 6
    same "$(calls nvrtcCompileProgram)" 0
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$PWD
    expect 0 gconv compare --time 0.001 --impl $names --block 8x4 -k box5 -k box:21x3 in.pgm
    same "$(printf '%s\n' "$out" | grep -c ' exact$')" 6
}

@test "bench records the tiling factor, and --shared-memory limits that of adaptive" {
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$PWD
    local names=naive,tiled,adaptive,adaptive:kth,adaptive:unrolled
    expect 0 gconv bench --time 1 --impl $names --samples grey8 --sizes 64 --filters 9 --block 16x16 --json
    same "$(key name | head -n 5 | paste -sd ,)" $names # names of devices follow
    like "$(key factor | paste -sd ' ')" '4 16 21 [0-9]*'
    expect 0 gconv bench --time 1 --impl adaptive --sizes 64 --filters 9,43 --block 16x32 --shared-memory 49152 --json
    same "$(key factor | paste -sd ' ')" '7 5'
    make_image png:grey grey.png 37 21 noise
    expect 4 gconv compare --impl adaptive --shared-memory 4096 -k box3 --json grey.png
    like "$(key reason)" '*no block of 32x32 threads fits in the registers and --shared-memory of*'
}

@test "names say a block and a factor, and take the place of --block and --tile" {
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$PWD
    make_image pgm in.pgm 37 21 noise
    expect 0 gconv compare --time 0.001 --impl tiled:32x32x2,tiled:nopad:x3,const:8x64 --block 16x16 \
        --tile 5 --explain -k box3 in.pgm
    like "$out" '*tiled:32x32x2 *exact*tiled:nopad:x3 *exact*const:8x64 *exact*'
    like "$err" '*block 32x32, factor 2,*block 16x16, factor 3,*block 8x64, factor 1,*'
    json 0 gconv bench --time 0.001 --impl tiled:x2,tiled:32x8x7 --sizes 32 --filters 3 --json
    same "$(key factor | paste -sd ' ')" '2 7'
    same "$(key name | head -n 2 | paste -sd ' ')" 'tiled:x2 tiled:32x8x7'
    expect 0 gconv bench --time 0.001 --impl naive,tiled,const,tiled:32x8x7 --sizes 32 --filters 3 --tile 2 --block 8x8
    same "$err" 'gconv: --block is for naive, tiled, const; the others take no thread block, or have one in their name
gconv: --tile is for tiled; the others take no tiling factor, or have one in their name'
    tells 0 '' gconv bench --time 0.001 --impl tiled,tiled:nopad --sizes 32 --filters 3 --tile 2
    expect 0 gconv filter --impl tiled:16x16x3 -k box3 in.pgm tiled.pgm
    on_cpu expected.pgm filter -k box3 in.pgm
    cmp tiled.pgm expected.pgm
}

@test "the kth preset measures its two passes with filters of rank 1 alone" {
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$PWD
    expect 0 gconv bench --preset kth --sizes 16 --filters 5,rank1:5 --time 0.001 --csv
    same "$(printf '%s\n' "$out" | sed 1d | cut -d, -f 3,5 | paste -sd ' ')" \
        '5x5,reference 5x5,cpu 5x5,naive 5x5,shared 5x5,const 5x5,tiled 5x5,adaptive 5x5,const:kth 5x5,adaptive:kth '\
'5x5 rank 1,reference 5x5 rank 1,cpu 5x5 rank 1,const 5x5 rank 1,adaptive 5x5 rank 1,twopass:kth '\
'5x5 rank 1,twopass 5x5 rank 1,twopass:transposed'
}

@test "the passes for border and conversion are timed apart, where there are any" {
    export GC_DOUBLE_COMPILER=c++ TMPDIR=$PWD
    make_image png:grey grey.png 37 21 noise
    expect 0 gconv compare --time 0.3 --impl naive,direct --json \
        -k '3x3: 1 -2 3 4 5 -6 7 1 2' grey.png
    local naive=${out%%\"direct\"*} direct=${out#*\"direct\"}
    like "$naive" '*"kernel_seconds": *"border_seconds": *"convert_seconds": *'
    like "$direct" '*"kernel_seconds": *'
    case $direct in *border_seconds* | *convert_seconds*) false ;; esac
    # Both are parts of the whole.
    printf '%s\n' "$naive" | tr , '\n' | awk '/"kernel_s/ { all = $2 } /"border_s|"convert_s/ { parts += $2 }
        END { exit !(parts > 0 && parts < all) }'
}

@test "adaptive:kth: 8 bits and whole numbers alone" {
    make_image ppm colour.ppm 70 41 noise
    make_image png:rgb:16 deep.png 70 41 noise
    silently gconv filter --impl adaptive:kth --verify -k gaussian:1 colour.ppm out.ppm
    silently gconv filter --impl adaptive:kth --verify -k sharpen3 -k box3 colour.ppm out.ppm
    for options in '-k gaussian:1 -k gaussian:1 colour.ppm' '-k box3 deep.png' \
        '-b constant:0.5 -k gaussian:1 colour.ppm'; do
        complains 4 '*integers of 16 bits*' gconv filter --impl adaptive:kth $options out.ppm
    done
}

@test "separable: long vectors, every border, several times and in bands" {
    make_image png:grey grey.png 37 21 noise
    make_image ppm:16 colour.ppm 17 90 noise
    make_image ppm high.ppm 17 400 noise
    local border impl launches
    for border in mirror mirror101 replicate wrap constant:9; do
        silently gconv filter --impl separable --verify -b $border -k gaussian:60 grey.png out.png
        silently gconv filter --impl separable --verify -b $border -k box:300x4000 colour.ppm out.ppm
        rm "$GC_DOUBLE_LOG"
        silently gconv filter --impl separable -b $border -k box:300x5 -k box:300x4 high.ppm whole.ppm
        launches=$(calls cudaLaunchKernel)
        rm "$GC_DOUBLE_LOG"
        GC_DOUBLE_MEMORY=400000 silently gconv filter --impl separable -b $border -k box:300x5 \
            -k box:300x4 high.ppm bands.ppm
        [ "$(calls cudaLaunchKernel)" -gt "$launches" ]
        cmp whole.ppm bands.ppm
    done
    printf 'column 1 0 -1\nrow 1 2 3\n' >k.txt
    complains 4 '*only reference, cpu and separable take' gconv filter --impl naive -k k.txt \
        grey.png out.png
    for impl in direct fused tensor tilefft fft tiled twopass; do
        complains 4 '*' gconv filter --impl $impl -k gaussian:60 grey.png out.png
    done
}

@test "two vectors behind a matrix, and vectors that float32 cannot hold" {
    make_image pgm in.pgm 32 32 noise
    printf '0 1 0\n1 -4 1\n0 1 2\n' >full.txt
    printf '0 0.1 0\n0.1 -0.4 0.3\n0 0.1 0.2\n' >fractions.txt
    printf 'column 1 2 1\nrow 1 2 1\n' >short.txt
    printf 'column 1e-40 1.1e-40 1.7e-40\nrow 1e-40 1.3e-40 1.9e-40\n' >tiny.txt
    for first in full.txt fractions.txt; do
        for impl in naive adaptive twopass direct fused tensor tilefft fft; do
            complains 4 "in.pgm: *a column and a row*" \
                gconv filter --impl $impl -k $first -k short.txt in.pgm out.pgm
            complains 4 "in.pgm: *a column and a row*" \
                gconv filter --impl $impl -k $first -k box:2001 in.pgm out.pgm
        done
        expect 0 gconv filter -k $first -k box:2001 in.pgm out.pgm
    done
    complains 4 'in.pgm: *float32*' gconv filter --impl separable -k tiny.txt in.pgm out.pgm
    silently gconv filter --impl cpu -k tiny.txt in.pgm out.pgm
}

@test "tilefft: every kind of samples, colours and alpha" {
    make_image pgm grey.pgm 137 141 noise
    make_image pgm:16 deep.pgm 70 65 noise
    make_image ppm colour.ppm 137 41 noise
    make_image png:rgba alpha.png 70 35 noise
    for border in mirror mirror101 replicate wrap constant:9; do
        for image in grey.pgm deep.pgm colour.ppm alpha.png; do
            expect 0 gconv compare --time 0.001 --impl tilefft --border $border \
                -k gaussian:1.7,11 -k log:2,9 $image
            like "$out" '*
tilefft * within bound*'
        done
    done
}

@test "tilefft: large tiles take every kind of samples and border" {
    make_image pgm grey.pgm 800 30 noise
    make_image pgm tall.pgm 30 800 noise
    make_image pgm:16 deep.pgm 90 65 noise
    make_image ppm colour.ppm 137 41 noise
    # The reference, which takes the time here, has few weights where images are large.
    awk 'BEGIN { for (y = 0; y < 7; y++) for (x = 0; x < 131; x++)
        printf "%.3f%s", (x * x + 37 * y + x * y * y) % 101 / 50 - 1, x < 130 ? " " : "\n" }' >wide.txt
    awk '{ for (x = 1; x <= NF; x++) at[x] = at[x] " " $x } END { for (x = 1; x <= NF; x++) print at[x] }' \
        wide.txt >high.txt
    local border image
    for border in mirror replicate wrap constant:9; do
        expect 0 gconv compare --explain --time 0.001 --impl tilefft --border $border -k wide.txt grey.pgm
        like "$out" '*
tilefft * within bound*'
        like "$err" '*by transforms of 1024x512 points in three kernels*'
    done
    expect 0 gconv compare --time 0.001 --impl tilefft --border mirror101 -k high.txt tall.pgm
    like "$out" '*
tilefft * within bound*'
    # Columns of tiles: two, which are a strip, and a third, whose halves are a strip.
    make_image pgm three.pgm 1025 259 noise
    awk 'BEGIN { for (y = 0; y < 255; y++) print y * y % 101 / 49 - 1 }' >column.txt
    expect 0 gconv compare --explain --time 0.001 --impl tilefft --border constant:9 -k column.txt three.pgm
    like "$out" '*
tilefft * within bound*'
    like "$err" '*tiles of 512x258 outputs *'
    for image in deep.pgm colour.ppm; do
        expect 0 gconv compare --time 0.001 --impl tilefft --border mirror101 -k log:20,131 $image
        like "$out" '*
tilefft * within bound*'
    done
    # Kernels for all types store words: of another type, of bits, of samples that double rounds.
    local output filter
    for output in '--depth 16' '--depth 1' '--offset 2000'; do
        for filter in log:3,21 wide.txt; do # small tiles, large ones
            # shellcheck disable=SC2086
            expect 0 gconv filter --impl tilefft --verify $output -k $filter grey.pgm out.png
        done
    done
}

@test "tilefft: bands have the bits of the whole image" {
    make_image pgm in.pgm 150 400 noise
    local border output launches
    for border in mirror wrap; do
        for output in out.pgm out.pfm; do
            rm -f "$GC_DOUBLE_LOG"
            silently gconv filter -q --impl tilefft -b $border -k log:3,21 -k gaussian:2,9 in.pgm \
                whole-$output
            launches=$(calls cudaLaunchKernel)
            rm -f "$GC_DOUBLE_LOG"
            GCONV_CUDA_MEMORY=600000 silently gconv filter -q --impl tilefft -b $border -k log:3,21 \
                -k gaussian:2,9 in.pgm $output
            [ "$(calls cudaLaunchKernel)" -gt "$launches" ]
            cmp $output whole-$output
        done
    done
}

@test "tilefft: bands of large tiles have the bits of the whole image" {
    make_image pgm in.pgm 19200 1540 noise # a slab is one row of tiles
    export GC_DOUBLE_MEMORY=2000000000
    silently gconv filter --impl tilefft -b mirror101 -k log:30,255 in.pgm whole.pgm
    local copies
    copies=$(calls cudaMemcpyAsync) # there are some for each band
    rm -f "$GC_DOUBLE_LOG"
    GCONV_CUDA_MEMORY=600000000 silently gconv filter --impl tilefft -b mirror101 -k log:30,255 \
        in.pgm out.pgm
    [ "$(calls cudaMemcpyAsync)" -gt "$copies" ]
    cmp out.pgm whole.pgm
}

@test "detector: magnitudes are refused" {
    make_image pgm in.pgm 40 30 noise
    expect 4 gconv edges --method gradient --values --impl detector in.pgm out.pgm
    like "$err" "*'detector' refuses this: it writes edges, and no magnitudes*"
}

@test "what the double has no kernels for is not usable, and says why" {
    make_image png:grey in.png 9 7 noise
    expect 0 gconv compare --time 0.001 in.png
    like "$out" '*
not usable: direct, separable: each CUDA: invalid device function*
fused not usable: CUDA: invalid device function*
fft *not usable: libcufft* lacks a function*'
}

@test "a GPU that is shorter of memory than it says: smaller bands, the same file" {
    make_image pgm in.pgm 40 200 noise
    on_cpu expected.pgm filter -k box5 in.pgm
    silently gconv filter -k box5 in.pgm whole.pgm
    local launches
    launches=$(calls cudaLaunchKernel)
    rm "$GC_DOUBLE_LOG"
    export GC_DOUBLE_MEMORY=200000 GC_DOUBLE_TAKEN=120000
    silently gconv filter -k box5 in.pgm bands.pgm
    [ "$(calls cudaLaunchKernel)" -gt "$launches" ]
    cmp whole.pgm expected.pgm
    cmp bands.pgm expected.pgm
}

@test "a GPU without memory for one row: the CPU, which -v says" {
    make_image pgm in.pgm 40 30 noise
    on_cpu expected.pgm filter -k box5 in.pgm
    export GC_DOUBLE_MEMORY=4000
    tells 0 '*the CPU took over: not even 1 row fits in *' gconv filter -v -k box5 in.pgm out.pgm
    cmp out.pgm expected.pgm
    GC_DOUBLE_TAKEN=4000 silently gconv filter -k box5 in.pgm again.pgm
    cmp again.pgm expected.pgm
    complains 1 'in.pgm: not even 1 row fits in *' gconv filter --impl naive -k box5 in.pgm none.pgm
    [ ! -e none.pgm ]
}

@test "a GPU that breaks down in the middle of a batch: the CPU does the rest" {
    for i in 1 2 3 4; do make_image pgm in$i.pgm $((20 + i)) 12 noise; done
    on_cpu cpu filter -k box3 in1.pgm in2.pgm in3.pgm in4.pgm -o
    silently gconv filter -k box3 -j 1 -o gpu in?.pgm
    diff -r cpu gpu
    local middle=$(($(wc -l <"$GC_DOUBLE_LOG") / 2))
    for jobs in 1 4; do
        GC_DOUBLE_FAIL=$middle:once:719 expect 0 gconv filter -v -k box3 -j $jobs -o broken$jobs in?.pgm
        if [ $jobs = 1 ]; then # else the CPU may have done all before the GPU was there
            like "$err" '*the CPU took over: CUDA: *'
            same "$(printf '%s\n' "$err" | grep -c '^gconv: cuda:0 (.*) failed and is not used any more: CUDA: ')" 1
        fi
        diff -r cpu broken$jobs
    done
}

@test "a GPU that breaks down after the first rows were written: one line, the old output as it was" {
    make_image pgm in.pgm 12 90 noise
    export GCONV_CUDA_MEMORY=10000
    on_cpu expected.pgm filter -k box3 in.pgm
    silently gconv filter -k box3 in.pgm out.pgm
    cmp out.pgm expected.pgm
    echo old >out.pgm
    # The second band's upload, after the first band's rows have come down and been written.
    local call
    call=$(sed -n '/ cudaMemcpyAsync /{s/ .*//;p;}' "$GC_DOUBLE_LOG" | sed -n 3p)
    GC_DOUBLE_FAIL=$call:once:719 complains 1 'in.pgm: CUDA: *' gconv filter -k box3 in.pgm out.pgm
    same "$(cat out.pgm)" old
    holds expected.pgm in.pgm out.pgm
    GC_DOUBLE_FAIL=$(first cudaMemcpyAsync):once:719 \
        expect 0 gconv filter -k box3 in.pgm out.pgm
    like "$err" 'gconv: cuda:0 (*) failed and is not used any more: CUDA: *'
    same "$(printf '%s\n' "$err" | wc -l)" 1
    cmp out.pgm expected.pgm
}

@test "several GPUs: those that are named, and what is wrong with a list" {
    make_image pgm in.pgm 30 20 noise
    on_cpu expected.pgm filter -k box5 in.pgm
    export GC_DOUBLE_DEVICES=3
    for device in cuda:2 cuda:1,2 cuda:2,1 cuda:all auto; do
        rm -f "$GC_DOUBLE_LOG"
        silently gconv filter -k box5 -d $device in.pgm out.pgm
        cmp out.pgm expected.pgm
        local first=${device#cuda:}
        case $device in cuda:1,2 | cuda:2,1) first=1 ;; cuda:all | auto) first=0 ;; esac
        same "$(sed -n 's/.* cudaLaunchKernel 0 //p' "$GC_DOUBLE_LOG" | sort -u)" "$first"
    done
    for named in '' '--impl naive'; do
        # shellcheck disable=SC2086
        complains 4 'there is no device cuda:3: *' gconv filter -k box5 $named -d cuda:0,3 in.pgm none.pgm
        # shellcheck disable=SC2086
        complains 4 'there is no device cuda:9: *' gconv filter -k box5 $named -d cuda:9 in.pgm none.pgm
    done
    expect 0 gconv filter -k box5 --explain -d cuda:1,2 in.pgm out.pgm
    like "$err" '*
cuda:1     of equal devices that with the fewest images
*'
}

@test "one of two GPUs breaks down: the other one does the rest, and nothing is lost" {
    for i in 1 2 3 4 5 6; do make_image pgm in$i.pgm $((20 + i)) 12 noise; done
    on_cpu cpu filter -k box3 in?.pgm -o
    export GC_DOUBLE_DEVICES=2 GC_DOUBLE_FAIL_DEVICE=0
    silently gconv filter -k box3 -j 1 -d cuda:all -o gpu in?.pgm
    diff -r cpu gpu
    local calls
    calls=$(grep -c ' 0$' "$GC_DOUBLE_LOG")
    for device in cuda:0,1 cuda:all auto; do
        for jobs in 1 4; do
            for call in 12 $((calls / 2)) $((calls * 3 / 5)); do
                rm -rf out "$GC_DOUBLE_LOG"
                GC_DOUBLE_FAIL=$call:once:719 expect 0 gconv filter -k box3 -d $device -j $jobs -o out in?.pgm
                if [ $jobs = 1 ] || [ -n "$err" ]; then # with 4 workers device 0 may do less
                    like "$err" 'gconv: cuda:0 (*) failed and is not used any more: CUDA: *'
                    same "$(printf '%s\n' "$err" | wc -l)" 1
                    [ "$(grep -c ' cudaLaunchKernel 0 1$' "$GC_DOUBLE_LOG")" -gt 0 ]
                fi
                diff -r cpu out
            done
        done
    done
    rm -rf out
    GC_DOUBLE_FAIL=12:once:719 expect 0 gconv filter -k box3 -v -d cuda:all -j 1 -o out in1.pgm
    like "$err" '*in1.pgm: cuda:1 took over: CUDA: *'
    GC_DOUBLE_FAIL=12:once:719 expect 0 gconv filter -k box3 --explain -d cuda:all in1.pgm out.pgm
    like "$err" '*naive on cuda:1 took over: CUDA: *'
    # A list of one, or an implementation that is named, leaves the CPU out.
    GC_DOUBLE_FAIL=12:once:719 expect 1 gconv filter -k box3 -d cuda:0 -j 1 -o none in1.pgm in2.pgm
    like "$err" 'gconv: cuda:0 (*) failed and is not used any more: *in1.pgm: CUDA: *in2.pgm: device cuda:0 is not usable: it failed before: CUDA: *'
    [ ! -e none ]
    GC_DOUBLE_DEVICES=1 GC_DOUBLE_FAIL=12:once:719 complains 4 'in1.pgm: CUDA: *' \
        gconv filter -k box3 --impl naive in1.pgm none.pgm
    GC_DOUBLE_FAIL=12:once:719 expect 0 gconv filter -k box3 --impl naive in1.pgm out.pgm
    cmp cpu/in1.pgm out.pgm
}

@test "an error that passes drops no device" {
    for i in 1 2 3; do make_image pgm in$i.pgm $((20 + i)) 12 noise; done
    on_cpu cpu filter -k box3 in?.pgm -o
    export GC_DOUBLE_DEVICES=2
    GC_DOUBLE_FAIL=14:once:999 silently gconv filter -k box3 -j 1 -d cuda:all -o out in?.pgm
    diff -r cpu out
    [ "$(grep -c ' cudaLaunchKernel 0 0$' "$GC_DOUBLE_LOG")" -gt 0 ]
}

@test "the picture is read while a GPU that is named starts" {
    make_image pgm in.pgm 400 300 noise # more than a pipe holds
    on_cpu expected.pgm filter -k box3 in.pgm
    mkfifo pipe
    { cat in.pgm >pipe && cp "$GC_DOUBLE_LOG" read 2>/dev/null || : >read; } &
    GC_DOUBLE_START=3000 silently gconv filter -k box3 -d cuda pipe out.pgm
    wait
    cmp out.pgm expected.pgm
    same "$(grep -c cudaGetDeviceCount read || true)" 0 # it is logged at its end
    same "$(calls cudaGetDeviceCount)" 1
}

@test "a GPU that is named and not there: the same message, and nothing is touched" {
    make_image pgm in.pgm 40 30 noise
    cp in.pgm in2.pgm
    export GC_DOUBLE_DEVICES=0 GC_DOUBLE_START=100
    for inputs in in.pgm none.pgm; do
        complains 4 "no implementation can run on device 'cuda': *" \
            gconv filter -k box3 -d cuda $inputs out.pgm
        complains 4 "no implementation can run on device 'cuda:all': *" \
            gconv filter -k box3 -d cuda:all -o out $inputs in2.pgm
    done
    echo old >old.pgm
    complains 4 "no implementation can run on device 'cuda': *" gconv filter -k box3 -n -d cuda in.pgm old.pgm
    complains 2 'n*' gconv filter -k n -d cuda in.pgm out.pgm
    GC_DOUBLE_DEVICES=1 expect 1 gconv filter -k box3 -d cuda none.pgm out.pgm
    same "$(cat old.pgm)" old
    holds in.pgm in2.pgm old.pgm
}

@test "under auto the CPU computes an exact batch until the GPU is there" {
    make_image pgm 000.pgm 50 40 noise
    mkdir in expected
    tee in/{100..999}.pgm <000.pgm >/dev/null
    on_cpu expected.pgm filter -k box3 000.pgm
    tee expected/{100..999}.pgm <expected.pgm >/dev/null
    GC_DOUBLE_START=60 expect 0 gconv filter -v -k box3 -j 2 -o out in
    diff -r expected out
    same "$(printf '%s\n' "$err" | sed -n 's/.* by //p' | sort -u | paste -sd ' ')" 'naive reference'
    like "$err" '*100.pgm *by reference*'
    like "$err" '*999.pgm *by naive*'
    # Nobody needs a GPU that starts later. Nothing waits for it, and nothing is left.
    GC_DOUBLE_START=20000 json 0 timeout 10 "$TESTS/double/gconv_double" filter -k box3 -j 2 --json \
        --journal journal -o late in
    diff -r expected late
    same "$(printf '%s\n' "$out" | wc -l) $(grep -c '"status": "done"' journal)" '900 900'
    same "$(find . -name '.*.gconv-*')" ''
    # Pixels that depend on the device wait for it. First pictures are decoded meanwhile.
    GC_DOUBLE_START=60 expect 0 gconv filter -v -k gaussian:1 -j 2 -o out in
    same "$(printf '%s\n' "$err" | sed -n 's/.* by //p' | sort -u | paste -sd ' ')" naive
}

@test "under auto the first pictures of a batch are decoded while a GPU starts" {
    mkdir in
    for i in 1 2 3 4 5 6; do make_image jpeg:grey in/$i.jpg 60 50 noise; done
    GC_DOUBLE_START=1000 expect 0 gconv filter -k gaussian:1 --json -j 2 -o out in
    like "$out" '*"decoder": "libjpeg-turbo"*'
    rm -r out
    # Nothing waits where the GPU is asked for by its decoder, or the CPU computes meanwhile.
    GC_DOUBLE_START=1000 expect 0 gconv filter -k gaussian:1 --decoder cuda --json -j 2 -o out in
    same "$(printf '%s\n' "$out" | grep -c '"decoder": "cuda"')" 6
}

@test "a batch spreads over equal GPUs" {
    for i in 1 2 3 4 5 6 7 8; do make_image pgm in$i.pgm 200 300 noise; done
    on_cpu cpu filter -k box:9 in?.pgm -o
    GC_DOUBLE_DEVICES=3 silently gconv filter -k box:9 -j 4 -d cuda:0,2 -o out in?.pgm
    diff -r cpu out
    same "$(sed -n 's/.* cudaLaunchKernel 0 //p' "$GC_DOUBLE_LOG" | sort -u | paste -sd ' ')" '0 2'
}

@test "a plan is not kept for another treatment of alpha" {
    make_image png:rgba opaque.png 5 3 9 200 30 255 40 50 60 255
    make_image png:rgba clear.png 5 3 9 200 30 255 40 50 60 25
    cp opaque.png third.png
    for name in opaque clear third; do on_cpu "expected-$name.png" filter -k gauss3 $name.png; done
    silently gconv filter -k gauss3 -j 1 -o out opaque.png clear.png third.png
    for name in opaque clear third; do cmp "out/$name.png" "expected-$name.png"; done
    [ "$(calls cudaLaunchKernel)" -gt 0 ]
}

@test "what is usable is found out without compiling" {
    for command in 'compare --impl direct' 'filter -o out --impl direct'; do
        # shellcheck disable=SC2086
        expect 1 gconv $command -k box:15 none.pgm # there is no such kernel but what is compiled
        same "$(calls nvrtcCompileProgram)" 0
    done
}

@test "a kernel that the driver refuses is compiled again, and not again and again" {
    make_image pgm in.pgm 20 9 noise
    GC_DOUBLE_REFUSE=1 expect 4 gconv compare --time 0.001 --impl direct -k box3 in.pgm
    same "$(calls nvrtcCompileProgram)" 2
    rm "$GC_DOUBLE_LOG"
    expect 4 gconv compare --time 0.001 --impl direct -k box3 in.pgm
    same "$(calls nvrtcCompileProgram)" 0
    same "$(calls cuLaunchKernel)" 1
    rm -r "$GC_DOUBLE_LOG" "$XDG_CACHE_HOME"
    GC_DOUBLE_REFUSE=9 expect 4 gconv compare --time 0.001 --impl direct -k box3 in.pgm
    same "$(calls nvrtcCompileProgram)" 2
    rm "$GC_DOUBLE_LOG"
    expect 4 gconv compare --time 0.001 --impl direct -k box3 in.pgm
    same "$(calls nvrtcCompileProgram) $(calls cuModuleLoadData)" '0 0'
    [ "$(calls cudaLaunchKernel)" -gt 0 ] # the kernel compiled ahead
}

# ---- The kernels that decode ---------------------------------------------------------------------

decode() { "$TESTS/double/double_decode" "$@"; }

@test "JPEG by kernels: planes and rows are those of libjpeg, also for many threads" {
    prints 0 '* checks, 0 failed' decode --quick
}

@test "JPEG by kernels: of damaged files they take those that are sound, and reject the others" {
    mkdir files
    "$TESTS/damage_jpeg" 5 400 files >verdicts
    expect 0 decode --files files/*.jpg
    local sound
    sound=$(grep -c ' sound$' verdicts)
    [ "$sound" -gt 50 ] && [ "$sound" -lt 350 ]
    like "$out" "*
400 files, $sound sound, $sound decoded by the device
* checks, 0 failed"
}

@test "JPEG by kernels: whatever call fails, a picture is right or not decoded, and nothing is left behind" {
    export GC_DOUBLE_REPORT=$BATS_TEST_TMPDIR/report
    expect 0 decode --failing
    local calls call ways=(once:2 once:999 once:719 from:2 from:999) tried=0
    calls=$(sed -n 's/^calls //p' "$GC_DOUBLE_REPORT")
    for ((call = 1 + RANDOM % 31; call <= calls; call += 31)); do
        GC_DOUBLE_FAIL=$call:${ways[tried++ % 5]} expect 0 timeout 60 "$TESTS/double/double_decode" --failing
        ! grep -E '^(device_bytes|pinned_bytes|streams) [^0]' "$GC_DOUBLE_REPORT"
    done
    [ "$tried" -ge 5 ]
}

# ---- The kernel that compresses ------------------------------------------------------------------

@test "compression by a kernel: blocks are those of the CPU's encoder" {
    prints 0 '* blocks, 0 failed' "$TESTS/double/double_encode" --quick "$RANDOM"
}

@test "compression by a kernel: whatever call fails, blocks are right or there are none" {
    export GC_DOUBLE_REPORT=$BATS_TEST_TMPDIR/report
    local call
    for call in 1 2 3 4 5 6 7 8; do
        GC_DOUBLE_FAIL=$call expect 0 "$TESTS/double/double_encode" --failing
        ! grep -E '^device_bytes [^0]' "$GC_DOUBLE_REPORT"
    done
}

@test "a device is measured at its first use, and the figures are kept" {
    make_image pgm in.pgm 30 20 noise
    on_cpu expected.pgm filter -k box3 in.pgm
    silently gconv filter -k box3 in.pgm known.pgm
    local copies
    copies=$(calls cudaMemcpyAsync)
    rm -r "$GC_DOUBLE_LOG" "$XDG_CACHE_HOME"
    reckons 'the figures of an NVIDIA H200, until the first use'
    silently gconv filter -k box3 -j 1 -o out in.pgm expected.pgm
    cmp out/in.pgm expected.pgm
    [ "$(calls cudaMemcpyAsync)" -gt $((2 * copies)) ]
    reckons 'what was measured here at the first use'
    GC_DOUBLE_LOG=/dev/null expect 0 gconv info --json
    like "$(key devices)" '*"measured": true*'
    rm "$GC_DOUBLE_LOG"
    silently gconv filter -k box3 in.pgm again.pgm
    same "$(calls cudaMemcpyAsync)" "$copies"
}

@test "figures that are damaged, or that could not be measured, are measured the next time" {
    make_image pgm in.pgm 30 20 noise
    on_cpu expected.pgm filter -k box3 in.pgm
    local file
    for file in "$XDG_CACHE_HOME"/gconv/costs-*; do
        printf damaged | dd of="$file" bs=1 seek=8 conv=notrunc status=none
    done
    reckons 'the figures of an NVIDIA H200, until the first use'
    GC_DOUBLE_MEMORY=200000 silently gconv filter -k box3 in.pgm out.pgm
    cmp out.pgm expected.pgm
    reckons 'the figures of an NVIDIA H200, until the first use'
    GC_DOUBLE_FAIL=$(first cudaHostRegister):once:2 silently gconv filter -k box3 in.pgm again.pgm
    cmp again.pgm expected.pgm
    reckons 'the figures of an NVIDIA H200, until the first use'
    silently gconv filter -k box3 in.pgm last.pgm
    reckons 'what was measured here at the first use'
}
