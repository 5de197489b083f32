#!/bin/sh
# Each header compiles alone, twice in a row, as C; and as C++ where it says that it can (gconv.h
# must say so).
#
# Usage: headers.sh SOURCE_DIR
set -eu
cd "$1"
cc=${CC:-cc}
cxx=${CXX:-c++}
flags='-fsyntax-only -Wall -Wextra -Werror -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -Isrc -Iinclude -I.'
grep -q __cplusplus include/gconv.h || { echo "gconv.h is not made for C++"; exit 1; }
command -v "$cxx" >/dev/null || { cxx=; echo "no C++ compiler: C only"; }

checked=0
result=0

# Arguments: HEADER COMPILER FLAG...
try() {
  header=$1
  shift
  checked=$((checked + 1))
  if ! printf '#include "%s"\n#include "%s"\n' "$header" "$header" | "$@" -; then
    echo "not self-sufficient: $header ($*)"
    result=1
  fi
}

for header in $(find include src lab -name '*.h' | sort); do
  # shellcheck disable=SC2086
  try "$header" "$cc" -std=c17 $flags -x c
  case $header in include/*)
    # shellcheck disable=SC2086
    try "$header" "$cc" -std=c99 $flags -pedantic -x c
    ;;
  esac
  if [ -n "$cxx" ] && grep -q __cplusplus "$header"; then
    # shellcheck disable=SC2086
    try "$header" "$cxx" -std=c++17 $flags -x c++
  fi
done
echo "$checked compilations"
exit $result
