#!/usr/bin/env bash
# One image in parts: whether they join to what one process writes, and what each reads and takes.
# Prints a table in Markdown.
#
#     benchmarks/batches/rows.sh BUILD [SIDE [STRIPS]]
#
# BUILD is a build directory. TMPDIR needs room for 3 * SIDE^2 bytes and for a part.
set -euo pipefail
gconv=$(realpath "${1:?a build directory}")/gconv side=${2:-30000} parts=${3:-4}
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
    rm -f out.pgm part*
    # shellcheck disable=SC2086
    measured "$gconv" $chain in.pgm out.pgm | row all
    for ((i = 0; i < parts; i++)); do
        first=$((i * side / parts)) end=$(((i + 1) * side / parts))
        # shellcheck disable=SC2086
        measured "$gconv" $chain --rows $first:$((end - first)) --join in.pgm "part$i.pgm" |
            row "$first to $((end - 1))"
        cat "part$i.pgm" >>joined
        rm "part$i.pgm"
    done
    cmp joined out.pgm && printf '\nThe joined parts are the same file.\n\n'
    rm joined
done
