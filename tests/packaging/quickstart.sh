#!/bin/sh
# What quickstart.sh compiles of CUDA: what it is told to, else what the build directory was configured
# with, else code for the GPUs of this machine. With a toolkit and no GPU it compiles nothing of it, and
# says so; for the tests it compiles kernels, in a directory of their own.
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
cat >"$work/build/gconv" <<'END'
#!/bin/sh
[ "$1" != --version ] || echo 'build: Release'
END
cat >"$work/bin/ctest" <<END
#!/bin/sh
echo "tests of \$PWD" >>"$work/arguments"
END
chmod +x "$work/bin/"* "$work/build/gconv"

# Arguments: COMMAND ENVIRONMENT... Leaves what cmake was given in $work/arguments, and what was said
# in $work/said.
quickstart() {
  command=$1
  shift
  rm -f "$work/arguments"
  # A command of no words is none.
  # shellcheck disable=SC2086
  env -u GCONV_CUDA -u CUDAARCHS -u CUDACXX -u CUDA_PATH -u CUDA_HOME -u CI \
    PATH="$work/bin:$PATH" BUILD_DIR="$work/build" "$@" \
    "$source/quickstart.sh" $command >/dev/null 2>"$work/said" || { cat "$work/said"; result=1; }
}

# Arguments: TEXT FILE. Complains unless the file has it.
has() {
  grep -qF -e "$1" "$2" || { echo "not '$1':" && cat "$2" && result=1; }
}

# Arguments: OPTION ARCHITECTURES ENVIRONMENT...: what the build is given
expect() {
  option=$1
  architectures=$2
  shift 2
  quickstart '' "$@"
  found=$(grep GCONV_CUDA "$work/arguments" || true)
  if [ "$found" != "$option" ]; then
    echo "'$found', not '$option', with: $*"
    result=1
  fi
  if ! grep -qx "architectures: $architectures" "$work/arguments"; then
    echo "not '$architectures', but $(grep architectures: "$work/arguments" | head -n 1), with: $*"
    result=1
  fi
  has -DCMAKE_BUILD_TYPE=Release "$work/arguments"
}

# A new build directory, on machines with a toolkit.
expect -DGCONV_CUDA=OFF none
has 'left out: the CUDA module' "$work/said"
has 'compiles it for every GPU: about ' "$work/said"
expect -DGCONV_CUDA=OFF none GCONV_CUDA=
expect -DGCONV_CUDA=OFF none GCONV_CUDA=OFF CAPABILITIES=9.0
expect -DGCONV_CUDA=AUTO none GCONV_CUDA=AUTO
expect -DGCONV_CUDA=ON none GCONV_CUDA=ON
expect -DGCONV_CUDA=ON 90 GCONV_CUDA=ON CAPABILITIES=9.0
expect '' 90 CAPABILITIES=9.0
expect '' '75;90' CAPABILITIES='9.0 7.5 9.0'
expect '' 90 CAPABILITIES='9.0 12.0' # newer than the toolkit
expect -DGCONV_CUDA=OFF none CAPABILITIES=6.1 # older
expect '' 80-real CAPABILITIES=9.0 CUDAARCHS=80-real
expect '' 80-real CUDAARCHS=80-real

# One that has been configured.
echo GCONV_CUDA:STRING=OFF >"$work/build/CMakeCache.txt"
expect '' none CAPABILITIES=9.0
has 'compiles it for 90: about ' "$work/said"
printf '%s\n' GCONV_CUDA:STRING=AUTO CMAKE_CUDA_ARCHITECTURES:STRING=75 >"$work/build/CMakeCache.txt"
expect '' none
expect '' none CAPABILITIES=9.0

# The tests.
mkdir "$work/build/asan" "$work/build/floor" "$work/build/kernels"
quickstart test CAPABILITIES=9.0
has "tests of $work/build" "$work/arguments"
rm "$work/build/CMakeCache.txt"
for cache in '' GCONV_CUDA:STRING=OFF; do # also behind `quickstart.sh` without a command
  printf '%s\n' "$cache" >"$work/build/CMakeCache.txt"
  quickstart test
  has "tests of $work/build/kernels" "$work/arguments"
  has -DCMAKE_CUDA_ARCHITECTURES=80-real "$work/arguments"
  has 'about ' "$work/said"
  ! grep -qx "$work/build" "$work/arguments" || { echo "build/ has slow kernels"; result=1; }
done
quickstart test GCONV_CUDA=OFF
! grep "tests of $work/build/kernels" "$work/arguments" || result=1
exit $result
