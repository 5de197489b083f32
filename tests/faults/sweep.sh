#!/bin/sh
# Every call of every scenario fails, once and from then on: 9800 runs, which take half a minute
# of two processors, and four minutes under the sanitizers.
#
#     tests/faults/sweep.sh [BUILD_DIR [OPTIONS]]
#
# OPTIONS are those of sweep.c. Ends with 1 where a run was wrong, after a line for each: the
# scenario, the fault, and what was wrong. To repeat one of them alone:
#
#     tests/faults/sweep.sh build --fault memory:fail:12 edges
set -eu
cd "$(dirname "$0")/../.."
case ${1-} in
-*)
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  [ "$1" = --help ] && exit || exit 2
  ;;
esac
build=${1:-build}
if ! [ -x "$build/tests/gconv_sweep" ]; then
  echo "sweep.sh: no tests in $build; build with them: cmake --preset host-only && cmake --build --preset host-only" >&2
  exit 2
fi
[ $# -eq 0 ] || shift
sweep() {
  "$build/tests/gconv_sweep" "$build/gconv" "$build/tests/libgconv_faults.so" \
    "$build/tests/make_image" "$@"
}
case " $* " in
*' --fault '* | *' --list '*)
  sweep "$@"
  exit
  ;;
esac
processors=$(getconf _NPROCESSORS_ONLN)
sweep --list | sed 's/:.*//' | xargs -n 1 -P "$processors" "$build/tests/gconv_sweep" \
  "$build/gconv" "$build/tests/libgconv_faults.so" "$build/tests/make_image" "$@"
