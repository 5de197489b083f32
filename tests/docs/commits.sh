#!/bin/sh
# Every commit that documents, results and shipped tunings name is in the history of HEAD. A commit that
# exists only in somebody's clone, such as one from before a rebase, is not.
#
# Usage: commits.sh SOURCE_DIR
# Exit status: 0 all are there, 1 some are not, 77 skipped: no history here.
set -eu
cd "$1"
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" != "$(pwd -P)" ] ||
  [ "$(git rev-parse --is-shallow-repository)" != false ]; then
  echo "skipped: no git history"
  exit 77
fi

# Names of commits in a text: words of 7 to 40 hexadecimal digits with a letter and a digit, but no
# numbers such as 3.4028235e38, and no colours behind an escape of a URL, such as %2300224e.
names() {
  sed -E 's/%[0-9A-F]{2}/ /g; s/[0-9]+\.[0-9]+(e[-+]?[0-9]+)?//g' | grep -oEw '[0-9a-f]{7,40}' | grep '[a-f]' | grep '[0-9]' | sort -u
}

# Prints which of the names on standard input are not in the history.
strangers() {
  while read -r name; do
    git merge-base --is-ancestor "$name^{commit}" HEAD 2>/dev/null || echo "$name"
  done
}

# The check sees what it has to see.
head=$(git rev-parse HEAD)
[ "$(echo "at $head, by 0badc0de (3.4028235e38 of 1234567 facade, %2300224e)" | names | strangers)" = 0badc0de ] || {
  echo "the check does not tell a commit from a stranger"
  exit 1
}

cited=$(git ls-files '*.md' 'docs/results/*' 'man/*' '*tunings/shipped.c' | xargs cat | names)
[ "$(echo "$cited" | wc -l)" -ge 10 ] || { echo "only these commits found: $cited"; exit 1; }
missing=$(echo "$cited" | strangers)
for name in $missing; do
  echo "not in the history: $name"
  git grep -nw "$name" -- . || true
done
[ -z "$missing" ]
