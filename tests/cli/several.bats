#!/usr/bin/env bats
# Several PNM images in one input.

load common

# Three images of different shapes and depths, and the result of each by itself.
setup_stream() {
    make_image pgm a.pgm 40 30 noise
    make_image ppm b.ppm 9 7 noise
    make_image pgm:16 c.pgm 300 500 noise
    for name in a.pgm b.ppm c.pgm; do
        gconv filter -k box3 $name "one-$name"
        gconv edges -f pgm $name - >"edges-$name"
        gconv filter -k box3 -f pfm $name - >"float-$name"
    done
}

# becomes FILE KIND: fails unless FILE is the three results of this kind.
becomes() { cat "$2-a.pgm" "$2-b.ppm" "$2-c.pgm" | cmp - "$1"; }

@test "all images of a stream are processed, whatever their shapes" {
    setup_stream
    cat a.pgm b.ppm c.pgm | gconv filter -k box3 >out
    becomes out one
    cat a.pgm b.ppm c.pgm >three.pnm
    gconv filter -k box3 <three.pnm >out
    becomes out one
    silently gconv filter -k box3 three.pnm out.pnm
    becomes out.pnm one
    gconv filter -k box3 -j 2 - - <three.pnm >out
    becomes out one
    gconv filter -k box3 --verify <three.pnm >out
    becomes out one
    gconv edges -f pgm <three.pnm >out
    becomes out edges
    gconv filter -k box3 -f pfm <three.pnm >out
    becomes out float
    silently gconv filter -k box3 three.pnm out.pfm # written backwards
    becomes out.pfm float
    printf '\n \t\r\n' >blanks
    cat a.pgm blanks b.ppm blanks blanks c.pgm blanks | gconv filter -k box3 -v >out 2>err
    becomes out one
    same "$(wc -l <err | tr -d ' ')" 3
}

@test "-v and --json tell of each image" {
    setup_stream
    cat a.pgm b.ppm >two.pnm
    expect 0 gconv filter -k identity -v --impl cpu - out.pnm <two.pnm
    same "$err" 'gconv: standard input: image 1: 40x30, 1 channel of 8 bits to out.pnm by cpu
gconv: standard input: image 2: 9x7, 3 channels of 8 bits to out.pnm by cpu'
    json 0 gconv filter -k identity --json two.pnm out.pnm
    same "$(key image | paste -sd ' ' -) $(key status | paste -sd ' ' -)" '1 2 done done'
    expect 0 gconv filter -k identity --json a.pgm out.pnm
    same "$(key image) $(key status)" ' done'
    expect 3 "$FAULTY" filter -k identity --impl wrong --verify --json - out.pnm <two.pnm
    same "$(key status | paste -sd ' ' -)" 'mismatch mismatch'
}

@test "an image goes out before the next one has come" {
    setup_stream
    mkfifo to from
    gconv filter -k box3 <to >from &
    exec 7>to 8<from
    for name in a.pgm b.ppm c.pgm; do
        cat $name >&7
        timeout 20 head -c "$(wc -c <"one-$name")" <&8 >got
        cmp got "one-$name"
    done
    exec 7>&-
    wait $!
    exec 8<&-
}

@test "memory does not grow with the number of images" {
    # AddressSanitizer keeps what was freed for a while.
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=0:thread_local_quarantine_size_kb=0
    make_image pgm a.pgm 200 200 noise
    for i in 1 2 3 4 5 6 7 8; do cat a.pgm a.pgm >b.pgm; mv b.pgm a.pgm; done # 10 MB
    [ "$(wc -c <a.pgm)" -gt 10000000 ]
    expect 0 gconv filter -k box3 -v a.pgm out.pgm
    same "$(printf '%s\n' "$err" | wc -l | tr -d ' ')" 256
    peak=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$GCONV" filter -k box3 a.pgm out.pgm) || skip "no python3"
    head -c 40015 a.pgm >one.pgm
    alone=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$GCONV" filter -k box3 one.pgm out.pgm)
    [ "$peak" -lt $((alone + 8000)) ]
}

@test "other outputs hold one image, and so do comparisons" {
    setup_stream
    cat a.pgm b.ppm >two.pnm
    complains 1 'two.pnm: more than one image, and png holds one; *' gconv edges two.pnm out.png
    complains 1 'two.pnm: more than one image, and jpeg holds one; *' gconv filter -k box3 two.pnm out.jpg
    gconv edges <two.pnm >out 2>err && false
    same "$(cat err)" 'gconv: standard input: more than one image, and png holds one; --format pnm holds all, --page N takes one'
    tells 1 'gconv: two.pnm: more than one image, and png holds one; *--page N takes one*' gconv edges -o dir two.pnm
    complains 1 'two.pnm: more than one image, and compare takes one' gconv compare --time 0.01 two.pnm
    [ ! -e out.png ]
    [ ! -e out.jpg ]
    same "$(find . -name '*gconv-*')$(ls dir)" ''
}

@test "--page takes one image or some" {
    setup_stream
    cat a.pgm b.ppm c.pgm >three.pnm
    for n in 1:a.pgm 2:b.ppm 3:c.pgm; do
        gives out.pnm "one-${n#*:}" gconv filter -k box3 --page "${n%:*}" three.pnm out.pnm
        gconv filter -k box3 --page "${n%:*}" <three.pnm | cmp - "one-${n#*:}"
    done
    cat one-b.ppm one-c.pgm >wanted
    gives out.pnm wanted gconv filter -k box3 --page 2-3 three.pnm out.pnm
    silently gconv edges --page 2 three.pnm out.png
    expect 0 gconv compare --time 0.01 --impl cpu --page 2 three.pnm
    complains 1 'three.pnm: no page 4: the file has 3' gconv filter -k box3 --page 4 three.pnm out.pnm
    complains 1 'three.pnm: no page 4: the file has 3' gconv filter -k box3 --page 3-4 three.pnm out.pnm
    for value in 0 2-1 -1 1- 1-x 99999999999 ''; do
        complains 2 "option '--page': '$value' is not N or A-B*" gconv filter -k box3 --page="$value" three.pnm out.pnm
    done
}

@test "a batch processes all images of an input, and counts inputs" {
    setup_stream
    cat a.pgm b.ppm c.pgm >three.pnm
    silently gconv filter -k box3 -j 2 -o dir three.pnm a.pgm
    becomes dir/three.pnm one
    cmp dir/a.pgm one-a.pgm
    expect 0 gconv edges -f pnm -o dir three.pnm
    becomes dir/three.pnm edges
    expect 0 gconv filter -k box3 -v --impl cpu -j 2 -o dir three.pnm a.pgm
    same "$(printf '%s\n' "$err" | grep -o '[^ ]*: image [0-9]*:\|a.pgm: [0-9x]*' | paste -sd ' ' -)" \
        'three.pnm: image 1: three.pnm: image 2: three.pnm: image 3: a.pgm: 40x30'
    json 0 gconv filter -k box3 --json -o dir three.pnm a.pgm
    same "$(key image | paste -sd ' ' -) $(key status | paste -sd ' ' -)" '1 2 3 done done done done'
    { cat three.pnm; printf 'P5\n0 5\n255\n'; } >broken.pnm
    tells 1 'gconv: broken.pnm: image 4: the header says *gconv: 1 of 2 images done, 1 failed, 0 skipped' \
        gconv filter -k box3 -o dir broken.pnm a.pgm
    [ ! -e dir/broken.pnm ]
    json 1 gconv filter -k box3 --json -o dir broken.pnm
    same "$(key status | paste -sd ' ' -)" 'failed failed failed failed'
    expect 3 "$FAULTY" filter -k identity --impl wrong --verify -q -o dir three.pnm
    cp three.pnm place.pnm
    silently gconv filter -k box3 --in-place place.pnm
    becomes place.pnm one
}

@test "a journal's images of several are checked again, each" {
    setup_stream
    cat a.pgm b.ppm c.pgm >three.pnm
    silently gconv filter -k box3 -o dir --journal j three.pnm
    prints 0 '*1 verified*' gconv check --verify -v j
}

@test "an error in a later image: those before are out, a file does not appear" {
    setup_stream
    { cat a.pgm; head -c 60 b.ppm; } >cut.pnm
    gconv filter -k box3 <cut.pnm >out 2>err && false
    same "$(cat err)" 'gconv: standard input: image 2: truncated: the file ends in the image data'
    cmp out one-a.pgm
    complains 1 'cut.pnm: image 2: truncated: *' gconv filter -k box3 cut.pnm out.pnm
    [ ! -e out.pnm ]
    { cat a.pgm; printf 'P5\n0 5\n255\n'; } >header.pnm
    complains 1 'header.pnm: image 2: the header says a width or height of 0' \
        gconv filter -k box3 header.pnm out.pnm
    { cat a.pgm; printf 'P7\nWIDTH 1\nHEIGHT 1\nENDHDR\n0'; } >maps.pnm
    complains 1 'maps.pnm: image 2: the header is not WIDTH, *' gconv filter -k box3 maps.pnm out.pnm
    expect 1 gconv filter -k box3 --json cut.pnm out.pnm
    same "$(key status | paste -sd ' ' -)" 'failed failed'
    same "$(key image | paste -sd ' ' -)" '1 2'
    same "$(key error)" 'not written, because image 2 failed
image 2: truncated: the file ends in the image data'
    expect 1 gconv filter -k box3 -v --timings --explain cut.pnm out.pnm
    same "$err" 'gconv: cut.pnm: image 2: truncated: the file ends in the image data'
    expect 1 "$FAULTY" filter -k identity --impl wrong --verify --json cut.pnm out.pnm
    same "$(key status | paste -sd ' ' -)" 'failed failed'
    expect 1 gconv filter -k identity --json -f pgm cut.pnm >(cat >out)
    same "$(key status | paste -sd ' ' -)" 'done failed' # a pipe has it
    expect 1 gconv filter -k box3 --json -f pgm cut.pnm /dev/full
    same "$(key status | paste -sd ' ' -)" failed
    complains 1 'header.pnm: more than one image, and png holds one; *' gconv edges header.pnm out.png
    expect 0 gconv filter -k box3 --tolerant cut.pnm out.pnm
    same "$err" 'gconv: cut.pnm: warning: truncated: the file ends in the image data'
    head -c "$(wc -c <one-a.pgm)" out.pnm | cmp - one-a.pgm
}

# behind_a_socket FILE COMMAND...: standard input is the file, and then "Connection reset by peer".
behind_a_socket() {
    needs python3
    python3 -c 'import socket, subprocess, sys
near, far = socket.socketpair()
near.send(b"unread")
far.sendall(open(sys.argv[1], "rb").read())
far.close()
sys.exit(subprocess.run(sys.argv[2:], stdin=near).returncode)' "$@"
}

@test "an input that fails behind an image is not one of several" {
    make_image pgm a.pgm 40 30 noise
    cat a.pgm a.pgm >two.pnm
    failure='cannot read: Connection reset by peer'
    complains 1 "standard input: $failure" behind_a_socket a.pgm "$GCONV" edges - out.png
    complains 1 "standard input: $failure" behind_a_socket a.pgm "$GCONV" filter -k box3 - out.pnm
    expect 1 behind_a_socket two.pnm "$GCONV" filter -k box3 --json - out.pnm
    same "$(key error | tail -n 1)" "image 2: $failure"
    complains 1 'standard input: image 2: 40 x 31 is *--max-pixels)' \
        gconv filter -k box3 --max-pixels 1200 - out.pnm < <(cat a.pgm && printf 'P5\n40 31\n255\n')
    holds a.pgm two.pnm
}

@test "other bytes after an image stay a warning" {
    setup_stream
    for tail in junk P P7 P5x 'P 5' 'P5'; do
        { cat a.pgm; printf '%s' "$tail"; } >tail.pgm
        gives out.pgm one-a.pgm gconv filter -k box3 tail.pgm out.pgm
        gconv filter -k box3 -v <tail.pgm 2>err >out.pgm
        same "$(grep -c 'bytes after the end of the image ignored' err)" 1
    done
    make_image png:grey in.png 4 3 noise
    cat in.png a.pgm >both.png
    tells 0 '*bytes after the end of the image ignored*' gconv filter -k box3 -v both.png out.png
}
