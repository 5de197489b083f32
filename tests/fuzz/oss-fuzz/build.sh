#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz does: with its compilers, flags and engine, into $OUT. libpng,
# libjpeg-turbo and zlib are those of the image, linked as archives.
#
# By hand, from the top of the tree:
#   flags='-O1 -g -fsanitize=address,undefined,fuzzer-no-link'
#   SRC=/tmp GCONV_SOURCE=$PWD WORK=/tmp/work OUT=/tmp/out CC=clang CXX=clang++ CFLAGS=$flags \
#     CXXFLAGS=$flags LIB_FUZZING_ENGINE=-fsanitize=fuzzer tests/fuzz/oss-fuzz/build.sh
source_directory=${GCONV_SOURCE:-$SRC/gconv}
build_directory=${WORK:-/tmp}/gconv

archive() {
  "$CC" -print-file-name="$1"
}

cmake -S "$source_directory" -B "$build_directory" -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
  -DGCONV_CUDA=OFF -DGCONV_FUZZ=ON -DGCONV_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
  -DPNG_LIBRARY="$(archive libpng.a)" -DZLIB_LIBRARY="$(archive libz.a)" \
  -DJPEG_LIBRARY="$(archive libjpeg.a)"
cmake --build "$build_directory" --target fuzz_targets --parallel "$(nproc)"

mkdir -p "$OUT"
for program in "$build_directory"/tests/fuzz/fuzz_*; do
  [ -f "$program" ] || continue
  target=${program##*/fuzz_}
  cp "$program" "$OUT"
  (cd "$source_directory/tests/fuzz/corpus/$target" && zip -q -r "$OUT/fuzz_${target}_seed_corpus.zip" .)
  dictionary=$source_directory/tests/fuzz/dictionaries/$target.dict
  [ ! -f "$dictionary" ] || cp "$dictionary" "$OUT/fuzz_$target.dict"
done
