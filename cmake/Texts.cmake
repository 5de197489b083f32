# The completions of shells and gconv(1), made of the tables of commands and options when gconv is
# built. gconv_texts makes them; it runs on the machine that builds, and is not installed.

set(GCONV_TEXTS "" CACHE FILEPATH
  "Cross builds: the program gconv_texts of a build for the machine that builds")
set(gconv_texts gconv_texts)
if(GCONV_TEXTS)
  set(gconv_texts ${GCONV_TEXTS})
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "gconv: no completions and no gconv(1): a cross build takes the program that makes "
    "them from a build for this machine (-DGCONV_TEXTS=DIR/gconv_texts), or needs "
    "CMAKE_CROSSCOMPILING_EMULATOR")
  return()
endif()
if(NOT GCONV_TEXTS)
  add_executable(gconv_texts man/texts/main.c man/texts/completions.c man/texts/manual.c
    $<TARGET_OBJECTS:gconv_cli>)
  target_link_libraries(gconv_texts PRIVATE gconv_commit gconv_static gconv_settings gconv_digests m)
  set_target_properties(gconv_texts PROPERTIES LINKER_LANGUAGE C)
endif()

set(gconv_made)
# Arguments: KIND PROGRAM TEMPLATE OUTPUT, the last below the build directory.
function(gconv_text kind program template output)
  get_filename_component(directory ${CMAKE_CURRENT_BINARY_DIR}/${output} DIRECTORY)
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${output}
    COMMAND ${gconv_texts} ${kind} ${program} ${CMAKE_CURRENT_SOURCE_DIR}/${template}
      ${CMAKE_CURRENT_BINARY_DIR}/${output}
    DEPENDS ${gconv_texts} ${template}
    VERBATIM)
  set(gconv_made ${gconv_made} ${CMAKE_CURRENT_BINARY_DIR}/${output} PARENT_SCOPE)
endfunction()

gconv_text(manual gconv man/gconv.1.in man/gconv.1)
set(gconv_programs gconv)
if(TARGET gconv-mpi)
  list(APPEND gconv_programs gconv-mpi)
endif()
foreach(program IN LISTS gconv_programs)
  gconv_text(bash ${program} completions/gconv.bash.in completions/${program}.bash)
  gconv_text(zsh ${program} completions/gconv.zsh.in completions/_${program})
  gconv_text(fish ${program} completions/gconv.fish.in completions/${program}.fish)
endforeach()
add_custom_target(gconv_documents ALL DEPENDS ${gconv_made})

install(FILES ${CMAKE_CURRENT_BINARY_DIR}/man/gconv.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
foreach(program IN LISTS gconv_programs) # each shell looks for a file named as the program
  set(component runtime)
  if(program STREQUAL gconv-mpi)
    set(component mpi)
  endif()
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/completions/${program}.bash RENAME ${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/completions/_${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT ${component})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/completions/${program}.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${component})
endforeach()
