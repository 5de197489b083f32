# Writes OUTPUT, a C file with the commit of the working tree SOURCE. Run at every build; the file
# changes only when the commit does.
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
set(text "#include \"cli/measure/commit.h\"\n\nconst char gc_commit[] = \"${commit}\";\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
