#!/bin/sh
# The command line is a client of the library: the files of src/cli include each other, gconv.h,
# src/base and headers of the system. Those that check or measure include gconv_lab.h.
# src/mpi is a client of src/cli, and the laboratory, lab, of all these. src does not know it.
#
# A folder of src/cli includes only folders that stand below it in the table of docs/design.md.
#
# Usage: client.sh SOURCE_DIR
set -eu
cd "$1"
exceptions='src/cli/image/image.h:"gconv_lab.h"
src/cli/image/verify.c:"gconv_lab.h"
src/cli/measure/measure.h:"gconv_lab.h"
src/cli/measure/point.h:"gconv_lab.h"
src/cli/measure/traffic.h:"gconv_lab.h"'

# includes FOLDER: its lines of #include.
includes() {
  grep -rE '^[[:space:]]*#[[:space:]]*include' "$1" --include='*.[ch]*' |
    sed 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/:/; s/\([">]\)[^">]*$/\1/'
}

# Each line: FILE:"HEADER" or FILE:<HEADER>
includes=$(includes src/cli)
[ -n "$includes" ] || { echo "no #include found in src/cli"; exit 1; }
printf '%s\n' "$exceptions" | while read -r exception; do
  printf '%s\n' "$includes" | grep -qxF "$exception" ||
    { echo "the exception is not needed any more: $exception"; exit 1; }
done

wrong=$(printf '%s\n' "$includes" | grep -vxF "$exceptions" |
  grep -vE ':("gconv\.h"|"(base|cli)/[^"]*"|<(sys/)?[^/>]*>)$' || true)
if [ -n "$wrong" ]; then
  echo "src/cli includes what is neither gconv.h nor of src/base nor the system's:"
  printf '%s\n' "$wrong" | sed 's/^/  /'
  exit 1
fi

wrong=$(includes lab | grep -vE ':("gconv(_lab)?\.h"|"(base|cli|lab)/[^"]*"|<(sys/)?[^/>]*>)$' || true)
if [ -n "$wrong" ]; then
  echo "lab includes what is neither gconv.h nor gconv_lab.h nor of src/base, src/cli or the system:"
  printf '%s\n' "$wrong" | sed 's/^/  /'
  exit 1
fi
if grep -rn '#include "lab/' src; then
  echo "src includes lab, see above"
  exit 1
fi
wrong=$(includes src/mpi | grep -vE ':("gconv\.h"|"(base|cli|mpi)/[^"]*"|<[^>]*>)$' || true)
if [ -n "$wrong" ]; then
  echo "src/mpi includes what is neither gconv.h nor of src/base, src/cli or the system:"
  printf '%s\n' "$wrong" | sed 's/^/  /'
  exit 1
fi

# One line for each folder, the highest first.
# shellcheck disable=SC2016 # the backquotes are those of Markdown
folders=$(sed -n 's/^| `\([a-z]*\)` | .*/\1/p' docs/design.md)
there=$(find src/cli -mindepth 1 -type d | sed 's,.*/,,' | sort)
if [ "$(printf '%s\n' "$folders" | sort)" != "$there" ]; then
  echo "the table of docs/design.md does not name the folders of src/cli:" && echo "$folders"
  exit 1
fi
upwards=$(printf '%s\n' "$includes" | sed -n 's,^src/cli/\([a-z]*\)/.*:"cli/\([a-z]*\)/.*,\1 \2 &,p' |
  awk -v folders="$folders" '
    BEGIN { count = split(folders, list); for (i = 1; i <= count; i++) place[list[i]] = i }
    place[$2] < place[$1] { print $3 }')
if [ -n "$upwards" ]; then
  echo "src/cli includes folders that stand above in the table of docs/design.md:"
  printf '%s\n' "$upwards" | sed 's/^/  /'
  exit 1
fi
echo "$(printf '%s\n' "$includes" | wc -l) includes, $(printf '%s\n' "$there" | wc -l) folders"
