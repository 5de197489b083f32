#!/bin/sh
# Makes everything that a release consists of, from a tag, and refuses if a test fails or a page is
# stale. It publishes nothing. Takes root, mmdebstrap and the network: packages are built in clean
# roots, wheels on this machine, twice, and have to be the same bytes both times. With a CUDA toolkit
# the parts for GPUs are among them, with buildah images of containers.
#
# Usage: packaging/release.sh [-n] TAG [DIR]
#        -n    without the test suite, which .ci/run has run for this commit already
# TAG is v and the version; DIR is where the release goes (default: build/release-TAG).
# GCONV_URL is the address of the project; without it there are no recipes.
set -eu
tests=yes
if [ "${1:-}" = -n ]; then
  tests=
  shift
fi
[ $# -eq 1 ] || [ $# -eq 2 ] || { sed -n 's/^# Usage: /Usage: /p' "$0" >&2 && exit 2; }
tag=$1
top=$(cd "$(dirname "$0")/.." && pwd)
out=${2:-$top/build/release-$tag}

fail() {
  echo "release.sh: $*" >&2
  exit 1
}

# Arguments: LOG COMPLAINT COMMAND...
run() {
  log=$work/$1.log
  complaint=$2
  shift 2
  "$@" >"$log" 2>&1 || { tail -n 40 "$log" && fail "$complaint"; }
}

step() {
  echo "== $(date +%H:%M:%S) $*"
}

commit=$(git -C "$top" rev-parse --verify --quiet "$tag^{commit}") || fail "there is no tag $tag"
[ ! -e "$out" ] || fail "$out is there already"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
git clone -q "$top" "$work/gconv"
git -C "$work/gconv" checkout -q "$commit"
git -C "$work/gconv" tag -f "$tag" "$commit" >/dev/null
cd "$work/gconv"

step "texts"
version=$(sed -n 's/^project(gconv VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ "$tag" = "v$version" ] || fail "tag $tag is of a commit with version $version"
tests/packaging/packages.sh . --release || fail "the texts are not those of a release"
if [ -n "$tests" ]; then
  step "tests, those of the pages among them"
  run tests "a test fails" .ci/run
fi

# Debian packages are made once, with those for GPUs if there is a toolkit. Arguments: DIR
build_all() {
  if [ -e /usr/local/cuda/bin/nvcc ]; then
    packaging/build.sh --clean -o "$1" source rpm tarball html &&
      GCONV_CUDA=ON packaging/build.sh --clean -o "$1" deb tarball &&
      packaging/build.sh -o "$1" wheel wheel-cuda
  else
    packaging/build.sh --clean -o "$1" source deb rpm tarball html &&
      packaging/build.sh -o "$1" wheel
  fi
}

# Of the tarballs that were tried.
build_images() {
  packaging/build.sh -o "$work/first" image &&
    { [ ! -e /usr/local/cuda/bin/nvcc ] ||
      GCONV_CUDA=ON packaging/build.sh -o "$work/first" image; }
}
step "packages"
run first "no packages" build_all "$work/first"
step "packages again"
run second "no packages" build_all "$work/second"
# Those two files say when a package was built.
diff -rq -x '*.buildinfo' -x '*.changes' "$work/first" "$work/second" || {
  mkdir "$out" && mv "$work/first" "$work/second" "$out"
  fail "two builds differ: diffoscope $out/first $out/second"
}
step "packages on a bare machine"
run try "they do not work" packaging/try.sh "$work/first"
if command -v buildah >/dev/null; then
  step "images"
  run images "no images" build_images
fi
[ -z "${GCONV_URL:-}" ] || packaging/build.sh -o "$work/first" recipes
packaging/build.sh -o "$work/first" sums
mv "$work/first" "$out"
step "the release is in $out"
