# glibc has a header gconv.h, too, in /usr/include: an installation does not replace it.
set(header "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/gconv.h")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(header "${CMAKE_INSTALL_INCLUDEDIR}/gconv.h")
endif()
install(CODE "
  set(header \"\$ENV{DESTDIR}${header}\")
  set(ours yes)
  if(EXISTS \"\${header}\")
    file(STRINGS \"\${header}\" ours REGEX \"GCONV_API\" LIMIT_COUNT 1)
  endif()
  if(NOT ours)
    message(FATAL_ERROR \"\${header} is not gconv's: glibc has a header of that name. \"
      \"Configure with -DCMAKE_INSTALL_INCLUDEDIR=include/libgconv\")
  endif()" COMPONENT development)
