#!/bin/sh
# Builds with ThreadSanitizer (the preset `tsan`, in build/tsan) and runs what uses several threads: unit
# tests of the threads and of plans, the harness on `cpu`, streamed images with -j 4, batches, progress,
# compare. If there is nvcc, it does the same with gconv_double (build/tsan-double): batches on a
# pretended GPU. It takes two to three minutes of a processor, and half a minute more to build, or some
# minutes with nvcc; it is no part of the suite.
#
#     tests/tsan.sh [--no-build]
#
# Environment: CUDACXX (nvcc).
#
# Ends with 1 at the first report of a race, and with 77 if ThreadSanitizer cannot run.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/build/tsan
double=$PWD/build/tsan-double
nvcc=$(command -v "${CUDACXX:-nvcc}" || true)
case ${1-} in
'' | --no-build) ;;
*)
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  [ "$1" = --help ] && exit || exit 2
  ;;
esac

# Kernels are compiled no further than to PTX: no GPU will run them.
build_double() {
  CUDACXX=$nvcc cmake -S . -B "$double" -DCMAKE_BUILD_TYPE=Debug -DGCONV_SANITIZE=THREAD -DGCONV_CUDA=ON \
    -DCMAKE_CUDA_ARCHITECTURES=90-virtual -DCMAKE_C_FLAGS_DEBUG='-O1 -g' -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g' \
    -DCMAKE_CUDA_FLAGS_DEBUG='-O1 -g' -DCMAKE_C_FLAGS=-fsanitize=thread -DCMAKE_CXX_FLAGS=-fsanitize=thread \
    -DCMAKE_CUDA_FLAGS=-Xcompiler=-fsanitize=thread -DCMAKE_EXE_LINKER_FLAGS=-fsanitize=thread \
    -DCMAKE_SHARED_LINKER_FLAGS=-fsanitize=thread >/dev/null
  cmake --build "$double" --parallel "$(getconf _NPROCESSORS_ONLN)" --target gconv_double double_decode make_image
}

if [ "${1-}" != --no-build ]; then
  cmake --preset tsan >/dev/null
  cmake --build --preset tsan --parallel "$(getconf _NPROCESSORS_ONLN)" --target gconv make_image gconv_check unit_threads unit_plan_run \
    unit_dispatcher unit_borrowers unit_rows unit_several unit_processors unit_jpeg_rows unit_png_pack unit_png_stream
  [ -z "$nvcc" ] || build_double
fi
TSAN_OPTIONS="halt_on_error=1 exitcode=66 second_deadlock_stack=1 suppressions=$PWD/tests/tsan.supp"
export TSAN_OPTIONS
# Older ThreadSanitizers know only some places where the kernel puts things.
fixed=
if ! "$build/gconv" --version >/dev/null 2>&1; then
  fixed='setarch -R'
  $fixed "$build/gconv" --version >/dev/null || exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

run() {
  printf '%s\n' "$*"
  # shellcheck disable=SC2086
  $fixed "$@" >"$work/log" 2>&1 || {
    status=$?
    tail -n 60 "$work/log"
    exit $((status == 66 ? 1 : status))
  }
}

for test in threads plan_run dispatcher borrowers rows several processors jpeg_rows png_pack png_stream; do
  run "$build/tests/unit_$test"
done
run "$build/tests/gconv_check" --impl cpu --cases 30

cd "$work"
make_image() { "$build/tests/make_image" make "$@" noise; }
make_image pgm tall.pgm 200 4000
make_image ppm wide.ppm 2000 200
make_image png:rgba alpha.png 400 300
make_image jpeg:ycc photo.jpg 640 480
make_image jpeg:ycc large.jpg 900 700
make_image png:rgb:16 deep.png 300 200
make_image png:rgb many-blocks.png 900 700
for input in tall.pgm wide.ppm alpha.png photo.jpg large.jpg deep.png many-blocks.png; do
  run "$build/gconv" edges -j 4 --progress always "$input" edges.png
  run "$build/gconv" filter -k box:9 -j 4 --progress always "$input" box.png
done
run "$build/gconv" filter -k gaussian:1 -k sobel-x --abs -j 4 --verify --progress always deep.png chain.png
run "$build/gconv" filter -k log:12 -j 4 tall.pgm transforms.pfm
run "$build/gconv" filter -k box3 --compression 9 -j 4 photo.jpg small.png
for round in 1 2; do
  run "$build/gconv" edges -j 4 -v --json --progress always -o "edges$round" ./*.pgm ./*.ppm ./*.jpg alpha.png
  run "$build/gconv" filter -k gauss5 -j 8 --timings --progress always -o "smooth$round" ./*.pgm ./*.ppm ./*.jpg
done
run "$build/gconv" compare -j 4 -i reference,cpu --time 0.05 --progress always photo.jpg
run "$build/gconv" compare -j 8 -i cpu -k gaussian:1 --time 0.05 --progress always photo.jpg

# ---- On a pretended GPU ----------------------------------------------------------------------------

gconv_double=$double/tests/double/gconv_double
[ -x "$gconv_double" ] || { echo 'no gconv_double: nothing was run on a pretended GPU' && exit; }
XDG_CACHE_HOME=$work/cache
GC_DOUBLE_LOG=$work/calls
export XDG_CACHE_HOME GC_DOUBLE_LOG
make_image pgm tall.pgm 50 300
for i in 1 2 3 4 5 6; do
  make_image jpeg:ycc:quality=90 "photo$i.jpg" 90 60
  make_image "jpeg:ycc:sampling=21:exif=$i" "turned$i.jpg" $((30 + i)) 40
  make_image jpeg:grey "grey$i.jpg" 50 $((20 + i))
  make_image png:rgba "alpha$i.png" $((40 + i)) 30
done
set -- -j 6 --progress always photo[1-6].jpg turned?.jpg grey?.jpg alpha?.png tall.pgm
run "$double/tests/double/double_decode" --failing
run "$gconv_double" edges --decoder cuda -o out "$@"
run "$gconv_double" filter -k box3 --decoder cuda -v -o out "$@"
for device in auto cuda; do
  run "$gconv_double" filter -k box3 --device $device -o out "$@"
done
export GC_DOUBLE_DEVICES=2
run "$gconv_double" edges --decoder cuda -o out "$@"
run "$gconv_double" filter -k gaussian:1 --device cuda:all --timings -o out "$@"

# A device fails when a part of its calls is done.
GC_DOUBLE_FAIL_DEVICE=0
export GC_DOUBLE_FAIL_DEVICE GC_DOUBLE_FAIL
for part in 1 3 5; do
  for way in '--decoder cuda' '--device cuda:all' '--device auto'; do
    GC_DOUBLE_FAIL=
    rm "$GC_DOUBLE_LOG"
    # shellcheck disable=SC2086
    run "$gconv_double" edges $way -o out "$@"
    GC_DOUBLE_FAIL=$(($(grep -c ' 0$' "$GC_DOUBLE_LOG") * part / 6)):once:719
    # shellcheck disable=SC2086
    run "$gconv_double" edges $way -o out "$@"
  done
done
export GC_DOUBLE_DEVICES=1 GC_DOUBLE_FAIL=200:once:719
run "$gconv_double" edges --device auto -o out "$@"
