# Decides whether the CUDA part is compiled: sets GCONV_HAS_CUDA, and enables the CUDA
# language. CUDACXX or CMAKE_CUDA_COMPILER name another nvcc, CUDAARCHS or
# CMAKE_CUDA_ARCHITECTURES other architectures than the default ones. AUTO leaves it out where it has
# no GPU to compile for: code for all of them takes many minutes, and none of it would run here.

include(cmake/CudaArchitectures.cmake)

if(NOT GCONV_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "GCONV_CUDA=${GCONV_CUDA} is not AUTO, ON or OFF")
endif()
set(GCONV_HAS_CUDA OFF)
set(why "")
if(NOT GCONV_CUDA STREQUAL "OFF")
  # CMake itself looks for nvcc in PATH alone.
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(GCONV_NVCC nvcc PATHS $ENV{CUDA_PATH}/bin $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
    mark_as_advanced(GCONV_NVCC)
    if(GCONV_NVCC)
      set(ENV{CUDACXX} ${GCONV_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(GCONV_HAS_CUDA ON)
    gconv_cuda_architectures(architectures ${CMAKE_CUDA_COMPILER} ${GCONV_CUDA})
    if(architectures)
      set(CMAKE_CUDA_ARCHITECTURES ${architectures}) # not kept: GCONV_CUDA may change
    elseif(GCONV_CUDA STREQUAL "AUTO")
      set(GCONV_HAS_CUDA OFF)
      set(why ": no GPU here for this toolkit; -DGCONV_CUDA=ON compiles it for all (many minutes)")
    endif()
  elseif(GCONV_CUDA STREQUAL "ON")
    message(FATAL_ERROR "GCONV_CUDA=ON, but no CUDA compiler was found (set CMAKE_CUDA_COMPILER)")
  else()
    set(why ": no CUDA compiler works here")
  endif()
endif()

if(GCONV_HAS_CUDA)
  enable_language(CUDA)
  # Host code without kernels is C++, which nvcc would compile as often as there are architectures.
  # Where nvcc is told its host compiler, that is the one.
  if(CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
    set(CMAKE_CXX_COMPILER ${CMAKE_CUDA_HOST_COMPILER})
  endif()
  enable_language(CXX)
  find_package(CUDAToolkit REQUIRED)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  # This C++, and the host part of CUDA sources, need no C++ library, so that all is linked as C.
  list(REMOVE_ITEM CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES stdc++)
  list(REMOVE_ITEM CMAKE_CXX_IMPLICIT_LINK_LIBRARIES stdc++)
endif()
message(STATUS "gconv: CUDA part ${GCONV_HAS_CUDA}${why}")
