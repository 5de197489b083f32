#!/bin/sh
# quickstart.sh says nothing about CUDA to a build directory unless it is told to.
#
# Usage: quickstart.sh SOURCE_DIR
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/build"
result=0

cat >"$work/bin/cmake" <<END
#!/bin/sh
[ "\$1" != --version ] || echo cmake version 3.18.0
printf '%s\n' "\$@" >>"$work/arguments"
END
printf '#!/bin/sh\n' >"$work/build/gconv"
chmod +x "$work/bin/cmake" "$work/build/gconv"

# Arguments: WANTED ENVIRONMENT...
expect() {
  wanted=$1
  shift
  rm -f "$work/arguments"
  env -u GCONV_CUDA -u CI PATH="$work/bin:$PATH" BUILD_DIR="$work/build" "$@" \
    "$source/quickstart.sh" >/dev/null
  found=$(grep GCONV_CUDA "$work/arguments" || true)
  if [ "$found" != "$wanted" ]; then
    echo "'$found', not '$wanted', with: $*"
    result=1
  fi
  grep -qx -e -DCMAKE_BUILD_TYPE=Release "$work/arguments" || result=1
}

expect ''
expect '' GCONV_CUDA=
expect -DGCONV_CUDA=OFF GCONV_CUDA=OFF
exit $result
