# gconv_cuda_architectures(VARIABLE NVCC WANTED): what gconv is compiled for. That is what
# CMAKE_CUDA_ARCHITECTURES or else CUDAARCHS in the environment says, if it says something. Else it
# is, as far as this toolkit knows it, and empty where the compiler does not tell what it knows:
# - WANTED is ON: all architectures that gconv is for. Each gets machine code. The newest gets PTX
#   too, which drivers compile for later architectures.
# - AUTO: those of the GPUs of this machine. A GPU that the toolkit does not know compiles the PTX of
#   the newest architecture before it; one that is older than all gets nothing.
function(gconv_cuda_architectures variable nvcc wanted)
  foreach(said "${CMAKE_CUDA_ARCHITECTURES}" "$ENV{CUDAARCHS}")
    set(${variable} "${said}" PARENT_SCOPE)
    if(NOT said STREQUAL "")
      return()
    endif()
  endforeach()
  execute_process(COMMAND ${nvcc} --list-gpu-arch
    RESULT_VARIABLE status OUTPUT_VARIABLE known ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" known "${known}")
  if(NOT status EQUAL 0 OR known STREQUAL "")
    return()
  endif()
  set(architectures "")
  if(wanted STREQUAL "ON")
    foreach(architecture 75 80 86 89 90 100 120)
      if(architecture IN_LIST known)
        list(APPEND architectures ${architecture}-real)
        set(newest ${architecture}-virtual)
      endif()
    endforeach()
    list(APPEND architectures ${newest})
  else()
    list(SORT known COMPARE NATURAL)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
      RESULT_VARIABLE status OUTPUT_VARIABLE present ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" present "${present}")
    foreach(architecture IN LISTS present)
      string(REPLACE "." "" architecture ${architecture})
      set(nearest "")
      foreach(candidate IN LISTS known)
        if(status EQUAL 0 AND NOT candidate GREATER architecture)
          set(nearest ${candidate})
        endif()
      endforeach()
      list(APPEND architectures ${nearest})
    endforeach()
    list(REMOVE_DUPLICATES architectures)
  endif()
  set(${variable} ${architectures} PARENT_SCOPE)
endfunction()
