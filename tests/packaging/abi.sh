#!/bin/sh
# Programs that were compiled against the header as it was, interface.txt, run with the library of
# the header as it is. A library of empty functions is made of each, and libabigail compares them.
# Functions may be added, and members behind the last one of a structure with a size. The script also
# looks whether it sees what is not allowed.
#
#     abi.sh SOURCE_DIR            compares
#     abi.sh SOURCE_DIR --renew    makes interface.txt of gconv.h: for a new minor version alone
set -eu
source=$1
oldest=$source/tests/packaging/interface.txt
cc=${CC:-cc}

# without_comments HEADER
without_comments() {
  "$cc" -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null
}

if [ "${2-}" = --renew ]; then
  without_comments "$source/include/gconv.h" >"$oldest"
  exit
fi
command -v abidiff >/dev/null || { echo "skipped: no abidiff (abigail-tools)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# library HEADER NAME: $work/NAME.so defines every function of the header.
library() {
  mkdir "$work/$2"
  without_comments "$1" >"$work/$2/gconv.h"
  {
    echo '#include "gconv.h"'
    grep -v '^ *#' "$work/$2/gconv.h" | tr '\n' ' ' | tr ';' '\n' | grep -o 'GCONV_API .*(.*)$' |
      sed 's/$/ { __builtin_trap(); }/'
  } >"$work/$2/gconv.c"
  "$cc" -std=c17 -g -fPIC -shared -o "$work/$2.so" "$work/$2/gconv.c"
}

# Structures that grow at their end.
cat >"$work/allowed" <<'END'
[suppress_type]
  type_kind = struct
  has_size_change = yes
  has_data_member_inserted_at = end
END
sized=$(without_comments "$oldest" |
  sed -n '/^\(typedef \)*struct gconv_[a-z_0-9]* {/{N;s/^.*struct \(gconv_[a-z_0-9]*\) {\n *size_t size;.*/\1/p}' |
  paste -sd '|' -)
echo "  name_regexp = ^($sized)\$" >>"$work/allowed"

# compatible NAME: programs for the oldest version run with $work/NAME.so.
compatible() {
  abidiff --suppressions "$work/allowed" --no-added-syms "$work/oldest.so" "$work/$1.so" \
    >"$work/report"
}

library "$oldest" oldest
library "$source/include/gconv.h" newest
compatible newest || { cat "$work/report"; exit 1; }

# changed NAME SCRIPT: a library of the header after a change by sed.
changed() {
  sed "$2" "$oldest" >"$work/$1.h"
  ! cmp -s "$work/$1.h" "$oldest" || { echo "$1 changes nothing"; exit 1; }
  library "$work/$1.h" "$1"
}
changed added 's/^GCONV_API const char \*gconv_version(void);/&\nGCONV_API int gconv_new(int);/'
changed larger 's/^} gconv_device_choice;/    int newer_member;\n&/'
for name in added larger; do
  compatible "$name" || { cat "$work/report"; echo "$name is refused"; exit 1; }
done
changed removed '/^GCONV_API const char \*gconv_version(void);/d'
changed returns 's/^GCONV_API const char \*gconv_version(void);/GCONV_API int gconv_version(void);/'
changed moved 's/^    const gconv_filter \*const \*filters;/    int newer_member;\n&/'
changed unsized 's/^} gconv_error;/    int newer_member;\n&/'
changed renumbered 's/GCONV_ERROR_DEVICE,/GCONV_ERROR_NEWER, &/'
for name in removed returns moved unsized renumbered; do
  ! compatible "$name" || { echo "$name is not seen"; exit 1; }
done
echo "$(grep -c __builtin_trap "$work/newest/gconv.c") functions, structures that may grow: $sized"
