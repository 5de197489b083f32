# gconv_cuda_architectures(VARIABLE NVCC): the architectures that gconv is compiled for by default,
# as far as this toolkit knows them. Each gets machine code. The newest gets PTX too, which drivers
# compile for later architectures. Empty where the compiler does not tell what it knows.
function(gconv_cuda_architectures variable nvcc)
  set(${variable} "" PARENT_SCOPE)
  execute_process(COMMAND ${nvcc} --list-gpu-arch
    RESULT_VARIABLE status OUTPUT_VARIABLE known ERROR_QUIET)
  if(NOT status EQUAL 0)
    return()
  endif()
  set(architectures "")
  foreach(architecture 75 80 86 89 90 100 120)
    if(known MATCHES "compute_${architecture}[^0-9a-z]")
      list(APPEND architectures ${architecture}-real)
      set(newest ${architecture})
    endif()
  endforeach()
  if(architectures)
    set(${variable} ${architectures} ${newest}-virtual PARENT_SCOPE)
  endif()
endfunction()
