# The target `docs`, built by name only: pages in HTML of the comments in gconv.h, by Doxygen, in
# html/header of the build directory.
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  return()
endif()
set(DOXYGEN_PROJECT_NAME gconv)
set(DOXYGEN_PROJECT_NUMBER ${PROJECT_VERSION})
set(DOXYGEN_OPTIMIZE_OUTPUT_FOR_C YES)
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_EXTRACT_ALL YES)
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED GCONV_API= __cplusplus=0
  "GCONV_ZEROS(type)=static inline type type##_default(void)"
  "GCONV_DEFAULTS(type)=static inline type type##_default(void)")
set(DOXYGEN_QUIET YES)
set(DOXYGEN_WARN_AS_ERROR YES)
set(DOXYGEN_INPUT_FILTER "sed -f ${PROJECT_SOURCE_DIR}/cmake/docs.sed")
set(DOXYGEN_HTML_OUTPUT html/header)
doxygen_add_docs(docs ${PROJECT_SOURCE_DIR}/include/gconv.h COMMENT "Pages of gconv.h in html/header")
