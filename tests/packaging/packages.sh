#!/bin/sh
# The texts of packaging/ fit the source: every file that is installed is in one package, and every
# page names the same version.
#
# Usage: packages.sh SOURCE_DIR            the texts
#        packages.sh SOURCE_DIR PREFIX     the files of an installation
#        packages.sh SOURCE_DIR --release  the texts, which also have to say that this is a release
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
result=0

# Arguments: TEXT; what is wrong is in the file "wrong".
complain() {
  if [ -s "$work/wrong" ]; then
    echo "$1"
    sed 's/^/  /' "$work/wrong"
    result=1
  fi
}

# Arguments: VERSION FILE EXPRESSION-FOR-SED, which prints the version that the file names
check_version() {
  found=$(sed -n "$3" "$2" | head -n 1)
  [ "$found" = "$1" ] || echo "$2: '$found'"
}

# shellcheck disable=SC2016 # grave accents are those of the pages
check_versions() {
  version=$(sed -n 's/^project(gconv VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  {
    check_version "$version" NEWS.md 's/^## \([0-9.]*\).*/\1/p'
    check_version "$version" README.md 's/^\*\*State\.\*\* Version \([0-9.]*[0-9]\).*/\1/p'
    check_version "$version" CITATION.cff 's/^version: \(.*\)/\1/p'
    check_version "$version" docs/packaging.md 's/.*release\.sh v\([0-9.]*\)`.*/\1/p'
    # The name of the library and of its folder.
    minor=${version%.*}
    check_version "$minor" docs/packaging.md 's/^| libgconv\([0-9.]*\) .*/\1/p'
    check_version "$minor" docs/contract.md 's/.*`libgconv-\([0-9.]*\)`.*/\1/p'
    check_version "$minor" docs/library.md 's/.*`libgconv-\([0-9.]*\)`.*/\1/p'
    check_version "$minor" docs/library.md 's/.*`libgconv\.so\.\([0-9.]*\)`.*/\1/p'
    check_version "$minor" docs/library.md 's/.*`GCONV_\([0-9.]*\)`.*/\1/p'
    check_version "$minor" man/gconv.1.in 's/.*libgconv\\-\([0-9.]*\)\/libgconv.*/\1/p'
    check_version "$minor" tests/packaging/consumer/CMakeLists.txt \
      's/^find_package(gconv \([0-9.]*\) .*/\1/p'
    check_version "$minor" python/gconv/_library.py 's/^NAME = "libgconv\.so\.\([0-9.]*\)".*/\1/p'
  } >"$work/wrong"
  complain "CMakeLists.txt has version $version, but other files have:"
}

check_release() {
  {
    sed -n '/^## /{p;q}' NEWS.md | grep -vE '^## [0-9.]+, [0-9]{4}-[0-9]{2}-[0-9]{2}$' |
      sed 's/.*/NEWS.md: the first section is "&", not "## VERSION, YEAR-MONTH-DAY"/' || true
    grep -q '^date-released: ' CITATION.cff || echo "CITATION.cff has no date-released"
    grep -Hn 'not been released' SECURITY.md README.md || true
  } >"$work/wrong"
  complain "these say that version $version is no release:"
}

# Arguments: PREFIX
check_files() {
  (cd "$1" && find . ! -type d | sed 's|^\./||' | sort) >"$work/installed"
  libdir=$(sed -n 's|/libgconv\.a$||p' "$work/installed")
  grep -v '^#' packaging/files.txt |
    sed -e "s|libdir/|$libdir/|; s|bindir/|bin/|; s|mandir/|share/man/|; s|datadir/|share/|" \
      -e 's|docdir/|share/doc/gconv/|; s|includedir/|include/|; s|libexecdir/|libexec/|' \
      >"$work/table"
  while read -r part pattern; do
    # The pattern is meant to be expanded.
    # shellcheck disable=SC2086
    (cd "$1" && find $pattern ! -type d 2>/dev/null) >"$work/found" || case $part:$pattern in
    mpi:* | cuda:* | laboratory:* | *:*/html) ;;
    *) echo "$part $pattern" >>"$work/empty" ;;
    esac
    cat "$work/found"
  done <"$work/table" | sort >"$work/listed"
  uniq -d "$work/listed" >"$work/wrong"
  complain "two rows of packaging/files.txt have:"
  comm -23 "$work/installed" "$work/listed" >"$work/wrong"
  complain "installed, but in no row of packaging/files.txt:"
  if [ -e "$work/empty" ]; then
    mv "$work/empty" "$work/wrong"
    complain "rows of packaging/files.txt for files that are not installed:"
  fi
}

case ${2:-} in
'') check_versions ;;
--release) check_versions && check_release ;;
*) check_files "$2" ;;
esac
exit $result
