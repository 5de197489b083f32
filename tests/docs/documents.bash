# What the tests of the documents share, beside ../common.bash.
# shellcheck shell=bash

load ../common

MANUAL=$SOURCE/man/gconv.1

commands() {
  "$GCONV" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The options of a command as help shows them: "-t, --threshold T" or "--invert", one a line.
options_in_help() {
  "$GCONV" help "$1" | sed -n '/^Options:/,$p' |
    sed -nE 's/^  +(((-[A-Za-z], )?--[a-z-]+)( [A-Za-z]+)?)( .*)?$/\1/p' | sort
}

# Only the long names.
long_options() {
  options_in_help "$1" | grep -o -- '--[a-z-]*' | sort
}

# Sections of a man page, as source. Arguments: FILE NAME...
section() {
  local file=$1 name
  shift
  for name in "$@"; do
    awk -v name="$name" '/^\.SH / { inside = ($0 == ".SH " name) }
      inside' "$file"
  done
}

# Man source to plain words: no fonts, escapes of characters resolved.
plain() {
  sed -E -e 's/\\f[A-Z]//g' -e 's/\\-/-/g' -e "s/\\\\\\(aq/'/g" -e 's/\\\(bu/*/g'
}

# The options of a command as OPTIONS of gconv(1) has them; the form of options_in_help.
options_in_manual() {
  section "$MANUAL" OPTIONS | plain | awk -v command="$1" '
    /^\.TP/ { tag = ""; next_is_tag = 1; next }
    next_is_tag { next_is_tag = 0; tag = substr($0, 4); next }
    tag != "" && /^\[/ {
      takers = ", " substr($0, 2, length($0) - 2) ", "
      if (takers == ", all, " || index(takers, ", " command ", ")) print tag
      tag = ""
    }' | sort
}

# The code blocks .EX to .EE of standard input.
examples() {
  awk '/^\.EE/ { inside = 0 } inside { print } /^\.EX/ { inside = 1 }' | plain
}

builtin_filters() {
  "$GCONV" info | sed -n '/^built-in filters:/,/^$/s/^  \([^ ]*\) .*/\1/p' | sort
}

implementations() {
  "$GCONV" info | sed -n '/^implementations:/,/^$/s/^  \([^ ]\{1,\}\) .*/\1/p' | sort
}
