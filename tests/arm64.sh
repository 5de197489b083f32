#!/bin/sh
# Builds gconv for 64-bit ARM with a cross compiler (in build/arm64), runs unit tests and
# `gconv_check --quick` in an emulator, and compares files: those that gconv writes there have to be,
# byte for byte, those of a native build (build/host-only). It measures no times. It takes 4 minutes
# of a processor to build and 10 more, and is no part of the suite. Debian's packages are
# gcc-aarch64-linux-gnu and qemu-user-static.
#
#     tests/arm64.sh [--no-build]
#     tests/arm64.sh --count PIXELS edges a.pgm b.pbm   # instructions a pixel, of gconv and of its functions
#
# Environment: ARM64_ROOT, a root of Debian for arm64 that has libpng-dev, libjpeg62-turbo-dev,
# libxxhash-dev and libcmocka-dev, with what these need. Without it apt-get fetches those packages for
# build/arm64-root; nothing is installed.
#
# Ends with 1 at the first difference, and with 77 if compiler or emulator is missing.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/build/arm64
native=$PWD/build/host-only
root=${ARM64_ROOT:-$PWD/build/arm64-root}
case ${1-} in
'' | --no-build | --count) ;;
*)
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  [ "$1" = --help ] && exit || exit 2
  ;;
esac
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static; do
  command -v $tool >/dev/null || { echo "arm64: $tool is missing" && exit 77; }
done

emulated() { qemu-aarch64-static -L "$root" "$@"; }

# The log has the instructions of each block of code once, and a line each time that a block is run.
if [ "${1-}" = --count ]; then
  pixels=$2
  shift 2
  QEMU_LOG=in_asm,exec,nochain emulated "$build/gconv" "$@" -j 1 2>&1 >/dev/null | awk -v pixels="$pixels" '
    /^IN:/ { begins = 1 }
    /^0x/ { if (begins) { block = substr($1, 3, length($1) - 3); size[block] = 0; begins = 0 } size[block]++ }
    /^Trace/ {
      split($0, part, "/")
      block = part[2]
      sub(/^0+/, "", block)
      count = size[block]
      all += count
      sub(/.*\] */, "")
      of[$0 == "" ? "(libraries)" : $0] += count
    }
    END {
      printf "%.2f\n", all / pixels
      for (name in of)
        if (of[name] >= pixels / 20)
          printf "  %.2f %s\n", of[name] / pixels, name | "sort -rn"
    }'
  exit
fi

# Lists of packages of its own, so that the system has none of arm64.
fetch_root() {
  mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial"
  cat >"$root/apt/conf" <<END
Dir::State "$root/apt";
Dir::State::status "/dev/null";
Dir::Cache "$root/apt";
APT::Architecture "arm64";
APT::Architectures {"arm64";};
END
  export APT_CONFIG="$root/apt/conf"
  apt-get -q update
  (cd "$root/apt" && apt-get -q download libc6 libc6-dev linux-libc-dev libgcc-s1 zlib1g zlib1g-dev \
    libpng16-16 libpng-dev libjpeg62-turbo libjpeg62-turbo-dev libxxhash-dev libcmocka0 libcmocka-dev)
  for package in "$root"/apt/*.deb; do dpkg -x "$package" "$root"; done
}

if [ "${1-}" != --no-build ]; then
  [ -e "$root/usr/lib/aarch64-linux-gnu/libc.so" ] || fetch_root
  cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DGCONV_CUDA=OFF -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_SYSROOT="$root" \
    -DCMAKE_FIND_ROOT_PATH="$root" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
    -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
    "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64-static;-L;$root" >/dev/null
  cmake --preset host-only >/dev/null
  cmake --build "$build" --parallel "$(getconf _NPROCESSORS_ONLN)"
  cmake --build "$native" --parallel "$(getconf _NPROCESSORS_ONLN)" --target gconv make_image
fi

# Tests of what is in vectors, and of what uses it. The others take long in an emulator, or measure it.
(cd "$build" && ctest --output-on-failure -R \
  '^unit_(bits|detector|edges|finish|once|pack|png_pack|rank1_bytes|samples|tiles|transforms)$')
emulated "$build/tests/gconv_check" --each-set --quick

# ---- Files -----------------------------------------------------------------------------------------

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"
make_image() { "$native/tests/make_image" make "$@" noise; }
make_image pgm grey.pgm 301 200
make_image ppm colour.ppm 203 157
make_image png:rgba alpha.png 203 157
make_image png:grey:16 deep.png 190 150
make_image jpeg:ycc photo.jpg 320 240
inputs='grey.pgm colour.ppm alpha.png deep.png photo.jpg'
count=0

fail() {
  echo "arm64: gconv $*"
  cat message
  exit 1
}

# The job of these arguments, from each input to a file of this format. Results have to be exact or
# rounded once: others may differ within their bound.
compare() {
  format=$1
  shift
  for input in $inputs; do
    "$native/gconv" "$@" "$input" "native.$format" 2>message || fail "$* $input: failed"
    for set in neon portable; do
      GCONV_INSTRUCTIONS=$set emulated "$build/gconv" "$@" "$input" "arm64.$format" 2>message ||
        fail "$* $input: failed with $set"
      cmp "native.$format" "arm64.$format" >message || fail "$* $input: other bytes with $set"
      count=$((count + 1))
    done
  done
}

for kernel in gauss5 box3 box:15 laplace3 sobel-x gaussian:0.8 gaussian:1 gaussian:1.5 gaussian:2; do
  compare png filter -k $kernel
  compare png filter -k $kernel --abs -j 3
done
compare png filter -k gaussian:1 --border wrap --scale 0.7 --offset 20
compare png filter -k gaussian:1 --border replicate --scale -1.3 --offset 255
compare png filter -k gauss5 --scale 1.1
compare png filter -k gauss5 -k laplace3 --abs
compare npy filter -k gauss5
for border in mirror replicate; do
  compare pgm edges --border $border
  compare pbm edges --border $border -j 3
done
compare pbm edges --method canny
compare pbm edges --method canny --norm l2
compare pbm edges --method zero-crossing
inputs='grey.pgm photo.jpg'
compare png filter -k gaussian:5 --exact
compare pbm edges --method canny --like opencv
compare pbm edges --method canny --like opencv --norm l2
echo "$count files are the same"
