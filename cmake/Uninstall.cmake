# Removes what the last `cmake --install` put there, and directories that this leaves empty and that
# are gconv's own. Run as a script:
#   cmake -DMANIFEST=BUILD_DIR/install_manifest.txt -P Uninstall.cmake

cmake_minimum_required(VERSION 3.18)

if(NOT EXISTS "${MANIFEST}")
  message(FATAL_ERROR "nothing was installed from here: there is no ${MANIFEST}")
endif()
file(STRINGS "${MANIFEST}" files)
set(directories "")
foreach(file IN LISTS files)
  set(file "$ENV{DESTDIR}${file}")
  if(EXISTS "${file}" OR IS_SYMLINK "${file}")
    message(STATUS "Removing: ${file}")
    file(REMOVE "${file}")
  endif()
  get_filename_component(directory "${file}" DIRECTORY)
  get_filename_component(name "${directory}" NAME)
  while(name MATCHES "^(gconv|libgconv-[0-9.]+)$" OR directory MATCHES "/gconv/(filters|study-h[12]00)$")
    list(APPEND directories "${directory}")
    get_filename_component(directory "${directory}" DIRECTORY)
    get_filename_component(name "${directory}" NAME)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES directories)
list(SORT directories ORDER DESCENDING) # what is inside comes before what contains it
foreach(directory IN LISTS directories)
  file(GLOB left "${directory}/*")
  if(NOT left)
    file(REMOVE_RECURSE "${directory}")
  endif()
endforeach()
