#!/bin/sh
# quickstart.sh says nothing about CUDA to a build directory unless it is told to. A new one is for the
# GPUs of this machine.
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
printf '%s\n' "architectures: \${CUDAARCHS-none}" >>"$work/arguments"
END
cat >"$work/bin/nvcc" <<'END'
#!/bin/sh
printf 'compute_75\ncompute_90\n'
END
cat >"$work/bin/nvidia-smi" <<'END'
#!/bin/sh
[ -n "${CAPABILITIES:-}" ] || { echo 'No devices were found'; exit 6; }
printf '%s\n' $CAPABILITIES
END
printf '#!/bin/sh\n' >"$work/build/gconv"
chmod +x "$work/bin/cmake" "$work/bin/nvcc" "$work/bin/nvidia-smi" "$work/build/gconv"

# Arguments: WANTED ENVIRONMENT...
expect() {
  wanted=$1
  shift
  rm -f "$work/arguments"
  env -u GCONV_CUDA -u CUDAARCHS -u CI PATH="$work/bin:$PATH" BUILD_DIR="$work/build" "$@" \
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

# Arguments: WANTED ENVIRONMENT...
expect_architectures() {
  architectures=$1
  shift
  expect '' "$@"
  if ! grep -qx "architectures: $architectures" "$work/arguments"; then
    echo "not '$architectures', but $(grep architectures: "$work/arguments" | head -n 1), with: $*"
    result=1
  fi
}

expect_architectures none
expect_architectures 90 CAPABILITIES=9.0
expect_architectures '75;90' CAPABILITIES='9.0 7.5 9.0'
expect_architectures none CAPABILITIES='9.0 12.0' # unknown to the toolkit
expect_architectures 80-real CAPABILITIES=9.0 CUDAARCHS=80-real
: >"$work/build/CMakeCache.txt"
expect_architectures none CAPABILITIES=9.0
exit $result
