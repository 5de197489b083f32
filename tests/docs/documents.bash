# What the tests of the documents share, beside ../common.bash.
# shellcheck shell=bash

load ../common

MANUAL=$BUILD/man/gconv.1

commands() {
  "$GCONV" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The options of a command as help shows them: "-t, --threshold T" or "--invert", one a line.
options_in_help() {
  "$GCONV" help "$1" | sed -n '/^Options:/,$p' |
    sed -nE 's/^  +(((-[A-Za-z], )?--[a-z0-9-]+)( [A-Za-z]+)?)( .*)?$/\1/p' | sort
}

# Only the long names.
long_options() {
  options_in_help "$1" | grep -o -- '--[a-z0-9-]*' | sort
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
  "$GCONV" info -v | sed -n '/^implementations:/,/^$/s/^  \([^ ]\{1,\}\) .*/\1/p' | sort
}

# Installs what was built, so that programs here find it: pkg-config, and the loader.
install_library() {
  cmake --install "${BUILD:?}" --prefix "$PWD/installed" >log 2>&1 || { cat log; return 1; }
  PKG_CONFIG_PATH=$(dirname "$(find "$PWD/installed" -name gconv.pc)")
  LD_LIBRARY_PATH=$(dirname "$(find "$PWD/installed" -name 'libgconv.*' | head -n 1)")
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
}

# ---- Pages whose console blocks are run ----------------------------------------------------------

# In a block of ```console a line "$ COMMAND" is a command, lines "> MORE" behind it continue it, and
# the lines up to the next one are what it prints, stdout and stderr together. In these, "..." stands for any text within a line, and a line
# of "..." alone for any number of lines.

# Writes the files that a page shows: a block such as ```text NAME is a file of that name.
make_files() {
  awk '/^```/ { file = ""; if ($2 != "") file = $2; next } file != "" { print >file }' "$1"
}

# The console blocks of a page; with one more argument those after this heading.
console() {
  awk -v from="${2-}" '
    BEGIN { on = from == "" }
    /^## / && from != "" { on = ($0 == from) }
    /^```/ { inside = (on && $0 == "```console"); next }
    inside' "$1"
}

# An extended regular expression for lines with wildcards.
pattern() {
  local line any=$'[^\n]*'
  while IFS= read -r line; do
    if [[ $line == ... ]]; then
      printf '([^\n]*\n)*'
    else
      line=$(sed -E 's/[][\\.*^$+?(){}|]/\\&/g' <<<"$line")
      printf '%s\n' "${line//'\.\.\.'/"$any"}"
    fi
  done
}

check() {
  local expected
  expected=$(printf '%s' "$2" | pattern; echo .)
  expected=${expected%.}
  bash -c "$1" >output 2>&1 </dev/null
  local actual
  actual=$(cat output; echo .)
  actual=${actual%.}
  if ! [[ $actual =~ ^$expected$ ]]; then
    printf '$ %s\n--- expected:\n%s--- printed:\n%s' "$1" "$2" "$actual"
    return 1
  fi
}

# Runs the console text of standard input; prints the number of commands.
play() {
  local line command='' expected='' count=0
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ $line == '$ '* ]]; then
      [[ -z $command ]] || check "$command" "$expected" || return 1
      command=${line#'$ '}
      expected=
      count=$((count + 1))
    elif [[ $line == '> '* && -n $command && -z $expected ]]; then
      command+=$'\n'${line#'> '}
    else
      expected+=$line$'\n'
    fi
  done
  [[ -z $command ]] || check "$command" "$expected" || return 1
  echo "commands: $count"
}
