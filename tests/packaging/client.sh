#!/bin/sh
# The command line is a client of the library: the files of src/cli include each other, gconv.h,
# src/base and headers of the system and of Nettle. Two files may include one header more: for the
# search of gconv tune, and for the transforms that gconv bench measures.
#
# Usage: client.sh SOURCE_DIR
set -eu
cd "$1"
exceptions='src/cli/commands/tune.c:"gpu/tune/tune.h"
src/cli/measure/transforms.h:"cpu/locality.h"'

# Each line: FILE:"HEADER" or FILE:<HEADER>
includes=$(grep -rE '^[[:space:]]*#[[:space:]]*include' src/cli |
  sed 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/:/; s/\([">]\)[^">]*$/\1/')
[ -n "$includes" ] || { echo "no #include found in src/cli"; exit 1; }
printf '%s\n' "$exceptions" | while read -r exception; do
  printf '%s\n' "$includes" | grep -qxF "$exception" ||
    { echo "the exception is not needed any more: $exception"; exit 1; }
done

wrong=$(printf '%s\n' "$includes" | grep -vxF "$exceptions" |
  grep -vE ':("gconv\.h"|"(base|cli)/[^"]*"|<((sys|nettle)/)?[^/>]*>)$' || true)
if [ -n "$wrong" ]; then
  echo "src/cli includes what is neither gconv.h nor of src/base nor the system's:"
  printf '%s\n' "$wrong" | sed 's/^/  /'
  exit 1
fi
echo "$(printf '%s\n' "$includes" | wc -l) includes"
