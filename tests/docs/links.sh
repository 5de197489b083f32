#!/bin/sh
# What the documents point to is there: the files and headings of links, the paths, source files, functions
# and types that stand between backticks. So are the documents that comments and man pages name.
#
# Usage: links.sh SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The text of a document without its blocks of code.
prose() {
  awk '/^```/ { inside = !inside; next } !inside' "$1"
}

# The headings of a document as anchors, the way that GitHub makes them.
anchors() {
  prose "$1" | sed -n 's/^##* //p' | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9 _\n-' | tr ' ' '-'
}

# Targets of links to files, and anchors within the page: "docs/page.md#heading".
links() {
  prose "$1" | grep -oE '\]\([^) ]+\)|^\[[^]]+\]: [^ ]+' | sed 's/^\](//; s/)$//; s/^.*\]: //' | grep -v '^[a-z]*:' | sort -u || true
}

# Words between backticks that are paths of the tree or names of source files.
# shellcheck disable=SC2016 # backticks of Markdown
paths() {
  prose "$1" | grep -oE '`[a-z][a-z0-9_./-]*`' | tr -d '`' |
    grep -E '^(benchmarks|cmake|completions|docs|filters|include|man|samples|src|tests)/|^[a-z0-9_]+\.(c|h|cu|cuh|sh)$' |
    sort -u || true
}

# Functions and types of gconv between backticks.
# shellcheck disable=SC2016 # backticks of Markdown
names() {
  prose "$1" | grep -oE '`(gc|gconv)_[a-z0-9_]*[a-z0-9]`' | tr -d '`' | sort -u || true
}

# check DOCUMENT: one line for each thing that is not there.
check() {
  folder=$(dirname "$1")
  for link in $(links "$1"); do
    file=${link%%#*}
    target=$folder/$file
    [ -n "$file" ] || target=$1
    if [ ! -e "$target" ]; then
      echo "$1: $link: no such file"
    elif [ "$link" != "$file" ] && ! anchors "$target" | grep -qxF -e "${link#*#}"; then
      echo "$1: $link: no such heading"
    fi
  done
  for path in $(paths "$1"); do
    case $path in
    */*) [ -e "$path" ] || echo "$1: \`$path\` is not there" ;;
    *) grep -qxF -e "$path" "$work/sources" || echo "$1: no source file is called \`$path\`" ;;
    esac
  done
  for name in $(names "$1"); do
    grep -qxF -e "$name" "$work/names" || echo "$1: nothing is called \`$name\`"
  done
}

grep -rhoE --include='*.[ch]*' '(gc|gconv)_[a-z0-9_]*[a-z0-9]' include src lab man tests benchmarks | sort -u >"$work/names"
# Names of programs and build targets.
grep -hoE '(gc|gconv)_[a-z0-9_]*[a-z0-9]' CMakeLists.txt cmake/Texts.cmake tests/CMakeLists.txt tests/double/CMakeLists.txt \
  benchmarks/peers/CMakeLists.txt >>"$work/names"
find benchmarks include lab man samples src tests quickstart.sh -type f | sed 's|.*/||' | sort -u >"$work/sources"

# The check sees what it has to see.
mkdir "$work/page"
cat >"$work/page/one.md" <<'PAGE'
# A page: of `code`
[a](one.md#a-page-of-code) [b](two.md) [c](#nowhere) [d](https://example.org/)
[e]: three.md
`include/gconv.h` `gconv.h` `src/nowhere.c` `nowhere.cuh` `out.png`
`gconv_plan_run` `gc_no_such_function`
PAGE
[ "$(check "$work/page/one.md" | wc -l)" -eq 6 ] || {
  echo "the check does not find the six mistakes of its page:"
  check "$work/page/one.md"
  exit 1
}

# cited FOLDER...: documents of docs/ that files of these folders name, and that are not there.
cited() {
  grep -rnoE 'docs/[A-Za-z0-9_/.-]*\.md' "$@" | while IFS= read -r line; do
    [ -e "${line##*:}" ] || echo "${line%:*}: ${line##*:} is not there"
  done
}

mkdir "$work/source"
echo '/* docs/nowhere.md, docs/testing.md */' >"$work/source/one.c"
[ "$(cited "$work/source" | wc -l)" -eq 1 ] || { echo "the check does not find docs/nowhere.md"; exit 1; }

documents=$(find . -name '*.md' -not -path './build*' -not -path './.*' | sed 's|^\./||' | sort)
[ "$(echo "$documents" | wc -l)" -ge 10 ] || { echo "documents are missing, found: $documents"; exit 1; }
for document in $documents; do
  check "$document"
done >"$work/mistakes"
cited benchmarks cmake filters include man samples src CMakeLists.txt >>"$work/mistakes"
cat "$work/mistakes"
[ ! -s "$work/mistakes" ]
