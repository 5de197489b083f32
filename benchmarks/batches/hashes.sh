#!/usr/bin/env bash
# What a journal with its hashes costs a batch of edges: PGM, PNG and JPEG of 1200x1200, to PNG.
# Prints, for each format, medians of batches without and with a journal, which take turns.
#
#     benchmarks/batches/hashes.sh BUILD [IMAGES [ROUNDS]]
#
# BUILD is a build directory. Set TMPDIR to a tmpfs, with room for 2 MB an image.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
gconv=$(realpath "${1:?a build directory}")/gconv images=${2:-300} rounds=${3:-31}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"${CC:-cc}" -O3 -o files_image "$source/benchmarks/files_image.c" -lpng -ljpeg
"${CC:-cc}" -O2 -o files_turns "$source/benchmarks/files_turns.c"
./files_image grey.png 1200 1200 1
./files_image colour.jpg 1200 1200 3
"$gconv" filter -k identity grey.png grey.pgm

# files_turns removes OUTPUT before each run, and the journal with it.
echo "gconv $("$gconv" --version | head -n 1 | cut -d ' ' -f 2), $(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg); $images images, $rounds rounds"
for image in grey.pgm grey.png colour.jpg; do
    mkdir in
    for ((i = 0; i < images; i++)); do cp $image "in/$i.${image#*.}"; done
    echo
    edges=("$gconv" edges -q -d cpu -j 2 -o out/files)
    ./files_turns -i "$images" "$rounds" out "$image" "${edges[@]}" in \
        -- "$image, journal" "${edges[@]}" --journal out/files/journal in \
        -- "$image, sha256" "${edges[@]}" --journal out/files/journal --hash sha256 in
    rm -rf in
done
