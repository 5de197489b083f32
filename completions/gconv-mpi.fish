# Completion of gconv-mpi(1) for fish, which looks for it under this name.
source (status dirname)/gconv.fish
