#!/bin/sh
# The command line is a client of the library: the files of src/cli include each other, gconv.h,
# src/base and system headers. One file may include one header more, for the search of gconv tune.
#
# Usage: client.sh SOURCE_DIR
set -eu
cd "$1"
exception='src/cli/commands/tune.c:"gpu/tune/tune.h"'

# Each line: FILE:"HEADER" or FILE:<HEADER>
includes=$(grep -rE '^[[:space:]]*#[[:space:]]*include' src/cli |
  sed 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/:/; s/\([">]\)[^">]*$/\1/')
[ -n "$includes" ] || { echo "no #include found in src/cli"; exit 1; }
printf '%s\n' "$includes" | grep -qxF "$exception" ||
  { echo "the exception is not needed any more: $exception"; exit 1; }

wrong=$(printf '%s\n' "$includes" | grep -vxF "$exception" |
  grep -vE ':("gconv\.h"|"(base|cli)/[^"]*"|<(sys/)?[^/>]*>)$' || true)
if [ -n "$wrong" ]; then
  echo "src/cli includes what is neither gconv.h nor of src/base nor the system's:"
  printf '%s\n' "$wrong" | sed 's/^/  /'
  exit 1
fi
echo "$(printf '%s\n' "$includes" | wc -l) includes"
