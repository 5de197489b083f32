# The CUDA module, libgconv-cuda.so, which libgconv loads (src/gpu/module.h). What needs no CUDA,
# gconv_gpu_host, is a static library of its own, which unit tests link.

include(cmake/Places.cmake)

# ---- What the library and the module must agree on -----------------------------------------------

# GC_INTERFACE is a hash of all headers whose types the module and the library may share.
file(GLOB_RECURSE shared_headers CONFIGURE_DEPENDS include/*.h src/base/*.h src/core/*.h
  src/filter/*.h src/gpu/*.h src/io/*.h)
set(interface ${CMAKE_CURRENT_BINARY_DIR}/interface.h)
add_custom_command(OUTPUT ${interface}
  COMMAND ${CMAKE_COMMAND} "-DHEADERS=${shared_headers}" -DFAST=$<BOOL:${GCONV_FAST}>
    -DOUTPUT=${interface} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/Interface.cmake
  DEPENDS ${shared_headers} cmake/Interface.cmake
  VERBATIM)
add_custom_target(gconv_interface DEPENDS ${interface})
add_dependencies(gconv_objects gconv_interface)
set_property(SOURCE src/gpu/load.c PROPERTY INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR})
set_property(SOURCE src/gpu/load.c APPEND PROPERTY COMPILE_DEFINITIONS
  GC_MODULE_BESIDE="${module_folder}/libgconv-cuda.so"
  GC_PROGRAM_TO_MODULE="${module_from_program}/libgconv-cuda.so"
  GC_PROGRAM_PLACE="${program_folder}"
  GC_LAB_TO_MODULE="${module_from_lab}/libgconv-cuda.so" GC_LAB_PLACE="/${lab}")

# ---- Its host code -------------------------------------------------------------------------------

if(GCONV_FAST)
  add_library(gconv_gpu_host STATIC EXCLUDE_FROM_ALL
    src/gpu/jpeg/pack.c
    src/gpu/methods/fft/transforms.c
    src/gpu/methods/tensor/halves.c
    src/gpu/methods/tilefft/tiles.c
    src/gpu/pass/error.c
    src/gpu/pass/finish.c
    src/gpu/plan/bands.c)
  target_link_libraries(gconv_gpu_host PRIVATE gconv_settings)
endif()
if(NOT GCONV_HAS_CUDA)
  return()
endif()

# ---- What needs CUDA -----------------------------------------------------------------------------

set(kernel_sources ${CMAKE_CURRENT_BINARY_DIR}/gc_source_kernels.c
  ${CMAKE_CURRENT_BINARY_DIR}/gc_source_compiled.c
  ${CMAKE_CURRENT_BINARY_DIR}/gc_source_tile.c ${CMAKE_CURRENT_BINARY_DIR}/gc_source_lecture.c)
list(GET kernel_sources 0 kernels_source)
list(GET kernel_sources 1 compiled_source)
list(GET kernel_sources 2 tile_source)
list(GET kernel_sources 3 lecture_source)
gconv_embed_text(${kernels_source} gc_source_kernels src/gpu/pass/types.h src/gpu/pass/once.cuh
  src/gpu/pass/samples.cuh src/gpu/pass/finish.cuh src/gpu/pass/settle.cuh
  src/gpu/pass/pass.cuh src/gpu/methods/direct/warp.cuh src/gpu/pass/block.cuh
  src/gpu/methods/separable/products.cuh src/gpu/methods/fused/pair.cuh)
gconv_embed_text(${compiled_source} gc_source_compiled src/gpu/methods/compiled.cuh)
gconv_embed_text(${tile_source} gc_source_tile src/gpu/plan/step_types.cuh
  src/gpu/methods/ladder/tile_kernel.cuh src/gpu/methods/ladder/tile_entry.cuh)
gconv_embed_text(${lecture_source} gc_source_lecture src/gpu/plan/step_types.cuh
  src/gpu/methods/ladder/lecture_kernel.cuh)
# Every method lies in a folder of its own. cmake/Kernels.cmake compiles what is left out here.
file(GLOB_RECURSE method_sources CONFIGURE_DEPENDS src/gpu/methods/*.cu src/gpu/methods/*.cpp)
list(FILTER method_sources EXCLUDE REGEX "/kernels\\.cu$")
include(cmake/Kernels.cmake)
add_library(gconv_gpu OBJECT
  src/gpu/jpeg/jpeg.cu
  src/gpu/jpeg/unpack.cu
  src/gpu/png/bits.cu
  src/gpu/jit/cache.cpp
  src/gpu/jit/compile.cpp
  src/gpu/jit/modules.cpp
  src/gpu/jit/nvrtc.cpp
  src/gpu/operations.c
  src/gpu/probe/contiguous.cu
  src/gpu/probe/transforms.cpp
  src/gpu/device/caller_memory.cpp
  src/gpu/device/device.cpp
  src/gpu/plan/compute.cpp
  src/gpu/plan/device_run.cpp
  src/gpu/plan/expect.cpp
  src/gpu/device/library.cpp
  src/gpu/plan/first_use.cpp
  src/gpu/plan/memory.cpp
  src/gpu/plan/overlap.cpp
  src/gpu/plan/plan.cpp
  src/gpu/plan/planes.cu
  src/gpu/plan/pool.cpp
  src/gpu/plan/run.cpp
  src/gpu/plan/sections.cpp
  src/gpu/plan/stopwatch.cpp
  src/gpu/tune/check.cu
  src/gpu/tune/contender.cpp
  src/gpu/tune/search.cpp
  src/gpu/tune/tuner.cpp
  ${method_sources}
  ${kernel_sources})
target_link_libraries(gconv_gpu PRIVATE gconv_settings)
target_include_directories(gconv_gpu SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_compile_options(gconv_gpu PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti
  -ffp-contract=off>)
set_target_properties(gconv_gpu PROPERTIES
  CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden)

# All that needs CUDA, for the module and for tests of its parts. What they need of the library comes
# from the archive, so gconv_static stands behind this on their command lines: libgconv's own
# functions of src/gpu/load.c are not taken from it, because these objects define them.
set(gpu_objects $<TARGET_OBJECTS:gconv_gpu> ${kernel_objects})

# gconv_add_module(NAME DIRECTORY RUNTIME): the module, in a folder of DIRECTORY that a program there
# finds, with a CUDA runtime.
string(REPLACE ";" " " cuda_architectures "${CMAKE_CUDA_ARCHITECTURES}")
function(gconv_add_module name directory runtime)
  add_library(${name} MODULE ${PROJECT_SOURCE_DIR}/src/gpu/module.c ${gpu_objects})
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR})
  target_compile_definitions(${name} PRIVATE GC_VERSION="${PROJECT_VERSION}"
    GC_CUDA_VERSION="${CMAKE_CUDA_COMPILER_VERSION}" GC_CUDA_ARCHITECTURES="${cuda_architectures}")
  target_link_libraries(${name} PRIVATE gconv_settings gconv_gpu_host $<TARGET_FILE:gconv_static>
    ${runtime} Threads::Threads m ${CMAKE_DL_LIBS})
  add_dependencies(${name} gconv_static gconv_interface)
  # All names but that of the table are its own: those of libgconv are there, too.
  target_link_options(${name} PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/module.map -Wl,-z,now
    $<$<NOT:$<BOOL:${GCONV_SANITIZE}>>:-Wl,-z,defs>)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME gconv-cuda
    LIBRARY_OUTPUT_DIRECTORY ${directory}/${module_folder})
endfunction()
gconv_add_module(gconv_cuda ${CMAKE_CURRENT_BINARY_DIR} CUDA::cudart_static)
