#!/bin/sh
# Installs a build into a temporary prefix, moves it, and builds and runs a program against it by
# pkg-config and by CMake, with the shared and with the static library.
#
# Usage: install.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1
build=$2

command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$work/staged" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
# Nothing may remember where it was installed.
mv "$work/staged" "$work/prefix"
prefix=$work/prefix

for file in bin/gconv include/gconv.h share/gconv/filters/gauss5.txt share/man/man1/gconv.1 \
  share/man/man5/gconv-filter.5 share/doc/gconv/contract.md share/bash-completion/completions/gconv \
  share/zsh/site-functions/_gconv share/fish/vendor_completions.d/gconv.fish; do
  [ -f "$prefix/$file" ] || fail "not installed: $file"
done
if [ -f "$build/gconv-mpi" ]; then
  for file in bin/gconv-mpi share/man/man1/gconv-mpi.1 share/bash-completion/completions/gconv-mpi \
    share/fish/vendor_completions.d/gconv-mpi.fish; do
    [ -f "$prefix/$file" ] || fail "not installed: $file"
  done
fi
"$prefix/bin/gconv" --version

pc=$(find "$prefix" -name gconv.pc)
[ -n "$pc" ] || fail "not installed: gconv.pc"
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
libdir=$(dirname "$(find "$prefix" -name 'libgconv.a')")
consumer=$source/tests/packaging/consumer

needs_library() {
  LC_ALL=C readelf -d "$1" | grep -q 'NEEDED.*libgconv\.so'
}

# Until 1.0 a minor version may change the interface.
minor=$("$prefix/bin/gconv" --version | sed -n 's/^gconv \([0-9]*\.[0-9]*\)\..*/\1/p')
LC_ALL=C readelf -d "$libdir/libgconv.so" | grep -q "SONAME.*\[libgconv\.so\.$minor\]" ||
  fail "the name of libgconv.so does not end in .so.$minor"

echo "== pkg-config, shared"
# The flags are meant to be split.
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Wextra -Werror -o "$work/shared" "$consumer/consumer.c" \
  $(pkg-config --cflags --libs gconv)
needs_library "$work/shared" || fail "the shared program does not use libgconv.so"
LD_LIBRARY_PATH=$libdir "$work/shared"

echo "== pkg-config, static"
# The linker would take the shared library that lies beside the static one: name the file.
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Wextra -Werror -o "$work/static" "$consumer/consumer.c" \
  $(pkg-config --static --cflags --libs gconv | sed 's/ -lgconv/ -l:libgconv.a/')
! needs_library "$work/static" || fail "the static program uses libgconv.so"
"$work/static"

echo "== CMake"
cmake -S "$consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
  >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
needs_library "$work/build/consumer_shared" || fail "gconv::shared is not libgconv.so"
! needs_library "$work/build/consumer_static" || fail "gconv::static uses libgconv.so"
"$work/build/consumer_shared"
"$work/build/consumer_static"
