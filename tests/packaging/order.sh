#!/bin/sh
# The folders of src stand one above the other: none includes what includes it, directly or by way of
# other folders. A file may include headers that lie in a folder above it: they are what this folder
# shows to its parts. There are no exceptions.
#
# Usage: order.sh SOURCE_DIR
set -eu
cd "$1/src"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each line: FOLDER FOLDER FILE HEADER, if a file of the first folder includes one of the second.
grep -rE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*/' . |
  sed 's,^\./\([^:]*\):[^"]*"\([^"]*\)".*,\1 \2,' |
  while read -r file header; do
    [ -e "$header" ] && echo "$(dirname "$file") $(dirname "$header") $file $header"
  done | awk '$1 != $2 && index($1 "/", $2 "/") != 1' >"$work/includes"
[ -s "$work/includes" ] || { echo "no #include found in src"; exit 1; }

# tsort names the folders of each circle.
cut -d ' ' -f 1,2 "$work/includes" | sort -u >"$work/folders"
if ! tsort <"$work/folders" >/dev/null 2>"$work/circles"; then
  sed -n 's/^tsort: \([^ ]*\)$/\1/p' "$work/circles" | sort -u >"$work/named"
  echo "folders of src include each other: $(paste -sd ' ' "$work/named")"
  awk 'NR == FNR { named[$1]; next } $1 in named && $2 in named { print "  " $3 ": " $4 }' \
    "$work/named" "$work/includes"
  exit 1
fi
echo "$(wc -l <"$work/includes") includes, $(wc -l <"$work/folders") pairs of folders"
