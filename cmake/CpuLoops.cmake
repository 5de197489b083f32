# Compiles taps_loops.c, detector_loops.c, and the loops of src/cpu/fast, src/io/png/fast and src/io/jpeg/fast, once for
# every instruction set. Without fast paths there are the portable ones of the first two alone.
#
# Only sums of products in taps_loops.c and transform_loops.c may be contracted to fused
# multiply-adds. If rule 3 demands exact results, the sums of taps_loops.c are exact, and
# transforms are rounded to them. If a result is rounded once, the errors of sums and levels hold
# with both, and what they leave in doubt is settled: on x86-64 the portable set is not contracted,
# the others are, and tests want the same samples of all. Elsewhere both are within the bound of
# rule 4. For all other sources -ffp-contract=off of gconv_settings forbids contraction. Options of
# a source come after those of the target on the command line, so they win.

include(CheckCCompilerFlag)
set(loop_objects "")

# Loops that are unrolled in full take a sanitizing compiler minutes, so there they are optimised
# less, and what is inlined anew for each usual height is left to the compiler. The reference is
# optimised more than the rest: tests spend most of their time in it.
set(loop_level -O3)
if(GCONV_SANITIZE)
  set(loop_level -O1)
  set(taps_options -fno-sanitize=undefined) # twice as slow with both sanitizers
  set_source_files_properties(src/cpu/reference.c PROPERTIES
    COMPILE_OPTIONS "-O3;-fno-sanitize=pointer-overflow") # which costs as much as all else
endif()

# Fuzz targets run many jobs: there only AddressSanitizer watches these loops.
# UndefinedBehaviorSanitizer makes them slow, and clang takes a minute for a file.
if(GCONV_FUZZ)
  set(loop_options -fno-sanitize=undefined,fuzzer-no-link)
endif()
set_source_files_properties(src/cpu/edges/detector_loops.c src/cpu/fast/loops/box_loops.c
  src/cpu/fast/loops/edges_loops.c
  src/cpu/fast/loops/rank1_bytes_loops.c src/cpu/fast/loops/samples_loops.c
  PROPERTIES COMPILE_OPTIONS "${loop_options}")
if(GCONV_SANITIZE)
  set_property(SOURCE src/cpu/fast/loops/rank1_bytes_loops.c APPEND PROPERTY COMPILE_OPTIONS
    "-DINLINE=static inline")
endif()
set_source_files_properties(src/cpu/instructions/taps_loops.c src/cpu/fast/loops/transform_loops.c
  PROPERTIES COMPILE_OPTIONS "-ffp-contract=fast;${loop_options}")
# For ARM, gcc moves instructions before it assigns registers: all taps of an input row are then loaded
# at once, and 3 of the 24 sums go through memory.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$" AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  list(APPEND taps_options -fno-schedule-insns)
endif()
# Where a loop begins in memory is worth up to 3 % of the time of its filter, and would change with
# any edit.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  list(APPEND taps_options -falign-loops=64)
endif()
set_property(SOURCE src/cpu/instructions/taps_loops.c APPEND PROPERTY COMPILE_OPTIONS ${taps_options})

function(gconv_add_loops name)
  add_library(loops_${name} OBJECT src/cpu/instructions/taps_loops.c
    src/cpu/edges/detector_loops.c)
  set(targets loops_${name})
  if(GCONV_FAST)
    target_sources(loops_${name} PRIVATE src/cpu/fast/loops/box_loops.c
      src/cpu/fast/loops/edges_loops.c src/cpu/fast/loops/rank1_bytes_loops.c
      src/cpu/fast/loops/samples_loops.c src/cpu/fast/loops/transform_loops.c)
    add_library(loops_${name}_double OBJECT src/cpu/fast/loops/transform_loops.c)
    target_compile_definitions(loops_${name}_double PRIVATE
      GC_TRANSFORM_LOOPS=gc_transform_double_${name} GC_TRANSFORM_REAL=double)
    list(APPEND targets loops_${name}_double)
  endif()
  target_compile_definitions(loops_${name} PRIVATE
    GC_BOX_LOOPS=gc_box_${name} GC_DETECTOR_LOOPS=gc_detector_${name} GC_EDGES_LOOPS=gc_edges_${name}
    GC_RANK1_LOOPS=gc_rank1_${name} GC_TAPS_LOOPS=gc_taps_${name}
    GC_SAMPLES_LOOPS=gc_samples_${name}
    GC_TRANSFORM_LOOPS=gc_transform_${name} GC_TRANSFORM_REAL=float)
  foreach(target IN LISTS targets)
    target_link_libraries(${target} PRIVATE gconv_settings)
    # gconv does not read the flags of floating-point exceptions. With -fno-trapping-math gcc makes
    # vectors of loops that hold conditions. Results do not change.
    target_compile_options(${target} PRIVATE ${loop_level} -Wno-psabi -fno-trapping-math ${ARGN})
    list(APPEND loop_objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(loop_objects ${loop_objects} PARENT_SCOPE)
endfunction()

# Loops over the bytes of a PNG: src/io/png/fast/loops.c chooses among them.
function(gconv_add_pack_loops name)
  add_library(pack_${name} OBJECT src/io/png/fast/literal_loops.c src/io/png/fast/pack_loops.c
    src/io/png/fast/run_loops.c src/io/png/fast/unfilter_loops.c)
  target_link_libraries(pack_${name} PRIVATE gconv_settings)
  target_compile_definitions(pack_${name} PRIVATE GC_PACK_LOOPS=gc_pack_${name})
  target_compile_options(pack_${name} PRIVATE ${loop_level} ${ARGN})
  list(APPEND loop_objects $<TARGET_OBJECTS:pack_${name}>)
  set(loop_objects ${loop_objects} PARENT_SCOPE)
endfunction()

gconv_add_loops(portable)
set(GCONV_HAS_X86_LOOPS OFF)
set(GCONV_HAS_NEON_LOOPS OFF)
if(NOT GCONV_FAST)
  return()
endif()
gconv_add_pack_loops(portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(avx2 -mavx2 -mfma)
  set(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
  check_c_compiler_flag(
    "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mprefer-vector-width=512"
    GCONV_COMPILES_AVX512)
  if(GCONV_COMPILES_AVX512)
    set(GCONV_HAS_X86_LOOPS ON)
    gconv_add_loops(avx2 ${avx2})
    gconv_add_pack_loops(avx2 ${avx2} -mbmi -mbmi2)
    target_sources(loops_avx2 PRIVATE src/cpu/edges/bytes_loops.c)
    target_compile_definitions(loops_avx2 PRIVATE GC_EDGE_BYTES_LOOPS=gc_edge_bytes_avx2)
    gconv_add_loops(avx512 ${avx512})
    # Decoding JPEG: AVX2 and BMI2; the inverse DCT for AVX-512, too.
    foreach(name blocks lanes rows stretch traces)
      list(APPEND library_sources src/io/jpeg/fast/${name}.c)
    endforeach()
    foreach(name avx2 avx512)
      add_library(islow_${name} OBJECT src/io/jpeg/fast/islow_loops.c)
      target_link_libraries(islow_${name} PRIVATE gconv_settings)
      target_compile_definitions(islow_${name} PRIVATE GC_ISLOW=gc_islow_${name})
      target_compile_options(islow_${name} PRIVATE ${loop_level} ${${name}})
      list(APPEND loop_objects $<TARGET_OBJECTS:islow_${name}>)
    endforeach()
    # avx512vnni adds products of bytes and of words; all else it has from avx512.
    add_library(loops_avx512vnni OBJECT src/cpu/fast/loops/rank1_bytes_loops.c
      src/cpu/instructions/taps_loops.c)
    target_link_libraries(loops_avx512vnni PRIVATE gconv_settings)
    target_compile_definitions(loops_avx512vnni PRIVATE
      GC_BYTES_LOOPS=gc_bytes_avx512vnni GC_RANK1_LOOPS=gc_rank1_avx512vnni)
    target_compile_options(loops_avx512vnni PRIVATE ${loop_level} -Wno-psabi ${avx512} -mavx512vnni)
    list(APPEND loop_objects $<TARGET_OBJECTS:loops_avx512vnni>)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$") # all else it has from portable
  set(GCONV_HAS_NEON_LOOPS ON)
  add_library(loops_neon OBJECT src/cpu/edges/bytes_loops.c
    src/cpu/fast/loops/rank1_bytes_loops.c)
  target_link_libraries(loops_neon PRIVATE gconv_settings)
  target_compile_definitions(loops_neon PRIVATE GC_NEON
    GC_EDGE_BYTES_LOOPS=gc_edge_bytes_neon GC_RANK1_LOOPS=gc_rank1_neon)
  target_compile_options(loops_neon PRIVATE ${loop_level})
  list(APPEND loop_objects $<TARGET_OBJECTS:loops_neon>)
endif()
