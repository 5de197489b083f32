# Decides whether the CUDA part is compiled: sets GCONV_HAS_CUDA and GCONV_CUDA_LIBRARIES, and
# enables the CUDA language with default architectures that a user can narrow.

set(GCONV_HAS_CUDA OFF)
set(GCONV_CUDA_LIBRARIES "")
if(NOT GCONV_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(GCONV_HAS_CUDA ON)
  elseif(GCONV_CUDA STREQUAL "ON")
    message(FATAL_ERROR "GCONV_CUDA=ON, but no CUDA compiler was found (set CMAKE_CUDA_COMPILER)")
  endif()
endif()

if(GCONV_HAS_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 100-real 120-real 120-virtual
      CACHE STRING "GPU architectures to compile for")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  # The host part of CUDA sources is C++.
  set(GCONV_CUDA_LIBRARIES CUDA::cudart_static stdc++)
endif()
message(STATUS "gconv: CUDA part ${GCONV_HAS_CUDA}")
