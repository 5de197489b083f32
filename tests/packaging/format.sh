#!/bin/sh
# Every C and CUDA file is formatted as .clang-format says. Versions of clang-format differ in
# detail, so one is meant; without it the check is skipped, but not in CI.
#
# Usage: format.sh SOURCE_DIR
#        format.sh --fix SOURCE_DIR    format them
#        format.sh --find              print the clang-format that would be used
set -eu
version=14

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
    find include src tests samples -type f
  fi | grep -E '\.(c|h|cu|cuh|cpp|hpp)$' | sort
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
if ! formatter=$(find_formatter); then
  echo "skipped: no clang-format $version"
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi

present() {
  sources | while read -r file; do
    [ ! -e "$file" ] || printf '%s\n' "$file"
  done
}

# Starting the formatter takes longer than most files: it gets many at a time.
if [ -n "$fix" ]; then
  present | xargs "$formatter" -i
  exit
fi
present | xargs "$formatter" --dry-run -Werror >/dev/null 2>&1 && exit
present | while read -r file; do
  "$formatter" --dry-run -Werror "$file" 2>/dev/null || echo "not formatted: $file"
done
echo "to format them: tests/packaging/format.sh --fix ."
exit 1
