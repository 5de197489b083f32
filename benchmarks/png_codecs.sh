#!/bin/sh
# Compiles and runs png_codecs.cpp: PNG by gconv beside other codecs, one thread, processor time.
# A peer that is not there is left out.
#
# Usage: png_codecs.sh BUILD FILE.png...    BUILD has libgconv.so
# Environment: PEERS, a directory with fpng.cpp and fpng.h, fpnge.cc and fpnge.h, wuffs-v0.4.c, as
# their authors publish them; ROUNDS (21)
set -eu
if [ $# -lt 2 ]; then
  sed -n 's/^# \{0,1\}//; 2,7p' "$0" >&2
  exit 2
fi
build=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
peers=${PEERS:-}
flags=
sources=
libraries=
for library in spng deflate; do
  header=$library
  [ $library = spng ] || header=libdeflate
  if echo "#include <$header.h>" | c++ -E -x c++ - >/dev/null 2>&1; then
    flags="$flags -DWITH_$(echo $header | tr a-z A-Z)"
    libraries="$libraries -l$library"
  fi
done
[ ! -f "$peers/fpng.cpp" ] || flags="$flags -DWITH_FPNG" sources="$sources $peers/fpng.cpp"
[ ! -f "$peers/fpnge.cc" ] || flags="$flags -DWITH_FPNGE" sources="$sources $peers/fpnge.cc"
[ ! -f "$peers/wuffs-v0.4.c" ] || flags="$flags -DWITH_WUFFS"
# shellcheck disable=SC2086 # lists of words
c++ -O3 -march=native -w ${peers:+"-I$peers"} -I"$here/../include" $flags -o "$work/png_codecs" \
  "$here/png_codecs.cpp" $sources -L"$build" -Wl,-rpath,"$build" -lgconv -lpng -lz $libraries
for file; do
  "$work/png_codecs" "$file" "${ROUNDS:-21}"
done
