#!/usr/bin/env bash
# Lines of the readers and of the parsers of filters that the unit tests and the replayed corpora
# reach together, by clang's source coverage. Exits with 1 below 95 %. Behind each file stand the
# lines that are not reached.
#
# Usage: coverage.sh
set -euo pipefail

if [ $# -gt 0 ]; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  [ "$1" = --help ] && exit || exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/coverage
goal=95
files='src/io/(bmp/reader|exif|format|grey|input|jpeg/reader|metadata|orient|npy/reader|png/reader|pnm/header|pnm/reader|pnm/text|reader|y4m/reader)|src/filter/.*|src/base/number'

# Tests that read images and filters; others reach no more of these files.
tests='^(unit_(exif|files|round_trips|png_kinds|jpeg_kinds|pnm|orientation|metadata|kept_exif|several|verdicts|damage|output|filter_.*|number|plan_.*)|fuzz_.*)$'

cd "$root"
flags='-fprofile-instr-generate -fcoverage-mapping'
# Row kernels are not asked about: only the portable ones are built.
cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DGCONV_CUDA=OFF -DGCONV_COMPILES_AVX512=OFF -DCMAKE_BUILD_TYPE=Debug \
  "-DCMAKE_C_FLAGS_DEBUG=-O1 -g $flags" >/dev/null
programs=$(ctest --test-dir "$build" -N -R "$tests" | sed -n 's/.*: \(unit\|fuzz\)_/\1_/p' |
  sed 's/^fuzz_/replay_/')
for program in $programs; do
  cmake --build "$build" --target "$program" >/dev/null
done
rm -rf "$build/profiles"
LLVM_PROFILE_FILE="$build/profiles/%p.profraw" ctest --test-dir "$build" -R "$tests" --output-on-failure |
  tail -3
llvm-profdata merge -o "$build/all.profdata" "$build/profiles/"*.profraw
set -- --instr-profile="$build/all.profdata"
first=yes
for program in $programs; do
  path=$(find "$build/tests" -name "$program" -type f)
  [ -n "$first" ] || set -- "$@" --object
  first=
  set -- "$@" "$path"
done
llvm-cov export --format=lcov --skip-functions "$@" >"$build/all.lcov"
awk -v goal=$goal -v files="/($files)\\.c\$" '
  /^SF:/ { file = $0 ~ files ? $0 : ""; sub(/.*\/src\//, "src/", file) }
  /^DA:/ && file != "" {
    split(substr($0, 4), at, ",")
    lines[file]++; all++
    if (at[2] > 0) { reached[file]++; all_reached++ } else missed[file] = missed[file] " " at[1]
  }
  END {
    for (file in lines)
      printf "%-32s %4d of %4d  %5.1f %% %s\n", file, reached[file], lines[file],
        100 * reached[file] / lines[file], missed[file] | "sort"
    close("sort")
    printf "%-32s %4d of %4d  %5.1f %%\n", "all", all_reached, all, 100 * all_reached / all
    exit 100 * all_reached < goal * all
  }' "$build/all.lcov"
