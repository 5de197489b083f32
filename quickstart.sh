#!/bin/sh
# Sets up what gconv needs on this machine, builds it, and shows or tests it. Plain POSIX sh; takes
# root only if a package is missing.

set -eu
cd "$(dirname "$0")"

BUILD_DIR=${BUILD_DIR:-build}
GCONV_CUDA=${GCONV_CUDA:-}

usage() {
  cat <<'END'
Usage: ./quickstart.sh         install what is missing, build, find the edges of a sample
       ./quickstart.sh test    install what is missing, build, run the whole test suite
       ./quickstart.sh help    print this

Missing packages are installed with apt on Debian and Ubuntu; elsewhere they are listed.

Environment:
  BUILD_DIR     where to build (default: build; a relative path starts at this directory)
  GCONV_CUDA    the CUDA part: AUTO (for the GPUs of this machine, if there is a toolkit), ON (for
                every GPU) or OFF (default: what the build directory was configured with, or AUTO)
  CUDAARCHS     GPU architectures to compile for, as CMake takes them
  CI            true: warnings are errors, and no part of the tests may be left out
END
}

note() {
  printf 'quickstart.sh: %s\n' "$*" >&2
}

fail() {
  note "$*"
  exit 1
}

# ---- What is needed, and which packages bring it ------------------------------------------------

build_needs='compiler build-tool cmake libpng libjpeg xxhash'
test_needs="$build_needs c++ pkg-config cmocka bats"
# gconv is built without them. matplotlib draws reports (--html); ISA-L inflates PNG;
# Nettle computes --hash sha256; libtiff, libwebp, libheif and libjxl bring formats.
build_wishes='matplotlib isal nettle libtiff libwebp libheif libjxl'
# Without these a part of the tests is left out: some systems do not have them.
test_wishes="$build_wishes sanitizers clang-format abidiff mpfr mpi numpy scipy parallel jq zsh fish"

# One row a need, one column a package manager. A comma joins packages; - says that another row
# brings it.
package_table() {
  cat <<'END'
need         apt-get         dnf                pacman        apk               zypper             brew
compiler     gcc,libc6-dev   gcc                gcc           gcc,musl-dev      gcc                gcc
build-tool   make            make               make          make              make               make
cmake        cmake           cmake              cmake         cmake             cmake              cmake
libpng       libpng-dev      libpng-devel       libpng        libpng-dev        libpng16-devel     libpng
libjpeg      libjpeg-dev     libjpeg-turbo-devel libjpeg-turbo libjpeg-turbo-dev libjpeg8-devel    jpeg-turbo
xxhash       libxxhash-dev   xxhash-devel       xxhash        xxhash-dev        xxhash-devel       xxhash
c++          g++             gcc-c++            -             g++               gcc-c++            -
pkg-config   pkg-config      pkgconf-pkg-config pkgconf       pkgconf           pkg-config         pkgconf
cmocka       libcmocka-dev   libcmocka-devel    cmocka        cmocka-dev        libcmocka-devel    cmocka
bats         bats            bats               bash-bats     bats              bats               bats-core
sanitizers   -               libasan,libubsan   -             -                 libasan8,libubsan1 -
matplotlib   python3-matplotlib python3-matplotlib python-matplotlib py3-matplotlib python3-matplotlib python-matplotlib
numpy        python3-numpy   python3-numpy      python-numpy  py3-numpy     python3-numpy      numpy
scipy        python3-scipy   python3-scipy      python-scipy  py3-scipy     python3-scipy      scipy
isal         libisal-dev     isa-l-devel        isa-l         isa-l-dev         libisal-devel      isa-l
libtiff      libtiff-dev     libtiff-devel      libtiff       tiff-dev          libtiff-devel      libtiff
libwebp      libwebp-dev     libwebp-devel      libwebp       libwebp-dev       libwebp-devel      webp
libheif      libheif-dev     libheif-devel      libheif       libheif-dev       libheif-devel      libheif
libjxl       libjxl-dev      libjxl-devel       libjxl        libjxl-dev        libjxl-devel       jpeg-xl
nettle       nettle-dev      nettle-devel       nettle        nettle-dev        libnettle-devel    nettle
abidiff      abigail-tools   libabigail         -             -                 libabigail-tools   -
clang-format clang-format-14 -                  -             -                 -                  -
mpfr         libmpfr-dev     mpfr-devel         mpfr          mpfr-dev      mpfr-devel         mpfr
mpi          libopenmpi-dev,openmpi-bin openmpi-devel openmpi openmpi-dev,openmpi openmpi-devel    open-mpi
parallel     parallel        parallel           parallel      parallel      gnu_parallel       parallel
jq           jq              jq                 jq            jq            jq                 jq
zsh          zsh             zsh                zsh           zsh           zsh                zsh
fish         fish            fish               fish          fish          fish               fish
END
}

# The packages of one package manager for some needs. Arguments: MANAGER NEED...
packages() {
  manager=$1
  shift
  package_table | {
    column=0
    while read -r need row; do
      # The row's fields become the arguments of `field`.
      # shellcheck disable=SC2086
      case " $* " in
      *" $need "*) field $column $row ;;
      *) [ "$need" != need ] || column=$(column_of "$manager" $row) ;;
      esac
    done
  } | tr ',\n' '  '
}

column_of() {
  wanted=$1
  index=0
  shift
  for name in "$@"; do
    index=$((index + 1))
    [ "$name" != "$wanted" ] || echo $index
  done
}

field() {
  shift "$1"
  [ "$1" = - ] || printf '%s\n' "$1"
}

# ---- Finding out what is missing ----------------------------------------------------------------

have() {
  command -v "$1" >/dev/null 2>&1
}

find_compiler() {
  # The first word of CC is the program, what follows belongs to it: "ccache gcc".
  for candidate in "${CC:-cc}" cc gcc clang; do
    if have "${candidate%% *}"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# Whether a program compiles and links. Arguments: FLAGS LINE...
compiles() {
  compiler=$(find_compiler) || return 1
  flags=$1
  shift
  probe=$(mktemp -d) || fail "cannot make a temporary directory"
  printf '%s\n' "$@" 'int main(void) { return 0; }' >"$probe/probe.c"
  result=0
  # shellcheck disable=SC2086
  $compiler ${CPPFLAGS:-} ${CFLAGS:-} -o "$probe/probe" "$probe/probe.c" $flags ${LDFLAGS:-} \
    >/dev/null 2>&1 || result=1
  rm -rf "$probe"
  return $result
}

# The compiler flags of a library. Arguments: ITS-PKG-CONFIG-NAME FLAGS-IF-UNKNOWN
library() {
  pkg-config --cflags --libs "$1" 2>/dev/null || printf '%s\n' "$2"
}

recent_cmake() {
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9]*\.[0-9]*\).*/\1/p')
  [ -n "$version" ] || return 1
  [ "${version%%.*}" -gt 3 ] || { [ "${version%%.*}" -eq 3 ] && [ "${version#*.}" -ge 18 ]; }
}

# Whether a need is met. What only a missing compiler hides is asked again once there is one.
met() {
  case $1 in
  compiler) compiles -std=c17 '#include <stdio.h>' ;;
  build-tool) have ninja || have make ;;
  cmake) recent_cmake ;;
  libpng) compiles "$(library libpng -lpng)" '#include <png.h>' ;;
  libjpeg) compiles "$(library libjpeg -ljpeg)" '#include <stdio.h>' '#include <jpeglib.h>' ;;
  xxhash) compiles '' '#define XXH_INLINE_ALL' '#include <xxhash.h>' ;;
  nettle) compiles "$(library nettle -lnettle)" '#include <nettle/sha2.h>' ;;
  libtiff) compiles "$(library libtiff-4 -ltiff)" '#include <tiffio.h>' ;;
  libwebp) compiles "$(library libwebp -lwebp)" '#include <webp/decode.h>' ;;
  libheif) compiles "$(library libheif -lheif)" '#include <libheif/heif.h>' ;;
  libjxl) compiles "$(library libjxl -ljxl)" '#include <jxl/decode.h>' ;;
  isal) compiles -lisal '#include <isa-l.h>' ;;
  c++) have "${CXX:-c++}" || have g++ || have clang++ ;;
  pkg-config) have pkg-config ;;
  cmocka)
    compiles "$(library cmocka -lcmocka)" '#include <stdarg.h>' '#include <stddef.h>' \
      '#include <stdint.h>' '#include <setjmp.h>' '#include <cmocka.h>'
    ;;
  bats) have bats ;;
  matplotlib | numpy | scipy)
    python3 -c "import $1" 2>/dev/null || /usr/bin/python3 -c "import $1" 2>/dev/null
    ;;
  sanitizers) compiles -fsanitize=address,undefined || ! met compiler ;;
  mpfr) compiles "$(library mpfr -lmpfr)" '#include <mpfr.h>' ;;
  mpi) have mpicc && have mpirun ;;
  abidiff | jq | zsh | fish) have "$1" ;;
  parallel) parallel --version 2>/dev/null </dev/null | grep -q '^GNU parallel' ;;
  clang-format) tests/packaging/format.sh --find >/dev/null ;;
  esac
}

unmet() {
  for need in "$@"; do
    met "$need" || printf '%s ' "$need"
  done
}

# ---- Installing it ------------------------------------------------------------------------------

apt_get() {
  if [ "$(id -u)" -eq 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get -q "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"
  fi
}

# Those of some packages that this release of the system has.
available() {
  for package in "$@"; do
    ! apt-cache show "$package" >/dev/null 2>&1 || printf '%s ' "$package"
  done
}

# Arguments: PACKAGES PACKAGES-IF-AVAILABLE
apt_install() {
  if [ "$(id -u)" -ne 0 ] && ! have sudo; then
    note "some packages are missing, and it takes root to install them. As root, run:"
    fail "  apt-get update && apt-get install --no-install-recommends $1$2"
  fi
  apt_get update || note "apt-get update failed; going on with the package lists there are"
  # shellcheck disable=SC2046,SC2086
  apt_get install -y --no-install-recommends $1 $(available $2) || fail "cannot install $1"
}

list_missing() {
  note "missing on this machine: $1"
  for install in 'dnf install' 'pacman -S' 'apk add' 'zypper install' 'brew install'; do
    if have "${install%% *}"; then
      # shellcheck disable=SC2086
      fail "install it and run this again:  $install $(packages "${install%% *}" $1)"
    fi
  done
  note "install it and run this again. All that is needed: a C17 compiler, make or"
  note "ninja, CMake 3.18 or newer, libpng, libjpeg-turbo and xxHash with their headers; for the tests"
  fail "also a C++ compiler, pkg-config, cmocka and bats."
}

# Arguments: NEEDS WISHES. Wishes alone are no reason to install anything.
# shellcheck disable=SC2046,SC2086
provide() {
  missing=$(unmet $1)
  [ -n "$missing" ] || return 0
  have apt-get || list_missing "$missing"
  apt_install "$(packages apt-get $missing)" "$(packages apt-get $(unmet $2))"
  missing=$(unmet $1)
  [ -z "$missing" ] || fail "installed, and still missing or too old: $missing"
}

# ---- Building, showing, testing -----------------------------------------------------------------

jobs() {
  nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1
}

find_nvcc() {
  for candidate in "${CUDACXX:-nvcc}" "${CUDA_PATH:-}/bin/nvcc" "${CUDA_HOME:-}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc; do
    if have "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

has_gpu() {
  nvidia-smi -L >/dev/null 2>&1
}

# What the build directory was configured with; empty if it is new. Arguments: VARIABLE
configured() {
  sed -n "s/^$1:[A-Z]*=//p" "$BUILD_DIR/CMakeCache.txt" 2>/dev/null || true
}

# Whether there is a CUDA toolkit, but no GPU, and nobody said what to compile.
lacks_gpu() {
  [ -z "$GCONV_CUDA${CUDAARCHS:-}$(configured CMAKE_CUDA_ARCHITECTURES)" ] &&
    [ "$(configured GCONV_CUDA)" != ON ] && find_nvcc >/dev/null && ! has_gpu
}

# How long something takes here, for a reader. Arguments: MINUTES on one processor
minutes() {
  printf 'about %d min on %d processors' $(($1 / $(jobs) + 1)) "$(jobs)"
}

# Says what comes next, and when that is. Arguments: TEXT
step() {
  note "$(date +%H:%M:%S) $*"
}

# Arguments: TARGET DIRECTORY CMAKE-ARGUMENT...
build() {
  target=$1
  directory=$2
  shift 2
  werror=OFF
  [ "${CI:-}" != true ] || werror=ON
  set -- "$@" "-DGCONV_WERROR=$werror"
  if [ ! -e "$directory/CMakeCache.txt" ] && have ninja; then
    set -- "$@" -G Ninja
  fi
  step "builds $directory"
  cmake -S . -B "$directory" "$@"
  cmake --build "$directory" --parallel "$(jobs)" --target "$target"
}

# What the program lacks that this machine could compile.
tell_left_out() {
  for module in "${1%/*}"/libgconv-*/libgconv-cuda.so; do
    [ ! -e "$module" ] && find_nvcc >/dev/null || return 0
  done
  note "left out: the CUDA module"
  if has_gpu && [ "$(configured GCONV_CUDA)" = AUTO ]; then
    note "  $(find_nvcc) compiles for no GPU of this machine. If these are older than all that it knows,"
    note "  an older toolkit helps: BUILD_DIR=another CUDACXX=.../cuda-12.9/bin/nvcc $0"
  elif has_gpu; then
    note "  GCONV_CUDA=AUTO $0   compiles it for the GPUs of this machine: $(minutes 4)"
  else
    note "  GCONV_CUDA=ON $0   compiles it for every GPU: $(minutes 31)"
  fi
}

show() {
  provide "$build_needs" "$build_wishes"
  build all "$BUILD_DIR" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    ${GCONV_CUDA:+"-DGCONV_CUDA=$GCONV_CUDA"}
  result=$BUILD_DIR/harbour-edges.png
  "$BUILD_DIR/gconv" edges samples/harbour.jpg "$result"
  printf '\nThe edges of samples/harbour.jpg are in %s\n' "$result"
  met matplotlib || printf 'Optional: %s for Python draws reports (compare, bench: --html).\n' matplotlib
  met isal || printf 'Optional: %s (libisal-dev) reads PNG faster.\n' ISA-L
  tell_left_out "$BUILD_DIR/gconv"
  printf 'Next: %s help\n' "$BUILD_DIR/gconv"
}

# Arguments: DIRECTORY CTEST-ARGUMENT...
run_tests() {
  step "runs the tests of $1"
  (cd "$1" && shift && ctest --output-on-failure --parallel "$(jobs)" "$@")
}

# Kernels that are compiled and not run: for one architecture, and with fewer optimisations, which
# takes a seventh of the time. Old toolkits lack that option. No program with such kernels stays in
# BUILD_DIR, in case that a GPU is plugged in. Arguments: DIRECTORY
build_kernels() {
  fewer_optimisations=
  ! "$(find_nvcc)" --help 2>/dev/null | grep -q -e --Ofast-compile ||
    fewer_optimisations=--Ofast-compile=max
  build all "$1" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON -DGCONV_CUDA=ON \
    -DCMAKE_CUDA_ARCHITECTURES=80-real "-DCMAKE_CUDA_FLAGS=$fewer_optimisations"
}

# What `check` will do. Arguments: DIRECTORY-OF-THE-RELEASE MINUTES
announce() {
  note "builds gconv and runs its tests twice, with sanitizers in $BUILD_DIR/asan and without in $1;"
  note "a few of them without fast paths, in $BUILD_DIR/floor"
  [ "$1" = "$BUILD_DIR" ] || {
    note "there is no GPU: the kernels in $1 are compiled, but neither fast nor run;"
    note "tests of commands and pages run once, with sanitizers"
  }
  note "that takes $(minutes "$2"); both times end in a summary of the tests"
}

# The sanitizers' tree comes first, so that the summary of the release tree is the last word.
check() {
  provide "$test_needs" "$test_wishes"
  release=$BUILD_DIR
  if lacks_gpu; then
    release=$BUILD_DIR/kernels
    announce "$release" 18
  else
    announce "$release" 30
  fi
  if met sanitizers || [ "${CI:-}" = true ]; then
    # Undefined behaviour traps, of which AddressSanitizer tells the line. A message for each check
    # would make programs three times as large, and tests start some thousand.
    build all "$BUILD_DIR/asan" -DCMAKE_BUILD_TYPE=Debug -DGCONV_SANITIZE=ON -DGCONV_CUDA=OFF \
      -DCMAKE_C_FLAGS_DEBUG='-O1 -g1 -fsanitize-undefined-trap-on-error' -DBUILD_TESTING=ON
    (export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_sigill=1" &&
      run_tests "$BUILD_DIR/asan")
  else
    note "this compiler has no sanitizers; the tests run without them"
  fi
  build floor "$BUILD_DIR/floor" -DCMAKE_BUILD_TYPE=Release -DGCONV_FAST=OFF -DBUILD_TESTING=ON
  run_tests "$BUILD_DIR/floor" -L floor
  if [ "$release" = "$BUILD_DIR" ]; then
    build all "$release" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON \
      ${GCONV_CUDA:+"-DGCONV_CUDA=$GCONV_CUDA"}
  else
    build_kernels "$release"
    set -- -E '^(cli|docs|faults|fuzz|kills|lab|model)_'
  fi
  run_tests "$release" "$@"
}

if [ $# -gt 1 ]; then
  usage >&2
  exit 2
fi
case $PWD in
*[\"\;\\]*) fail "CMake cannot build in $PWD: rename what has a double quote, semicolon or backslash" ;;
esac
case ${1:-} in
'') show ;;
test) check ;;
help | -h | --help) usage ;;
*)
  usage >&2
  exit 2
  ;;
esac
