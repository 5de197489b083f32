#!/bin/sh
# quickstart.sh takes a CC of several words, and another compiler where there is none such.
#
# Usage: compiler.sh SOURCE_DIR
set -eu
eval "$(sed -n '/^have() {$/,/^}$/p; /^find_compiler() {$/,/^}$/p; /^compiles() {$/,/^}$/p' \
  "$1/quickstart.sh")"
result=0

expect() {
  if [ "$1" != "$2" ]; then
    echo "'$1', not '$2'"
    result=1
  fi
}

given=${CC:-cc}
CC="env $given"
expect "$(find_compiler)" "env $given"
compiles -std=c17 '#include <stdio.h>' || { echo "'$CC' does not compile"; result=1; }
CC='no-such-program gcc'
expect "$(find_compiler)" cc
unset CC
expect "$(find_compiler)" cc
exit $result
