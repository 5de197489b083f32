# The program gconv-mpi: gconv's sources with another main function, and MPI. gconv itself does not
# link MPI, whose libraries differ from cluster to cluster.

if(GCONV_MPI)
  if(GCONV_MPI STREQUAL AUTO)
    find_package(MPI COMPONENTS C)
  else()
    find_package(MPI REQUIRED COMPONENTS C)
  endif()
endif()
if(NOT GCONV_MPI OR NOT MPI_C_FOUND)
  message(STATUS "gconv: no gconv-mpi without MPI (libopenmpi-dev, or another)")
  return()
endif()

add_executable(gconv-mpi $<TARGET_OBJECTS:gconv_cli>
  src/mpi/exchange.c
  src/mpi/main.c
  src/mpi/member.c
  src/mpi/message.c
  src/mpi/root.c)
target_link_libraries(gconv-mpi PRIVATE gconv_commit gconv_static gconv_settings gconv_digests
  MPI::MPI_C m)
set_target_properties(gconv-mpi PROPERTIES LINKER_LANGUAGE C)
