#!/usr/bin/env bats
# The man pages say what the program says.

load documents

@test "OPTIONS of gconv(1) are the options of every command" {
  [ "$(commands | wc -l)" -ge 7 ]
  for command in $(commands); do
    same_list "gconv $command" "$(options_in_manual "$command")" "$(options_in_help "$command")"
  done
}

@test "COMMANDS and SYNOPSIS of gconv(1) are the program's" {
  found=$(section "$MANUAL" COMMANDS | grep -A1 '^\.TP' | sed -n 's/^\.B //p')
  same_list COMMANDS "$found" "$(commands)"
  usage=$("$GCONV" 2>&1 | sed -n 's/^  gconv/gconv/p')
  found=$(section "$MANUAL" SYNOPSIS | plain | sed -n 's/^\.B //p')
  same_list SYNOPSIS "$found" "$usage"
}

@test "EXIT STATUS of gconv(1) is complete" {
  same_list "exit codes" "$(section "$MANUAL" 'EXIT STATUS' | plain | grep -A1 '^\.TP' | sed -n 's/^\.B //p')" \
    "$(printf '%s\n' 0 1 2 3 4 5 '128+n')"
}

@test "exit codes are as in gconv(1)" {
  cp "$SOURCE/samples/craters.png" in.png
  run "$GCONV" edges in.png out.png
  [ "$status" -eq 0 ]
  run "$GCONV" edges -n in.png out.png
  [ "$status" -eq 0 ]
  run "$GCONV" edges none.png out.png
  [ "$status" -eq 1 ]
  run "$GCONV" edges --threshold many in.png out.png
  [ "$status" -eq 2 ]
  run "$GCONV" edges --device cuda:1000 in.png out.png
  [ "$status" -eq 4 ]
  local bench=("$GCONV" bench --impl cpu --sizes 64 --filters 3 --time 0.1)
  "${bench[@]}" --json | sed 's/seconds": [0-9.e-]*/seconds": 1e-9/g' >before
  run "${bench[@]}" --baseline before --fail-above 50
  [ "$status" -eq 5 ]
}

# All keys that the program prints stand in bold in the section JSON.
@test "JSON of gconv(1) documents every key" {
  cp "$SOURCE/samples/craters.png" in.png
  {
    "$GCONV" edges --json --verify --explain in.png out.png
    "$GCONV" filter --json --kernel gauss3 -n in.png out.png
    "$GCONV" filter --json --kernel gauss3 none.png other.png || true
    "$GCONV" compare --json --time 0.01 in.png
    "$GCONV" bench --json --time 0.01 --kernel identity
    "$GCONV" kernel --json gauss5 box:200 box:200
    "$GCONV" info --json
  } >objects 2>/dev/null
  [ "$(grep -c '"schema": 1,' objects)" -eq 9 ]
  section "$MANUAL" JSON | grep '^\.BR\{0,1\}I\{0,1\} ' | grep -o '[a-z_0-9]*' | sort -u >documented
  missing=$(grep -o '"[a-z_0-9]*":' objects | tr -d '":' | sort -u | comm -23 - documented)
  echo "not documented:" $missing
  [ -z "$missing" ]
}

@test "BUILT-IN FILTERS of gconv-filter(5) are the program's" {
  found=$(section "$SOURCE/man/gconv-filter.5" 'BUILT-IN FILTERS' | plain | grep -A1 '^\.TP' |
    sed -n 's/^\.B //p' | tr -d ',' | tr ' ' '\n' | sort)
  same_list "built-in filters" "$found" "$(builtin_filters)"
}

@test "examples of filter files in gconv-filter(5) are read" {
  cp "$SOURCE/samples/craters.png" in.png
  awk '/^\.EE/ { inside = 0 } /^\.EX/ { inside = 1; count++; next }
    inside { gsub(/\\-/, "-"); print >("filter" count ".txt") }' "$SOURCE/man/gconv-filter.5"
  ls filter*.txt
  [ "$(ls filter*.txt | wc -l)" -ge 5 ]
  for file in filter*.txt; do
    "$GCONV" filter --kernel "$file" in.png out.png
  done
}

@test "EXAMPLES of gconv(1) run" {
  mkdir bin photos
  ln -s "$GCONV" bin/gconv
  PATH=$PWD/bin:$PATH
  cp "$SOURCE/samples/harbour.jpg" photo.jpg
  cp "$SOURCE"/samples/*.png photos
  section "$MANUAL" EXAMPLES | examples >script
  [ "$(wc -l <script)" -ge 10 ]
  cat script
  sh -e script
  ls -l edges.png sharper/*.jpg response.pfm edges.pgm
}
