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
  [ "${output##*: }" -eq 14 ]
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
  "$GCONV" filter -k gauss3 --depth 16 "$SOURCE/samples/craters.png" deep.png
  base64 -d >clear.png <<'END' # 9x7, squares of colour and of clear pixels
iVBORw0KGgoAAAANSUhEUgAAAAkAAAAHCAYAAADam2dgAAAAKElEQVR42mNkQAInGIz+w9gWDOcYYWwmBiIAUY
oYcVmBLE5F64jxHQCl8AsFxQ5HwwAAAABJRU5ErkJggg==
END
  for name in deep clear; do # samples of 16 bits in a PFM, and clear pixels in formats without alpha
    for output in pfm jpg ppm png; do
      ./files $name.png a.$output
      "$GCONV" filter -k gauss5 $name.png b.$output
      cmp a.$output b.$output
    done
  done
  ./files a-craters.png deep.pfm # another depth
  ./files deep.pfm back.png
  printf 'P7\n' >none.pgm
  tells 1 'none.pgm to out.png: *' ./files none.pgm out.png
  head -c 9000 a-craters.png >cut.png
  tells 1 'cut.png to out.png: truncated: *' ./files cut.png out.png
  expect 1 ./files a-craters.png out.gif
  tells 1 'IN to OUT: name an input and an output' ./files a-craters.png
  [ ! -e out.png ]
}

@test "files in one call are those of the program" {
  [ -z "${SANITIZE-}" ] || skip "a program without sanitizers cannot use a library with them"
  needs pkg-config
  needs cc
  install_library
  make_files "$LIBRARY"
  cat >edges.c <<'EOF_C'
#include <gconv.h>
int main(int count, char **names)
{
    gconv_job job = gconv_job_default();
    job.threshold = 9;
    gconv_error error;
    return count != 3 || gconv_edges_file(names[1], names[2], &job, &error) != GCONV_OK;
}
EOF_C
  for name in convert edges; do
    # shellcheck disable=SC2046
    cc -o $name $name.c $(pkg-config --cflags --libs gconv)
  done
  for name in craters.png harbour.jpg still-life.png; do
    ./convert "$SOURCE/samples/$name" "a-$name"
    "$GCONV" filter -k gauss5 "$SOURCE/samples/$name" "b-$name"
    cmp "a-$name" "b-$name"
    ./edges "$SOURCE/samples/$name" a.png
    "$GCONV" edges -t 9 "$SOURCE/samples/$name" b.png
    cmp a.png b.png
  done
  printf 'P5 2 1 255\nabP5 1 1 255\nc' >two.pgm # a stream of two images
  ./convert two.pgm three.pgm
  "$GCONV" filter -k gauss5 two.pgm four.pgm
  cmp three.pgm four.pgm
  tells 1 '*several images*' ./convert two.pgm two.png
  [ ! -e two.png ]
  ./convert - - <"$SOURCE/samples/craters.png" >c.png
  cmp c.png a-craters.png
  expect 1 ./convert two.pgm out.gif
}

@test "the programs compile without warnings" {
  needs cc
  make_files "$LIBRARY"
  cc -std=c17 -Wall -Wextra -Werror -I"$SOURCE/include" -c shared.c files.c convert.c buffer.c frames.c
  [ "$(ls ./*.c | tr '\n' ' ')" = './buffer.c ./camera.c ./convert.c ./files.c ./frames.c ./shared.c ' ]
}
