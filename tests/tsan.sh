#!/bin/sh
# Builds with ThreadSanitizer (the preset `tsan`, in build/tsan) and runs what uses several threads: unit
# tests of the threads and of plans, the harness on `cpu`, streamed images with -j 4, batches, progress,
# compare. It takes one to two minutes of a processor, and half a minute more to build; it is no part of
# the suite.
#
#     tests/tsan.sh [--no-build]
#
# Ends with 1 at the first report of a race, and with 77 where ThreadSanitizer cannot run.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/build/tsan
case ${1-} in
'' | --no-build) ;;
*)
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  [ "$1" = --help ] && exit || exit 2
  ;;
esac
if [ "${1-}" != --no-build ]; then
  cmake --preset tsan >/dev/null
  cmake --build --preset tsan --parallel "$(getconf _NPROCESSORS_ONLN)" --target gconv make_image gconv_check unit_threads unit_plan_run \
    unit_dispatcher unit_several unit_processors
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

for test in threads plan_run dispatcher several processors; do
  run "$build/tests/unit_$test"
done
run "$build/tests/gconv_check" --impl cpu --cases 30

cd "$work"
make_image() { "$build/tests/make_image" make "$@" noise; }
make_image pgm tall.pgm 200 4000
make_image ppm wide.ppm 2000 200
make_image png:rgba alpha.png 400 300
make_image jpeg:ycc photo.jpg 640 480
make_image png:rgb:16 deep.png 300 200
for input in tall.pgm wide.ppm alpha.png photo.jpg deep.png; do
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
