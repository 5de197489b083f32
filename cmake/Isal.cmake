# Finds ISA-L, which inflates PNG in half of zlib's time. GCONV_ISAL_LIBRARY is its file, or empty. It is
# no target: programs that link the static library of an installation would need to know it.

set(GCONV_ISAL_LIBRARY)
if(NOT GCONV_ISAL STREQUAL OFF)
  find_path(ISAL_INCLUDE isa-l.h)
  find_library(ISAL_LIBRARY isal)
  mark_as_advanced(ISAL_INCLUDE ISAL_LIBRARY)
  if(ISAL_INCLUDE AND ISAL_LIBRARY)
    set(GCONV_ISAL_LIBRARY ${ISAL_LIBRARY})
  elseif(GCONV_ISAL STREQUAL ON)
    message(FATAL_ERROR "GCONV_ISAL is ON, but isa-l.h or libisal was not found (libisal-dev)")
  endif()
endif()
