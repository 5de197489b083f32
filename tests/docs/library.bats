#!/usr/bin/env bats
# The programs of docs/library.md compile and do what the page says. The one for frames in a GPU's
# memory runs on a pretended GPU (../double/double.bats).

load documents

LIBRARY=$SOURCE/docs/library.md

@test "the console blocks: programs are compiled and run" {
  [ -z "${SANITIZE-}" ] || skip "a program without sanitizers cannot use a library with them"
  needs pkg-config
  needs cc
  install_library
  make_files "$LIBRARY"
  console "$LIBRARY" >commands
  run play <commands
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${output##*: }" -eq 6 ]
}

@test "the program from file to file" {
  [ -z "${SANITIZE-}" ] || skip "a program without sanitizers cannot use a library with them"
  needs pkg-config
  needs cc
  install_library
  make_files "$LIBRARY"
  # shellcheck disable=SC2046
  cc -o files files.c $(pkg-config --cflags --libs gconv)
  for name in craters.png harbour.jpg still-life.png; do
    ./files "$SOURCE/samples/$name" "a-$name"
    "$GCONV" filter -k gauss5 "$SOURCE/samples/$name" "b-$name"
    cmp "a-$name" "b-$name"
  done
  ./files a-craters.png deep.pfm # another depth
  ./files deep.pfm back.png
  printf 'P7\n' >none.pgm
  expect 1 ./files none.pgm out.png
  like "$err" 'none.pgm to out.png: *'
  head -c 9000 a-craters.png >cut.png
  expect 1 ./files cut.png out.png
  like "$err" 'cut.png to out.png: truncated: *'
  expect 1 ./files a-craters.png out.gif
  expect 1 ./files a-craters.png
  same "$err" 'IN to OUT: name an input and an output'
  [ ! -e out.png ]
}

@test "the programs compile without warnings" {
  needs cc
  make_files "$LIBRARY"
  cc -std=c17 -Wall -Wextra -Werror -I"$SOURCE/include" -c shared.c files.c
  [ "$(ls ./*.c)" = "$(printf '%s\n' ./camera.c ./files.c ./shared.c)" ]
}
