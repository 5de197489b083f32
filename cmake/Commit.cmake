# Writes OUTPUT, a C file with the commit of the working tree SOURCE, and with a hash of the sources of
# the program and of COMPILER, a text. Run at every build; the file changes only when they do.
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel
  OUTPUT_VARIABLE top ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
set(commit "")
# Another project's tree may hold an unpacked archive of these sources.
if(NOT failed AND top STREQUAL SOURCE)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD
    OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND git -C ${SOURCE} diff-index --quiet HEAD --
    RESULT_VARIABLE changed OUTPUT_QUIET ERROR_QUIET)
  if(commit AND changed)
    string(APPEND commit " with changes")
  endif()
endif()
file(GLOB_RECURSE sources ${SOURCE}/src/* ${SOURCE}/include/*)
set(all "${COMPILER}")
foreach(source IN LISTS sources)
  file(SHA256 ${source} hash)
  string(APPEND all " ${hash}")
endforeach()
string(SHA256 build "${all}")
string(SUBSTRING ${build} 0 16 build)
set(text "extern const char gc_commit[];\nconst char gc_commit[] = \"${commit}\";\n")
string(APPEND text "extern const char gc_build[];\nconst char gc_build[] = \"build ${build}\";\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
