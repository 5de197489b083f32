#!/bin/sh
# Batches from file to file on a machine with a GPU: gconv by its devices, beside other programs on
# the same files, in turns, whole processes. Prints medians of wall and processor time, images a
# second, the ratio of the first row's time to each row's (median of pairs), and peak memory. What
# the GPU writes is first compared with what the CPU writes. What is not installed is left out and
# named.
#
# Usage: gpu_files.sh [OPTION...] GCONV      GCONV is the program
#
# --rows REGEX  some of: check edges-large edges-small edges-many edges-small-many gaussian log
#               gaussian-many log-many auto gpus one memory
#               (an extended regular expression that a whole name matches)
# --rounds N    of each command that are counted (3); one before them is not
# --images N    of the row memory (10000), a multiple of 2000
# --brief       gconv by its devices alone, in the rows of batches: no other program, no decoder by
#               hand. The long rows then have as many rounds as others
# --quick       a quarter of the images and one round
# Environment: WORK, a directory for images that is kept (else one in TMPDIR or in /dev/shm); PEER,
# the program files_nvjpeg (else that of GCONV's build, or nvcc makes it); NVCC; COMMIT, if this
# is not a git checkout.
set -eu
LC_ALL=C
export LC_ALL
usage() {
  sed -n 's/^# \{0,1\}//; 2,20p' "$0" >&2
  exit 2
}
rows='.*'
rounds=3
memory_images=10000
large_images=160
small_images=1600
brief=
command=gpu_files.sh
while [ $# -gt 1 ]; do
  command="$command $1"
  case $1 in
    --rows | --rounds | --images) command="$command $2" ;;
  esac
  case $1 in
    --rows) rows=$2 && shift ;;
    --rounds) rounds=$2 && shift ;;
    --brief) brief=yes ;;
    --images) memory_images=$2 && shift ;;
    --quick)
      rounds=1
      memory_images=2000
      large_images=40
      small_images=400
      ;;
    *) usage ;;
  esac
  shift
done
if [ $# -ne 1 ] || [ ! -x "$1" ]; then
  usage
fi
gconv=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
photograph=$(realpath "$here/../samples/harbour.jpg")
processors=$(nproc)
if [ -n "${WORK:-}" ]; then
  mkdir -p "$WORK"
  work=$(cd "$WORK" && pwd)
else
  place=${TMPDIR:-/tmp}
  # Files in memory, if it has 6 GB free.
  free=$(df -Pk /dev/shm 2>/dev/null | awk 'END { print $4 + 0 }')
  if [ -z "${TMPDIR:-}" ] && [ "$free" -gt 6000000 ]; then
    place=/dev/shm
  fi
  work=$(mktemp -d "$place/gpu_files.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
fi
cd "$work"
status=0

have() {
  command -v "$1" >/dev/null 2>&1
}

wanted() {
  printf '%s\n' "$1" | grep -qxE -e "$rows"
}

missing() {
  echo "# left out: $1"
}

# ---- Tools ---------------------------------------------------------------------------------------

cc=${CC:-cc}
nvcc=${NVCC:-nvcc}
have "$nvcc" || [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=/usr/local/cuda/bin/nvcc
peer=${PEER:-$(dirname "$gconv")/benchmarks/peers/files_nvjpeg}

# Both in the background, while the images are made.
if [ -z "$brief" ] && [ ! -x "$peer" ] && have "$nvcc"; then
  peer=$work/files_nvjpeg
  [ -x "$peer" ] || "$nvcc" -O3 -std=c++17 -arch=native -o "$peer" "$here/peers/files_nvjpeg.cu" \
    -lnvjpeg -lnppif -lnppc -lpng -ljpeg -lz >files_nvjpeg.log 2>&1 &
fi
if have "$nvcc" && [ ! -x cuda_empty ]; then
  cat >cuda_empty.cu <<'END'
#include <cuda_runtime.h>
int main() { return cudaFree(0) != cudaSuccess; }
END
  "$nvcc" -O2 -arch=native -o cuda_empty cuda_empty.cu >cuda_empty.log 2>&1 &
fi
"$cc" -O3 -o files_image "$here/files_image.c" -lpng -ljpeg
"$cc" -O3 -o files_decode "$here/files_decode.c" -ljpeg -lpng
"$cc" -O2 -o files_turns "$here/files_turns.c"

# ---- Images --------------------------------------------------------------------------------------

# DIR COUNT WIDTH HEIGHT: photographs of the quality at which 4096x3072 take about 2.6 MB.
images() {
  [ ! -f "$1/complete" ] || return 0
  mkdir -p "$1/in"
  # shellcheck disable=SC2016 # it is for the inner shell
  seq "$2" | xargs -P "$processors" -n 4 sh -c '
    for seed; do
      ./files_image -q 92 -s "$seed" "$DIR/in/$seed.jpg" "$WIDTH" "$HEIGHT" 3 "$PHOTOGRAPH" ||
        exit 255
    done' sh
  : >"$1/complete"
}

# The sum of the sizes of DIR's images, over their number, in kilobytes.
size_of() {
  find "$1/in" -name '*.jpg' -printf '%s\n' |
    awk '{ sum += $1 } END { printf "%d images of %d kB", NR, sum / NR / 1000 }'
}

# DIR COPIES FROM: COPIES directories of links to the images in FROM.
copies() {
  rm -rf "$1"
  mkdir "$1"
  for copy in $(seq "$2"); do
    cp -rl "$3" "$1/$copy"
  done
}

# TO FROM COPIES: images, each under COPIES names: so many that the start of the context weighs
# little.
many=$((8 * large_images))
gpus_many=$((480 * large_images)) # two contexts start one after the other
small_copies=16
small_many=$((small_copies * small_images))
make_many() {
  [ ! -d "$1" ] || return 0
  mkdir "$1"
  for copy in $(seq "$3"); do
    for image in "$2"/*.jpg; do
      ln "$image" "$1/$copy-${image##*/}"
    done
  done
}

begun=$(date +%s)
export DIR WIDTH HEIGHT PHOTOGRAPH
PHOTOGRAPH=$photograph
DIR=large WIDTH=4096 HEIGHT=3072
images large "$large_images"
DIR=small WIDTH=1024 HEIGHT=1024
images small "$small_images"
wait

# ---- What was measured ---------------------------------------------------------------------------

gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | grep -c . || true)
commit=${COMMIT:-$(git -C "$here" rev-parse HEAD 2>/dev/null || echo unknown)}
echo "# commit:   $commit"
echo "# build:    $("$gconv" info | sed -n 's/^build: //p')"
echo "# machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $processors processors"
echo "# GPU:      $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null |
  sort | uniq -c | awk '{ sub(/^ */, ""); sub(/ /, " x "); printf "%s%s", sep, $0; sep = "; " }')"
echo "# compiler: $("$cc" --version | head -n 1)$(have "$nvcc" && "$nvcc" --version |
  sed -n 's/.*release \([0-9.]*\),.*/, nvcc \1/p')"
echo "# images:   RGB JPEG, 4:2:0; 4096x3072: $(size_of large); 1024x1024: $(size_of small)"
echo "# files in: $(df -P "$work" | awk 'END { print $1 }')"
echo "# command:  $command GCONV"
if [ -n "$brief" ]; then
  peer=
elif [ ! -x "$peer" ]; then
  peer=
  missing "files_nvjpeg, the program on nvJPEG and NPP (PEER is not set, and nvcc could not make it)"
  if [ -f files_nvjpeg.log ]; then
    sed -n 's/^/#   /; 1,3p' files_nvjpeg.log
  fi
fi
[ -x cuda_empty ] || missing "the empty CUDA program (it needs nvcc)"

# ---- Rows ----------------------------------------------------------------------------------------

cold= # -c: no round before those that count

turns() {
  ./files_turns "$@" || status=1
}

# TITLE IMAGES DIR PEER COMMAND...: one job by each device, by --device cuda with each decoder, and
# by the peer. PEER is the peer's command.
batch() {
  title=$1
  number=$2
  from=$3
  mode=$4
  shift 4
  echo
  echo "$title"
  job=$*
  # shellcheck disable=SC2086 # the words of a job have no blanks
  set -- "gconv --device cpu" "$gconv" $job --device cpu -o out "$from" \
    -- "gconv --device auto" "$gconv" $job --device auto -o out "$from" \
    -- "gconv --device cuda" "$gconv" $job --device cuda -o out "$from"
  # shellcheck disable=SC2086
  [ -n "$brief" ] ||
    set -- "$@" \
      -- "gconv --decoder cpu" "$gconv" $job --device cuda --decoder cpu -o out "$from"
  if [ -n "$peer" ]; then
    set -- "$@" -- "nvJPEG and NPP, by 16" \
      sh -c "mkdir out; exec '$peer' -b 16 $mode out $from/*.jpg"
    if [ "$mode" = edges ]; then
      set -- "$@" -- "nvJPEG and NPP, by 64" \
        sh -c "mkdir out; exec '$peer' -b 64 $mode out $from/*.jpg" \
        -- "nvJPEG alone: decode, by 64" sh -c "exec '$peer' -b 64 decode $from/*.jpg"
    fi
  fi
  # shellcheck disable=SC2086 # an option or nothing
  turns $cold -i "$number" "$rounds" out "$@"
  rm -rf out
}

# TITLE IMAGES DIR COMMAND...: one job by --device cuda and by `auto`. A run on the CPU between them
# would leave the GPU idle before one of the two alone.
compare_auto() {
  title=$1
  number=$2
  from=$3
  shift 3
  echo
  echo "$title: auto beside cuda (bar: ratio at least 0.91)"
  turns -i "$number" "$rounds" out "gconv --device cuda" "$gconv" "$@" --device cuda -o out "$from" \
    -- "gconv --device auto" "$gconv" "$@" --device auto -o out "$from"
  rm -rf out
}

# The shapes and kinds that the batches have not: odd sizes, grey, PNG.
if wanted check; then
  rm -rf mixed
  mkdir mixed
  i=0
  for shape in 1x1 7x5 333x1001 1000x17 2049x1025 640x480; do
    for kind in grey-1.jpg rgb-3.jpg grey-1.png rgb-3.png; do
      i=$((i + 1))
      channels=${kind#*-}
      ./files_image -s "$i" "mixed/$i-$shape.${kind#*.}" "${shape%x*}" "${shape#*x}" \
        "${channels%.*}" "$photograph"
    done
  done
  for i in 1 2 3 4 5 6 7 8; do
    ln "large/in/$i.jpg" "mixed/large-$i.jpg"
    ln "small/in/$i.jpg" "mixed/small-$i.jpg"
  done
  echo
  echo "edges of $(find mixed -type f | wc -l) images of all shapes: files equal those of --device cpu"
  "$gconv" edges --device cpu -o out-cpu mixed
  for options in '--device cuda' '--device auto' '--decoder cuda'; do
    # shellcheck disable=SC2086 # options
    if "$gconv" edges $options -o out-gpu mixed && diff -r out-cpu out-gpu; then
      echo "  $options: equal"
    else
      echo "  $options: FAILED"
      status=1
    fi
    rm -rf out-gpu
  done
  rm -rf out-cpu
fi

if wanted edges-large; then
  batch "edges, $large_images JPEG of 4096x3072 (bar: auto at least 2.2; aim 700 images/s)" \
    "$large_images" large/in edges edges
fi
if wanted edges-small; then
  batch "edges, $small_images JPEG of 1024x1024 (bar: auto at least 2; aim 4500 images/s)" \
    "$small_images" small/in edges edges
fi
if wanted gaussian; then
  batch "filter gaussian:8, $large_images RGB JPEG of 4096x3072 (bar: auto at least 2)" \
    "$large_images" large/in gaussian:8 filter -k gaussian:8 --format jpeg
fi
if wanted log; then
  batch "filter log:5,43, $large_images RGB JPEG of 4096x3072 (bar: auto at least 3)" \
    "$large_images" large/in log:5,43 filter -k log:5,43 --format jpeg
fi

# Once is enough beside other programs.
saved=$rounds
if [ -z "$brief" ]; then
  rounds=1
  cold=-c
fi
if wanted edges-many; then
  make_many many large/in 8
  batch "edges, $many JPEG of 4096x3072: the $large_images, each 8 times" "$many" many edges edges
fi
if wanted edges-small-many; then
  make_many small-many small/in $small_copies
  batch "edges, $small_many JPEG of 1024x1024: the $small_images, each $small_copies times" \
    "$small_many" small-many edges edges
fi
if wanted gaussian-many; then
  make_many many large/in 8
  batch "filter gaussian:8, $many RGB JPEG of 4096x3072" "$many" many gaussian:8 \
    filter -k gaussian:8 --format jpeg
fi
if wanted log-many; then
  make_many many large/in 8
  batch "filter log:5,43, $many RGB JPEG of 4096x3072" "$many" many log:5,43 \
    filter -k log:5,43 --format jpeg
fi
rounds=$saved
cold=
if wanted auto; then
  make_many many large/in 8
  make_many small-many small/in $small_copies
  compare_auto "edges, $many JPEG of 4096x3072" "$many" many edges
  compare_auto "edges, $small_many JPEG of 1024x1024" "$small_many" small-many edges
  compare_auto "filter gaussian:8, $large_images RGB JPEG of 4096x3072" "$large_images" large/in \
    filter -k gaussian:8 --format jpeg
  compare_auto "filter log:5,43, $large_images RGB JPEG of 4096x3072" "$large_images" large/in \
    filter -k log:5,43 --format jpeg
fi
if wanted gpus && [ "$gpus" -lt 2 ]; then
  echo
  echo "several GPUs"
  missing "this machine has $gpus"
elif wanted gpus; then
  make_many gpus-many large/in 480
  share=$((processors / gpus))
  echo
  echo "edges, $gpus_many JPEG of 4096x3072 on $gpus GPUs (bar: ratio at least 1.75 for 2)"
  one="taskset -c 0-$((share - 1)) env CUDA_VISIBLE_DEVICES=0 $gconv edges -o out"
  # shellcheck disable=SC2086 # the words of a command have no blanks
  set -- "1 GPU, $share processors" $one --device cuda gpus-many \
    -- "all GPUs (cuda:all)" "$gconv" edges --device cuda:all -o out gpus-many
  # shellcheck disable=SC2086
  [ -n "$brief" ] ||
    set -- "$@" -- "1 GPU, auto, $share processors" $one --device auto gpus-many \
      -- "1 GPU, $processors processors" env CUDA_VISIBLE_DEVICES=0 \
      "$gconv" edges --device cuda -o out gpus-many \
      -- "auto" "$gconv" edges --device auto -o out gpus-many
  turns -c -i "$gpus_many" 2 out "$@"
  rm -rf out gpus-many
fi

if wanted one; then
  echo
  echo "edges of one JPEG of 4096x3072"
  set -- "gconv --device cuda" "$gconv" edges --device cuda large/in/1.jpg out.png \
    -- "gconv --device auto" "$gconv" edges --device auto large/in/1.jpg out.png \
    -- "gconv --device cpu" "$gconv" edges --device cpu large/in/1.jpg out.png \
    -- "decode alone" ./files_decode large/in/1.jpg grey
  if [ -x cuda_empty ]; then
    set -- "$@" -- "empty CUDA program" ./cuda_empty
  fi
  turns "$((2 * rounds + 1))" out.png "$@" >one.txt
  cat one.txt
  awk '/decode alone|empty CUDA/ {
      for (i = 1; i < NF; i++) if ($(i + 1) == "ms" && $i > bar) bar = $i
    }
    END { printf "  bar for --device cuda: %.1f ms\n", bar + 30 }' one.txt
fi

# ---- Memory --------------------------------------------------------------------------------------

# What processes and the kernel hold, files left out, in MB. Pinned memory counts here but is not
# resident memory of its process.
held_memory() {
  awk '/^MemTotal:/ { held += $2 } /^(MemFree|Buffers|Cached|SReclaimable):/ { held -= $2 }
    END { printf "%d\n", held / 1024 }' /proc/meminfo
}

# LABEL COUNT DEVICE
memory() {
  copies batches "$(($2 / 200))" mixture
  held_memory >held.txt
  while :; do
    held_memory
    sleep 0.1
  done >>held.txt &
  watcher=$!
  turns -c -i "$2" 1 out "$1" "$gconv" edges --recursive --device "$3" -o out batches
  kill "$watcher"
  wait "$watcher" 2>/dev/null || true
  awk 'NR == 1 { first = $1 } $1 > most { most = $1 }
    END { printf "  %-28s %9d MB more held by the machine\n", "", most - first }' held.txt
  rm -rf out
}

if wanted memory; then
  rm -rf mixture
  mkdir mixture
  for i in $(seq 200); do
    from=small/in
    if [ $((i % 4)) -eq 0 ]; then
      from=large/in
    fi
    ln "$from/$(((i - 1) % large_images + 1)).jpg" "mixture/$i.jpg"
  done
  echo
  echo "memory of edges, every fourth image of 4096x3072, others of 1024x1024 (bar: 1.5 GB, flat)"
  for device in cpu cuda auto; do
    for number in $((memory_images / 10)) "$memory_images"; do
      # By the CPU alone the great batch takes long and shows nothing of the GPU part.
      if [ $device != cpu ] || [ "$number" -ne "$memory_images" ]; then
        memory "$device, $number images" "$number" "$device"
      fi
    done
  done
fi

echo
echo "# $(($(date +%s) - begun)) s in all"
exit $status
