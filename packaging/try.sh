#!/bin/sh
# Installs Debian packages in a bare root, upgrades, uses and purges them. Before that it runs each
# tarball and installs each wheel that is there. Takes root, mmdebstrap and the network, and one or
# two minutes.
#
# Usage: packaging/try.sh [DIR]    DIR has what build.sh made (default: build/packages)
set -eu

fail() {
  echo "try.sh: $*" >&2
  exit 1
}

step() {
  echo "== $*"
}

# Every package again with a lower version, to upgrade from. Arguments: FROM TO
make_older() {
  mkdir -p "$2"
  for package in "$1"/*.deb; do
    new=$(dpkg-deb -f "$package" Version)
    dpkg-deb -R "$package" /tmp/older
    sed -i "s/$new/0~older/g" /tmp/older/DEBIAN/control
    dpkg-deb -b /tmp/older "$2/$(basename "$package")" >/dev/null
    rm -rf /tmp/older
  done
}

of_gconv() {
  find / -xdev -name '*gconv*' ! -path '/proc/*' ! -path '/tmp/*' ! -path '/var/cache/*' | sort
}

# Arguments: PROGRAM FORMAT...
use_formats() {
  program=$1
  shift
  "$program" --version
  "$program" edges --verify harbour.jpg edges.png
  for format in png jpg tif webp jxl ppm npy bmp "$@"; do
    "$program" filter -k gauss5 harbour.jpg "soft.$format"
    "$program" edges "soft.$format" edges.pbm
  done
}

use_tarballs() {
  for folder in gconv-*-linux-*; do
    [ -e "$folder" ] || return 0
    step "$folder, moved"
    mv "$folder" "/opt/moved $folder"
    use_formats "/opt/moved $folder/bin/gconv"
    "/opt/moved $folder/bin/gconv" bench --sizes 32 --filters 3 --impl cpu --time 0.05
    rm -r "/opt/moved $folder"
  done
}

# A wheel brings its own program and libraries: nothing of the system but Python and numpy.
use_wheels() {
  [ -n "$(find . -maxdepth 1 -name 'gconv-*.whl')" ] || return 0
  step "wheels, Python with numpy"
  apt-get install -q -y --no-install-recommends python3-venv python3-numpy >/dev/null
  python3 -m venv --system-site-packages /opt/environment
  /opt/environment/bin/pip -q install --no-index --no-deps ./*.whl
  /opt/environment/bin/gconv edges --verify harbour.jpg edges.png
  [ ! -e "$(find . -maxdepth 1 -name 'gconv_cuda-*.whl')" ] || /opt/environment/bin/gconv info |
    grep -v 'there is no CUDA module' | grep -q '^  cuda ' ||
    fail "the wheel does not find its CUDA module"
  blur_in_python /opt/environment/bin/python3
  rm -r /opt/environment
}

# Arguments: PYTHON
blur_in_python() {
  "$1" -c 'import gconv, numpy
image = numpy.full((40, 50), 100, numpy.uint8)
assert (gconv.gaussian_filter(image, 2) == image).all(), "a blur changed a plain image"'
}

use_program() {
  step "gconv on every format"
  use_formats gconv avif heic
  man=$(find /usr/share/man -name 'gconv*' | wc -l)
  [ "$man" -eq 3 ] || fail "there are $man pages of the manual, not 3"
  [ -e /usr/share/doc/gconv/html/manual/gconv.1.html ] || fail "gconv-doc has no manual in HTML"
}

use_laboratory() {
  step "gconv bench, gconv-mpi"
  gconv bench --sizes 32 --filters 3 --impl cpu --time 0.05
  mpirun --allow-run-as-root --oversubscribe -n 2 gconv-mpi edges -o many harbour.jpg soft.png
}

use_library() {
  step "a program by pkg-config, shared and static"
  # shellcheck disable=SC2046
  cc -o shared consumer.c $(pkg-config --cflags --libs gconv)
  ldd shared | grep -q 'libgconv\.so' || fail "the program does not use libgconv.so"
  ./shared
  # shellcheck disable=SC2046
  cc -o static consumer.c $(pkg-config --static --cflags --libs gconv |
    sed 's/ -lgconv/ -l:libgconv.a/')
  ./static
}

use_python() {
  [ -e "$(find /tmp/try/new -name 'python3-gconv_*.deb')" ] || return 0
  step "Python with numpy"
  apt-get install -q -y --no-install-recommends python3-numpy >/dev/null
  blur_in_python python3
}

# What runs in the root.
inside() {
  export DEBIAN_FRONTEND=noninteractive
  cd /tmp/try
  use_tarballs
  apt-get -q update >/dev/null
  use_wheels
  make_older new old
  apt-get install -q -y --no-install-recommends gcc libc6-dev pkg-config >/dev/null
  of_gconv >before # glibc has a header and a folder of that name
  step "install"
  { apt-get install -q -y -o APT::Install-Recommends=true ./old/gconv_*.deb &&
    apt-get install -q -y ./old/*.deb openmpi-bin; } >install.log 2>&1 ||
    { cat install.log && fail "cannot install"; }
  step "upgrade"
  apt-get install -q -y ./new/*.deb >install.log 2>&1 ||
    { cat install.log && fail "cannot upgrade"; }
  new=$(dpkg-deb -f "$(find new -name 'gconv_*.deb')" Version)
  [ "$(dpkg-query -f '${Version}' -W gconv)" = "$new" ] || fail "gconv was not upgraded"
  use_program
  use_laboratory
  use_library
  use_python
  step "purge"
  names=$(for package in new/*.deb; do dpkg-deb -f "$package" Package; done)
  # shellcheck disable=SC2086
  apt-get purge -q -y $names >/dev/null
  of_gconv | cmp - before || fail "purging leaves files, or takes those of others"
  step "well"
}

if [ "${1:-}" = --inside ]; then
  inside
  exit
fi
top=$(cd "$(dirname "$0")/.." && pwd)
packages=$(cd "${1:-$top/build/packages}" && pwd)
[ -n "$(find "$packages" -maxdepth 1 -name '*.deb')" ] || fail "no packages in $packages"
mmdebstrap --mode=root --variant=minbase --format=null \
  --customize-hook="mkdir -p \"\$1/tmp/try/new\" && cp \"$packages\"/*.deb \"\$1/tmp/try/new\" &&
    rm -f \"\$1\"/tmp/try/new/*-dbgsym_*" \
  --customize-hook="find \"$packages\" -maxdepth 1 -name 'gconv-*-linux-*.tar.xz' \
    -exec tar -x -C \"\$1/tmp/try\" -f {} ';'" \
  --customize-hook="find \"$packages\" -maxdepth 1 -name '*.whl' \
    -exec cp -t \"\$1/tmp/try\" {} +" \
  --customize-hook="cp \"$top/packaging/try.sh\" \"$top/samples/harbour.jpg\" \
    \"$top/tests/packaging/consumer/consumer.c\" \"\$1/tmp/try\"" \
  --customize-hook="env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    chroot \"\$1\" sh /tmp/try/try.sh --inside" "${SUITE:-bookworm}" /dev/null
