#!/usr/bin/env bash
# What a batch costs beside the images: small images by a loop over the library, by a batch, with a
# journal and with a list of names; and the memory for many names. Prints tables in Markdown.
#
#     benchmarks/batches.sh BUILD [IMAGES [ROUNDS [NAMES]]]
#
# BUILD is a build directory without CUDA. Variants take turns; the least time of the rounds counts. Set
# TMPDIR to a tmpfs, with room for 6 GB: ext4 looks for an inode for a long time where many files were
# deleted before.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:?a build directory}") images=${2:-100000} rounds=${3:-3} names=${4:-1000000}
gconv=$build/gconv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
read -ra libraries <<<"$(sed -n 's/^Libs.private: //p' "$build/gconv.pc")"
"${CC:-cc}" -std=c17 -O2 -D_XOPEN_SOURCE=700 -I"$source/include" "$source/benchmarks/batches/loop.c" \
    "$build/libgconv.a" "${libraries[@]}" -lpng -lz -ljpeg -lpthread -o loop

mkdir in
for ((i = 0; i < 10; i++)); do
    { printf 'P5 64 64 255\n' && head -c 4096 /dev/urandom; } >"model$i"
done
for ((i = 0; i < images; i++)); do printf 'model%d\0in/%d.pgm\0' $((i % 10)) $i; done | xargs -0 -n 2 -P 2 cp
seq 0 $((images - 1)) | sed 's,.*,in/&.pgm,' >list

variants=(loop batch journal list 'list, journal' 'journal, again')
run() {
    local options=(filter -q -d cpu -j 2 -k gauss3 -o out)
    case $1 in
    loop) ./loop in out "$images" ;;
    batch) "$gconv" "${options[@]}" in ;;
    journal | 'journal, again') "$gconv" "${options[@]}" --journal journal in ;;
    list) "$gconv" "${options[@]}" --files-from list ;;
    'list, journal') "$gconv" "${options[@]}" --journal journal --files-from list ;;
    esac
}

declare -A wall cpu memory
measure() {
    [ "$1" = 'journal, again' ] || rm -rf out journal
    mkdir -p out
    local result
    TIMEFORMAT='%R %U %S'
    result=$({ time run "$1"; } 2>&1)
    local total
    total=$(awk '{ print $2 + $3 }' <<<"$result")
    result=${result%% *}
    if [ -z "${wall[$1]-}" ] || awk "BEGIN { exit !($result < ${wall[$1]}) }"; then wall[$1]=$result; fi
    if [ -z "${cpu[$1]-}" ] || awk "BEGIN { exit !($total < ${cpu[$1]}) }"; then cpu[$1]=$total; fi
}
for ((round = 0; round < rounds; round++)); do
    for variant in loop batch list 'list, journal' journal 'journal, again'; do measure "$variant"; done
done

echo "gconv $("$gconv" --version | head -n 1 | cut -d ' ' -f 2), $(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg); $images images of 64x64, gauss3, PGM to PGM, least of $rounds rounds"
echo
echo '| variant | us an image | rate beside the loop | processor us an image | more than the loop |'
echo '|---|---|---|---|---|'
for variant in "${variants[@]}"; do
    awk -v name="$variant" -v w="${wall[$variant]}" -v c="${cpu[$variant]}" -v n="$images" -v l="${wall[loop]}" \
        -v p="${cpu[loop]}" 'BEGIN { printf "| %s | %.1f | %.0f %% | %.1f | %.1f |\n", name, 1e6 * w / n, 100 * l / w, 1e6 * c / n, 1e6 * (c - p) / n }'
done
rm -rf in out journal list

# ---- Memory: names of as many files, which are links to ten images

mkdir links
for ((i = 0; i < 1000; i++)); do ln "model$((i % 10))" links/$i.pgm; done
mkdir in
for ((i = 0; i < names / 1000; i++)); do cp -rl links in/$i; done

# The largest memory that a command holds, in MB: VmHWM before it ends.
peak() {
    local largest=0 now
    "$@" >/dev/null &
    while kill -0 $! 2>/dev/null; do
        now=$(awk '/^VmHWM/ { print $2 }' "/proc/$!/status" 2>/dev/null || true)
        [ -z "$now" ] || largest=$now
        sleep 0.02
    done
    wait $!
    awk -v k="$largest" 'BEGIN { printf "%.0f", k / 1024 }'
}

echo
echo '| images in the list | MB at most | the same command again |'
echo '|---|---|---|'
for ((count = 1000; count <= names; count *= 10)); do
    for ((i = 0; i < count / 1000; i++)); do seq -f "in/$i/%g.pgm" 0 999; done >list
    command=("$gconv" edges -q -d cpu -j 2 --parents -o out --journal journal --files-from list)
    first=$(peak "${command[@]}")
    [ "$(wc -l <journal)" -eq $((count + 2)) ]
    echo "| $count | $first | $(peak "${command[@]}") |"
    rm -rf out journal
done
