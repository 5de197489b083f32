#!/bin/sh
# Each header compiles alone, twice in a row, as C17; and as C++17 where it says that it can. Those of
# include compile as C99, C++11 and C++20, too.
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
  standards=
  ! grep -q __cplusplus "$header" || standards=c++17
  case $header in include/*) standards='c++11 c++17 c++20' ;; esac
  for standard in ${cxx:+$standards}; do
    # shellcheck disable=SC2086
    try "$header" "$cxx" -std=$standard $flags -pedantic -x c++
  done
done
echo "$checked compilations"
exit $result
