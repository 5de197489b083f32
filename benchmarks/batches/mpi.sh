#!/usr/bin/env bash
# gconv-mpi on 1, 2, ... ranks of this machine, one thread each: seconds, what rank 0 spends on
# messages, and a simulation of more ranks from these figures. Prints tables in Markdown.
#
#     benchmarks/batches/mpi.sh BUILD [IMAGES [ROUNDS [RANKS...]]]
#
# BUILD is a build directory with gconv-mpi. The least time of the rounds counts; rounds take turns.
# RANKS are 1 2 4 by default; leave those out that have no processor of their own. PHOTOS in the
# environment is how many JPEGs there are, a twentieth of IMAGES by default. Set TMPDIR to a tmpfs.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${1:?a build directory}")/gconv-mpi images=${2:-20000} rounds=${3:-3}
photos=${PHOTOS:-$((images / 20))}
ranks=("${@:4}")
[ ${#ranks[@]} -gt 0 ] || ranks=(1 2 4)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
options=()
if mpirun --version 2>&1 | grep -qi 'open mpi\|open-mpi\|openrte'; then
    options=(--oversubscribe --bind-to none)
    [ "$(id -u)" -ne 0 ] || options+=(--allow-run-as-root)
fi

# inputs DIRECTORY COUNT MODEL: copies of a file.
inputs() {
    mkdir "$1"
    # shellcheck disable=SC2016
    seq "$2" | sed "s,.*,$1/&.${3##*.}," | xargs -n 500 -P "$(nproc)" sh -c 'for f do cp "$0" "$f"; done' "$3"
}
{ printf 'P5 64 64 255\n' && head -c 4096 /dev/urandom; } >model.pgm
cp "$source/samples/harbour.jpg" model.jpg
inputs small "$images" model.pgm
inputs photos "$photos" model.jpg

# take RANKS DIRECTORY: seconds, processor seconds, microseconds of rank 0 an image.
take() {
    local times
    rm -rf out
    TIMEFORMAT='%R %U %S'
    times=$({ time mpirun "${options[@]}" -n "$1" "$program" filter -v -d cpu -j 1 -k gauss3 --journal journal \
        -o out "$2" >/dev/null 2>said; } 2>&1 | tail -n 1)
    rm -f journal
    awk -v t="$times" '/us of a processor/ { us = $6 } END { split(t, x, " "); print x[1], x[2] + x[3], us + 0 }' said
}

declare -A wall cpu message
least_start=
keep() { if [ -z "${!1-}" ] || awk "BEGIN { exit !($2 < ${!1}) }"; then printf -v "$1" %s "$2"; fi; }
for ((round = 0; round < rounds; round++)); do
    for set in small photos; do
        for n in "${ranks[@]}"; do
            read -r seconds processor us < <(take "$n" $set)
            keep "wall[$set$n]" "$seconds"
            keep "cpu[$set$n]" "$processor"
            keep "message[$set$n]" "$us"
        done
    done
    start=$({ TIMEFORMAT=%R; time mpirun "${options[@]}" -n 2 "$program" --version >/dev/null 2>&1; } 2>&1)
    keep least_start "$start"
done

echo "$("$program" --version 2>/dev/null | head -n 1), $(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg), $(mpirun --version | head -n 1); gauss3 with a journal, one thread a rank, least of $rounds rounds; starting 2 ranks takes $least_start s"
echo
echo '| images | ranks | seconds | us of a processor an image | rate beside one rank | us of rank 0 for an image of others |'
echo '|---|---|---|---|---|---|'
for set in small photos; do
    count=$(find $set -type f | wc -l)
    for n in "${ranks[@]}"; do
        awk -v s="$set" -v n="$n" -v w="${wall[$set$n]}" -v c="${cpu[$set$n]}" -v one="${wall[$set${ranks[0]}]}" -v count="$count" \
            -v m="${message[$set$n]}" 'BEGIN { printf "| %d %s | %d | %.2f | %.0f | %.2f | %s |\n", count, s, n, w, 1e6 * c / count, one / w, (m > 0 ? m : "") }'
    done
done
echo
small=$(awk -v c="${cpu[small${ranks[0]}]}" -v n="$images" 'BEGIN { print 1e6 * c / n }')
photo=$(awk -v c="${cpu[photos${ranks[0]}]}" -v n="$photos" 'BEGIN { print 1e6 * c / n }')
python3 "$source/benchmarks/batches/ranks.py" --message "${message[small${ranks[-1]}]}" --start "$least_start" "$small" "$photo" 100000
