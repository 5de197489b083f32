#!/usr/bin/env bats
# Large batches: lists of names, names of outputs, what is done and what is left, parts.

load common

setup_photos() {
    mkdir -p a/b c
    make_image png:grey a/b/x.png 9 7 noise
    make_image jpeg:ycc a/b/x.jpg 9 7 noise
    make_image pgm c/y.pgm 9 7 noise
}

# ---- Names of outputs

@test "--parents keeps the paths of inputs apart, inside the directory" {
    setup_photos
    cp a/b/x.png c/x.png
    complains 2 "'a/b/x.png' and 'c/x.png' would both be written to 'out/x.png'; --parents keeps *" \
        gconv edges -o out a/b/x.png c/x.png
    silently gconv edges --parents -o out a/b/x.png ./c//x.png
    (cd out && holds a a/b a/b/x.png c c/x.png)
    rm -r out
    mkdir deep
    cd deep
    silently gconv edges --parents -r -o ../out ../a/../c "$WORK/a/b/x.png"
    cd ../out
    holds c c/x.png c/y.png "$(cut -c 2- <<<"$WORK" | awk -F / '{ p = $1; print p; for (i = 2; i <= NF; i++) { p = p "/" $i; print p } }' | paste -sd ' ')" \
        "$(cut -c 2- <<<"$WORK")/a" "$(cut -c 2- <<<"$WORK")/a/b" "$(cut -c 2- <<<"$WORK")/a/b/x.png"
}

@test "--name makes names of a template" {
    setup_photos
    complains 2 "'a/b/x.jpg' and 'a/b/x.png' would both be written to 'out/b/x.png'; --name '{dir}/{name}.{ext}' keeps *" \
        gconv edges -r -o out a
    silently gconv edges -r --name '{dir}/{name}.{ext}' -o out a
    (cd out && holds b b/x.jpg.png b/x.png.png)
    rm -r out
    silently gconv filter -k identity --parents --name '{dir}/s-{stem}.{ext}' -o out c a/b/x.jpg
    (cd out && holds a a/b a/b/s-x.jpg c c/s-y.pgm)
    rm -r out
    silently gconv edges --name '{{{stem}}}/./{name}.jpg' -o out a/b/x.png # the template names the format
    like "$(dump 'out/{x}/x.png.jpg')" 'jpeg *'
    rm -r out
    cp c/y.pgm ...pgm
    silently gconv edges --name '{stem}/{name}' -o out ...pgm # a part that is '..' leads nowhere
    holds ...pgm a a/b a/b/x.jpg a/b/x.png c c/y.pgm out out/...pgm
    complains 2 "'a/b/x.jpg' and 'a/b/x.png' would both be written to 'out/x.png'; --name has to *" \
        gconv edges --name '{stem}.{ext}' -o out a/b
}

@test "templates and combinations that cannot be" {
    setup_photos
    complains 2 "option '--name': '{dir}/{ext}' needs {stem} or {name}, *" gconv edges -o out --name '{dir}/{ext}' c
    for word in '{x}' '{stem' '{stem}}' '{'; do
        complains 2 "option '--name': '{stem}$word': * is not {dir}, {stem}, {name} or {ext}; *" \
            gconv edges -o out --name "{stem}$word" c
    done
    for word in '{foo}.{ext} {foo}' '{foo{ext}} {' '{foo {' 'x}y.{ext} }'; do
        complains 2 "option '--name': '${word% *}': '${word#* }' is not {dir}, {stem}, {name} or {ext}; *" \
            gconv edges -o out --name "${word% *}" c
    done
    complains 2 "option '--name': '../{stem}' leads upwards; *" gconv edges -o out --name '../{stem}' c
    complains 2 "option '--name': '{stem}/' ends in a slash; *" gconv edges -o out --name '{stem}/' c
    complains 2 "option '--name': '/tmp/{stem}' begins with a slash; *" gconv edges -o out --name '/tmp/{stem}' c
    complains 2 "--format contradicts the extension of --name '{stem}.jpg'; *" \
        gconv edges -o out -f png --name '{stem}.jpg' c
    for option in parents name={stem} files-from=list files0-from=list shard=1/2 update dry-run on-error=stop; do
        complains 2 "--${option%%=*} needs -o DIR or --in-place" gconv edges "--$option" c/y.pgm out.png
    done
    for option in parents name={stem}; do
        complains 2 "--in-place keeps the name of every image; --${option%%=*} needs -o DIR" \
            gconv edges "--$option" --in-place c
    done
    complains 2 "option '--files0-from': --files-from and --files0-from name one list; give one" \
        gconv edges --files-from list --files0-from list -o out
    complains 2 "option '--files-from': --files-from and *" gconv edges --files0-from list --files-from list -o out
    complains 2 '--update replaces * --no-clobber * give one' gconv edges --update -n -o out c
    complains 2 '--update compares *' gconv edges --update --in-place c
    [ ! -e out ]
}

# ---- Lists

@test "--files-from takes names from a file or a pipe, behind the operands" {
    setup_photos
    printf '\na/b/x.png\n\nc' >list
    silently gconv edges --files-from list -o out
    (cd out && holds x.png y.png)
    rm -r out
    printf 'a/b/x.jpg\0c/y.pgm\0' >list0
    json 0 gconv edges --json --files0-from list0 -o out a/b/x.png --name '{name}.{ext}'
    same "$(key input | paste -sd ' ')" 'a/b/x.png a/b/x.jpg c/y.pgm'
    find a -type f -print0 | gconv edges --files0-from - --name '{name}' -o piped
    (cd piped && holds x.jpg x.png)
    cp -r a kept
    gconv filter -k box3 --in-place kept/b
    printf 'a/b/x.jpg\na/b/x.png\n' | gconv filter -k box3 --in-place --files-from -
    diff -r kept a
}

@test "empty names are passed over wherever they are" {
    setup_photos
    for list in 'c/y.pgm\n\n' '\n\nc/y.pgm\n\n\n' 'c/y.pgm\n\nc/../a/b/x.png' '\n' '\n\n\n'; do
        rm -rf out
        # shellcheck disable=SC2059
        printf "$list" >list
        silently gconv edges --files-from list -o out
        # shellcheck disable=SC2059
        printf "$list" | tr '\n' '\0' >list0
        silently gconv edges --files0-from list0 -o out --name '{stem}0.{ext}'
        case $list in
        *y*x*) (cd out && holds x.png x0.png y.png y0.png) ;;
        *y*) (cd out && holds y.png y0.png) ;;
        *) [ ! -e out ] ;;
        esac
    done
    printf '\0\0' >list0
    silently gconv edges --files0-from list0 -o out
    { printf 'c/y.pgm\n\n' && head -c 70000 /dev/zero | tr '\0' x; } >list
    expect 1 gconv edges --files-from list -o out
    same "$err" 'gconv: list: a name in the list of files exceeds 65535 bytes
gconv: 1 of 1 images done, 0 failed, 0 skipped; what else the list names is not known'
}

@test "names of a list may hold any bytes" {
    mkdir in
    for name in ' a b' '-n' "$(printf 'new\nline')" "$(printf 'no\351utf')" '*' '~'; do
        make_image pgm "in/$name.pgm" 3 3 noise
    done
    (cd in && find . -type f -printf '%P\0') >list0
    cd in
    silently gconv edges --files0-from ../list0 -o ../out
    same "$(find ../out -type f -printf x)" xxxxxx
    [ -e "../out/$(printf 'no\351utf').png" ]
    [ -e "../out/$(printf 'new\nline').png" ]
    [ -e ../out/-n.png ]
}

@test "work starts before a list has ended" {
    setup_photos
    mkfifo names
    gconv edges --files-from names -o out &
    pid=$!
    exec 9>names
    echo c/y.pgm >&9
    for i in $(seq 500); do [ -e out/y.png ] && break || sleep 0.01; done
    [ -e out/y.png ]
    echo a/b/x.png >&9
    exec 9>&-
    wait $pid
    (cd out && holds x.png y.png)
}

@test "what is wrong with a name is a failure of this image" {
    setup_photos
    head -c 70000 /dev/zero | tr '\0' x >long
    printf 'c/y.pgm\n-\nnone.png\n' | cat - long >list
    expect 1 gconv edges --files-from list -o out
    like "$err" 'gconv: standard input: standard input has no name *
gconv: none.png: cannot open: No such file or directory
gconv: list: a name in the list of files exceeds 65535 bytes
gconv: 1 of 3 images done, 2 failed, 0 skipped; what else the list names is not known'
    printf 'c/y.pgm\0a\n' >list
    expect 1 gconv edges --files-from list -o out
    like "$err" 'gconv: c/y.pgm: a NUL byte in a line of the list of files; --files0-from *'
    complains 1 'none: cannot open the list of files: *' gconv edges --files-from none -o out
    expect 1 gconv edges --files-from . -o out
    same "$err" 'gconv: .: cannot read the list of files: Is a directory
gconv: 0 of 0 images done, 0 failed, 0 skipped; what else the list names is not known'
    for part in 1/2 2/2; do # a list is in all parts
        expect 1 gconv edges --json --shard $part --files-from . -o out c/y.pgm
        like "$err" 'gconv: .: cannot read the list of files: Is a directory
gconv: ? of ? images done, 0 failed, 0 skipped; *'
        same "$(key status | grep -v done)" ''
    done
    silently gconv edges --files-from /dev/null -o out
}

@test "a list of lines that end in a carriage return: one hint" {
    setup_photos
    printf 'c/y.pgm\r\na/b/x.png\r\n' >list
    expect 1 gconv edges --files-from list -o out
    same "$err" 'gconv: c/y.pgm\r: cannot open: No such file or directory
gconv: a/b/x.png\r: cannot open: No such file or directory
gconv: list: its lines end in a carriage return and a newline; tr -d '"'\\r'"' makes names of them
gconv: 0 of 2 images done, 2 failed, 0 skipped'
    tr -d '\r' <list | silently gconv edges --files-from - -o out
    cp c/y.pgm "$(printf 'y.pgm\r')" # a name may end so
    printf 'y.pgm\r\n' >list
    silently gconv edges --files-from list --name 'r.{ext}{stem}.png' -o out
}

@test "the second name of an output fails, and so does an output that is an input" {
    setup_photos
    mkdir links
    ln -s ../c links/c
    printf '%s\n' c/y.pgm ./c/y.pgm links/c/y.pgm a/b/x.png >list
    expect 1 gconv edges --files-from list -o out a/b/x.jpg
    like "$err" "gconv: 3 collisions: 'a/b/x.jpg' and 'x.png' beside it would both be written to 'out/x.png'; --name *; 'c/y.pgm' and './c/y.pgm' are the same file, named twice
gconv: 2 of 5 images done, 3 failed, 0 skipped"
    rm -r out
    echo a/b >list # a directory: x.jpg and x.png
    expect 1 gconv edges --files-from list -o out
    like "$err" "gconv: 'a/b/x.jpg' and 'a/b/x.png' would both be written to 'out/x.png'; --name *
gconv: 1 of 2 images done, 1 failed, 0 skipped"
    rm -r out
    ln -s c out # made by others, and full of inputs
    cp c/y.pgm z.pgm
    printf '%s\n' c/y.pgm z.pgm out/z.pgm >list
    expect 1 gconv filter -k box3 --files-from list -o out
    like "$err" "gconv: 2 collisions: the output 'out/y.pgm' would replace its input 'c/y.pgm'; *--in-place; 'z.pgm' and 'out/z.pgm' would both be written to *
gconv: 1 of 3 images done, 2 failed, 0 skipped"
    printf '%s\n' c/y.pgm q/y.pgm >list
    mkdir q
    cp c/y.pgm q
    expect 1 gconv filter -k box3 --parents --files-from list -o q/..
    like "$err" "gconv: 2 collisions: the output 'q/../c/y.pgm' would replace its input 'c/y.pgm'; *"
    printf '%s\n' c/y.pgm c/y.pgm >list
    expect 1 gconv filter -k box3 --in-place --files-from list
    like "$err" "gconv: 'c/y.pgm' is named twice
*"
}

@test "a link that leads to nothing yet counts as the file that it leads to" {
    setup_photos
    mkdir one deep links
    ln -s ../deep/result.png one/a.png
    ln -s a.png one/b.png
    ln -s "$PWD/links/../deep/result.png" one/c.png
    ln -s other.png one/d.png
    for name in a b c d; do cp a/b/x.png $name.png; done
    printf '%s\n' a.png b.png c.png d.png >list
    expect 1 gconv edges --files-from list -o one
    like "$err" "gconv: 2 collisions: 'a.png' and 'b.png' would both be written to 'one/b.png'; 'a.png' and 'c.png' would both be written to 'one/c.png'; *
gconv: 2 of 4 images done, 2 failed, 0 skipped"
    [ -f deep/result.png ]
    [ -f one/other.png ]
}

@test "an output that is an earlier input, or an input that is an earlier output, fails" {
    mkdir out
    make_image pgm x.pgm 9 7 noise
    make_image pgm out/x.pgm 9 7 3
    cp out/x.pgm kept.pgm
    printf '%s\n' out/x.pgm x.pgm >list
    expect 1 gconv filter -k box3 --parents --files-from list -o out
    same "$err" "gconv: the output of 'x.pgm' would replace another input, 'out/x.pgm'
gconv: 1 of 2 images done, 1 failed, 0 skipped"
    cmp out/x.pgm kept.pgm
    [ -e out/out/x.pgm ]
    printf '%s\n' x.pgm out/x.pgm >list
    rm -r out
    expect 1 gconv filter -k box3 --parents --files-from list -o out
    same "$err" "gconv: the output of 'x.pgm' would replace another input, 'out/x.pgm'
gconv: 1 of 2 images done, 1 failed, 0 skipped"
    mkdir new
    (cd new && ln -s .. up && echo up/x.pgm | expect 1 gconv filter -k box3 --files-from - -o ..)
}

# ---- What is done

@test "--update skips what is not older than its input" {
    setup_photos
    touch -d 2020-01-01 c/y.pgm
    silently gconv edges --update -o out c
    expect 0 gconv edges --update -v -o out c
    like "$err" 'gconv: out/y.png: up to date; skipped
gconv: 0 of 1 images done, 0 failed, 1 skipped'
    make_image pgm c/y.pgm 5 4 noise
    touch -d 2020-01-02 out/y.png
    makes out/y.png 'png grey 1 5x4*' gconv edges --update -o out c
    rm out/y.png
    mkdir out/y.png # newer than the input, and no result
    expect 1 gconv edges --update -o out c
    like "$err" 'gconv: out/y.png: cannot create: Is a directory
gconv: 0 of 1 images done, 1 failed, 0 skipped'
}

@test "--dry-run prints what would be done, and does nothing" {
    setup_photos
    mkdir out
    gconv edges -o out c
    cp out/y.png kept.png
    expect 1 gconv edges --dry-run -n -r --name '{stem}.{ext}' -o out c a/b/x.png none.jpg
    same "$out" 'c/y.pgm -> out/y.png (skipped)
a/b/x.png -> out/x.png
none.jpg -> out/none.png (fails)'
    same "$err" 'gconv: none.jpg: cannot open: No such file or directory
gconv: 1 of 3 images to do, 1 failed, 1 skipped'
    json 0 gconv edges --dry-run --json -o new/deep c
    same "$(key status)" planned
    (cd out && holds y.png)
    [ ! -e new ]
    cmp out/y.png kept.png
    # Each line can be read in one way only.
    make_image pgm 'a\nb -> c (fails).pgm' 3 3 noise
    make_image pgm "$(printf 'a\nb.pgm')" 3 3 noise
    expect 0 gconv edges --dry-run --name '{stem} (skipped)' -o 'new \' a*.pgm
    same "$out" 'a\nb.pgm -> new \\/a\nb\x20(skipped)
a\\nb\x20-> c\x20(fails).pgm -> new \\/a\\nb\x20-> c\x20(fails)\x20(skipped)'
    make_image pgm 'c ->' 3 3 noise
    expect 0 gconv edges --dry-run --name '{name}.pgm' -o new 'c ->'
    same "$out" 'c\x20-> -> new/c\x20->.pgm'
}

@test "--on-error stop begins no image after a failure" {
    setup_photos
    expect 1 gconv edges --on-error stop -j 1 -o out c/y.pgm none.png a/b/x.png
    same "$err" 'gconv: none.png: cannot open: No such file or directory
gconv: 1 of 3 images done, 1 failed, 0 skipped, 1 not begun'
    (cd out && holds y.png)
    (echo none.png; yes c/y.pgm) | expect 1 timeout 20 "$GCONV" edges --on-error stop --files-from - -o out
    expect 1 gconv edges --on-error continue -j 1 -o out none.png a/b/x.png
    (cd out && holds x.png y.png)
    complains 2 "option '--on-error': 'never' is not continue or stop*" gconv edges --on-error never -o out c
}

# ---- Files that are not what a listing said

@test "loops of links: none is entered, one that is named fails" {
    mkdir -p in/deep
    make_image pgm in/x.pgm 3 3 noise
    cp in/x.pgm in/deep/y.pgm
    ln -s .. in/deep/up
    ln -s self.pgm in/self.pgm
    ln -s b.pgm in/a.pgm
    ln -s a.pgm in/b.pgm
    ln -s loop loop
    expect 1 timeout 20 "$GCONV" edges -r -o out in
    same "$err" 'gconv: in/a.pgm: cannot open: Too many levels of symbolic links
gconv: in/b.pgm: cannot open: Too many levels of symbolic links
gconv: in/self.pgm: cannot open: Too many levels of symbolic links
gconv: 2 of 5 images done, 3 failed, 0 skipped'
    (cd out && holds deep deep/y.png x.png)
    rm -r out
    complains 1 'loop: cannot make the directory: *' gconv edges -o loop in/x.pgm
    # A list: by every name that leads there.
    printf '%s\n' in/self.pgm loop/z.pgm in/deep/up/x.pgm in/deep/up/deep/up/x.pgm >list
    expect 1 timeout 20 "$GCONV" edges --files-from list -o out
    like "$err" "gconv: in/self.pgm: cannot open: Too many levels of symbolic links
gconv: loop/z.pgm: cannot open: Too many levels of symbolic links
gconv: 'in/deep/up/x.pgm' and 'in/deep/up/deep/up/x.pgm' are the same file, named twice
gconv: 1 of 4 images done, 3 failed, 0 skipped"
    mkdir over
    ln -s x.png over/x.png # an output that is a loop
    tells 1 'gconv: over/x.png: cannot create: Too many levels of symbolic links*' gconv edges -o over in/x.pgm
}

@test "files that vanish or change after the listing fail alone" {
    mkdir in
    mkfifo first.pgm
    for i in 1 2 3 4 5 6; do make_image pgm in/$i.pgm 3 3 noise; done
    "$GCONV" edges -j 1 --journal j -o out first.pgm in 2>err 3>&- &
    pid=$!
    wait_for test -s j # it waits for the pipe: the directory was listed before
    cp in/1.pgm kept
    rm in/1.pgm in/2.pgm in/4.pgm
    mkdir in/2.pgm
    : >in/3.pgm
    ln -s nowhere in/4.pgm
    make_image pgm in/5.pgm 7 5 noise
    timeout 10 cp kept first.pgm
    status=0
    wait $pid || status=$?
    same $status 1
    same "$(cat err)" 'gconv: in/1.pgm: cannot open: No such file or directory
gconv: in/2.pgm: cannot read: Is a directory
gconv: in/3.pgm: the file is empty
gconv: in/4.pgm: cannot open: No such file or directory
gconv: 3 of 7 images done, 4 failed, 0 skipped'
    (cd out && holds 5.png 6.png first.png)
    like "$(dump out/5.png)" 'png grey 1 7x5*'
    "$TESTS/json" <j
    # The same command does the rest once the files are there.
    rm -r in/2.pgm in/4.pgm
    for i in 1 2 3 4; do make_image pgm in/$i.pgm 3 3 noise; done
    complains 0 '4 of 6 images done, 0 failed, 2 skipped' gconv edges --journal j -o out in
}

# ---- Parts

@test "--shard: parts are disjoint and complete, for lists too" {
    mkdir in
    for i in $(seq 40); do make_image pgm in/$i.pgm 3 3 noise; done
    gconv edges -o whole in
    for part in 1 2 3; do
        silently gconv edges --shard $part/3 -o parts$part in
        find in -type f | gconv edges --shard $part/3 -o lists$part --files-from -
        diff -r parts$part lists$part
        [ "$(find parts$part -type f | wc -l)" -ge 5 ]
    done
    same "$(cd whole && ls)" "$(ls parts1 parts2 parts3 | grep png | sort)"
    silently gconv edges --shard 999/1000 -o none in/1.pgm # an empty part
    cp in/1.pgm 1.pgm
    for part in 1 2 3 4; do
        complains 2 "*would both be written to 'out/1.png'*" gconv edges --shard $part/4 -o out in 1.pgm
    done
    for value in 0/3 4/3 a/3 1/ /3 1 1/0 1/1000001 auto/0 auto/x autos; do
        complains 2 "option '--shard': '$value' is not I/N *" gconv edges --shard $value -o out in
    done
}

# shards VARIABLE=VALUE... -- OPTION: the images that a process with these variables takes.
taken() {
    local shard=${*: -1}
    env "${@:1:$#-1}" "$GCONV" edges --dry-run --shard "$shard" -o out in | sort
}

@test "--shard auto takes the part from the scheduler" {
    mkdir in
    for i in $(seq 20); do make_image pgm in/$i.pgm 3 3 noise; done
    second=$(taken 2/4)
    [ -n "$second" ]
    slurm='SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=16 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=4'
    same "$(taken $slurm SLURM_ARRAY_TASK_ID=12 auto)" "$second"
    same "$(taken SGE_TASK_FIRST=5 SGE_TASK_LAST=8 SGE_TASK_STEPSIZE=1 SGE_TASK_ID=6 auto)" "$second"
    same "$(taken LSB_JOBINDEX=2 LSB_JOBINDEX_END=4 LSB_JOBINDEX_STEP=1 auto)" "$second"
    same "$(taken PBS_ARRAY_INDEX=5 auto/4)" "$second"
    same "$(taken PBS_ARRAYID=1 auto/4)" "$second"
    same "$(taken OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 auto)" "$second"
    same "$(taken PMI_RANK=1 PMI_SIZE=4 auto)" "$second"
    same "$(taken SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4 auto)" "$second"
    # Ranks of mpirun in a step of Slurm; ranks of a task of an array.
    same "$(taken SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 auto)" "$second"
    same "$(taken SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=1 SLURM_ARRAY_TASK_ID=0 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 auto)" "$second"
    # No array of Grid Engine or LSF.
    same "$(taken SGE_TASK_ID=undefined LSB_JOBINDEX=0 PMI_RANK=1 PMI_SIZE=4 auto)" "$second"
    complains 2 "*'auto': no variables of Slurm, PBS, *; give I/N" gconv edges --shard auto -o out in
    export PBS_ARRAY_INDEX=3
    complains 2 "*'auto': PBS_ARRAY_INDEX does not say how large the array is; give auto/N *" \
        gconv edges --shard auto -o out in
    export SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=9 SLURM_ARRAY_TASK_COUNT=3
    complains 2 "*'auto': the array has gaps; give auto/N *" gconv edges --shard auto -o out in
    same "$(taken auto/4)" "$second"
}
