#!/bin/sh
# The default GPU architectures are those of ours that a toolkit knows, old or new; by AUTO they are
# those of this machine's GPUs, and without a GPU the CUDA part is left out. What CUDAARCHS says comes
# first; an empty one says nothing.
#
# Usage: architectures.sh SOURCE_DIR
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0
unset CUDAARCHS

cat >"$work/ask.cmake" <<'END'
cmake_minimum_required(VERSION 3.18)
include("${SOURCE}/cmake/CudaArchitectures.cmake")
gconv_cuda_architectures(architectures "${WORK}/nvcc" "${WANTED}")
file(WRITE "${WORK}/answer" "${architectures}")
END

cat >"$work/nvidia-smi" <<'END'
#!/bin/sh
[ -n "$CAPABILITIES" ] || { echo 'No devices were found'; exit 6; }
printf '%s\n' $CAPABILITIES
END
chmod +x "$work/nvidia-smi"

# Arguments: WANTED EXPECTED LINE... A toolkit that answers with these lines; without any it refuses.
toolkit() {
  wanted=$1
  expected=$2
  shift 2
  {
    echo '#!/bin/sh'
    [ $# -gt 0 ] || echo 'exit 1'
    [ $# -eq 0 ] || printf 'echo compute_%s\n' "$@"
  } >"$work/nvcc"
  chmod +x "$work/nvcc"
  PATH=$work:$PATH cmake "-DSOURCE=$source" "-DWORK=$work" "-DWANTED=$wanted" -P "$work/ask.cmake"
  if [ "$(cat "$work/answer")" != "$expected" ]; then
    echo "$wanted of $*: $(cat "$work/answer"), not $expected"
    result=1
  fi
}

toolkit ON '75-real;80-real;86-real;89-real;90-real;100-real;120-real;120-virtual' \
  75 80 86 87 88 89 90 100 103 110 120 121
toolkit ON '75-real;80-real;86-real;89-real;90-real;90-virtual' 50 52 60 61 70 75 80 86 87 89 90 90a
toolkit ON '80-real;90-real;90-virtual' 80 90
toolkit ON '' 20 30
toolkit ON ''
gpus() {
  export CAPABILITIES="$1"
  toolkit AUTO "$2" 75 86 90 100 103 120 121
}
gpus 9.0 90
gpus '9.0
7.5
9.0' '90;75'
gpus 13.0 121 # newer than the toolkit
gpus 11.0 103 # newer than some that it knows
gpus 6.1 '' # older
gpus '' ''
export CUDAARCHS=
gpus 9.0 90
CUDAARCHS='80-real;90'
gpus '' '80-real;90'
exit $result
