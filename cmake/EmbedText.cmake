# gconv_embed_text(OUTPUT SYMBOL INPUT...): makes at build time the C file OUTPUT, which defines
#     const char SYMBOL[]
# as the text of the inputs one after the other. The inputs are CUDA C sources. nvcc compiles them
# ahead, and NVRTC compiles their text at run time, where no file can be included. So their lines
# #include "..." and #pragma once are left empty, and an input stands before those that include it.
# A #line before each input keeps the compiler's messages right. Of JPEG files it makes
#     const unsigned char SYMBOL[]
# Run as a script:
#   cmake -DOUTPUT=... -DSYMBOL=... "-DINPUTS=A;B" -P EmbedText.cmake

if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(GCONV_EMBED_TEXT_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

  function(gconv_embed_text output symbol)
    set(inputs "")
    foreach(input IN LISTS ARGN)
      get_filename_component(input "${input}" ABSOLUTE)
      list(APPEND inputs "${input}")
    endforeach()
    add_custom_command(OUTPUT "${output}"
      COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DSYMBOL=${symbol}" "-DINPUTS=${inputs}"
        -P "${GCONV_EMBED_TEXT_SCRIPT}"
      DEPENDS ${inputs} "${GCONV_EMBED_TEXT_SCRIPT}"
      COMMENT "Embedding ${symbol}"
      VERBATIM)
  endfunction()
  return()
endif()

cmake_minimum_required(VERSION 3.18)

set(whole "")
set(type char)
foreach(input IN LISTS INPUTS)
  if(input MATCHES "\\.jpg$")
    file(READ "${input}" image HEX)
    string(APPEND images "${image}")
    set(type "unsigned char")
    continue()
  endif()
  get_filename_component(name "${input}" NAME)
  file(READ "${input}" text)
  # Each line has a line end before it, because ^ is the beginning of the text alone.
  string(REGEX REPLACE "\n[ \t]*#[ \t]*(include[ \t]*\"|pragma once)[^\n]*" "\n" text "\n${text}")
  string(APPEND whole "#line 1 \"${name}\"${text}")
  if(NOT whole MATCHES "\n$")
    string(APPEND whole "\n")
  endif()
endforeach()

# Bytes, for a string literal has at most 4095 characters that every compiler takes.
string(HEX "${whole}" bytes)
string(APPEND bytes "${images}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "/* Made by cmake/EmbedText.cmake. */
extern const ${type} ${SYMBOL}[];
const ${type} ${SYMBOL}[] = {
${bytes}0x00};
")
