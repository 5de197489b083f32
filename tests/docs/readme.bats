#!/usr/bin/env bats
# README.md does what it shows. Its blocks of ```console are run in the order of the page, in one
# directory that has the samples: a line "$ COMMAND" is a command, the lines up to the next one are
# what it prints, stdout and stderr together. In these, "..." stands for any text within a line, and
# a line of "..." alone for any number of lines. A block such as ```text NAME is a file of that name.

load documents

README=$SOURCE/README.md

prepare() {
  mkdir bin
  ln -s "$GCONV" bin/gconv
  ln -s "$SOURCE/samples" samples
  PATH=$PWD/bin:$PATH
}

# Writes the files that the page shows.
make_files() {
  awk '/^```/ { file = ""; if ($2 != "") file = $2; next } file != "" { print >file }' "$README"
}

# The console blocks; with an argument those after this heading, else those before it.
console() {
  awk -v from="$1" -v to="$2" '
    BEGIN { on = from == "" }
    /^## / { if (from != "") on = ($0 == from); if ($0 == to) on = 0 }
    /^```/ { inside = (on && $0 == "```console"); next }
    inside' "$README"
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
    else
      expected+=$line$'\n'
    fi
  done
  [[ -z $command ]] || check "$command" "$expected" || return 1
  echo "commands: $count"
}

@test "the checker sees differences" {
  printf '$ echo a; echo b\na\nb\n' | play
  printf '$ echo a.c; echo b; echo c; echo d\na...\n...\nd\n' | play
  printf '$ echo a; echo b\na\n...\nb\n...\n' | play
  printf '$ true\n$ echo "[1] $HOME"\n[1] ...\n' | play
  ! printf '$ echo a\nb\n' | play || false
  ! printf '$ echo a\n' | play || false
  ! printf '$ echo a\n... b\n' | play || false
  ! printf '$ echo a; echo b\na ...\n' | play || false
  ! printf '$ echo axc\na.c\n' | play || false
}

@test "the tour" {
  prepare
  make_files
  console '## A tour' >tour
  run play <tour
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${output##*: }" -ge 15 ]
}

@test "the program that uses the library" {
  [ -z "${SANITIZE-}" ] || skip "a program without sanitizers cannot use a library with them"
  needs pkg-config
  needs cc
  prepare
  cmake --install "${BUILD:?}" --prefix "$PWD/installed" >log 2>&1 || { cat log; false; }
  PKG_CONFIG_PATH=$(dirname "$(find installed -name gconv.pc)")
  LD_LIBRARY_PATH=$(dirname "$(find "$PWD/installed" -name 'libgconv.*' | head -n 1)")
  PKG_CONFIG_PATH=$PWD/$PKG_CONFIG_PATH
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
  make_files
  console '## The library' >library
  run play <library
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${output##*: }" -eq 2 ]
}

@test "no console block is left out, and every linked file is there" {
  [ "$(grep -c '^\$ ' "$README")" -eq \
    "$({ console '## A tour'; console '## The library'; } | grep -c '^\$ ')" ]
  links=$(grep -oE '\]\([^)]*\)' "$README" | tr -d '()]' | sort -u)
  [ "$(echo "$links" | wc -l)" -ge 6 ]
  for link in $links; do
    [ -e "$SOURCE/$link" ] || { echo "not there: $link"; false; }
  done
}

@test "the two commands for a fresh machine are quickstart's" {
  [ -x "$SOURCE/quickstart.sh" ]
  "$SOURCE/quickstart.sh" help | grep -q '\./quickstart.sh test'
  grep -q '^\./quickstart\.sh  *#' "$README"
  grep -q '^\./quickstart\.sh test  *#' "$README"
}
