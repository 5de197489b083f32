# Writes OUTPUT, a header with GC_INTERFACE: a hash of HEADERS, and of FAST, without which no module
# fits. Paths do not count, so that a library and a module that were built apart from the same sources
# fit.
foreach(header IN LISTS HEADERS)
  file(SHA256 ${header} hash)
  list(APPEND hashes ${hash})
endforeach()
list(SORT hashes)
string(SHA256 hash "${FAST} ${hashes}")
string(SUBSTRING ${hash} 0 16 hash)
file(WRITE ${OUTPUT} "#define GC_INTERFACE \"${hash}\"\n")
