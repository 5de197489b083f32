#!/bin/sh
# Every C and CUDA file is formatted as .clang-format says. Versions of clang-format differ in
# detail, so one is meant; without it the check is skipped, but not in CI. Comments, which
# clang-format leaves alone, and the prose of documents have at most 100 characters a line.
#
# Usage: format.sh SOURCE_DIR
#        format.sh --fix SOURCE_DIR    format them
#        format.sh --find              print the clang-format that would be used
set -eu
version=14
width=100

find_formatter() {
  for name in clang-format-$version clang-format; do
    if "$name" --version 2>/dev/null | grep -q "version $version\."; then
      command -v "$name"
      return
    fi
  done
  return 1
}

# Without git (a tarball) every file there is stands for those that are tracked.
sources() {
  if [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = '' ]; then
    git ls-files --cached --others --exclude-standard
  else
    find include src lab man tests samples -type f
  fi | grep -E '\.(c|h|cu|cuh|cpp|hpp)$' | sort
}

documents() {
  if [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = '' ]; then
    git ls-files --cached --others --exclude-standard
  else
    find . -name '*.md' -type f
  fi | grep '\.md$' | sort
}

# Names of standard input that are files.
existing() {
  while read -r file; do
    [ ! -e "$file" ] || echo "$file"
  done
}

# Lines of comments that are too long.
long_comments() {
  sources | grep -E '^(include|src|lab|tests)/' | existing |
    LC_ALL=C xargs awk -v most=$width '
      FNR == 1 { inside = 0 }
      { text = $0; gsub(/[\200-\277]/, "", text) } # bytes behind the first one of a character
      length(text) > most && (inside || /\/[*\/]/) { print FILENAME ":" FNR ": a comment beyond column " most }
      /\/\*/ { inside = 1 }
      /\*\/[^*]*$/ { inside = 0 }'
}

# Lines of prose that are too long, but for tables, blocks of code, and links that stand alone.
long_prose() {
  documents | existing |
    LC_ALL=C xargs awk -v most=$width '
      FNR == 1 { code = 0 }
      { text = $0; gsub(/[\200-\277]/, "", text) }
      /^ *```/ { code = !code; next }
      code || /^ *\|/ || /^#/ || /^ *!?\[[^]]*\]\([^ ]*\)[.,;:]?$/ { next }
      length(text) > most { print FILENAME ":" FNR ": a line beyond column " most }'
}

if [ "${1:-}" = --find ]; then
  find_formatter
  exit
fi
fix=
if [ "${1:-}" = --fix ]; then
  fix=yes
  shift
fi
cd "$1"
long=$(long_comments; long_prose)
if [ -n "$long" ]; then
  echo "$long"
  exit 1
fi
if ! formatter=$(find_formatter); then
  echo "skipped: no clang-format $version"
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi

# Starting the formatter takes longer than most files: it gets many at a time.
if [ -n "$fix" ]; then
  sources | existing | xargs "$formatter" -i
  exit
fi
sources | existing | xargs "$formatter" --dry-run -Werror >/dev/null 2>&1 && exit
sources | existing | while read -r file; do
  "$formatter" --dry-run -Werror "$file" 2>/dev/null || echo "not formatted: $file"
done
echo "to format them: tests/packaging/format.sh --fix ."
exit 1
