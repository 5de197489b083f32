# What `cmake --install` puts where: program, libraries, header, filters, man pages, documents,
# gconv.pc and the CMake package; Texts.cmake has completions and gconv(1). Everything found by paths
# relative to itself, so that the tree can be moved and packagers can install under any prefix. The
# target uninstall removes it.

include(CMakePackageConfigHelpers)

install(TARGETS gconv RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(GCONV_HAS_CUDA)
  install(TARGETS gconv_cuda LIBRARY DESTINATION ${module_directory} COMPONENT cuda)
endif()
# One export set a library: a program that uses the shared one needs nothing of the static one's.
foreach(kind shared static)
  install(TARGETS gconv_${kind} EXPORT gconv_${kind}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)
  install(EXPORT gconv_${kind} NAMESPACE gconv:: FILE gconv-${kind}.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gconv COMPONENT development)
endforeach()

install(FILES include/gconv.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY filters/ DESTINATION ${CMAKE_INSTALL_DATADIR}/gconv/filters
  FILES_MATCHING PATTERN *.txt)
# gconv(1) names gconv-mpi(1), so that page is there also without the program.
install(FILES man/gconv-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
if(TARGET gconv-mpi)
  install(TARGETS gconv-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()
install(FILES man/gconv-filter.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES LICENSE README.md NEWS.md docs/contract.md docs/conventions.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)

# ---- The laboratory -------------------------------------------------------------------------------

# gconv-lab, and beside it the program that draws reports (cmake/Places.cmake).
target_compile_definitions(gconv_cli PRIVATE GC_LAB_DIRECTORY="${lab_from_program}")
if(GCONV_LAB)
  install(TARGETS gconv-lab RUNTIME DESTINATION ${lab} COMPONENT lab)
  install(DIRECTORY lab/ DESTINATION ${lab} COMPONENT lab FILES_MATCHING PATTERN *.py PATTERN *.csv PATTERN *.css
    PATTERN *.html PATTERN *.txt PATTERN __pycache__ EXCLUDE PATTERN bench EXCLUDE)
  install(DIRECTORY docs/results/study-h200 docs/results/study-h100 DESTINATION ${lab} COMPONENT lab FILES_MATCHING PATTERN *.json)
  # A program that is not installed finds the drawing one in the directory lab beside itself.
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/double)
  foreach(place . tests tests/double)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/lab ${CMAKE_CURRENT_BINARY_DIR}/${place}/lab
      SYMBOLIC)
  endforeach()
endif()

# ---- pkg-config ---------------------------------------------------------------------------------

set(pc_requires_private "libpng libjpeg")
set(pc_libs_private -lm ${CMAKE_THREAD_LIBS_INIT})
if(CMAKE_DL_LIBS)
  list(APPEND pc_libs_private -l${CMAKE_DL_LIBS})
endif()
set(pc_variables "")
# A library's directory is a variable, which `pkg-config --define-variable` sets on other machines.
macro(gconv_pc_library name directory)
  if(NOT "${directory}" IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    string(APPEND pc_variables "\n${name}_libdir=${directory}")
    list(APPEND pc_libs_private "-L\${${name}_libdir}")
  endif()
  list(APPEND pc_libs_private -l${name})
endmacro()
if(GCONV_ISAL_LIBRARY)
  get_filename_component(isal_directory ${GCONV_ISAL_LIBRARY} DIRECTORY)
  gconv_pc_library(isal ${isal_directory})
endif()
list(JOIN pc_libs_private " " pc_libs_private)

# Absolute directories, as some packagers give them, stay as they are.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/gconv.pc.in gconv.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gconv.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

# ---- CMake package ------------------------------------------------------------------------------

configure_package_config_file(cmake/gconvConfig.cmake.in gconvConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gconv
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(gconvConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/gconvConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/gconvConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gconv COMPONENT development)

# ---- The way back -------------------------------------------------------------------------------

if(NOT TARGET uninstall) # a project that contains this one may have its own
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/Uninstall.cmake
    VERBATIM)
endif()
