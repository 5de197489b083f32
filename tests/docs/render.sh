#!/bin/sh
# The man pages render without a warning, for a terminal of 80 columns and for print.
#
# Usage: render.sh SOURCE_DIR BUILD_DIR
set -eu
for tool in man groff; do
  command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MANROFFOPT MAN_KEEP_FORMATTING MANOPT
LC_ALL=C.UTF-8
MANWIDTH=80
export LC_ALL MANWIDTH

for page in "$1"/man/*.[1-9] "$2"/man/*.[1-9]; do
  for device in utf8 ps; do
    man -l --warnings -T$device "$page" >"$work/page" 2>"$work/warnings"
    if [ -s "$work/warnings" ]; then
      cat "$work/warnings"
      exit 1
    fi
    # Some minimal systems replace man by a program that prints a notice.
    [ "$(wc -l <"$work/page")" -gt 40 ] || { echo "$page: nothing rendered"; exit 1; }
  done
done
