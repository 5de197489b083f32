#!/bin/sh
# The command line is a client of the library: the files of src/cli include each other, gconv.h,
# src/base and headers of the system and of Nettle. Some may include a header more: for the search of
# gconv tune, the transforms and roofs that gconv bench measures, the clock of GPUs, and gconv_lab.h
# for what is checked and measured.
#
# A folder of src/cli includes only folders that stand below it in the table of docs/design.md, but for
# one header.
#
# Usage: client.sh SOURCE_DIR
set -eu
cd "$1"
exceptions='src/cli/commands/tune.c:"gpu/tune/tune.h"
src/cli/image/result.h:"gconv_lab.h"
src/cli/image/verify.c:"gconv_lab.h"
src/cli/measure/measure.h:"gconv_lab.h"
src/cli/measure/spots.h:"gconv_lab.h"
src/cli/measure/steps.h:"gconv_lab.h"
src/cli/measure/traffic.h:"gconv_lab.h"
src/cli/measure/clocks.c:"gpu/probe/probe.h"
src/cli/measure/traffic.c:"cpu/roofs.h"
src/cli/measure/transforms.c:"gpu/probe/probe.h"
src/cli/measure/transforms.h:"cpu/locality.h"'

# Each line: FILE:"HEADER" or FILE:<HEADER>
includes=$(grep -rE '^[[:space:]]*#[[:space:]]*include' src/cli |
  sed 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/:/; s/\([">]\)[^">]*$/\1/')
[ -n "$includes" ] || { echo "no #include found in src/cli"; exit 1; }
printf '%s\n' "$exceptions" | while read -r exception; do
  printf '%s\n' "$includes" | grep -qxF "$exception" ||
    { echo "the exception is not needed any more: $exception"; exit 1; }
done

wrong=$(printf '%s\n' "$includes" | grep -vxF "$exceptions" |
  grep -vE ':("gconv\.h"|"(base|cli)/[^"]*"|<((sys|nettle)/)?[^/>]*>)$' || true)
if [ -n "$wrong" ]; then
  echo "src/cli includes what is neither gconv.h nor of src/base nor the system's:"
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
if [ "$upwards" != 'src/cli/options/options.h:"cli/journal/digest.h"' ]; then
  echo "the only include of a folder above should be digest.h in options.h:"
  printf '%s\n' "$upwards" | sed 's/^/  /'
  exit 1
fi
echo "$(printf '%s\n' "$includes" | wc -l) includes, $(printf '%s\n' "$there" | wc -l) folders"
