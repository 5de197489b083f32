# Where the parts of an installation lie, and the ways between them: programs and libraries find each
# other by paths relative to themselves.

# glibc loads modules of its own from a directory gconv below its libraries, so no such directory is
# made there.
if(CMAKE_INSTALL_LIBEXECDIR MATCHES "(^|/)lib(32|64|x32)?(/|$)")
  set(lab ${CMAKE_INSTALL_LIBEXECDIR}/gconv-lab)
else()
  set(lab ${CMAKE_INSTALL_LIBEXECDIR}/gconv)
endif()
# Versions of the library that differ in their interface can be installed side by side, each with its
# module.
set(module_folder libgconv-${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(module_directory ${CMAKE_INSTALL_LIBDIR}/${module_folder})

# gconv_way(VARIABLE FROM TO): the way between two directories of the installation.
function(gconv_way variable from to)
  get_filename_component(from "${from}" ABSOLUTE BASE_DIR /prefix)
  get_filename_component(to "${to}" ABSOLUTE BASE_DIR /prefix)
  file(RELATIVE_PATH way "${from}" "${to}")
  set(${variable} "${way}" PARENT_SCOPE)
endfunction()
# Empty where programs lie in the prefix itself.
get_filename_component(program_folder "${CMAKE_INSTALL_BINDIR}" ABSOLUTE BASE_DIR /)
get_filename_component(program_folder "${program_folder}" NAME)
gconv_way(lab_from_program "${CMAKE_INSTALL_BINDIR}" "${lab}")
gconv_way(module_from_program "${CMAKE_INSTALL_BINDIR}" "${module_directory}")
gconv_way(module_from_lab "${lab}" "${module_directory}")
