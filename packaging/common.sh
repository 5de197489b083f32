# What the scripts of packaging/ share. They set `here`, this folder, and `top`, the source.
# shellcheck shell=sh disable=SC2034,SC2154

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

in_git() {
  [ "$(git -C "$top" rev-parse --show-prefix 2>/dev/null || echo none)" = '' ]
}

cuda=${GCONV_CUDA:-OFF}
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
version=$(sed -n 's/^project(gconv VERSION \([0-9.]*\).*/\1/p' "$top/CMakeLists.txt")
abi=${version%.*}
name=gconv-$version

# Packages of a commit without a tag come before the release in every order of versions.
package_version=$version
if in_git; then
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct)}
  if ! git -C "$top" tag --points-at HEAD | grep -qx "v$version"; then
    package_version=$version~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$(
      git -C "$top" rev-parse --short=8 HEAD)
  fi
fi
package_version=${GCONV_PACKAGE_VERSION:-$package_version}
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}"

# Puts the source into a folder, below its own name. Arguments: FOLDER
tree() {
  [ ! -e "$1/$name" ] || return 0
  if in_git; then
    git -C "$top" archive --prefix="$name/" HEAD | tar -x -C "$1"
  else
    cp -r "$top" "$1/$name"
  fi
}

# An archive of a folder: names in order, one time, one owner. Arguments: FOLDER
pack() {
  tar -c --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=go=rX,u+rw,a-s "$1"
}

# A Release build of the tree that does not depend on its folder. Arguments: FOLDER CMAKE-OPTION...
configure() {
  folder=$1
  shift
  flags="-ffile-prefix-map=$work/$name=. -ffile-prefix-map=$folder=build"
  CFLAGS="${CFLAGS:-} $flags" CXXFLAGS="${CXXFLAGS:-} $flags" cmake -S "$work/$name" -B "$folder" \
    -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF "$@"
}

# Shared libraries that some files need, but those of the C and C++ compilers. Arguments: FILE...
needed() {
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)|ld-[a-z0-9-]*)\.so' || true
}

# The rows of the table of files that are of one part. Arguments: PART
files_of() {
  awk -v part="$1" '!/^#/ && $1 == part { print $2 }' "$here/files.txt"
}

# Text of a template with the versions in place.
fill() {
  maintainer="${DEBFULLNAME:-The gconv developers} <${DEBEMAIL:-gconv@localhost.invalid}>"
  sed -e "s|@VERSION@|$version|g; s|@ABI@|$abi|g; s|@PACKAGE_VERSION@|$package_version|g" \
    -e "s|@MAINTAINER@|$maintainer|g" "$@"
}

# Makes debian/ in a tree of the sources: the templates, a changelog, lists of files of the table.
# Arguments: TREE
debian_folder() {
  debian=$1/debian
  mkdir -p "$debian/source"
  (cd "$here/debian" && find . -type f) | while read -r file; do
    fill "$here/debian/$file" >"$debian/$(printf '%s' "$file" | sed "s/@ABI@/$abi/")"
  done
  chmod +x "$debian/rules"
  fill >"$debian/changelog" <<EOF
gconv (@PACKAGE_VERSION@) unstable; urgency=medium

  * NEWS.md of the source and of the package gconv-doc says what changed.

 -- @MAINTAINER@  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
EOF
  while read -r part package; do
    files_of "$part" | sed -e 's|^bindir|usr/bin|; s|^libdir|usr/lib/*|' \
      -e 's|^libexecdir|usr/libexec|; s|^includedir|usr/include/libgconv|' \
      -e 's|^mandir|usr/share/man|; s|^docdir|usr/share/doc/gconv|' \
      -e 's|^datadir/zsh/site-functions|usr/share/zsh/vendor-completions|; s|^datadir|usr/share|' \
      >"$debian/$package.install"
  done <<EOF
program gconv
library libgconv$abi
headers libgconv-dev
documents gconv-doc
laboratory gconv-lab
mpi gconv-mpi
cuda libgconv-cuda
licence not-installed
EOF
  mv "$debian/not-installed.install" "$debian/not-installed" # its text is in debian/copyright
}

# Prints the spec: the template, with a %files section for each part.
rpm_spec() {
  fill "$here/rpm/gconv.spec"
  while read -r part package; do
    printf '\n%%files%s\n' "${package:+ -n $package}"
    files_of "$part" | sed -e 's|^bindir|%{_bindir}|; s|^libdir|%{_libdir}|' \
      -e 's|^libexecdir/gconv/\*|%{_libexecdir}/gconv|; s|^includedir/.*|%{_includedir}/libgconv|' \
      -e 's|^mandir\(.*\)|%{_mandir}\1*|; s|^docdir|%doc %{_docdir}/gconv|' \
      -e 's|^datadir/gconv/filters/\*|%{_datadir}/gconv|; s|^datadir|%{_datadir}|' \
      -e 's|^%{_libdir}/cmake/gconv/\*|%{_libdir}/cmake/gconv|'
    case $part in
    program | library) echo '%license LICENSE' ;;
    documents) echo '%dir %{_docdir}/gconv' ;;
    esac
  done <<EOF
program
library gconv-libs
headers gconv-devel
documents gconv-doc
laboratory gconv-lab
mpi gconv-mpi
EOF
  printf '\n%%if %%{with cuda}\n%%files -n gconv-cuda\n'
  files_of cuda | sed 's|^libdir|%{_libdir}|'
  printf '%%endif\n'
}

tarball_name() {
  printf '%s-linux-%s' "$name" "$(uname -m)"
  [ "$cuda" = OFF ] || printf '%s' -cuda
}
