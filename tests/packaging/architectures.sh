#!/bin/sh
# The default GPU architectures are those of ours that a toolkit knows, old or new.
#
# Usage: architectures.sh SOURCE_DIR
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0

cat >"$work/ask.cmake" <<'END'
include("${SOURCE}/cmake/CudaArchitectures.cmake")
gconv_cuda_architectures(architectures "${WORK}/nvcc")
file(WRITE "${WORK}/answer" "${architectures}")
END

# Arguments: EXPECTED LINE... A toolkit that answers with these lines; without any it refuses.
toolkit() {
  expected=$1
  shift
  {
    echo '#!/bin/sh'
    [ $# -gt 0 ] || echo 'exit 1'
    [ $# -eq 0 ] || printf 'echo compute_%s\n' "$@"
  } >"$work/nvcc"
  chmod +x "$work/nvcc"
  cmake "-DSOURCE=$source" "-DWORK=$work" -P "$work/ask.cmake"
  if [ "$(cat "$work/answer")" != "$expected" ]; then
    echo "for $*: $(cat "$work/answer"), not $expected"
    result=1
  fi
}

toolkit '75-real;80-real;86-real;89-real;90-real;100-real;120-real;120-virtual' \
  75 80 86 87 88 89 90 100 103 110 120 121
toolkit '75-real;80-real;86-real;89-real;90-real;90-virtual' 50 52 60 61 70 75 80 86 87 89 90 90a
toolkit '80-real;90-real;90-virtual' 80 90
toolkit '' 20 30
toolkit ''
exit $result
