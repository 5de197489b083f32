#!/usr/bin/env bats
# The programs of docs/library.md compile and do what the page says. The one for frames in a GPU's
# memory runs on a pretended GPU (../double/double.bats).

load documents

LIBRARY=$SOURCE/docs/library.md

@test "an image shared out between devices" {
  [ -z "${SANITIZE-}" ] || skip "a program without sanitizers cannot use a library with them"
  needs pkg-config
  needs cc
  install_library
  make_files "$LIBRARY"
  console "$LIBRARY" >commands
  run play <commands
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${output##*: }" -eq 2 ]
}

@test "the programs compile without warnings" {
  needs cc
  make_files "$LIBRARY"
  cc -std=c17 -Wall -Wextra -Werror -I"$SOURCE/include" -c shared.c
  [ "$(ls ./*.c)" = "$(printf '%s\n' ./camera.c ./shared.c)" ]
}
