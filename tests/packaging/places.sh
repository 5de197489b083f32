#!/bin/sh
# The suite passes wherever the clone lies. Tests that have to do with its path see it here through
# links with other names: one with blanks and a quote, one that is 200 characters deep, and /src.
#
# Usage: places.sh SOURCE_DIR BUILD_DIR BATS
set -eu
source=$1
build=$2
bats=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Arguments: PLACE. Runs tests whose source and build directory are there.
try() {
  mkdir -p "$1"
  ln -s "$source" "$1/source"
  ln -s "$build" "$1/build"
  echo "== $1"
  tests=$1/build/tests
  python3 -B "$1/source/tests/faults/sweep.py" --every 97 "$1/build" new
  GCONV=$1/build/gconv MPI='' BUILD=$1/build TESTS=$tests SOURCE=$1/source SANITIZE='' \
    "$bats" --filter 'renames as on NFS|a terminal gets no image' \
    "$1/source/tests/cli/journal.bats" "$1/source/tests/cli/failing.bats"
  "$1/source/tests/packaging/architectures.sh" "$1/source"
}

deep=$(printf '%0200d' 0 | sed 's,0000000000,/ten-letters,g')
try "$work/it's a place with blanks"
try "$work$deep"

# In /src paths of all sources begin like those of src/.
prefix=$(printf '%s' "$source" | sed 's/[][\\.*^$,]/\\&/g')
mkdir "$work/build"
sed "s,$prefix,/src,g" "$build/compile_commands.json" >"$work/build/compile_commands.json"
"$source/tests/packaging/contraction.sh" /src "$work/build"
