#!/usr/bin/env bats
# --journal: what is recorded, what is skipped, and what is left after an end at any moment.

load common

setup_images() {
    mkdir in
    for i in 1 2 3 4 5 6; do make_image pgm in/$i.pgm $((20 + i)) 15 noise; done
}

# A process in the middle of an image: its temporary file is in out/. Sets $living.
begin_image() {
    mkfifo pipe.pgm
    "$GCONV" filter -k box3 --in-place -o out pipe.pgm 3>&- 2>/dev/null &
    living=$!
    exec 9>pipe.pgm
    head -c 100 in/1.pgm >&9
    wait_for compgen -G 'out/.pipe.pgm.gconv-*' >/dev/null
}

kill_image() {
    kill -s KILL $living
    wait $living || true
    exec 9>&-
}

# statuses FILE: the status of each record, in order.
statuses() { "$TESTS/json" status <"$1" | paste -sd ' ' -; }

@test "every image has a line of JSON; the same command again skips what is done" {
    setup_images
    echo broken >none.png
    expect 1 gconv edges --journal j -o out in none.png
    "$TESTS/json" <j
    same "$(head -n 1 j | "$TESTS/json" gconv_journal)" 1
    same "$("$TESTS/json" input <j | sort | paste -sd ' ')" \
        'in/1.pgm in/2.pgm in/3.pgm in/4.pgm in/5.pgm in/6.pgm none.png'
    same "$(statuses j | tr ' ' '\n' | sort | uniq -c | tr -s ' ' | paste -sd ,)" ' 6 done, 1 failed'
    like "$("$TESTS/json" output_hash <j | head -n 1)" 'xxh3:????????????????????????????????'
    cp j before
    expect 1 gconv edges -v --journal j -o out in none.png
    cmp j before
    like "$err" '*gconv: out/6.png: done before; skipped
gconv: none.png: failed before: *; --retry-failed tries again
gconv: 0 of 7 images done, 1 failed, 6 skipped'
    expect 1 gconv edges --journal j --retry-failed -o out in none.png
    like "$err" 'gconv: none.png: [!f]*' # not "failed before"
    make_image pgm none.png 9 7 noise # a failed input that changed is tried again
    complains 0 '1 of 7 images done, 0 failed, 6 skipped' gconv edges --journal j -o out in none.png
}

@test "the same command tries failures again that are not those of the input" {
    setup_images
    echo broken >broken.png
    mkdir -p out/2.png
    tells 1 '*5 of 8 images done, 3 failed, 0 skipped' gconv edges --journal j -o out in broken.png none.png
    same "$(grep -c '"final": true' j)" 1
    same "$(grep -c '"final": false' j)" 2
    tells 1 '*gconv: out/2.png: cannot create: *' gconv edges --journal j -o out in broken.png none.png
    like "$err" '*gconv: broken.png: failed before: *; --retry-failed tries again*'
    like "$err" '*gconv: none.png: cannot open: *0 of 8 images done, 3 failed, 5 skipped'
    rmdir out/2.png
    tells 1 '*gconv: 1 of 8 images done, 2 failed, 5 skipped' gconv edges --journal j -o out in broken.png none.png
    grep -v '"status": "done"' j | sed 's/, "final": [a-z]*//' >old # a line that lacks the key
    tells 1 'gconv: broken.png: [!f]*' gconv edges --journal old -o out broken.png
}

@test "images are computed again whose input, recipe or output is not as recorded" {
    setup_images
    gconv filter -k box3 --journal j -o out in
    again() { # the images that are computed by this command
        gconv filter --json --journal j -o out in "$@" 2>/dev/null | grep '"status": "done"' |
            "$TESTS/json" input | paste -sd ' ' -
    }
    same "$(again -k box3)" ''
    touch in/1.pgm out/2.pgm # the content counts
    same "$(again -k box3)" ''
    make_image pgm in/1.pgm 21 15 3
    rm out/2.pgm
    echo >>out/3.pgm
    touch -r in/4.pgm time
    printf 'x' | dd of=in/4.pgm bs=1 seek=100 conv=notrunc 2>/dev/null
    same "$(again -k box3)" 'in/1.pgm in/2.pgm in/3.pgm in/4.pgm'
    same "$(again -k box3)" ''
    same "$(again -k box3 --border wrap | wc -w)" 6
    same "$(again -k box3 --background black | wc -w)" 6
    printf '1 2 1\n' >mine.txt
    same "$(again -k mine.txt | wc -w)" 6
    same "$(again -k mine.txt)" ''
    printf '1 3 1\n' >mine.txt # a filter file that changed is another recipe
    same "$(again -k mine.txt | wc -w)" 6
    same "$(again -k mine.txt -j 1 -q --sync)" '' # these do not decide the result
}

@test "--update asks the journal for the recipe, the times for images that it does not know" {
    setup_images
    gconv edges -o out in
    touch -d tomorrow out/*
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv edges --update --journal j -o out in
    complains 0 '0 of 1 images done, 0 failed, 1 skipped' gconv edges -n --journal j -o out in/1.pgm
    rm out/1.png
    gconv edges --journal j -o out in/1.pgm
    touch -d tomorrow out/*
    complains 0 '1 of 6 images done, 0 failed, 5 skipped' gconv edges --update --threshold 9 --journal j -o out in
}

@test "--hash sha256 is that of sha256sum; both kinds may be in one journal" {
    setup_images
    gconv edges --hash sha256 --journal j -o out in/1.pgm
    same "$("$TESTS/json" input_hash <j)" "sha256:$(sha256sum <in/1.pgm | cut -d ' ' -f 1)"
    same "$("$TESTS/json" output_hash <j)" "sha256:$(sha256sum <out/1.png | cut -d ' ' -f 1)"
    gconv edges --journal j -o out in -q
    touch in/* out/*
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv edges --journal j -o out in
    if command -v xxhsum >/dev/null; then
        same "$("$TESTS/json" input_hash <j | tail -n 1)" \
            "xxh3:$(xxhsum -H128 "$("$TESTS/json" input <j | tail -n 1)" | cut -d ' ' -f 1)"
    fi
}

@test "hashes are those of the files, however these are read and written" {
    mkdir in
    for kind in pgm ppm:16 png:rgb png:rgba:16:interlaced png:palette:4 jpeg:ycc jpeg:grey:progressive jpeg:cmyk; do
        make_image $kind in/$kind 700 500 noise
    done
    gconv filter -k identity in/png:rgb in/pfm.pfm
    for kind in pgm png:rgb jpeg:ycc; do
        cp in/$kind in/$kind.more # bytes behind the image are part of the file
        head -c 300000 /dev/zero >>in/$kind.more
    done
    for format in pfm png jpeg ppm; do
        gconv filter -k gauss3 --name '{name}.{ext}' --format $format --journal j --hash sha256 -o $format -q in
    done
    "$TESTS/json" input <j >names
    "$TESTS/json" output <j >>names
    "$TESTS/json" input_hash <j >hashes
    "$TESTS/json" output_hash <j >>hashes
    same "$(wc -l <names)" 96
    while read -r name; do sha256sum <"$name"; done <names | sed 's/^/sha256:/; s/ .*//' | cmp - hashes
}

@test "--in-place: nothing is filtered twice" {
    setup_images
    cp -r in kept
    gconv filter -k box3 -o wanted in
    gconv filter -k box3 --in-place --journal j in
    diff -r wanted in
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv filter -k box3 --in-place --journal j in
    # Killed after the rename and before the line of the image: the intent is there.
    grep -v '"status": "done"' j >intents
    same "$(statuses intents)" 'intent intent intent intent intent intent'
    touch in/*
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv filter -k box3 --in-place --journal intents in
    diff -r wanted in
    # Killed before the rename.
    cp kept/* in
    gconv filter -k box3 --in-place --journal intents in
    diff -r wanted in
    # The same file by another name.
    rm -r in j
    cp -r kept in
    for _ in 1 2; do gconv filter -q -k box3 --in-place --journal j -o ./in in; done
    diff -r wanted in
}

@test "--in-place: no other name of a file has it filtered twice" {
    setup_images
    gconv filter -k box3 -o wanted in
    gconv filter -k box3 --in-place --journal j in
    again() { complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv filter -k box3 --in-place "$@"; }
    again --journal j ./in
    again --journal j --hash sha256 "$PWD/in"
    (cd in && again --journal ../j .)
    cp -r in other # the same images elsewhere
    again --journal j other
    mv in in.old
    again --journal j in.old
    diff -r wanted in.old
    # Intents count like images that are done.
    grep -v '"status": "done"' j >intents
    again --journal intents ./in.old
    diff -r wanted in.old
    # Another recipe is other work, and so is a result that replaced nothing.
    silently gconv filter -k box5 --in-place --journal j ./in.old
    gconv filter -k box3 --journal k -o out wanted
    silently gconv filter -k box3 --in-place --journal k out
}

@test "--in-place: a failure afterwards has nothing filtered twice" {
    setup_images
    gconv filter -k box3 -o wanted in
    ls in/* >list
    run_list() { gconv filter -q -k box3 --in-place --journal j --files-from list; }
    run_list
    mv in away
    expect 1 run_list # all are gone
    mv away in
    expect 0 run_list
    diff -r wanted in
    # A name that is listed twice does not take the place of the image that was done.
    head -n 1 list >>list
    for _ in 1 2 3; do expect 1 run_list; done
    diff -r wanted in
    gconv edges -q --journal k -o out --files-from list || true
    tells 1 '*0 of 7 images done, 1 failed, 6 skipped' gconv edges --journal k -o out --files-from list
    expect 0 gconv check --journal k
}

@test "names of any bytes are found again" {
    mkdir in
    for name in ' a"b\' "$(printf 'new\nline')" "$(printf 'no\351utf')" "$(printf 'no\350utf')"; do
        make_image pgm "in/$name.pgm" 3 3 noise
    done
    gconv edges --journal j -o out in
    "$TESTS/json" <j
    complains 0 '0 of 4 images done, 0 failed, 4 skipped' gconv edges --journal j -o out in
    same "$("$TESTS/json" input_bytes <j | sort | paste -sd ' ')" '696e2f6e6fe87574662e70676d 696e2f6e6fe97574662e70676d'
    json 0 gconv edges --json -o out2 in
    same "$(key output_bytes | sort | paste -sd ' ')" \
        '6f7574322f6e6fe87574662e706e67 6f7574322f6e6fe97574662e706e67'
}

@test "a journal is gone on with after an end in the middle of a line" {
    setup_images
    gconv edges --journal j -o out in
    cp j whole
    for cut in 1 20 200; do
        head -c -$cut whole >j
        expect 0 gconv edges -q --journal j -o out in
        "$TESTS/json" <j
        same "$(grep -c . j)" "$(grep -c . whole)"
    done
    for length in 0 1 10 50; do # the first line, too
        head -c $length whole >j
        expect 0 gconv edges -q --journal j -o out in
        same "$(statuses j)" 'done done done done done done'
    done
}

@test "a long journal: lines are found wherever they begin" {
    setup_images
    gconv edges --journal j -o out in
    # 15000 other images between the header and these, with lines of several lengths: 7 MB.
    { head -n 2 j
        tail -n 1 j | awk '{
            sub(/.*"input": "/, "")
            for (i = 1; i <= 15000; i++)
                printf "{\"id\": \"%016x\", \"input\": \"%*s%s\n", i, i % 97, "", $0
        }'
        tail -n +3 j; } >long
    "$TESTS/json" <long
    [ "$(stat -c %s long)" -gt 6000000 ]
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv edges --journal long -o out in
    prints 0 '15006 images: 15006 as recorded' gconv check --journal long
    printf '{"id": "0' >>long # the end of a line that a killed program left
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv edges --journal long -o out in
    same "$(wc -l <long)" 15008
    { head -n 2 j && head -c 3000000 /dev/zero | tr '\0' x; } >bad
    complains 1 "bad: line 3: not a line of gconv's; *" gconv edges --journal bad -o out in
    head -c 3000000 /dev/zero >bad
    complains 1 'bad: not a journal of gconv; *' gconv edges --journal bad -o out in
}

@test "what is no journal is refused and left alone" {
    setup_images
    cp in/1.pgm kept
    complains 1 'in/1.pgm: not a journal of gconv; name another file' gconv edges --journal in/1.pgm -o out in
    cmp in/1.pgm kept
    gconv edges --journal j -o out in
    sed '1s/: 1,/: 7,/' j >seven
    complains 1 'seven: a journal of version 7, and this gconv knows version 1; *' gconv edges --journal seven -o new in
    sed '3s/^./x/' j >bad
    complains 1 'bad: line 3: not a line of gconv*; delete it, *' gconv edges --journal bad -o new in
    sed -i 3d bad
    complains 0 '1 of 6 images done, 0 failed, 5 skipped' gconv edges --journal bad -o out in
    complains 1 '.: cannot open the journal: Is a directory' gconv edges --journal . -o new in
    complains 1 'none/j: cannot open the journal: No such *' gconv edges --journal none/j -o new in
    mkfifo pipe
    complains 1 'pipe: not a regular file' timeout 10 "$GCONV" edges --journal pipe -o new in
    complains 2 "option '--journal': given twice; *" gconv edges --journal j --journal k -o new in
    complains 2 "option '--journal': a journal is a file, *" gconv edges --journal - -o new in
    complains 2 "option '--journal': a journal is a file, *" gconv check --journal -
    [ ! -e - ] && [ ! -e k ]
    gconv edges -q --journal ./- -o out in
    complains 2 '--retry-failed needs --journal FILE' gconv edges --retry-failed -o new in
    complains 2 '--hash needs --journal FILE' gconv edges --hash xxh3 -o new in
    complains 2 '--journal needs -o DIR or --in-place' gconv edges --journal j in/1.pgm new.png
    [ ! -e new ]
}

@test "a damaged line: its image is computed again, and check says which line it is" {
    setup_images
    gconv edges --journal j -o out in
    sed -i '4s/"status".*/torn/' j
    complains 1 'j: line 4: not a line of gconv*; delete it, *' gconv check --journal j
    complains 0 '1 of 6 images done, 0 failed, 5 skipped' gconv edges --journal j -o out in
    expect 0 gconv check --journal j # a later line takes its place
    same "$out" '6 images: 6 as recorded'
}

@test "journals of parts are joined by cat" {
    setup_images
    for i in 1 2 3; do gconv edges -q --shard $i/3 --journal j.$i -o out in; done
    mkdir other
    make_image pgm other/7.pgm 9 9 noise
    gconv filter -k box3 -q --journal j.4 --hash sha256 --format png -o out other # another recipe and kind
    cat j.1 j.2 j.3 j.4 >j
    prints 0 '7 images: 7 verified' gconv check --verify --journal j
    rm out/2.png
    complains 0 '1 of 6 images done, 0 failed, 5 skipped' gconv edges --journal j -o out in
    prints 0 '7 images: 7 as recorded' gconv check --journal j
    # What a killed program left at the end of a part runs into the header of the next one.
    { head -c -40 j.1 && cat j.2 j.3; } >torn
    complains 0 '1 of 6 images done, 0 failed, 5 skipped' gconv edges --journal torn -o out in
    sed '1s/: 1,/: 7,/' j.2 | cat j.1 - >mixed
    complains 1 "mixed: line $(($(wc -l <j.1) + 1)): a journal of version 7, *" gconv edges --journal mixed -o out in
}

@test "--on-error stop: a failure that is only recorded stops nothing" {
    setup_images
    echo broken >in/3.pgm
    expect 1 gconv edges -j 1 --on-error stop --journal j -o out in
    like "$err" '*2 of 6 images done, 1 failed, 0 skipped, 3 not begun'
    expect 1 gconv edges -j 1 --on-error stop --journal j -o out in
    like "$err" '*in/3.pgm: failed before: *3 of 6 images done, 1 failed, 2 skipped'
    echo broken >in/5.pgm # a new failure does
    tells 1 '*2 failed, 3 skipped, 1 not begun' gconv edges -j 1 --on-error stop --journal j -o out in
}

@test "two runs with one journal: the second one is refused" {
    setup_images
    mkfifo names
    "$GCONV" edges --journal j --files-from names -o out &
    pid=$!
    exec 9>names
    echo in/1.pgm >&9
    wait_for test -e out/1.png
    complains 1 'j: another gconv writes to this journal' gconv edges --journal j -o other in
    [ ! -e other ]
    expect 0 gconv edges --dry-run --journal j -o out in # changes nothing
    exec 9>&-
    wait $pid
}

@test "a journal that cannot be written ends the batch" {
    setup_images
    for i in $(seq 10 60); do cp in/1.pgm in/$i.pgm; done
    (
        ulimit -f 2 # blocks of 512 bytes in POSIX mode, of 1024 here
        trap '' XFSZ
        tells 1 '*gconv: j: cannot write*not begun' gconv edges -j 1 --journal j -o out in
    )
    "$TESTS/json" <j
    expect 0 gconv edges -q --journal j -o out in
    same "$(find out -name '*.png' | wc -l)" 57
}

@test "a disk that is full in the middle: the same command goes on when there is room" {
    setup_images
    make_image png:rgb in/4.png 90 70 noise
    rm in/4.pgm
    mkdir out
    make_image pgm out/4.png 3 3 noise # stays as long as there is nothing better
    cp out/4.png kept
    (
        ulimit -f 4 # as in the test before; the line of an image takes less than the images
        trap '' XFSZ
        expect 1 gconv filter -k identity --depth 16 -j 1 --journal j -o out in
        like "$err" '*out/4.png: cannot write: File too large*5 of 6 images done, 1 failed, 0 skipped'
    )
    cmp kept out/4.png
    (cd out && holds 1.pgm 2.pgm 3.pgm 4.png 5.pgm 6.pgm)
    same "$(statuses j)" 'done done done failed done done'
    complains 0 '1 of 6 images done, 0 failed, 5 skipped' gconv filter -k identity --depth 16 --journal j -o out in
    like "$(dump out/4.png)" 'png rgb 16 90x70*'
}

@test "clocks that jump: files from the future and from before 1970" {
    setup_images
    touch -d '3000-01-01' in/1.pgm
    touch -d '1960-01-01 12:00:00.25' in/2.pgm
    touch -d '1970-01-01 UTC' in/3.pgm
    gconv edges --journal j -o out in
    "$TESTS/json" <j
    same "$("$TESTS/json" input_time <j | grep -c '^-')" 1
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv edges --journal j -o out in
    # The clock goes back, and on: times differ, contents do not.
    touch -d '1990-01-01' in/4.pgm out/5.png
    touch -d '2900-01-01' out/1.png in/6.pgm
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv edges --journal j -o out in
    expect 0 gconv check --journal j
    # Another content that seems to be older than the result.
    make_image pgm in/2.pgm 22 15 3
    touch -d '1950-01-01' in/2.pgm
    prints 1 '*out/2.png: stale*6 images: *' gconv check --journal j
    expect 0 gconv edges --json --journal j -o out in
    same "$(grep '"status": "done"' <<<"$out" | "$TESTS/json" input)" 'in/2.pgm'
}

# preloaded FAULT COMMAND...: the command with a fault, as tests/faults/faults.h has it. LD_PRELOAD
# splits paths at blanks and colons, hence the link.
preloaded() {
    local fault=$1 library=$BATS_TEST_TMPDIR/faults.so
    shift
    ln -sf "$TESTS/libgconv_faults.so" "$library"
    env FAULTS="$fault" LD_PRELOAD="$library" ASAN_OPTIONS=verify_asan_link_order=0 "$@"
}

@test "renames as on NFS: done, and reported as failed" {
    [ -e "$TESTS/libgconv_faults.so" ] || skip 'no library of faults'
    setup_images
    gconv filter -k box3 -o wanted in
    # The answers to all renames are lost: new outputs, outputs that replace others, inputs.
    silently preloaded rename:lose:1+ "$GCONV" filter -k box3 --journal j -o out in
    diff -r wanted out
    silently preloaded rename:lose:1+ "$GCONV" filter -k box3 -o out in
    diff -r wanted out
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv filter -k box3 --journal j -o out in
    silently preloaded rename:lose:1+ "$GCONV" filter -k box3 --in-place --journal k in
    diff -r wanted in
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv filter -k box3 --in-place --journal k in
    diff -r wanted in
    # Renames and links that fail (EXDEV and ESTALE do not differ): nothing is replaced, and the same command
    # does the rest.
    rm -r out j
    expect 1 preloaded rename,link:fail:1+ "$GCONV" filter -k box3 --journal j -o out in
    like "$err" '*gconv: 0 of 6 images done, 6 failed, 0 skipped'
    [ -z "$(find . -name '.*.gconv-*')" ]
    silently gconv filter -k box3 --journal j -o out in
    gconv filter -k box3 -o twice wanted
    diff -r twice out
}

@test "--in-place: what failed after its intent is not filtered twice" {
    setup_images
    gconv filter -k box3 -o wanted in
    gconv filter -k box3 --in-place --journal j in
    # As after a rename that failed and was done, which nobody could tell.
    sed 's/"status": "done"/"status": "failed"/; s/, "implementation": [^,]*, "exact": [a-z]*/, "error": "cannot name", "final": false/' \
        j >failed
    same "$(statuses failed | tr ' ' '\n' | sort -u | paste -sd ,)" 'failed,intent'
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv filter -k box3 --in-place --journal failed in
    diff -r wanted in
    prints 0 '6 images: 6 as recorded' gconv check --journal failed
}

@test "SIGUSR1: what is at work is finished, nothing else is begun" {
    setup_images
    mkfifo names
    "$TESTS/ending" how "$GCONV" edges --journal j --files-from names -o out 2>err 3>&- &
    pid=$!
    exec 9>names
    echo in/1.pgm >&9
    wait_for test -e out/1.png
    kill -s USR1 $pid
    wait $pid
    exec 9>&-
    same "$(cat how)" 'signal 10'
    same "$(statuses j)" done
    same "$(cat err)" \
        'gconv: 1 of 1 images done, 0 failed, 0 skipped; what else the list names was not begun'
    # One that waits for its input is at work.
    mkfifo first.pgm
    "$TESTS/ending" how "$GCONV" edges -j 1 --journal k -o out first.pgm in 2>err 3>&- &
    pid=$!
    sleep 0.3
    kill -s USR1 $pid
    sleep 0.1
    timeout 10 cp in/2.pgm first.pgm
    wait $pid
    same "$(cat how)" 'signal 10'
    same "$(statuses k)" done
    same "$(cat err)" 'gconv: 1 of 7 images done, 0 failed, 0 skipped, 6 not begun'
    gconv edges --json in/1.pgm x.png >/dev/null
}

@test "a journal may lie in the output directory, which the first run makes" {
    setup_images
    for journal in out/j ./out//j out/../out/j "$WORK/out/j" out/logs/today/j; do
        rm -rf out
        expect 0 gconv edges --dry-run --journal $journal -o out in
        [ ! -e out ]
        silently gconv edges --journal $journal -o out/ in
        same "$(statuses $journal | wc -w)" 6
        tells 0 '*gconv: 0 of 6 images done, 0 failed, 6 skipped' gconv edges -v --journal $journal -o out in
    done
    rm -rf out
    silently gconv edges --journal a/b/j -o a/b in
    complains 1 'none/j: cannot open the journal: No such file *' \
        gconv edges --journal none/j -o out in # not below it
    [ ! -e out ]
    complains 2 'no input is named*' gconv edges --journal out/j -o out
    [ ! -e out ]
}

@test "an output never replaces the journal" {
    setup_images
    mkdir out
    complains 2 "the output of 'in/1.pgm' would replace the journal 'out/../out/1.png'; name another file" \
        gconv edges --journal out/../out/1.png -o out in
    (cd out && holds)
    ln -s 2.png out/j
    complains 2 "the output of 'in/2.pgm' would replace the journal 'out/j'; *" gconv edges --journal out/j -o out in
    rm out/j
    ls in/* >list
    expect 1 gconv edges --journal out/3.png --files-from list -o out
    like "$err" "gconv: the output of 'in/3.pgm' would replace the journal 'out/3.png'; *
gconv: 5 of 6 images done, 1 failed, 0 skipped"
    "$TESTS/json" <out/3.png
    expect 1 gconv edges --journal in/1.pgm --in-place in/2.pgm # an image is no journal
    cp out/3.png in/journal.png
    complains 2 "the output of 'in/journal.png' would replace the journal *" \
        gconv filter -k box3 --journal in/journal.png --in-place in
}

# ---- What killed processes leave

@test "temporary files of killed processes are removed, those of living ones stay" {
    setup_images
    mkdir out
    begin_image
    gconv edges -o out in
    (cd out && holds "$(basename .pipe.pgm.gconv-*)" 1.png 2.png 3.png 4.png 5.png 6.png)
    kill_image
    like "$(basename out/.pipe.pgm.gconv-*)" ".pipe.pgm.gconv-??????????????????"
    tells 0 '*gconv: out/: temporary files of killed processes removed: 1*' gconv edges -v -o out in
    (cd out && holds 1.png 2.png 3.png 4.png 5.png 6.png)
}

@test "temporary files are removed beside outputs that are all skipped, too" {
    setup_images
    gconv edges -q --journal j -o out in
    begin_image
    tells 0 'gconv: 0 of 6 images done, 0 failed, 6 skipped' gconv edges --journal j -o out in
    left=$(basename out/.pipe.pgm.gconv-*)
    [ -e "out/$left" ] # its process lives
    kill_image
    cp "out/$left" kept
    expect 0 gconv edges --dry-run --journal j -o out in # writes nothing
    [ -e "out/$left" ]
    for options in '--journal j' --no-clobber --update '--journal j --files-from list'; do
        find in -type f >list
        cp kept "out/$left"
        operands=in
        [ "${options#*list}" = "$options" ] || operands=
        # shellcheck disable=SC2086
        expect 0 gconv edges -v $options -o out $operands
        like "$err" '*gconv: out/: temporary files of killed processes removed: 1*'
        like "$err" '*gconv: 0 of 6 images done, 0 failed, 6 skipped'
        (cd out && holds 1.png 2.png 3.png 4.png 5.png 6.png)
    done
}

@test "files that only look like temporary files stay" {
    setup_images
    mkdir out
    begin_image
    kill_image
    cd out
    left=$(basename .pipe.pgm.gconv-*)
    touch .env.gconv-backup .gconv-abc123 .x.png.gconv-abc123 ".y$left" "${left}x"
    mv "$left" save # a leftover that has a second name
    ln save "$left"
    cd ..
    gconv edges -o out in
    (cd out && holds .env.gconv-backup .gconv-abc123 "$left" "${left}x" .x.png.gconv-abc123 ".y$left" \
        1.png 2.png 3.png 4.png 5.png 6.png save)
}

# ---- gconv check

@test "check in another directory: every output is missing, and a hint says why" {
    setup_images
    gconv edges --journal j -o out in
    mkdir elsewhere
    cd elsewhere
    prints 1 '*6 images: 6 missing' gconv check --journal ../j
    same "$err" 'gconv: ../j: every output is missing; its relative names count from the directory where gconv runs now'
    tells 1 '' gconv check -q --journal ../j
    cd ..
    rm out/1.png
    expect 1 gconv check --journal j # one alone is missing
    same "$err" ''
    gconv edges --journal absolute -o "$WORK/second" "$WORK/in"
    rm second/*
    tells 1 '' gconv check --journal absolute
}

@test "check tells what is missing, changed, stale or failed" {
    setup_images
    gconv edges --journal j -o out in
    prints 0 '6 images: 6 as recorded' gconv check --journal j
    touch in/* out/* # the content counts
    expect 0 gconv check --journal j
    expect 1 gconv edges -q --journal j -o out none.png
    rm out/1.png
    cp out/3.png out/2.png
    make_image pgm in/4.pgm 9 7 3
    rm in/5.pgm # not needed for a check
    expect 1 gconv check --journal j
    same "$(sort <<<"$out")" '7 images: 3 as recorded, 1 missing, 1 changed, 1 stale, 1 failed
out/1.png: missing
out/2.png: changed
out/4.png: stale
out/none.png: failed: cannot open: No such file or directory'
    json 1 gconv check --json --journal j
    same "$(key status | sort | paste -sd ,)" 'as recorded,as recorded,as recorded,changed,failed,missing,stale'
    expect 1 gconv check -v --verify --journal j
    like "$out" '*out/5.png: unverified: its input is gone*7 images: 2 verified, *'
    complains 2 'which journal? give its name' gconv check
    complains 2 'given twice; *' gconv check j --journal j
    complains 2 'a journal is a file, *' gconv check -
    complains 2 "'j' is one operand too many: *" gconv check j j
    complains 2 '--images says how many images --verify computes' gconv check --journal j --images 3
    complains 2 '--device and --impl say what computes for --verify' gconv check --journal j -d cpu
    complains 1 'none: cannot open the journal: *' gconv check --journal none
    [ ! -e none ]
}

@test "check --verify computes again: exact chains sample by sample, others within the bound" {
    setup_images
    gconv edges --threshold 3 --invert --journal j -o out in
    prints 0 '6 images: 6 verified' gconv check --verify --journal j --impl reference
    make_image png:rgb in/7.png 30 20 noise
    gconv filter -k gaussian:1.5 --scale 1.5 --journal k -o smooth in
    gconv filter -k gaussian:2 -f pfm --journal k -o floats in
    prints 0 '14 images: 14 verified' gconv check --verify --journal k --impl reference
    prints 0 '14 images: * as recorded, * verified' gconv check --verify --images 3 --journal k
    gconv filter -k box3 --in-place --journal l in/1.pgm # there is nothing to compute from
    expect 1 gconv check --verify --journal l
    same "$out" 'in/1.pgm: unverified: it has replaced its input
1 image: 1 unverified'
    cp in/2.pgm kept.pgm
    gconv filter -k box3 --journal m -o out kept.pgm
    rm kept.pgm
    expect 0 gconv check --journal m
    expect 1 gconv check --verify --journal m
    same "$out" 'out/kept.pgm: unverified: its input is gone
1 image: 1 unverified'
    same "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'gconv-check-*' -user "$(id -u)" -newer j)" ''
}

@test "check --verify does not blame outputs where what is named cannot compute" {
    setup_images
    gconv filter -k gaussian:60 --journal j -o out in/3.pgm
    expect 1 gconv check --verify --journal j --impl cpu:taps
    same "$out" "out/3.pgm: unverified: 'cpu:taps' refuses filters of two vectors
1 image: 1 unverified"
    complains 4 '*cuda:9*' gconv check --verify --journal j --device cuda:9
    same "$out" ''
    local long=$PWD/$(printf '%0100d' 0)
    TMPDIR=$long complains 1 'cannot make a directory in TMPDIR, else /tmp: No such file or directory' \
        gconv check --verify --journal j
    mkdir "$long"
    TMPDIR=$long expect 0 gconv check --verify --journal j
    same "$(find "$long" -mindepth 1)" ''
}

@test "check --verify finds results that are wrong: exit 3" {
    setup_images
    expect 0 "$FAULTY" filter -k gauss3 --impl wrong --journal j -o out in/1.pgm in/2.pgm
    expect 0 gconv check --journal j
    expect 3 gconv check --verify --journal j
    like "$out" 'out/?.pgm: mismatch: * samples differ, by up to *; promised exact: 0 is allowed*2 images: 2 mismatch'
}

@test "check --verify proves bit for bit what was promised rounded once, whatever computed it" {
    make_image png:grey:16 in.png 300 200 noise
    gconv filter -k gaussian:1.3 -k sharpen3 --journal once --impl reference -o exact in.png
    gconv filter -k gaussian:1.3 -k sharpen3 --journal bounded -o out in.png
    ! cmp exact/in.png out/in.png || return
    like "$(<once)" '*"implementation": "reference", "exact": false, "promise": "rounded once", *'
    like "$(<bounded)" '*"implementation": "cpu", "exact": false, "promise": "bounded", *'
    sed 's/"implementation": "[a-z]*"/"implementation": "tilefft"/' once >on-a-gpu
    prints 0 'exact/in.png: verified, rounded once
1 image: 1 verified' gconv check -v --verify --journal on-a-gpu
    json 0 gconv check --json --verify --journal on-a-gpu
    same "$(key status) $(key promise)" 'verified rounded once'
    expect 1 gconv check --verify --journal on-a-gpu --impl cpu
    like "$out" "exact/in.png: unverified: 'cpu' does not promise that each sample of this job is rounded once*"
    expect 0 gconv check -v --verify --journal bounded
    like "$out" 'out/in.png: verified, bounded*'
    # What keeps the bound is not enough for a greater promise.
    sed 's/"promise": "bounded"/"promise": "rounded once"/' bounded >greater
    expect 3 gconv check --verify --journal greater
    like "$out" 'out/in.png: mismatch: * samples differ, by up to 1; promised rounded once: 0 is allowed*'
}

@test "what an implementation refuses is tried again with another one" {
    setup_images
    expect 1 gconv filter -k gaussian:60 --impl cpu:taps --journal j -o out in/3.pgm
    like "$err" "*'cpu:taps' refuses filters of two vectors*"
    expect 0 gconv filter -k gaussian:60 --journal j -o out in/3.pgm
    expect 0 gconv check --verify --journal j
}

@test "an earlier version of the recipes: outputs are stale; what replaced its input is done" {
    setup_images
    earlier() { # makes a journal of version 1, in which this recipe has this name
        sed -i -E 's/"recipe": "[0-9a-f]{32}"/"recipe": "0385f878a6cf3a515040c67d49291376"/
            s/"definition": [0-9]+, //' "$1"
        grep -q '^{"recipe": "0385f878a6cf3a515040c67d49291376", "command": "filter"' "$1"
    }
    gconv filter -k box3 --journal j -o out in
    silently gconv filter -k box3 --in-place --journal k out
    earlier j
    earlier k
    prints 1 'out/?.pgm: changed*' gconv check --journal j
    gconv filter -k box3 --journal j -o out in
    earlier j
    expect 1 gconv check --verify --journal j
    like "$out" 'out/?.pgm: stale: its recipe stood for other pixels when it was made*6 images: 6 stale'
    expect 0 gconv filter -k box3 --json --journal j -o out in
    same "$(key status | sort | uniq -c | tr -d ' ')" '6done'
    expect 0 gconv check --journal j
    cp -r in other
    silently gconv filter -k box3 --in-place --journal k other
    earlier k
    cp -r other moved
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv filter -k box3 --in-place --journal k other
    complains 0 '0 of 6 images done, 0 failed, 6 skipped' gconv filter -k box3 --in-place --journal k moved
    # A failure is tried again.
    printf 'P5\n1 1\n255\n' >broken.pgm
    expect 1 gconv filter -k box3 --journal l -o out broken.pgm
    tells 1 '*failed before*' gconv filter -k box3 --journal l -o out broken.pgm
    earlier l
    expect 1 gconv filter -k box3 --journal l -o out broken.pgm
    [[ $err != *'failed before'* ]]
}

@test "check sees that a filter file has other numbers now" {
    setup_images
    printf '1 2 1\n' >mine.txt
    gconv filter -k mine.txt --journal j -o out in/3.pgm in/4.pgm
    gconv filter -k box3 --journal j -o box in/3.pgm
    expect 0 gconv check --journal j
    printf '# the same numbers\n1 2 1\n' >mine.txt
    expect 0 gconv check --journal j
    printf '1 3 1\n' >mine.txt
    expect 1 gconv check --journal j
    like "$out" 'out/?.pgm: stale: a filter of its recipe is another one now *
out/?.pgm: stale: a filter of its recipe is another one now *
3 images: 1 as recorded, 2 stale'
    prints 1 '*3 images: 1 verified, 2 stale' gconv check --verify --journal j
    printf 'no filter\n' >mine.txt
    prints 1 '*3 images: 1 as recorded, 2 stale' gconv check --journal j
    rm mine.txt # what was computed is recorded
    prints 0 '3 images: 3 as recorded' gconv check --journal j
    expect 1 gconv check --verify --journal j
    like "$out" "out/?.pgm: unverified: mine.txt: no such file*
3 images: 1 verified, 2 unverified"
}
