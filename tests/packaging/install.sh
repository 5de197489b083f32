#!/bin/sh
# Installs a build into a temporary prefix, moves it, and builds and runs a program against it by
# pkg-config and by CMake, with the shared and with the static library. Removes an installation.
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

# Arguments: COMMAND... It is silent unless it fails.
quietly() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

# Arguments: PREFIX... files below it
contents() {
  (cd "$1" && find . ! -type d | sort)
}

# The list of what was installed last is of this build directory, so it is put back.
manifest=$build/install_manifest.txt
if [ -e "$manifest" ]; then
  cp "$manifest" "$work/manifest"
  trap 'mv "$work/manifest" "$manifest"; rm -rf "$work"' EXIT
else
  trap 'rm -rf "$work" "$manifest"' EXIT
fi

echo "== uninstall"
mkdir -p "$work/there/share/doc"
: >"$work/there/share/doc/other"
quietly cmake --install "$build" --prefix "$work/there" --strip
if command -v nm >/dev/null; then
  [ -z "$(nm "$work/there/bin/gconv" 2>/dev/null)" ] || fail "--strip left symbols in the program"
fi
"$work/there/bin/gconv" --version
quietly cmake --build "$build" --target uninstall
[ "$(contents "$work/there")" = ./share/doc/other ] ||
  fail "uninstall left or took: $(contents "$work/there")"
[ -z "$(find "$work/there" -name '*gconv*')" ] || fail "uninstall left directories of gconv"

echo "== a header of glibc"
mkdir -p "$work/glibc/include"
echo '#define _GCONV_H 1' >"$work/glibc/include/gconv.h"
! cmake --install "$build" --prefix "$work/glibc" >"$work/log" 2>&1 ||
  fail "an installation replaced a header of glibc"
grep -q 'include/libgconv' "$work/log" || fail "nothing says how not to replace glibc's header"
[ "$(cat "$work/glibc/include/gconv.h")" = '#define _GCONV_H 1' ] || fail "glibc's header changed"

echo "== install"
quietly cmake --install "$build" --prefix "$work/staged"
# Packagers install parts: together they are all, and no file is in two.
parts=$work/parts
for part in runtime development cuda lab mpi doc; do
  quietly cmake --install "$build" --prefix "$parts/$part" --component "$part"
  mkdir -p "$parts/$part"
  contents "$parts/$part"
done | sort >"$work/in-parts"
contents "$work/staged" | diff - "$work/in-parts" || fail "the parts are not the whole"
rm -r "$parts"
# The list is of the parts now; nothing may remember where it was installed.
mv "$work/staged" "$work/prefix"
prefix=$work/prefix

"$source/tests/packaging/packages.sh" "$source" "$prefix"
for file in bin/gconv include/gconv.h share/gconv/filters/gauss5.txt share/man/man1/gconv.1 \
  share/man/man1/gconv-mpi.1 share/man/man5/gconv-filter.5 share/doc/gconv/contract.md \
  share/doc/gconv/conventions.md \
  share/doc/gconv/LICENSE share/doc/gconv/README.md share/doc/gconv/NEWS.md \
  share/bash-completion/completions/gconv \
  share/zsh/site-functions/_gconv share/fish/vendor_completions.d/gconv.fish; do
  [ -f "$prefix/$file" ] || fail "not installed: $file"
done
if [ -f "$build/gconv-mpi" ]; then
  for file in bin/gconv-mpi share/bash-completion/completions/gconv-mpi \
    share/zsh/site-functions/_gconv-mpi share/fish/vendor_completions.d/gconv-mpi.fish; do
    [ -f "$prefix/$file" ] || fail "not installed: $file"
  done
fi
"$prefix/bin/gconv" --version
# A page of gconv that an installed page names is installed.
cat "$prefix"/share/man/man?/gconv* | tr -d '\\' | grep -oE '\bgconv[a-z-]* ?\([1-8]\)' | sort -u |
  while read -r name number; do
    number=$(printf '%s' "$number" | tr -d '()')
    [ -f "$prefix/share/man/man$number/$name.$number" ] || fail "not installed: $name($number)"
  done

pc=$(find "$prefix" -name gconv.pc)
[ -n "$pc" ] || fail "not installed: gconv.pc"
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
! grep '^Libs.private:.*/' "$pc" || fail "gconv.pc has a path in Libs.private"
libdir=$(dirname "$(find "$prefix" -name 'libgconv.a')")

check_lab() {
  # The installed program finds the one that draws reports. A python3 that keeps its arguments draws.
  mkdir "$work/bin"
  printf '#!/bin/sh\necho "$2"\n' >"$work/bin/python3"
  chmod +x "$work/bin/python3"
  PATH=$work/bin:$PATH "$prefix/bin/gconv" bench --sizes 32 --filters 3 --impl reference --time 0.1 \
    --html "$work/report.html" >"$work/log"
  report=$(cat "$work/report.html")
  [ -f "$report" ] && [ "$(realpath "$report")" = "$prefix/libexec/gconv/report.py" ] ||
    fail "the report would be drawn by '$report'"
  [ -f "$prefix/libexec/gconv/published.csv" ] || fail "not installed: published.csv"
  [ ! -e "$prefix/libexec/gconv/bench" ] || fail "directories of sources were installed"

  # bench runs the installed gconv-lab, and says so if there is none.
  "$prefix/bin/gconv" bench --sizes 32 --filters 3 --impl cpu --time 0.1 >"$work/log"
  mv "$prefix/libexec/gconv/gconv-lab" "$work"
  status=0
  "$prefix/bin/gconv" bench --sizes 32 --filters 3 --impl cpu 2>"$work/log" || status=$?
  [ "$status" -eq 4 ] && grep -q 'bench needs the program gconv-lab' "$work/log" ||
    fail "without gconv-lab: status $status, $(cat "$work/log")"
  mv "$work/gconv-lab" "$prefix/libexec/gconv"
}
[ ! -f "$build/gconv-lab" ] || check_lab
[ ! -e "$libdir/gconv" ] || fail "$libdir/gconv is for modules of glibc"

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

echo "== the CUDA module"
# Programs, the laboratory and a program with the shared library find it in the folder of the library.
for file in "$prefix/bin/gconv" "$libdir/libgconv.so"; do
  ! readelf -d "$file" | grep -E 'NEEDED.*(cuda|nvrtc|cufft)' || fail "$file links CUDA"
done
if [ -f "$build/tests/modules/right.so" ]; then
  mkdir -p "$libdir/libgconv-$minor"
  cp "$build/tests/modules/right.so" "$libdir/libgconv-$minor/libgconv-cuda.so"
  printf '#include <gconv.h>\n#include <stdio.h>\nint main(void)\n{\n    puts(gconv_cuda_reason());\n}\n' \
    >"$work/reason.c"
  # shellcheck disable=SC2046
  "$cc" -o "$work/reason" "$work/reason.c" $(pkg-config --cflags --libs gconv)
  LD_LIBRARY_PATH=$libdir "$work/reason" >"$work/log"
  "$prefix/bin/gconv" info >>"$work/log"
  [ ! -f "$build/gconv-lab" ] || "$prefix/bin/gconv" tune 2>>"$work/log" || true
  wanted=$([ -f "$build/gconv-lab" ] && echo 3 || echo 2)
  [ "$(grep -c 'this is the module of a test' "$work/log")" = "$wanted" ] ||
    fail "the CUDA module is not found: $(cat "$work/log")"
fi

echo "== pkg-config, static"
# The linker would take the shared library that lies beside the static one: name the file.
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Wextra -Werror -o "$work/static" "$consumer/consumer.c" \
  $(pkg-config --static --cflags --libs gconv | sed 's/ -lgconv/ -l:libgconv.a/')
! needs_library "$work/static" || fail "the static program uses libgconv.so"
"$work/static"

echo "== CMake"
quietly cmake -S "$consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc"
quietly cmake --build "$work/build"
for kind in shared gconv; do
  needs_library "$work/build/consumer_$kind" || fail "gconv::$kind is not libgconv.so"
done
! needs_library "$work/build/consumer_static" || fail "gconv::static uses libgconv.so"
"$work/build/consumer_shared"
"$work/build/consumer_gconv"
"$work/build/consumer_static"
