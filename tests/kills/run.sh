#!/usr/bin/env bash
# Kills a batch with a journal again and again, each time followed by the same command. Checks at the
# end of the batch: all outputs are those of an undisturbed run, the journal is sound, no temporary file
# is there, and no image that was finished was computed again. If the batch ends before all kills,
# it begins anew.
#
#     run.sh GCONV MAKE_IMAGE JSON [--kills N] [--images N] [--threads N] [--seed N] [--in-place]
set -euo pipefail

usage() {
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
[ $# -ge 3 ] || usage
gconv=$(realpath "$1") make_image=$(realpath "$2") json=$(realpath "$3")
shift 3
kills=200 images=500 threads=2 seed=$(($(date +%s) % 32768)) place=
while [ $# -gt 0 ]; do
    case $1 in
    --kills) kills=$2 && shift ;;
    --images) images=$2 && shift ;;
    --threads) threads=$2 && shift ;;
    --seed) seed=$2 && shift ;;
    --in-place) place=yes ;;
    *) usage ;;
    esac
    shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo "kills: $kills of a batch of $images images, $threads threads${place:+, in place}, seed $seed"
RANDOM=$seed

mkdir in
for ((i = 0; i < 10; i++)); do
    "$make_image" make pgm "model$i.pgm" $((500 + 40 * i)) 600 noise
done
for ((i = 0; i < images; i++)); do
    cp "model$((i % 10)).pgm" "in/$i.pgm"
    printf '%08d' $i | dd of="in/$i.pgm" bs=1 seek=100 conv=notrunc status=none # no two are equal
done
cp -r in kept
result=out
[ -z "$place" ] || result=in

# Becomes the batch.
batch() {
    if [ -n "$place" ]; then
        exec "$gconv" filter -q -k gauss5 -j "$threads" --in-place --journal journal in
    else
        exec "$gconv" filter -q -k gauss5 -j "$threads" --journal journal -o out in
    fi
}

microseconds() { echo $(($(date +%s%N) / 1000)); }

fail() {
    echo "kills: $*" >&2
    exit 1
}

done_count() { grep -c '"status": "done"' journal 2>/dev/null || true; }

begin_anew() {
    rm -rf out journal in
    cp -r kept in
}

check() {
    diff -r wanted $result || fail "the outputs differ from those of an undisturbed run"
    [ -z "$(find . -name '.*.gconv-*')" ] || fail "temporary files are left"
    "$json" <journal || fail "the journal is damaged"
    [ "$(tail -c 1 journal)" = '' ] || fail "the journal does not end in a line"
    local records twice
    records=$("$json" input <journal | sort -u | wc -l)
    [ "$records" -eq "$images" ] || fail "$records images are in the journal instead of $images"
    twice=$(grep '"status": "done"' journal | "$json" input | sort | uniq -d | wc -l)
    [ "$twice" -eq 0 ] || fail "$twice images were finished and computed again"
    "$gconv" check --journal journal >checked || fail "$(cat checked)"
    [ "$(cat checked)" = "$images images: $images as recorded" ] || fail "$(cat checked)"
    cp journal before
    (batch)
    cmp before journal || fail "a run after the end has done something"
}

# ---- An undisturbed run: how long it takes, and how long a run takes that finds nothing to do

start=$(microseconds)
(batch)
middle=$(microseconds)
(batch)
idle=$(($(microseconds) - middle)) duration=$((middle - start))
cp -r $result wanted
begin_anew

# ---- Kills

killed=0 ended=0
while [ $killed -lt "$kills" ]; do
    wait=$(((RANDOM * 32768 + RANDOM) % (idle + 2 * duration / kills)))
    batch &
    pid=$!
    sleep "$(printf '%d.%06d' $((wait / 1000000)) $((wait % 1000000)))"
    kill -s KILL $pid 2>/dev/null || true
    status=0
    { wait $pid; } 2>/dev/null || status=$?
    case $status in
    137) killed=$((killed + 1)) ;;
    0)
        check
        begin_anew
        ended=$((ended + 1))
        ;;
    *) fail "exit status $status" ;;
    esac
done
echo "after $killed kills and $ended whole batches: $(done_count) of $images done"
(batch)
check
echo "kills: all outputs and the journal are as they should be"
