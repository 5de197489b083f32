#!/usr/bin/env bats
# README.md does what it shows. Its blocks of ```console are run in the order of the page, in one
# directory that has the samples.

load documents

README=$SOURCE/README.md

prepare() {
  mkdir bin
  ln -s "$GCONV" bin/gconv
  ln -s "$SOURCE/samples" samples
  PATH=$PWD/bin:$PATH
}

@test "the checker sees differences" {
  printf '$ echo a; echo b\na\nb\n' | play
  printf '$ echo a.c; echo b; echo c; echo d\na...\n...\nd\n' | play
  printf '$ echo a; echo b\na\n...\nb\n...\n' | play
  printf '$ for i in a b; do\n> echo $i; done\na\nb\n' | play
  printf '$ true\n$ echo "[1] $HOME"\n[1] ...\n' | play
  ! printf '$ echo a\nb\n' | play || false
  ! printf '$ echo a\n' | play || false
  ! printf '$ echo a\n... b\n' | play || false
  ! printf '$ echo a; echo b\na ...\n' | play || false
  ! printf '$ echo axc\na.c\n' | play || false
}

@test "the tour" {
  needs_lab
  prepare
  make_files "$README"
  console "$README" '## A tour' >tour
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
  install_library
  make_files "$README"
  console "$README" '## The library' >library
  run play <library
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${output##*: }" -eq 2 ]
}

@test "no console block is left out, and every linked file is there" {
  [ "$(grep -c '^\$ ' "$README")" -eq \
    "$({ console "$README" '## A tour'; console "$README" '## The library'; } | grep -c '^\$ ')" ]
  links=$(grep -oE '\]\([^)]*\)' "$README" | tr -d '()]' | sort -u)
  [ "$(echo "$links" | wc -l)" -ge 6 ]
  for link in $links; do
    [ -e "$SOURCE/$link" ] || { echo "not there: $link"; false; }
  done
}

@test "it counts the implementations, and names each" {
  words=(no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty)
  names=$(implementations | grep -v :)
  grep -qF " has ${words[$(echo "$names" | wc -l)]} implementations" "$README"
  for name in $names; do
    grep -qF "\`$name\`" "$README" || { echo "not named: $name"; false; }
  done
}

@test "the two commands for a fresh machine are quickstart's" {
  [ -x "$SOURCE/quickstart.sh" ]
  "$SOURCE/quickstart.sh" help | grep -q '\./quickstart.sh test'
  grep -q '^\./quickstart\.sh  *#' "$README"
  grep -q '^\./quickstart\.sh test  *#' "$README"
}
