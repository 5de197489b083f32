#!/usr/bin/env bats
# Which files are read and written, under which names, in which formats.

load common

# ---- One input, one output

@test "standard input to standard output" {
    make_image png:grey in.png 9 7 noise
    gconv edges in.png edges.png
    gconv filter -k box3 in.png box3.png
    make_image jpeg:ycc in.jpg 9 7 noise
    gconv edges <in.png >out.png
    cmp edges.png out.png
    cat in.png | gconv filter -k box3 | cat >out.png
    cmp box3.png out.png
    gconv edges - - <in.png >out.png
    cmp edges.png out.png
    gconv edges in.png - >out.png
    cmp edges.png out.png
    gconv edges - out.png <in.png
    cmp edges.png out.png
    gconv filter -k box3 <in.jpg >out
    like "$(dump out)" 'jpeg *'
    gconv filter -k box3 -f pgm <in.jpg >out
    like "$(dump out)" 'pgm *'
    gconv edges -f jpeg <in.png >out
    like "$(dump out)" 'jpeg *'
}

@test "the input's format is found by content, the output's by its extension" {
    make_image jpeg:grey in.png 2 2 5
    for extension in png:png PNG:png jpg:jpeg jpeg:jpeg JPE:jpeg jfif:jpeg pgm:pgm ppm:ppm pfm:pfm pnm:pgm; do
        silently gconv filter -k identity in.png "out.${extension%:*}"
        like "$(dump "out.${extension%:*}")" "${extension#*:} *"
    done
    makes out.txt 'pgm *' gconv filter -k identity in.png out.txt --format pgm
    makes out.pnm 'ppm *' gconv filter -k identity in.png out.pnm --format ppm
}

@test "--format pnm is PGM or PPM by content" {
    make_image png:grey grey.png 2 2 5
    make_image png:rgb colour.png 2 2 5
    for name in grey:pgm colour:ppm; do
        gconv filter -k identity -f pnm "${name%:*}.png" - >out
        like "$(dump out)" "${name#*:} *"
        makes out.pnm "${name#*:} *" gconv filter -k identity -f pnm "${name%:*}.png" out.pnm
        makes out.txt "${name#*:} *" gconv filter -k identity -f pnm "${name%:*}.png" out.txt
    done
    makes out.pgm 'pgm *' gconv filter -k identity -f pnm colour.png out.pgm # the name says which
    makes out.ppm 'ppm *' gconv filter -k identity -f pnm grey.png out.ppm
    gconv edges -f pnm colour.png - >out
    like "$(dump out)" 'pgm *'
    complains 2 'out.png: --format pnm contradicts the extension' gconv edges -f pnm grey.png out.png
    cp out.pgm misnamed.ppm
    silently gconv filter -k identity -f pnm -o dir grey.png colour.png misnamed.ppm
    (cd dir && holds colour.pnm grey.pnm misnamed.pnm)
    like "$(dump dir/colour.pnm)" 'ppm *'
    like "$(dump dir/misnamed.pnm)" 'pgm *'
}

@test "extensions that contradict, or say nothing" {
    make_image png:grey in.png 2 2 5
    complains 2 'out.png: --format jpeg contradicts the extension' gconv edges -f jpeg in.png out.png
    complains 2 'out.pnm: --format pfm contradicts the extension' gconv edges -f pfm in.png out.pnm
    for name in out out.txt out. .png a.png/out; do
        complains 2 "$name: its extension names no known format; give --format *" gconv edges in.png $name
    done
    for name in '{stem}.xyz' '{stem}.' '{dir}.d/{name}.v2'; do
        complains 2 "$name: its extension names no known format; give --format *" \
            gconv edges --name "$name" -o dir in.png
    done
    holds in.png
    silently gconv edges --name '{stem}.xyz' -f png -o dir in.png
    (cd dir && holds in.xyz)
}

@test "names of formats that gconv does not write" {
    make_image png:grey in.png 2 2 5
    cp in.png image.gif
    while read -r extension format; do
        message="its extension is that of $format, which gconv does not write; it writes png, jpeg, *"
        complains 2 "out.$extension: $message" gconv edges in.png out.$extension
        complains 2 "out.$extension: $message" gconv edges -f png in.png out.$extension
        complains 2 "{stem}.$extension: $message" gconv edges --name "{stem}.$extension" -o dir in.png
        complains 2 "{stem}.$extension: $message" gconv edges -f png --name "{stem}.$extension" -o dir in.png
        complains 2 "new.$extension: not a directory; -o takes one, *" gconv edges -o new.$extension in.png
    done <<END
gif GIF
jp2 JPEG 2000
npz NPZ or another ZIP archive
fits FITS
exr OpenEXR
psd PSD
eps PostScript
pdf PDF
svg SVG
END
    holds image.gif in.png
    silently gconv filter -k identity --in-place image.gif # the content decides, and stays
    silently gconv filter -k identity -o dir image.gif
    (cd dir && holds image.png)
}

@test "directories in the wrong place" {
    make_image png:grey in.png 2 2 5
    mkdir dir
    complains 2 'dir: a directory; to process its images, give -o DIR' gconv edges dir out.png
    complains 2 'dir: a directory; -o DIR *' gconv edges in.png dir
    complains 1 'none/out.png: cannot create: its directory does not exist' gconv edges in.png none/out.png
    complains 1 'in.png/out.png: cannot create: Not a directory' gconv edges in.png in.png/out.png
    holds dir in.png
}

@test "a last name that ends in a slash is the directory of the outputs" {
    make_image png:grey a.png 9 7 noise
    make_image pgm b.pgm 9 7 noise
    silently gconv edges a.png b.pgm new/below/
    silently gconv filter -k box3 a.png one/
    mkdir there
    silently gconv edges a.png there/
    echo b.pgm | silently gconv edges --files-from - there/
    cmp there/b.png new/below/b.png
    holds a.png b.pgm new new/below new/below/a.png new/below/b.png one one/a.png there there/a.png there/b.png
    complains 1 'a.png/: cannot make the directory: *' gconv edges b.pgm a.png/
    complains 2 "the output './a.png' would replace its input 'a.png'; *" gconv edges a.png ./
    silently gconv edges -o out there/ # with -o it is an input
    complains 2 'there/: a directory; to process its images, give -o DIR' gconv edges there/
}

@test "an existing output is replaced, and stays with --no-clobber" {
    make_image png:grey in.png 9 7 noise
    echo old >out.png
    tells 0 'gconv: out.png: exists; skipped' gconv edges --no-clobber in.png out.png
    silently gconv edges -q -n in.png out.png
    same "$(cat out.png)" old
    tells 0 'gconv: out.png: exists; skipped' gconv edges -v -n in.png out.png
    makes out.png 'png *' gconv edges in.png out.png
    gives new.png out.png gconv edges -n in.png new.png
    ln -s nowhere.png dangling.png
    tells 0 'gconv: dangling.png: exists; skipped' gconv edges -n in.png dangling.png
    [ ! -e nowhere.png ]
}

@test "an output that is its input is refused, by every name; --in-place replaces it" {
    make_image pgm in.pgm 50 40 noise
    cp in.pgm kept.pgm
    gconv filter -k box3 in.pgm wanted.pgm
    ln in.pgm hard.pgm
    ln -s in.pgm soft.pgm
    for pair in 'in.pgm in.pgm' './in.pgm in.pgm' 'soft.pgm in.pgm' 'in.pgm soft.pgm' 'in.pgm hard.pgm' \
        'hard.pgm soft.pgm'; do
        from=${pair% *} to=${pair#* }
        complains 2 "the output '$to' would replace its input '$from'; *, or give --in-place '$from'" \
            gconv filter -k box3 "$from" "$to"
        tells 0 "gconv: $to: exists; skipped" gconv filter -k box3 -v --no-clobber "$from" "$to"
    done
    cmp kept.pgm in.pgm
    gives in.pgm wanted.pgm gconv filter -k box3 --in-place in.pgm
    cmp kept.pgm hard.pgm # in.pgm is a file of its own now: the other name keeps the old picture
    gives in.pgm wanted.pgm gconv filter -k box3 hard.pgm soft.pgm
    [ -L soft.pgm ]
    cp kept.pgm in.pgm
    gives in.pgm wanted.pgm gconv filter -k box3 --in-place -o . in.pgm
}

@test "standard streams, pipes and devices may be input and output" {
    make_image pgm in.pgm 50 40 noise
    gconv filter -k box3 in.pgm wanted.pgm
    gconv filter -k box3 -f pgm /dev/stdin /dev/stdout <in.pgm | cmp - wanted.pgm
    gconv filter -k box3 - /dev/stdout -f pgm <in.pgm >out.pgm
    cmp out.pgm wanted.pgm
    silently gconv filter -k box3 - in.pgm <in.pgm # "-" has no name that could be compared
    cmp in.pgm wanted.pgm
    complains 1 '/dev/null: *' gconv edges -f png /dev/null /dev/null # it is read, and is no image
}

@test "symbolic links are kept and their targets replaced" {
    make_image png:grey in.png 2 2 5
    mkdir dir
    ln -s dir/real.png out.png
    ln -s out.png second.png
    silently gconv edges in.png second.png
    [ -L second.png ]
    [ -L out.png ]
    like "$(dump dir/real.png)" 'png *'
    ln -s none/real.png broken.png
    complains 1 'broken.png: cannot create: its directory does not exist' gconv edges in.png broken.png
    ln -s b.png a.png
    ln -s a.png b.png
    complains 1 'a.png: *symbolic links' gconv edges in.png a.png
    complains 1 'a.png: *symbolic links' gconv edges a.png out.png
}

@test "a replaced file keeps its mode, a new one has the umask's" {
    make_image png:grey in.png 2 2 5
    for mode in 604 755 711 2755 4777; do
        echo old >out.png
        chmod "$mode" out.png
        silently gconv edges in.png out.png
        same "$(stat -c %a out.png)" "${mode: -3}" # set-id bits are not kept: the content is new
        rm out.png
    done
    (umask 027 && gconv edges in.png new.png)
    same "$(stat -c %a new.png)" 640
    (umask 0 && gconv edges --sync in.png open.png)
    same "$(stat -c %a open.png)" 666
}

@test "--preserve keeps the times of a file" {
    make_image pgm a.pgm 9 7 noise
    times() { stat -c '%.X %.Y' "$1"; }
    touch -a -d '2002-02-03 04:05:06.5 UTC' a.pgm
    touch -m -d '2001-02-03 04:05:06.789 UTC' a.pgm
    kept=$(times a.pgm)
    silently gconv edges a.pgm one.png
    [ "$(stat -c %.Y one.png)" != "${kept#* }" ]
    touch -a -d '2002-02-03 04:05:06.5 UTC' a.pgm
    silently gconv edges --preserve a.pgm one.png # a replaced file
    same "$(times one.png)" "$kept"
    touch -a -d '2002-02-03 04:05:06.5 UTC' a.pgm
    silently gconv edges --preserve --journal j a.pgm out/
    same "$(times out/a.png)" "$kept"
    touch -d '2005-01-01' j
    expect 0 gconv edges --preserve --journal j a.pgm out/ # the journal has this time
    expect 0 gconv edges --update a.pgm out/               # as old as the input is not older
    same "$err" 'gconv: 0 of 1 images done, 0 failed, 1 skipped'
    silently gconv edges --preserve - piped.png <a.pgm
    [ "$(stat -c %.Y piped.png)" != "${kept#* }" ]
    cp -p a.pgm original
    silently gconv filter -k box3 --in-place --preserve --journal k a.pgm
    same "$(stat -c %.Y a.pgm)" "${kept#* }"
    mv a.pgm wanted
    mv original a.pgm # the result has its size and time
    gives a.pgm wanted gconv filter -k box3 --in-place --preserve --journal k a.pgm
    expect 0 gconv filter -k box3 --in-place --preserve --journal k a.pgm
    same "$err" 'gconv: 0 of 1 images done, 0 failed, 1 skipped'
}

@test "pipes and devices are written to, not replaced" {
    make_image png:grey in.png 2 2 5
    gconv edges in.png wanted.png
    mkfifo pipe
    cat pipe >got.png &
    silently gconv edges -f png in.png pipe
    wait $!
    cmp wanted.png got.png
    [ -p pipe ]
    cat in.png >pipe &
    gives out.png wanted.png gconv edges pipe out.png
    silently gconv edges -f png in.png /dev/null
    [ -c /dev/null ]
    complains 2 '/dev/null: its extension names no *' gconv edges in.png /dev/null
    gconv edges -f png in.png /dev/stdout >got.png
    cmp wanted.png got.png
}

# ---- Batches

setup_tree() {
    mkdir -p tree/deep/deeper
    make_image png:grey tree/a.png 2 2 5
    make_image pgm tree/b.pgm 2 2 5
    make_image jpeg:grey tree/deep/c.JPG 2 2 5
    make_image png:grey tree/deep/deeper/really-png.jpg 2 2 5
    make_image png:grey tree/.hidden.png 2 2 5
    make_image png:grey tree/no-extension 2 2 5
    echo text >tree/notes.txt
    : >tree/deep/empty.txt
}

@test "a directory stands for the images in it, with --recursive for those below" {
    setup_tree
    silently gconv edges -o flat tree
    (cd flat && holds a.png b.png no-extension.png)
    silently gconv edges --recursive -o all tree
    (cd all && holds a.png b.png deep deep/c.png deep/deeper deep/deeper/really-png.png no-extension.png)
    silently gconv filter -k box3 -r -o own tree
    (cd own && holds a.png b.pgm deep deep/c.JPG deep/deeper deep/deeper/really-png.png no-extension.png)
    like "$(dump own/deep/c.JPG)" 'jpeg *'
    like "$(dump own/deep/deeper/really-png.png)" 'png *'
    silently gconv filter -k box3 -r -o jpegs -f jpeg tree/deep
    (cd jpegs && holds c.JPG deeper deeper/really-png.jpg)
}

@test "the output directory is made with its parents; it may be among the inputs" {
    setup_tree
    silently gconv edges -o tree/out/x/ tree/a.png tree/deep/c.JPG
    (cd tree/out && holds x x/a.png x/c.png)
    silently gconv filter -k identity -r -o tree/out tree/deep tree/out/x/a.png
    (cd tree/out && holds a.png c.JPG deeper deeper/really-png.png x x/a.png x/c.png)
    rm -r tree/out
    mkdir tree/out
    echo old >tree/out/a.png
    silently gconv edges -r -o tree/out tree # what is in the output directory is no input
    (cd tree/out && holds a.png b.png deep deep/c.png deep/deeper deep/deeper/really-png.png no-extension.png)
}

@test "names stay inside the output directory" {
    mkdir -p a/b
    make_image pgm outside.pgm 2 2 5
    (cd a/b && silently gconv edges -o ../../out ../../outside.pgm)
    holds a a/b out out/outside.png outside.pgm
    rm -r out
    silently gconv edges -o out "$PWD/a/../outside.pgm"
    holds a a/b out out/outside.png outside.pgm
}

@test "two inputs for one output are refused before anything is written" {
    mkdir one two
    make_image png:grey one/x.png 2 2 5
    make_image pgm two/x.pgm 2 2 5
    complains 2 "'one/x.png' and 'two/x.pgm' would both be written to 'out/x.png'; *" \
        gconv edges -o out one/x.png two/x.pgm
    complains 2 "*would both be written to 'out/x.png'; *" gconv edges -o out one two
    complains 2 "'one/x.png' is named twice" gconv edges -o out one one/x.png
    complains 2 "'one/x.png' and './one/x.png' are the same file, named twice" \
        gconv edges -o out one/x.png ./one/x.png
    complains 2 "*would both be written to 'out/x.png'; *" gconv filter -k box3 -f png -o out one two
    holds one one/x.png two two/x.pgm
    silently gconv filter -k box3 -o out one two
    (cd out && holds x.pgm x.png)
}

@test "an input is refused if an image beside it would have its output" {
    local both="--name '{dir}/{name}.{ext}' keeps them apart, and --name '{dir}/{stem}.{ext}' writes this one"
    mkdir in
    make_image png:grey in/fax.png 9 7 noise
    make_image pgm in/fax.pgm 9 7 5
    make_image jpeg:grey in/Fax.JPG 9 7 5
    make_image jpeg:grey in/other.jpg 9 7 5
    # The loop over single files: the one that keeps its name is written, the other one is not.
    local wanted=0
    for input in in/*; do
        wanted=0
        [ "$input" != in/fax.pgm ] || wanted=2
        expect $wanted gconv edges "$input" -o out
        [ $wanted -eq 0 ] || same "$err" "gconv: 'in/fax.pgm' and 'fax.png' beside it would both be written to 'out/fax.png'; $both"
    done
    (cd out && holds Fax.png fax.png other.png)
    # What gconv does not read has no output, and fails by its format.
    printf 'GIF89a..........' >in/fax.gif
    foreign="gconv: in/fax.gif: this is GIF, which gconv does not read; 'vips copy' converts it"
    expect 1 gconv edges in/fax.gif -o out
    like "$err" "$foreign
*"
    expect 1 gconv edges -o both in/fax.gif in/fax.png
    like "$err" "$foreign
*"
    cmp both/fax.png out/fax.png
    expect 1 gconv edges --dry-run -o both in/fax.gif in/fax.png
    same "$out" 'in/fax.gif -> both/fax.png (fails)
in/fax.png -> both/fax.png'
    like "$err" "$foreign
*"
    complains 2 "'in/fax.pgm' and 'fax.png' beside it *" gconv edges -o new in/fax.gif in/fax.pgm in/fax.png
    rm in/fax.gif
    silently gconv edges in/fax.png alone.png
    cmp alone.png out/fax.png
    for option in --no-clobber --update --in-place --parents --recursive --format=png --dry-run; do
        complains 2 "'in/fax.pgm' and 'fax.png' beside it would both be written to 'new/*fax.png'; $both" \
            gconv edges $option -o new in/fax.pgm in/other.jpg
    done
    [ ! -e new ]
    # Neither keeps its name; of a list each fails alone.
    cp in/fax.pgm in/other.PNM
    expect 1 gconv sketch --json --files-from - -o new <<<$'in/other.jpg\nin/Fax.JPG\nin/other.PNM'
    like "$(key error | tr '\n' ' ')" "*'in/other.jpg' and 'other.PNM' beside it *'in/other.PNM' and 'other.jpg' beside it *"
    (cd new && holds Fax.png)
    # What the output is called decides.
    silently gconv edges in/fax.pgm -o new --name '{dir}/{name}.{ext}'
    silently gconv edges in/fax.pgm -o new --name '{dir}/{stem}.{ext}'
    silently gconv edges in/fax.pgm new/fax.png
    silently gconv filter -k box3 -o new in/fax.pgm in/fax.png
    complains 2 "'in/fax.png' and 'fax.pgm' beside it would both be written to 'new/fax.pgm'; *" \
        gconv filter -k box3 -f pgm -o new in/fax.png
    cp in/other.jpg in/fax.JPG
    silently gconv filter -k box3 -o new in/fax.JPG
    cp in/fax.png in/fax.JPG # by its content a PNG
    complains 2 "'in/fax.JPG' and 'fax.png' beside it *" gconv filter -k box3 -o new in/fax.JPG
    # What has the name of an output beside its input may be a photograph. Some options expect it.
    mkdir own
    make_image pgm own/a.pgm 9 7 5
    make_image pgm own/b.pgm 9 7 6
    silently gconv edges -o own own/a.pgm own/b.pgm
    for option in --verbose --dry-run --in-place; do
        complains 2 "2 collisions: 'own/a.pgm' and 'a.png' beside it would both be written to 'own/a.png'; *--name '{dir}/{stem}.{ext}' replaces the latter*" \
            gconv edges $option -o own own/a.pgm own/b.pgm
    done
    cd own
    complains 2 "'a.pgm' and 'a.png' beside it would both be written to '*a.png'; *" \
        gconv sketch a.pgm ./
    cd ..
    silently gconv edges -o own --name '{dir}/{stem}.{ext}' own/a.pgm own/b.pgm
    for option in --no-clobber --update; do
        expect 0 gconv edges $option -o own own/a.pgm own/b.pgm
    done
    for _ in 1 2; do
        expect 0 gconv edges --files-from - -o own --journal j.jsonl <<<$'own/a.pgm\nown/b.pgm'
    done
    # Other files of this name are no images.
    ln -s nowhere own/c.png
    ln -s d.pgm own/d.png
    mkfifo own/e.png
    for name in c d e; do
        make_image pgm own/$name.pgm 9 7 5
        silently gconv edges -o new own/$name.pgm
    done
    mkdir in/lone.png
    cp in/fax.pgm in/lone.pgm
    : >in/lone.txt
    silently gconv edges -o new in/lone.pgm
}

@test "images of other formats in a directory are counted" {
    mkdir in in/below
    make_image png:grey in/a.png 9 7 noise
    echo text >in/readme.txt
    echo '<html>' >in/page
    printf 'GIF89a.........' >in/b.gif
    printf 'GIF89a.........' >in/no_extension
    : >in/below/c.psd
    expect 0 gconv edges -o out in
    same "$out$err" 'gconv: 2 image files of other formats ignored: in/b.gif, in/no_extension'
    printf 'II*\0\10\0\0\0' >in/below/a.NEF # a raw image of a camera begins as TIFF does
    tells 0 'gconv: 4 image files of other formats ignored: in/b.gif, in/below/a.NEF, in/below/c.psd and 1 more' \
        gconv edges -r -o out in
    silently gconv edges -q -r -o out in
    echo in >list
    tells 0 'gconv: 2 image files of other formats ignored: *_extension' gconv edges --files-from list -o out
    complains 2 'no image among the inputs; 2 image files of other formats ignored: in/below/a.NEF, in/below/c.psd' \
        gconv edges -o out in/below
}

@test "many collisions are told in one line: how many, and two of them" {
    mkdir one two
    for i in $(seq 10 29); do make_image pgm one/$i.pgm 2 2 5; done
    cp one/* two
    told="20 collisions: 'one/10.pgm' and 'two/10.pgm' would both be written to 'out/10.png'; 'one/11.pgm' and 'two/11.pgm' would both be written to 'out/11.png'; --parents keeps their directories apart"
    complains 2 "$told" gconv edges -o out one two
    [ ! -e out ]
    find one two -name '*.pgm' | sort >list
    expect 1 gconv edges -q --files-from list -o out
    same "$err" "gconv: $told"
    rm -r out
    echo two >list
    expect 1 gconv edges --json --files-from - -o out one <list
    same "$err" "gconv: $told
gconv: 20 of 40 images done, 20 failed, 0 skipped"
    like "$(key error)" "'one/10.pgm' and 'two/10.pgm' would both be written to 'out/10.png'; *'two/29.pgm' *"
}

@test "an output that is another's input is refused" {
    mkdir out
    make_image png:grey x.png 2 2 5
    make_image png:grey y.png 2 2 9
    ln -s ../x.png out/y.png
    for option in --sync --in-place; do
        complains 2 "the output of 'y.png' would replace another input, 'x.png'" \
            gconv edges $option -o out y.png x.png
    done
    holds out out/y.png x.png y.png
    makes out/x.png 'png grey 1 2x2*' gconv edges -q -n -o out y.png x.png # leaves what is there
    like "$(dump x.png)" 'png grey 8 2x2*'
}

@test "outputs that links make one file are refused" {
    mkdir in in/x in/y out
    make_image png:grey in/a.png 9 7 noise
    make_image png:grey in/b.png 9 7 3
    one="would both be written to 'out/b.png'; *"
    ln -s b.png out/a.png
    for file in dangling there; do
        complains 2 "'in/a.png' and 'in/b.png' $one" gconv edges -o out in
        holds in in/a.png in/b.png in/x in/y out out/a.png $([ $file = there ] && echo out/b.png)
        make_image png:grey out/b.png 2 2 5
    done
    silently gconv edges -q -n -o out in # nothing is replaced
    ln -sf ../elsewhere.png out/a.png
    silently gconv edges -o out in # each link leads to a file of its own
    rm out/a.png
    ln out/b.png out/a.png # two names of one file: each gets its own
    gives out/a.png elsewhere.png gconv edges -o out in
    cmp out/a.png out/b.png && false
    mv in/a.png in/x/a.png
    mv in/b.png in/y/a.png
    mkdir out/y
    ln -s y out/x
    complains 2 "'in/x/a.png' and 'in/y/a.png' would both be written to 'out/y/a.png'; *" \
        gconv edges -r -o out in
    rm out/x out/a.png
    ln -s /dev/null out/a.png
    ln -sf /dev/null out/b.png
    cp elsewhere.png a.png
    cp elsewhere.png b.png
    silently gconv edges -o out a.png b.png # a device takes both
}

@test "nothing but files is replaced in place, and no pipe is its own output" {
    mkdir in
    make_image png:grey in/a.png 9 7 noise
    cp in/a.png kept.png
    mkfifo pipe.png
    ln -s pipe.png link.png
    ln -s in/a.png file.png
    for name in pipe.png link.png; do
        complains 2 "'$name' is not a regular file; --in-place *" timeout 5 "$GCONV" edges --in-place in $name
        complains 2 "'$name' is not a regular file; --in-place *" \
            timeout 5 "$GCONV" edges --in-place -o . in/a.png $name
        complains 2 "$name: input and output are the same pipe*" \
            timeout 5 "$GCONV" filter -k box3 pipe.png $name
    done
    cmp in/a.png kept.png
    makes in/a.png 'png grey 1 9x7*' gconv edges --in-place file.png
    [ -L file.png ]
}

@test "a batch does not replace its inputs unasked" {
    mkdir photos photos/below other
    make_image png:grey a.png 9 7 noise
    cp a.png b.png
    cp a.png photos/c.png
    cp a.png photos/below/d.png
    ln -s ../a.png other/a.png
    ln b.png other/b.png
    cp a.png kept.png
    complains 2 "3 collisions: the output './a.png' would replace its input 'a.png'; the output './b.png' would replace its input 'b.png'; name *" gconv edges -o . *.png
    complains 2 "the output './a.png' would replace its input 'a.png'; *" gconv edges -o . a.png
    complains 2 "the output '../${PWD##*/}/a.png' would replace its input 'a.png'; *" gconv edges -o "../${PWD##*/}" a.png
    complains 2 "the output 'other/a.png' would replace its input 'a.png'; *" gconv edges -o other a.png
    complains 2 "the output 'other/b.png' would replace its input 'b.png'; *" gconv edges -o other b.png
    complains 2 "2 collisions: the output 'photos/below/d.png' would replace its input 'photos/below/d.png'; *" \
        gconv edges -r -o photos photos
    complains 2 "'other/b.png' and 'b.png' are the same file, named twice" \
        gconv filter -k box3 --in-place other/b.png b.png
    for file in a.png b.png photos/c.png photos/below/d.png; do cmp $file kept.png; done
    silently gconv edges -q -n -o . a.png b.png # no existing output is replaced
    make_image jpeg:grey e.jpg 9 7 noise
    silently gconv edges -o . e.jpg # nor is this one
    gconv edges kept.png wanted.png
    gives wanted.png photos/c.png gconv edges --in-place -r -o photos photos
    cmp photos/below/d.png wanted.png
    complains 2 "the output './a.png' would replace its input 'a.png'; *--in-place 'a.png'" gconv edges a.png ./a.png
    cmp a.png kept.png
}

# put_chunk PNG BYTES: the PNG with BYTES, in printf's escapes, behind its header.
put_chunk() {
    head -c 33 "$1"
    printf '%b' "$2"
    tail -c +34 "$1"
}

@test "an image is not replaced by a result that lacks what it had, unless that is accepted and told" {
    make_image png:grey plain.png 9 7 noise
    # XMP is kept, unless it lies behind the image data, which is met when the result is there.
    put_chunk plain.png '\000\000\000\032iTXtXML\072com\056adobe\056xmp\000\000\000\000\000\074x\057\076\226\247wc' >half.png
    silently gconv filter -k box3 plain.png smooth.png
    silently gconv filter -k box3 --in-place half.png
    put_chunk smooth.png '\000\000\000\032iTXtXML\072com\056adobe\056xmp\000\000\000\000\000\074x\057\076\226\247wc' >wanted.png
    cmp half.png wanted.png
    silently gconv filter -k box3 --in-place --strip wanted.png
    silently gconv filter -k box3 smooth.png twice.png
    cmp wanted.png twice.png
    {
        head -c -12 plain.png
        printf '%b' '\000\000\000\032iTXtXML\072com\056adobe\056xmp\000\000\000\000\000\074x\057\076\226\247wc'
        tail -c 12 plain.png
    } >late.png
    cp late.png kept.png
    expect 1 gconv filter -k box3 --in-place late.png
    like "$err" 'gconv: late.png: the XMP chunk lies behind the image data and would be lost; --tolerant or --strip lets that pass
*'
    cmp late.png kept.png
    expect 0 gconv filter -k box3 --in-place --tolerant late.png
    same "$err" "gconv: late.png: warning: the XMP chunk lies behind the image data: dropped"
    cmp late.png smooth.png
    cp kept.png late.png
    silently gconv edges --in-place late.png
    # A chunk of a program's own.
    put_chunk plain.png '\000\000\000\003caLbone\155\233\200\332' >own.png
    expect 1 gconv filter -k box3 --in-place own.png
    like "$err" 'gconv: own.png: a private chunk is not kept and would be lost; *'
    make_image jpeg:cmyk inks.jpg 9 7 noise
    expect 1 gconv filter -k box3 --in-place inks.jpg
    like "$err" 'gconv: inks.jpg: CMYK is not kept and would be lost; *'
    silently gconv edges --in-place inks.jpg
    make_image jpeg:ycc:quality=97 fine.jpg 64 48 noise
    silently gconv filter -k box3 --quality same --chroma same fine.jpg wanted.jpg
    silently gconv filter -k box3 --in-place fine.jpg
    cmp fine.jpg wanted.jpg
    # Programs that write images leave comments: their name, the time.
    put_chunk plain.png '\000\000\000\011tEXtComment\000a\263\237\334\310' >named.png
    expect 0 gconv filter -k box3 --in-place named.png
    same "$err" "gconv: named.png: warning: comment dropped: it is not kept"
    cmp named.png smooth.png
}

@test "--in-place leaves an image alone behind whose end bytes follow" {
    for kind in pgm ppm png:grey jpeg:ycc; do
        image=a.${kind%%:*}
        make_image "$kind" "$image" 9 7 noise
        printf film >>"$image"
        cp "$image" was
        expect 1 gconv filter -k box3 --in-place "$image"
        like "$err" "gconv: $image: bytes follow the end of the image and would be lost; --tolerant *"
        cmp "$image" was
        expect 0 gconv filter -k box3 --quality same --chroma same "$image" "other.${kind%%:*}"
        expect 0 gconv filter -k box3 --in-place --tolerant "$image"
        cmp "$image" "other.${kind%%:*}"
    done
}

@test "--in-place without -o replaces every image, in its own format" {
    mkdir in in/below
    make_image png:grey in/a.png 9 7 noise
    make_image jpeg:grey in/b.jpg 9 7 noise
    make_image pgm in/below/c.png 9 7 noise
    cp -r in kept
    complains 2 'no input is named' gconv edges --in-place
    complains 2 '--in-place keeps the format *; --format needs -o DIR' gconv edges --in-place -f png in
    complains 2 '--in-place replaces images, --no-clobber *' gconv edges --in-place -n in
    complains 2 '-: standard input has no name *' gconv edges --in-place -
    complains 2 "'in/a.png' and './in/a.png' are the same file, named twice" \
        gconv edges --in-place in/a.png ./in/a.png
    diff -r in kept
    makes in/a.png 'png grey 1 9x7*' gconv edges --in-place in
    like "$(dump in/b.jpg)" 'jpeg grey 8 9x7*'
    cmp in/below/c.png kept/below/c.png
    makes in/below/c.png 'pgm grey 8 9x7*' gconv filter -k box3 --in-place -r in
    expect 1 gconv edges --in-place none.png in/a.png
    same "$err" 'gconv: none.png: cannot open: No such file or directory
gconv: 1 of 2 images done, 1 failed, 0 skipped'
    (cd in && holds a.png b.jpg below below/c.png)
}

@test "a directory that is not there is an input that fails" {
    make_image png:grey ok.png 2 2 5
    expect 1 gconv edges -o out none/ ok.png nodir ok.png/
    same "$err" 'gconv: none/: cannot list the directory: No such file or directory
gconv: nodir: cannot open: No such file or directory
gconv: ok.png/: cannot list the directory: Not a directory
gconv: 1 of 4 images done, 3 failed, 0 skipped'
    holds ok.png out out/ok.png
}

@test "directories made for outputs that never come are removed" {
    mkdir -p in/below there
    make_image png:grey in/below/whole.png 90 70 noise
    head -c 3000 in/below/whole.png >in/below/cut.png
    rm in/below/whole.png
    expect 1 gconv edges -o new/dir nosuch.png
    expect 1 gconv edges -o there/new/dir/ nosuch.png
    expect 1 gconv edges -r -o there in
    holds in in/below in/below/cut.png there
}

@test "a batch on several threads: the same files, reported in the order of the inputs" {
    mkdir in
    for i in 1 2 3 4 5 6 7 8 9; do
        make_image jpeg:ycc in/$i.jpg $((900 / i)) $((700 / i)) noise
        echo trailing >>in/$i.jpg
    done
    echo broken >in/4.jpg
    expect 1 gconv edges --json -v --threads 1 -o single in
    one=$(sed 's/"seconds.*//; s/single/OUT/' <<<"$out")
    err_one=${err//single/OUT}
    for threads in 2 3 16; do
        expect 1 gconv edges --json -v --threads $threads -o "many$threads" in
        same "$(sed "s/\"seconds.*//; s/many$threads/OUT/" <<<"$out")" "$one"
        same "${err//many$threads/OUT}" "$err_one"
        diff -r single "many$threads"
    done
    like "$err_one" '*1.jpg: warning: bytes after the end of the image ignored*2.jpg: warning: bytes after*4.jpg: not a PNG*
gconv: 8 of 9 images done, 1 failed, 0 skipped'
}

@test "while images wait for a device, a batch computes others, and reports in the order of the inputs" {
    for i in 01 02 03 04 05 06 07 08 09 10 11 12 13; do make_image pgm in$i.pgm $((3 + 10#$i)) 9 noise; done
    gconv filter -k box3 -o wanted in*.pgm
    expect 0 "$FAULTY" filter -v --impl patient -j 2 -k box3 -o out in*.pgm
    diff -r wanted out
    same "$(printf '%s\n' "$err" | sed -n 's/gconv: \(in[0-9]*\)\.pgm: .*by patient$/\1/p' | paste -sd ' ')" \
        'in01 in02 in03 in04 in05 in06 in07 in08 in09 in10 in11 in12 in13'
}

@test "a stopped batch leaves whole files and nothing else" {
    env --default-signal=INT true 2>/dev/null || skip "env cannot reset signals"
    mkdir in
    make_image jpeg:ycc in/1.jpg 1500 1200 noise
    for i in $(seq 2 60); do ln in/1.jpg in/$i.jpg; done
    env --default-signal=INT "$GCONV" edges --threads 4 -o out in &
    pid=$!
    for i in $(seq 200); do
        [ -n "$(find out -name '*.png' ! -name '.*' 2>/dev/null)" ] && break
        sleep 0.01
    done
    kill -s INT $pid
    status=0
    wait $pid || status=$?
    same $status 130
    same "$(find out -name '.*gconv-*')" ''
    gconv edges in/1.jpg whole.png
    for name in out/*; do cmp "$name" whole.png; done
}

@test "--no-clobber in a batch counts what it skips" {
    mkdir in out
    make_image png:grey in/a.png 2 2 5
    make_image png:grey in/b.png 2 2 5
    echo old >out/a.png
    complains 0 '1 of 2 images done, 0 failed, 1 skipped' gconv edges -n -o out in
    same "$(cat out/a.png)" old
    silently gconv edges -q -n -o out in
    expect 0 gconv edges -v -n -o out in
    like "$err" 'gconv: out/a.png: exists; skipped
gconv: out/b.png: exists; skipped
gconv: 0 of 2 images done, 0 failed, 2 skipped'
}

@test "a batch that cannot be: no input, no directory, standard input" {
    mkdir empty
    make_image png:grey in.png 2 2 5
    complains 2 'no image among the inputs (--recursive *)' gconv edges -o out empty
    complains 2 'no image among the inputs' gconv edges -r -o out empty
    complains 2 '-: standard input has no name *' gconv edges -o out -
    complains 2 'in.png: not a directory; -o takes one, *' gconv edges -o in.png in.png
    complains 2 'new.png: not a directory; -o takes one, *' gconv edges -o new.png in.png
    expect 1 gconv edges -o in.png/out in.png
    same "$err" 'gconv: in.png/out: cannot make the directory: Not a directory'
    holds empty in.png
    silently gconv edges -o new.png/ in.png
    holds empty in.png new.png new.png/in.png
}

# ---- Names

@test "control characters in names are escaped in messages, and are names all the same" {
    name=$(printf 'a\nb\033[31m\351.pgm')
    complains 1 'a\\nb\\x1b?31m\\xe9.pgm: cannot open: *' gconv edges "$name" out.png
    make_image pgm "$name" 2 2 5
    complains 2 'a\\nb\\x1b?31m\\xe9.pgm.txt: its extension *' gconv edges "$name" "$name.txt"
    silently gconv edges -o out "$name"
    [ -s "out/${name%.pgm}.png" ]
    json 0 gconv edges --json "$name" out.png
    like "$out" '*"input": "a\\u000ab\\u001b?31m\\ufffd.pgm"*'
    complains 2 'x\\ty: no such file, *' gconv filter -k "$(printf 'x\ty')" "$name" out.png
    complains 2 "unknown command 'a\\\\nb'; *" gconv "$(printf 'a\nb')"
}

@test "names in UTF-8 are shown as they are, whatever the locale" {
    for locale in C C.utf8 POSIX; do
        LC_ALL=$locale complains 1 'größe ☃.png: cannot open: *' gconv edges 'größe ☃.png' out.png
    done
}

@test "very long names" {
    make_image pgm in.pgm 2 2 5
    name=$(printf '%0250d' 0).png
    silently gconv edges in.pgm "$name"
    holds "$name" in.pgm
    name=$(printf '%0300d' 0).png
    complains 1 '000*: cannot create: File name too long' gconv edges in.pgm "$name"
    complains 1 '000*: cannot open: File name too long' gconv edges "$name" out.png
}

# The last image of a batch has the threads of those that are done.
@test "the files of a batch do not depend on the number of threads" {
    mkdir in
    for i in 1 2 3; do
        make_image png:rgb "in/$i.png" $((500 * i)) $((300 * i)) noise
    done
    make_image png:grey:16 in/4.png 2000 900 noise
    for threads in 1 3 16; do
        silently gconv filter -k gauss5 -j "$threads" -o "out$threads" in
    done
    for i in 1 2 3 4; do
        cmp "out1/$i.png" "out3/$i.png"
        cmp "out1/$i.png" "out16/$i.png"
    done
}
