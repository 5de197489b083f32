# Compiles the kernels of src/gpu/methods that take minutes, METHOD/kernels.cu, in parts: each file
# once for each of its parts, so that they are compiled beside each other. Sets kernel_objects. The
# method finds a kernel in them.

set(kernel_objects "")
if(NOT GCONV_HAS_CUDA)
  return()
endif()

# gconv_add_kernels(PART METHOD DEFINITION...)
function(gconv_add_kernels part method)
  add_library(kernels_${part} OBJECT src/gpu/methods/${method}/kernels.cu)
  target_link_libraries(kernels_${part} PRIVATE gconv_settings)
  target_compile_definitions(kernels_${part} PRIVATE ${ARGN})
  set(kernel_objects ${kernel_objects} $<TARGET_OBJECTS:kernels_${part}> PARENT_SCOPE)
endfunction()

foreach(height IN ITEMS 17 13 9 7 5 3)
  gconv_add_kernels(fused_${height} fused
    GC_FUSED_HEIGHT=${height} GC_FUSED_PART=gc_fused_up_to_${height})
endforeach()
foreach(list IN ITEMS bytes split_bytes floats any rgb rgba kept_alpha)
  string(TOUPPER TENSOR_${list} listed)
  gconv_add_kernels(tensor_${list} tensor
    GC_TENSOR_KERNELS=${listed} GC_TENSOR_PART=gc_tensor_${list})
endforeach()
foreach(type IN ITEMS floats:GC_FLOAT bytes:GC_BYTE shorts:GC_SHORT)
  string(REPLACE ":" ";" type ${type})
  list(GET type 0 name)
  list(GET type 1 value)
  gconv_add_kernels(tilefft_${name} tilefft GC_TILEFFT_TYPE=${value}
    GC_TILEFFT_PART=gc_tilefft_${name})
endforeach()
