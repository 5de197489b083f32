# Writes OUTPUT, a C file that holds every filter file of FILTERS_DIR as a string. Run as a script:
#   cmake -DFILTERS_DIR=... -DOUTPUT=... -P EmbedFilters.cmake
# A file's first line is a comment: its summary. Its stem is its name; the table is sorted by name.

cmake_minimum_required(VERSION 3.18)

# Escapes a text for a C string literal; a line end also begins a new literal on a new line.
# Question marks are escaped because -std=c17 reads trigraphs.
function(escape_for_c text result)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "?" "\\?" text "${text}")
  string(REPLACE "\t" "\\t" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(GLOB paths "${FILTERS_DIR}/*.txt")
set(names "")
foreach(path IN LISTS paths)
  get_filename_component(name "${path}" NAME_WLE)
  list(APPEND names "${name}")
endforeach()
if(NOT names)
  message(FATAL_ERROR "No filters in ${FILTERS_DIR}")
endif()
list(SORT names)

set(rows "")
foreach(name IN LISTS names)
  file(READ "${FILTERS_DIR}/${name}.txt" text)
  string(REPLACE "\r\n" "\n" text "${text}")
  string(LENGTH "${text}" length)
  if(length GREATER 4095)
    message(FATAL_ERROR "${name}.txt is longer than the 4095 bytes that C promises for a string")
  endif()
  if(NOT text MATCHES "^# *([^\n]+)\n")
    message(FATAL_ERROR "${name}.txt does not begin with a comment line, its summary")
  endif()
  escape_for_c("${CMAKE_MATCH_1}" summary)
  escape_for_c("${text}" text)
  string(APPEND rows "    {\"${name}\", \"${summary}\",\n     \"${text}\"},\n")
endforeach()

file(WRITE "${OUTPUT}" "/* Made by cmake/EmbedFilters.cmake from filters/. */
#include \"gconv.h\"

static const gconv_builtin_filter filters[] = {
${rows}};

size_t gconv_builtin_filter_count(void)
{
    return sizeof filters / sizeof filters[0];
}

const gconv_builtin_filter *gconv_builtin_filter_at(size_t index)
{
    return index < sizeof filters / sizeof filters[0] ? &filters[index] : NULL;
}
")
