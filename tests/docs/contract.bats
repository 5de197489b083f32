#!/usr/bin/env bats
# docs/contract.md numbers its rules from 1 without a gap, and every rule that is cited exists.

load documents

CONTRACT=$SOURCE/docs/contract.md

# The numbers of the rules of a specification, one a line. Argument: FILE
rules() {
  sed -nE 's/^([0-9]+)\. \*\*.*/\1/p' "$1"
}

# The rules that text files cite, as lines "FILE:LINE: NUMBER". A citation is the word and a number,
# or the plural and several numbers ("1 and 2", "5 to 7"), also if a line ends behind the word.
# `--rule` and names such as gconv_rule are no citations. Arguments: FILE or DIRECTORY...
citations() {
  grep -rIlE --exclude-dir=corpus '[Rr]ules?' "$@" | sort | while IFS= read -r file; do
    awk -v file="$file" '
      function cite(text, pattern) {
        while (match(text, pattern)) {
          numbers = substr(text, RSTART, RLENGTH)
          text = substr(text, RSTART + RLENGTH)
          gsub(/[^0-9]+/, " ", numbers)
          count = split(numbers, cited, " ")
          for (i = 1; i <= count; i++) print file ":" FNR ": " cited[i]
        }
      }
      {
        text = " " $0
        if (word != "") {
          sub(/^[ \t*\/#"\\]*/, "", text)
          text = " " word " " text
        }
        cite(text, "[^A-Za-z_-][Rr]ule [0-9]+")
        cite(text, "[^A-Za-z_-][Rr]ules [0-9]+((, | and | or | to )[0-9]+)*")
        word = match(text, /[^A-Za-z_-][Rr]ules?[ \t]*$/) ? substr(text, RSTART + 1) : ""
        sub(/[ \t]+$/, "", word)
      }' "$file"
  done
}

# The citations of standard input that name no rule of a specification. Argument: FILE
unknown() {
  rules "$1" >"$WORK/known"
  awk '!cited { known[$1] = 1; next } !($NF in known)' "$WORK/known" cited=1 -
}

@test "the rules of the contract are numbered from 1 without a gap" {
  count=$(rules "$CONTRACT" | wc -l)
  [ "$count" -ge 70 ]
  same_list rules "$(rules "$CONTRACT")" "$(seq "$count")"
}

@test "every rule that is cited is in the contract" {
  cd "$SOURCE"
  citations src include lab tests docs man benchmarks cmake ./*.md >"$WORK/cited"
  [ "$(wc -l <"$WORK/cited")" -ge 60 ]
  missing=$(unknown "$CONTRACT" <"$WORK/cited")
  echo "no such rule: $missing"
  [ -z "$missing" ]
}

@test "a citation of a rule that is not there is found" {
  word=rule
  printf '1. **One.** Text.\n2. **Two.** Text.\n' >contract.md
  mkdir tree
  printf '/* %s 1, %ss 1 and 2, --%s 3, gconv_%s 3 */\n' $word $word $word $word >tree/right.c
  printf '/* As of %s 3. */\n' $word >tree/single.c
  printf '# %ss 1, 2 and 3\n' $word >tree/several.sh
  printf ' * the bound of %s\n * 3 of the contract\n' $word >tree/broken.c
  same_list unknown "$(citations tree | unknown contract.md)" \
    "$(printf '%s: 3\n' tree/broken.c:2 tree/several.sh:1 tree/single.c:1)"
}

# The words that the program says --format takes.
format_words() {
  "$GCONV" edges --format none a.png b.png 2>&1 | sed 's/.* is not //; s/ or /, /' | tr -d ' ' | tr ',' '\n'
}

@test "the contract has every option with its commands, and every format" {
  for command in $(commands); do
    letter=${command%"${command#?}"}
    [ "$command" != check ] || letter=k
    [ "$command" != kernel ] || letter=n
    [ "$command" != thin ] || letter=h
    [ "$command" != help ] || continue
    for option in $(long_options "$command"); do
      row=$(grep -E "^ *\\| .*\`?(-[a-z], )?$option[ \`]" "$CONTRACT") || { echo "no row of $option" && false; }
      printf '%s\n' "$row" | cut -d '|' -f 3 | grep -qE "(^| )($letter|all)( |\$)" ||
        { echo "$option: $command is missing" && false; }
    done
  done
  [ "$(format_words | wc -l)" -ge 6 ]
  for word in $(format_words); do # the row of the option alone
    grep -E '^ *\| `-f, --format' "$CONTRACT" | grep -q "\`$word\`"
    "$GCONV" help filter | grep -A 2 -e --format | grep -qw "$word"
  done
}
