# Finds the libraries of formats that a build may lack. They are loaded when a file asks for them: a
# program that links libtiff starts a millisecond later. GCONV_NAME_FILES are the names to load, with
# blanks between them, or empty. GCONV_CODEC_INCLUDES has the headers.

set(GCONV_CODEC_INCLUDES)

# Sets `file` to the name under which a program loads a library: "libtiff.so.6".
function(gconv_soname library file)
  get_filename_component(real "${library}" REALPATH)
  get_filename_component(real "${real}" NAME)
  string(REGEX MATCH "^lib.*[.](so[.](0[.])?[0-9]+|dylib)" name "${real}")
  set(${file} "${name}" PARENT_SCOPE)
endfunction()

# Arguments behind the package: libraries.
function(gconv_find_codec name title header package)
  set(files)
  find_path(${name}_INCLUDE ${header})
  mark_as_advanced(${name}_INCLUDE)
  foreach(library IN LISTS ARGN)
    find_library(${name}_${library}_LIBRARY ${library})
    mark_as_advanced(${name}_${library}_LIBRARY)
    gconv_soname("${${name}_${library}_LIBRARY}" file)
    list(APPEND files "${file}")
  endforeach()
  if(GCONV_${name} STREQUAL OFF OR NOT ${name}_INCLUDE OR "" IN_LIST files)
    set(files)
  endif()
  set(version "")
  if(files AND name STREQUAL TIFF)
    # libtiff has had handlers of errors for each file, and limits of memory, since 4.5.
    file(STRINGS ${TIFF_INCLUDE}/tiffvers.h line REGEX "define TIFFLIB_VERSION ")
    string(REGEX MATCH "[0-9]+" version "${line}")
    if(version LESS 20221213)
      set(files)
    endif()
  endif()
  if(NOT files AND GCONV_${name} STREQUAL ON)
    message(FATAL_ERROR "GCONV_${name} is ON, but ${package} was not found or is too old")
  elseif(NOT files)
    message(STATUS "gconv: ${title} is left out (${package} is missing, too old, or not wanted)")
  else()
    set(GCONV_CODEC_INCLUDES ${GCONV_CODEC_INCLUDES} ${${name}_INCLUDE} PARENT_SCOPE)
  endif()
  string(REPLACE ";" " " files "${files}")
  set(GCONV_${name}_FILES "${files}" PARENT_SCOPE)
endfunction()

gconv_find_codec(TIFF TIFF tiffio.h libtiff-dev tiff)
gconv_find_codec(WEBP WebP webp/mux.h libwebp-dev webp webpdemux webpmux)
gconv_find_codec(HEIF "AVIF and HEIC" libheif/heif.h libheif-dev heif)
gconv_find_codec(JXL "JPEG XL" jxl/decode.h libjxl-dev jxl)
