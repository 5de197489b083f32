#!/bin/sh
# What quickstart.sh compiles of CUDA: what it is told to, else what the build directory was configured
# with. It says what was left out; for the tests of a toolkit without a GPU it compiles kernels, in a
# directory of their own.
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
expect '' none
has 'left out: the CUDA module' "$work/said"
has 'GCONV_CUDA=ON' "$work/said"
has 'compiles it for every GPU: about ' "$work/said"
expect '' none GCONV_CUDA= CAPABILITIES=9.0
has 'GCONV_CUDA=AUTO' "$work/said"
expect -DGCONV_CUDA=OFF none GCONV_CUDA=OFF CAPABILITIES=9.0
expect -DGCONV_CUDA=AUTO none GCONV_CUDA=AUTO
expect -DGCONV_CUDA=ON none GCONV_CUDA=ON
expect '' 80-real CUDAARCHS=80-real
# By AUTO no code came out for the GPU that is there: AUTO again would not help.
echo GCONV_CUDA:STRING=AUTO >"$work/build/CMakeCache.txt"
expect '' none CAPABILITIES=5.2
has 'an older toolkit helps' "$work/said"
! grep -F 'GCONV_CUDA=AUTO' "$work/said" || result=1
rm "$work/build/CMakeCache.txt"

# The tests.
mkdir "$work/build/asan" "$work/build/floor" "$work/build/kernels"
quickstart test CAPABILITIES=9.0
has "tests of $work/build" "$work/arguments"
for cache in '' GCONV_CUDA:STRING=OFF; do # also behind `quickstart.sh` without a command
  printf '%s\n' "$cache" >"$work/build/CMakeCache.txt"
  quickstart test
  has "tests of $work/build/kernels" "$work/arguments"
  has -DCMAKE_CUDA_ARCHITECTURES=80-real "$work/arguments"
  has 'about ' "$work/said"
  ! grep -qx "$work/build" "$work/arguments" || { echo "build/ has slow kernels"; result=1; }
done
echo GCONV_CUDA:STRING=ON >"$work/build/CMakeCache.txt"
quickstart test
! grep "tests of $work/build/kernels" "$work/arguments" || result=1
quickstart test GCONV_CUDA=OFF
! grep "tests of $work/build/kernels" "$work/arguments" || result=1
exit $result
