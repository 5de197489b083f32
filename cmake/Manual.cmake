# The target `html`, built by name only: the manual in HTML, by mandoc or groff, in html/manual of the
# build directory, and in html/header what the target `docs` makes, if Doxygen is there.
find_program(GCONV_MANDOC mandoc)
find_program(GCONV_GROFF groff)
mark_as_advanced(GCONV_MANDOC GCONV_GROFF)
set(to_html)
if(GCONV_MANDOC)
  set(to_html ${GCONV_MANDOC} -T html -O man=%N.%S.html)
elseif(GCONV_GROFF)
  set(to_html ${GCONV_GROFF} -man -T html)
endif()
if(NOT to_html OR NOT TARGET gconv_documents)
  return()
endif()

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/html/manual)
set(manual_pages)
foreach(page ${CMAKE_CURRENT_BINARY_DIR}/man/gconv.1 ${PROJECT_SOURCE_DIR}/man/gconv-mpi.1
    ${PROJECT_SOURCE_DIR}/man/gconv-filter.5)
  get_filename_component(name ${page} NAME)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/html/manual/${name}.html)
  add_custom_command(OUTPUT ${output}
    COMMAND ${to_html} ${page} > ${output}
    DEPENDS ${page}
    VERBATIM)
  list(APPEND manual_pages ${output})
endforeach()
add_custom_target(html DEPENDS ${manual_pages})
add_dependencies(html gconv_documents)
if(TARGET docs)
  add_dependencies(html docs)
endif()
