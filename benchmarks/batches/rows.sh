#!/usr/bin/env bash
# One image in strips: whether they join to what one process writes, and what each reads and takes.
# Prints a table in Markdown.
#
#     benchmarks/batches/rows.sh BUILD [SIDE [STRIPS]]
#
# BUILD is a build directory. TMPDIR needs room for 3 * SIDE^2 bytes and for a strip.
set -euo pipefail
gconv=$(realpath "${1:?a build directory}")/gconv side=${2:-30000} strips=${3:-4}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
{ printf 'P5 %d %d 255\n' "$side" "$side" && head -c $((side * side)) /dev/urandom; } >in.pgm

# measured COMMAND...: seconds, and bytes read by read(2); a shell counts what its children have read.
measured() {
    # shellcheck disable=SC2016
    bash -c 'TIMEFORMAT=%R; { time "$@" >&2; } 2>&1; awk "/rchar/ { print \$2 }" "/proc/$$/io"' - "$@" |
        paste -sd ' ' -
}

row() { awk -v name="$1" -v all=$((side * side)) '{ printf "| %s | %.2f | %.1f %% |\n", name, $1, 100 * $2 / all }'; }

for chain in edges 'filter -k gaussian:10'; do
    echo "\`gconv $chain\`, ${side}x$side, PGM to PGM:"
    echo
    echo '| rows | seconds | bytes read, of the input |'
    echo '|---|---|---|'
    rm -f out.pgm strip*
    # shellcheck disable=SC2086
    measured "$gconv" $chain in.pgm out.pgm | row all
    for ((i = 0; i < strips; i++)); do
        first=$((i * side / strips)) end=$(((i + 1) * side / strips))
        # shellcheck disable=SC2086
        measured "$gconv" $chain --rows $first:$((end - first)) --join in.pgm "strip$i.pgm" |
            row "$first to $((end - 1))"
        cat "strip$i.pgm" >>joined
        rm "strip$i.pgm"
    done
    cmp joined out.pgm && printf '\nThe joined strips are the same file.\n\n'
    rm joined
done
