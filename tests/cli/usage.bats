#!/usr/bin/env bats
# The grammar of the command line: commands, options, values, help.

load common

setup_input() {
    make_image png:grey in.png 4 3 noise
}

# ---- Commands

@test "gconv alone prints its usage on stderr" {
    prints 2 '' gconv
    like "$err" 'usage:*gconv edges [[]options] [[]IN OUT]*gconv help*'
}

@test "--version and -V tell the program and the machine, whatever else stands there" {
    for arguments in --version -V '--version edges a b' 'edges --version' '-V nonsense'; do
        # shellcheck disable=SC2086
        expect 0 gconv $arguments
        like "$out" 'gconv [0-9]*.[0-9]*.[0-9]
build: *, *
instructions: * (usable here: *portable)
system: [A-Z]*'
        same "$(wc -l <"$BATS_TEST_TMPDIR/out" | tr -d ' ')" 4
        same "$err" ''
    done
}

@test "help goes to stdout and names every command" {
    for arguments in help --help -h; do
        tells 0 '' gconv $arguments
        for command in edges sketch thin filter check compare bench tune kernel info help; do
            like "$out" "*
  $command *"
        done
    done
}

@test "help of a command in all three spellings" {
    for command in edges sketch thin filter check compare bench tune kernel info help; do
        expect 0 gconv help $command
        first=$out
        like "$first" "gconv $command*Options:*"
        same "$err" ''
        expect 0 gconv $command --help
        same "$out" "$first"
        expect 0 gconv --help $command
        same "$out" "$first"
    done
}

@test "help wins over missing operands" {
    prints 0 'gconv filter *' gconv filter -h
}

# meaning COMMAND OPTION: its help, on one line.
meaning() {
    gconv help "$1" | sed -n "/ --$2 /,/^  [ -][^ ]* .*--\|^\$/p" | sed '1!{/ --/d}' | tr -s ' \n' ' '
}

@test "help says of an option what it means in the command" {
    for command in edges sketch thin filter; do
        like "$(meaning $command impl)" '*: auto (default) or a name that gconv info lists '
    done
    like "$(meaning compare impl)" '*with commas, or all (default) '
    like "$(meaning bench impl)" '*auto (default), with commas, or all '
    like "$(meaning tune impl)" '*direct, separable (default: both) or adaptive:unrolled*'
    like "$(meaning tune device)" '*cuda, the first*'
    like "$(meaning compare time)" '*each implementation*default 1*'
    like "$(meaning bench time)" '*default 20*'
    like "$(meaning edges strip)" '*resolution*'
    like "$(meaning kernel kernel)" '*operands*default: the chain of edges*'
}

@test "unknown commands get a suggestion where one is near" {
    complains 2 "unknown command 'edgs'; did you mean 'edges'[?]" gconv edgs a b
    complains 2 "unknown command 'edgs'; did you mean 'edges'[?]" gconv help edgs
    complains 2 "unknown command 'frobnicate'; see gconv help" gconv frobnicate
    complains 2 "unknown command ''; see gconv help" gconv ''
}

@test "a forgotten command: the message names the one that takes the options" {
    before="no command before 'in.png'; did you mean"
    complains 2 "$before 'gconv edges', 'gconv sketch', or 'gconv filter' with --kernel[?]" gconv --impl naive in.png out.png
    complains 2 "$before 'gconv edges'[?]" gconv -t 3 in.png out.png
    complains 2 "$before 'gconv filter'[?]" gconv -k box3 in.png -o out
    complains 2 "$before 'gconv filter'[?]" gconv in.png out.png --abs
    complains 2 "unknown command 'in.png'; *" gconv -k box3 -t 3 in.png out.png # no command takes both
    complains 2 "no command before '-'; did you mean 'gconv edges', *" gconv - -
    complains 2 "$before 'gconv compare'[?]" gconv --time 1 in.png
    complains 2 "no command before 'sobel-x'; did you mean 'gconv kernel'[?]" gconv --response r.png sobel-x
    complains 2 "no command before 'gauss5'; did you mean 'gconv kernel'[?]" gconv gauss5 --write f.txt
    complains 2 "no command before 'journal'; did you mean 'gconv check'[?]" gconv --images 3 journal
    touch photo
    complains 2 "no command before 'photo'; *" gconv photo out.png
}

@test "a file whose name is read as options" {
    touch -- -dash.jpg -overlay.png -zz --zz.png
    for name in -dash.jpg -overlay.png -zz --zz.png; do
        complains 2 "'$name' is a file, and is read as options; write './$name', or '--' before the names" \
            gconv edges -o out $name
        expect 1 gconv edges -o out -- $name
        expect 1 gconv edges -o out ./$name
    done
    complains 2 "unknown option '-z'; *" gconv edges -z
    touch -- -v # what can be read as options, and is no image, is an option
    complains 2 "no input is named" gconv edges -o out -v
}

@test "operands that a command does not take" {
    complains 2 "'x' is one operand too many: gconv info *" gconv info tiled x
    complains 2 "'x' is one operand too many: gconv bench *" gconv bench x
    complains 2 "'x' is one operand too many: gconv tune *" gconv tune x
    complains 2 "'b' is one operand too many: gconv compare *" gconv compare a b
    complains 2 "'b' is one operand too many: gconv help *" gconv help edges b
    complains 2 "'gconv compare' needs an operand: *" gconv compare
    complains 2 "one operand alone; *IN and OUT*-o DIR*" gconv edges a.png
    complains 2 "3 operands; several inputs need -o DIR" gconv edges a b c.png
    complains 2 "the name of a file is empty" gconv edges '' a.png
    complains 2 "no input is named" gconv edges -o out
    complains 2 "--recursive needs -o DIR or --in-place" gconv edges -r a.png b.png
    complains 2 "which filter[?] give --kernel *" gconv filter a.png b.png
    holds
}

# ---- Options

@test "options before, between and after command and operands" {
    setup_input
    gconv edges in.png wanted.png --threshold 40
    gives out.png wanted.png gconv --threshold 40 edges in.png out.png
    gives out.png wanted.png gconv edges --threshold=40 in.png out.png
    gives out.png wanted.png gconv edges in.png --threshold 40 out.png
    gives out.png wanted.png gconv -t 40 edges in.png out.png
    gives out.png wanted.png gconv edges -t40 in.png out.png
    gives out.png wanted.png gconv edges in.png out.png --threshold 3 --threshold 40
    gives out.png wanted.png gconv edges in.png out.png --thresh 40
    gives out.png wanted.png env POSIXLY_CORRECT=1 "$GCONV" edges in.png out.png --threshold 40
}

@test "-- ends the options" {
    setup_input
    cp in.png ./-in.png
    silently gconv edges -- -in.png --out.png
    [ -s ./--out.png ]
    silently gconv -- edges in.png out.png
    [ -s out.png ]
    complains 2 '3 operands; *' gconv edges in.png out.png -- --invert
}

@test "unknown, ambiguous and incomplete options" {
    complains 2 "unknown option '--treshold'; did you mean '--threshold'[?]" gconv edges --treshold 5 a b
    complains 2 "unknown option '--nothing-like-it'; see gconv help" gconv --nothing-like-it=3 edges
    complains 2 "unknown option '--canny'; did you mean '--method canny'[?]" gconv edges --canny a b
    complains 2 "unknown option '--style'; did you mean '--lines'[?]" gconv sketch --style=1 a b
    complains 2 "unknown option '--gpu'; did you mean '--device cuda'[?]" gconv edges --gpu a b
    complains 2 "option '--thr' is ambiguous: --threshold, --threads" gconv edges --thr 5 a b
    complains 2 "unknown option '-x'; see gconv help" gconv edges --invert -x a b
    complains 2 "unknown option '-x'; see gconv help" gconv edges --invert -xn a b
    complains 2 "unknown option '-x'; see gconv help" gconv edges -nx a b
    complains 2 "option '--invert' takes no value" gconv edges --invert=1 a b
    complains 2 "option '--threshold' needs a value (T)" gconv edges a b --threshold
    complains 2 "option '--output' needs a value (DIR)" gconv edges a b -o
}

@test "options that do not belong to a command" {
    complains 2 "option '--kernel' does not belong to 'gconv edges'" gconv edges -k box3 a.png b.png
    complains 2 "option '--threshold' does not belong to 'gconv filter'" gconv filter -t 5 a.png b.png
    complains 2 "option '--threshold' does not belong to 'gconv info'" gconv info --threshold 5
    complains 2 "option '--output' does not belong to 'gconv compare'" gconv compare -o d a.png
    complains 2 "option '--verify' does not belong to 'gconv bench'" gconv bench --verify
    complains 2 "option '--json' does not belong to 'gconv help'" gconv help --json
    complains 2 "option '--time' does not belong to 'gconv edges'" gconv edges --time 1 a.png b.png
}

# refused COMMAND OPTION LEGAL VALUE...: fails unless each value is refused with exit status 2 and a message
# that names the option, the value and the legal values.
refused() {
    local command=$1 option=$2 legal=$3
    shift 3
    for value in "$@"; do
        complains 2 "option '--$option': *'$value'*$legal*" gconv $command "--$option=$value" a.png b.png
        complains 2 "option '--$option': *'$value'*$legal*" gconv $command "--$option" "$value" a.png b.png
    done
}

@test "illegal numbers" {
    refused edges threshold 'finite number' '' x 5x '5 ' 1,5 nan inf -inf 1e999 0x
    refused edges threshold 'at least 0' -1
    refused filter scale 'finite number' '' x nan inf 1e400 2s
    refused filter offset 'finite number' '' x nan 1e400 --3
    refused edges quality '1 to 100' '' 0 101 -1 90.5 x 1e1 99999999999999999999
    refused edges compression '0 to 9' '' 10 -1 fast
    refused edges threads '1 to 1024' '' 0 -1 1025 two 2x
    refused edges tile '1 to 64' '' 0 65 x
    refused bench shared-memory '1024 to 1073741824' '' 0 1023 1073741825 48K
    refused edges max-pixels 'whole number of at least 1' '' 0 -1 1.5 1e9 99999999999999999999
    refused edges depth '1, 8, 16 or 32' '' 0 2 4 64 8x
    complains 2 "option '--depth': '12' is not 1, 8, 16 or 32" gconv edges --depth 12 a.png b.png
    refused edges block 'WxH*1024' '' 32 32x 0x4 x8 32x8x1 32X8
    refused edges block 'too large: 2048 threads' 32x64 2048x1
    refused edges block 'too large: 1025 threads' 41x25 1025x1
    refused bench time 'above 0 and at most 86400' 0 -1 86401
    holds
}

@test "--tile, --block and --shared-memory are refused where nothing that is named takes them" {
    complains 2 "option '--tile': 'cpu' takes no tiling factor; 'tiled' does" \
        gconv edges --impl cpu --tile 3 a.png b.png
    complains 2 "option '--tile': 'adaptive:nc' takes no tiling factor; 'tiled' does" \
        gconv edges --impl adaptive:nc --tile 3 a.png b.png
    complains 2 "option '--block': 'cpu,direct' takes no thread block" \
        gconv compare --impl cpu,direct --block 8x8 a.png
    complains 2 "option '--shared-memory': 'tiled,cpu' has no rule that follows it; 'adaptive' does" \
        gconv bench --impl tiled,cpu --shared-memory 49152
    holds
}

@test "illegal words, with suggestions" {
    refused edges border 'mirror, mirror101, replicate, wrap, constant?:V? or zero' '' black MIRROR
    complains 2 "option '--border': unknown border 'miror'; did you mean 'mirror'[?] *" \
        gconv edges --border miror a.png b.png
    complains 2 "option '--border': 'x' is not a finite number *" \
        gconv edges --border constant:x a.png b.png
    refused edges rule 'abs, positive or negative' '' both
    complains 2 "*; did you mean 'positive'[?]" gconv edges --rule positve a.png b.png
    refused filter alpha 'auto, keep, filter or premultiply' '' none
    refused edges format 'png, jpeg, pnm, pgm, *' '' gif psd
    refused edges progress 'auto, always or never' '' sometimes
    refused edges decoder 'auto, cpu or cuda' '' gpu none hardware
    complains 2 "*; did you mean 'cuda'[?]" gconv edges --decoder gpu a.png b.png
    complains 2 "*; did you mean 'cpu'[?]" gconv edges --decoder cpi a.png b.png
    refused edges device 'auto, cpu, cuda, cuda:N, cuda:N,N or cuda:all' '' gpu cuda: cuda:x cuda:-1 CPU
    refused edges device 'N up to 1023' cuda:1024 cuda:0,1024
    complains 2 "option '--device': 'cuda:0,*' names more than 64 devices" \
        gconv edges -d "cuda:$(seq -s , 0 64)" a.png b.png
    for text in gpu cuda:0, cuda:1024 cuda:1,1 "cuda:$(seq -s , 0 64)"; do
        for command in 'compare a.png' bench; do
            # shellcheck disable=SC2086
            complains 2 "option '--device': '*' is not auto, cpu, cuda or cuda:N, with N up to 1023" \
                gconv $command -d "$text"
        done
        complains 2 "option '--device': '*' is not auto, cuda or cuda:N, with N up to 1023" gconv tune -d "$text"
    done
    complains 2 "option '--device': 'cuda:1,1' names device 1 twice" gconv edges -d cuda:1,1 a.png b.png
    for command in 'compare a.png' bench tune; do
        for list in cuda:0,1 cuda:all; do
            # shellcheck disable=SC2086
            complains 2 "option '--device': '$list' names several; 'gconv ${command%% *}' measures on one" \
                gconv $command -d $list
        done
    done
    refused edges impl 'auto, reference, *cpu, *' '' gpu CPU
    for list in cpu, ,cpu cpu,,auto; do # the name that is none is the empty one
        complains 2 "option '--impl': '' is not auto, reference, *cpu, *" gconv compare -i $list a.png
    done
    complains 2 "*; did you mean 'cpu:taps'[?]" gconv edges --impl taps a.png b.png
    complains 2 "*; did you mean 'const:kth'[?]" gconv bench --impl cpu,kth
    complains 2 "*; did you mean 'reference'[?]" gconv edges --impl refrence a.png b.png
    complains 2 "option '--impl': 'all' names several; *compare and bench" gconv edges -i all a.png b.png
    complains 2 "option '--impl': 'cpu,reference' names several; *" gconv edges -i cpu,reference a.png b.png
    complains 2 "option '--output': the directory's name is empty" gconv edges -o '' a.png
    complains 2 "option '--kernel': the name of the filter is empty" gconv filter -k '' a.png b.png
    holds
}

@test "a value is checked even where its option does not matter" {
    setup_input
    complains 2 "option '--quality': '0' is not *" gconv edges --quality 0 in.png out.png
    holds in.png
}

# ---- Environment

@test "environment variables with values that are none" {
    setup_input
    for value in axv2 AVX2 'avx2 ' none; do
        complains 2 "GCONV_INSTRUCTIONS: '$value' is not one of: *portable; this processor has: *portable" \
            env GCONV_INSTRUCTIONS="$value" "$GCONV" edges in.png out.png
    done
    complains 2 "GCONV_INSTRUCTIONS: 'none' *" env GCONV_INSTRUCTIONS=none "$GCONV" info
    for value in 1G 0 -1 x 1.5; do
        complains 2 "GCONV_CUDA_MEMORY: '$value' is not a whole number of bytes, at least 1" \
            env GCONV_CUDA_MEMORY=$value "$GCONV" edges in.png out.png
    done
    holds in.png
    silently env GCONV_INSTRUCTIONS= GCONV_CUDA_MEMORY= "$GCONV" edges in.png out.png
    expect 0 env GCONV_INSTRUCTIONS=none "$GCONV" help
}

@test "instructions are those that are asked for, or an error" {
    setup_input
    expect 2 env GCONV_INSTRUCTIONS=none "$GCONV" edges in.png out.png
    known=${err#*is not one of: }
    usable=", ${known#*this processor has: },"
    known=${known%%;*}
    for name in $(echo "$known" | tr -d ,); do
        case $usable in
        *", $name,"*)
            expect 0 env GCONV_INSTRUCTIONS=$name "$GCONV" edges --explain --impl cpu in.png out.png
            like "$err" "*, $name
promise: exact
decoder: libpng*"
            ;;
        *)
            complains 2 "GCONV_INSTRUCTIONS: this processor lacks '$name'; it has: *" \
                env GCONV_INSTRUCTIONS=$name "$GCONV" edges in.png out.png
            ;;
        esac
    done
}

# ---- info

@test "info in text" {
    tells 0 '' gconv info
    for part in 'gconv [0-9]*' '*
build: *' '*
built-in filters:
*
  gauss5 *
  identity *
  laplace3 *
generated filters:
*
formats:
  png * read and written
*
devices:
  cpu *
implementations:
  reference *
  cpu *'; do
        like "$out" "$part"
    done
}

@test "info collects implementations that lack CUDA; -v describes each; columns are straight" {
    if has_gpu; then skip "there is a GPU"; fi
    expect 0 gconv info
    same "$(printf '%s\n' "$out" | grep 'not usable here: ' | grep -vc 'is not part of this build')" 0
    names=$(printf '%s\n' "$out" | sed -n '/^  not usable here, see cuda above (-v describes them):/,$p')
    like "$names" '*:
    *naive, naive:const, *, twopass:transposed, * fft*'
    [ "$(printf '%s\n' "$names" | wc -L)" -le 80 ]
    described=$(gconv info -v | sed -n '/^implementations:/,$p')
    like "$described" '*
  adaptive:unrolled:nc adaptive:unrolled, pixels *
                         refuses: *
                         not usable here: see cuda above
*'
    same "$(printf '%s\n' "$names" | tail -n +2 | tr ',' '\n' | tr -d ' ' | grep .)" \
        "$(printf '%s\n' "$described" | sed -n 's/^  \([^ ]\{1,\}\) .*/\1/p' | grep -vxF "$(names_of cpu)")"
    # Every summary begins in the same column.
    same "$(printf '%s\n' "$described" | grep -c '^  [^ ]')" \
        "$(printf '%s\n' "$described" | grep -c '^  [^ ][^ ]* *[^ ]')"
    same "$(printf '%s\n' "$described" | grep '^  [^ ]' | cut -c 23 | tr -d ' \n')" ''
}

@test "info begins with what --version prints, and the versions of libraries" {
    expect 0 gconv --version
    version=$out
    prints 0 "$version
libraries: libpng [0-9]*, zlib [0-9]*, libjpeg* [0-9]*" gconv info
    same "$(printf '%s\n' "$out" | sed -n 6p)" ''
}

@test "info shows the generators with their arguments, and they can be used so" {
    make_image png:grey in.png 9 9 noise
    expect 0 gconv info
    listed=$(printf '%s\n' "$out" | sed -n '/^generated filters:/,/^$/s/^  \([a-z]*:.*\)  [^ ].*/\1/p')
    same "$(printf '%s\n' "$listed" | cut -d: -f 1 | paste -sd ' ' -)" 'box gaussian log'
    for kernel in $(printf '%s\n' "$listed" | sed 's/ or /\n/; s/SIGMA/1.5/g; s/\[,SIZE\]/,5/; s/[NWH]/3/g'); do
        silently gconv filter -k "$kernel" in.png out.pfm
    done
    expect 0 gconv info --json
    same "$(key usage | wc -l | tr -d ' ')" 3
}

@test "info lists the formats: those that tests make are read and written" {
    expect 0 gconv info
    listed=$(printf '%s\n' "$out" | sed -n '/^formats:/,/^$/s/^  \([a-z0-9]*\) .* \(.*\)/\1 \2/p')
    for name in png jpeg pgm ppm pfm pbm pam npy bmp y4m; do
        like "
$listed
" "*
$name written
*"
    done
    expect 0 gconv info --json
    objects=$(printf '%s\n' "$out" | grep -o '"formats": .*' | grep -o '"name": "[^"]*", "reads": [a-z]*, "writes": [a-z]*')
    same "$(printf '%s\n' "$objects" | cut -d '"' -f 4)" "$(printf '%s\n' "$listed" | cut -d ' ' -f 1)"
}

@test "info --json is one valid object with a schema" {
    tells 0 '' gconv info --json
    is_json
    same "$(key schema)" 1
    like "$(key name)" '*reference*cpu*gauss5*'
}

@test "info lists every filter of filters/ with a summary" {
    expect 0 gconv info
    for file in "$SOURCE"/filters/*.txt; do
        name=$(basename "$file" .txt)
        like "$out" "*
  $name *[a-z]*"
    done
}
