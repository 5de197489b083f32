#!/bin/sh
# From file to file: gconv beside other programs that do the job, in turns, whole processes. Prints
# medians of wall and processor time, the ratio of wall times (median of pairs), and peak memory.
# What gconv writes is verified first. A peer that is not installed is left out and named.
#
# Usage: files.sh GCONV [PHOTOGRAPH...]    GCONV is the program; images are mirrored PHOTOGRAPHs
#                                          (PNG or JPEG, in turn), or made up where none is given
# Environment: SECTIONS, some of "edges canny filter batch memory" (all); RUNS of each command (15);
# BATCH, files of a batch (200); LARGE=1 adds images of 30000x30000 (10 minutes, 4 GB of disk);
# WORK, a directory for images that is kept; COMMIT, if this is not a git checkout.
set -eu
if [ $# -lt 1 ]; then
  sed -n 's/^# \{0,1\}//; 2,10p' "$0" >&2
  exit 2
fi
gconv=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
runs=${RUNS:-15}
batch=${BATCH:-200}
sections=${SECTIONS:-edges canny filter batch memory}
if [ -n "${WORK:-}" ]; then
  mkdir -p "$WORK"
  work=$(cd "$WORK" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
fi
count=$#
for photograph; do # absolute names, in the same order
  set -- "$@" "$(realpath "$photograph")"
done
shift "$count"
cd "$work"

have() {
  command -v "$1" >/dev/null 2>&1
}

wanted() {
  case " $sections " in
    *" $1 "*) true ;;
    *) false ;;
  esac
}

missing() {
  echo "# left out: $1"
}

# ---- Tools ---------------------------------------------------------------------------------------

cc=${CC:-cc}
cxx=${CXX:-c++}
"$cc" -O3 -o files_image "$here/files_image.c" -lpng -ljpeg
"$cc" -O3 -o files_decode "$here/files_decode.c" -lpng -ljpeg
"$cc" -O2 -o files_turns "$here/files_turns.c"
opencv=
if "$cxx" -O3 -march=native -I/usr/include/opencv4 -o files_opencv "$here/files_opencv.cpp" \
  -lopencv_imgproc -lopencv_core -lpng -ljpeg -lpthread 2>files_opencv.log; then
  opencv=yes
fi
# The real programs: other things answer to the name of convert.
magick=
if have convert && convert -version 2>/dev/null | grep -q ImageMagick; then
  magick=yes
fi

commit=${COMMIT:-$(git -C "$here" rev-parse HEAD)}
echo "# commit:   $commit"
echo "# build:    $("$gconv" info | sed -n 's/^build: //p')"
echo "# machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors"
echo "# compiler: $("$cc" --version | head -n 1)"
names=
for photograph; do names="$names $(basename "$photograph")"; done
echo "# images:  ${names:- made up}"
echo "# command:  SECTIONS='$sections' RUNS=$runs BATCH=$batch LARGE=${LARGE:-} files.sh gconv ..."
[ -n "$opencv" ] || missing "the program on OpenCV's core (files_opencv.log says why)"
[ -n "$magick" ] || missing "ImageMagick"
have gm || missing "GraphicsMagick"
have vips || missing "libvips"

# ---- Images and filters --------------------------------------------------------------------------

photograph=
# Makes $1 of $2 x $3 pixels and $4 channels, unless it is there.
image() {
  if [ ! -f "$1" ]; then
    # shellcheck disable=SC2086 # nothing if there is no photograph
    ./files_image "tmp-$1" "$2" "$3" "$4" ${photograph:+"$photograph"}
    mv "tmp-$1" "$1"
  fi
}

next_photograph() {
  if [ $# -gt 0 ]; then
    photograph=$(eval "echo \"\${$((turn % $# + 1))}\"")
    turn=$((turn + 1))
  fi
}
turn=0

# A disc in 9x9: whole weights that no product of a row and a column makes.
cat >disc9.txt <<'END'
divisor sum
0 0 0 1 1 1 0 0 0
0 1 1 1 1 1 1 1 0
0 1 1 1 1 1 1 1 0
1 1 1 1 1 1 1 1 1
1 1 1 1 1 1 1 1 1
1 1 1 1 1 1 1 1 1
0 1 1 1 1 1 1 1 0
0 1 1 1 1 1 1 1 0
0 0 0 1 1 1 0 0 0
END
disc=$(sed 1d disc9.txt | tr ' \n' ',,' | sed 's/,$//')
{
  echo "9 9 57 0"
  sed 1d disc9.txt
} >disc9.mat
gauss=4,8,10,8,4,8,16,20,16,8,10,20,25,20,10,8,16,20,16,8,4,8,10,8,4
laplace=0,1,0,1,-4,1,0,1,0

# What gconv writes is what it writes under --verify, and that is right.
verified() {
  command=$1
  input=$2
  extension=$3
  shift 3
  "$gconv" "$command" --verify "$@" "$input" "verified.$extension"
  "$gconv" "$command" "$@" "$input" "out.$extension"
  cmp "verified.$extension" "out.$extension"
  rm -f "verified.$extension" "out.$extension"
}

# ---- edges ---------------------------------------------------------------------------------------

# RUNS IMAGE
edges() {
  verified edges "$2" png
  set -- "$1" "$2" gconv "$gconv" edges "$2" out.png -- "decode alone" ./files_decode "$2" grey
  if [ -n "$opencv" ]; then
    set -- "$@" -- "OpenCV core" ./files_opencv edges "$2" out.png
  fi
  n=$1
  shift 2
  ./files_turns "$n" out.png "$@"
}

# IMAGE: what takes seconds.
edges_of_others() {
  set -- "$1" gconv "$gconv" edges "$1" out.png
  if have gm; then
    set -- "$@" -- GraphicsMagick gm convert "$1" -colorspace Gray -convolve "$gauss" \
      -convolve "$laplace" -threshold 2% -type bilevel out.png
  fi
  if [ -n "$magick" ]; then
    set -- "$@" -- ImageMagick convert "$1" -colorspace Gray -convolve "$gauss" \
      -convolve "$laplace" -threshold 2% -type bilevel out.png
  fi
  shift
  ./files_turns 3 out.png "$@"
}

if wanted edges; then
  for size in 4096x3072 512x512; do
    n=$runs
    [ $size = 4096x3072 ] || n=$((4 * runs))
    for kind in grey-1.jpg rgb-3.jpg grey-1.png rgb-3.png; do
      next_photograph "$@"
      name=$size-$kind
      channels=${kind#*-}
      image "$name" "${size%x*}" "${size#*x}" "${channels%.*}"
      echo
      echo "edges of $size, ${kind%-*} ${kind#*.}, to a PNG of 1 bit"
      edges "$n" "$name"
      [ "$kind" != rgb-3.jpg ] || edges_of_others "$name"
    done
  done
fi

# ---- canny ---------------------------------------------------------------------------------------

# IMAGE: the same pixels by both.
cannies() {
  "$gconv" edges --like opencv --low 100 --high 200 "$1" out.png
  set -- "$1" gconv "$gconv" edges --like opencv --low 100 --high 200 "$1" out.png \
    -- "decode alone" ./files_decode "$1" grey
  if [ -n "$opencv" ]; then
    ./files_opencv canny "$1" other.png
    "$gconv" filter -k identity -f pgm out.png own.pgm
    "$gconv" filter -k identity -f pgm other.png other.pgm
    cmp own.pgm other.pgm
    set -- "$@" -- "OpenCV core" ./files_opencv canny "$1" out.png
  fi
  shift
  ./files_turns "$runs" out.png "$@"
}

if wanted canny; then
  for kind in grey-1.jpg rgb-3.jpg; do
    next_photograph "$@"
    channels=${kind#*-}
    image "4000x3000-$kind" 4000 3000 "${channels%.*}"
    echo
    echo "Canny of 4000x3000, ${kind%-*} jpg, to a PNG of 1 bit"
    cannies "4000x3000-$kind"
  done
fi

# ---- filter --------------------------------------------------------------------------------------

# EXTENSION
filters() {
  verified filter 2048-rgb.png "$1" -k disc9.txt
  set -- "out.$1" gconv "$gconv" filter -k disc9.txt 2048-rgb.png "out.$1"
  if [ -n "$opencv" ]; then
    set -- "$@" -- "OpenCV core" ./files_opencv filter 2048-rgb.png "$1"
  fi
  if have vips; then
    level=Q=90
    [ "$1" = out.jpg ] || level=compression=1
    set -- "$@" -- libvips vips conv 2048-rgb.png "$1[$level]" disc9.mat
  fi
  if have gm; then
    set -- "$@" -- GraphicsMagick gm convert 2048-rgb.png -convolve "$disc" -quality 11 "$1"
  fi
  if [ -n "$magick" ]; then
    set -- "$@" -- ImageMagick convert 2048-rgb.png -convolve "$disc" -quality 11 "$1"
  fi
  ./files_turns 7 "$@"
}

# IMAGE: the 5x5 Gaussian of `edges`, from PNG to PNG.
smooths() {
  verified filter "$1" png -k gauss5
  set -- "$1" gconv "$gconv" filter -k gauss5 "$1" out.png -- "decode alone" ./files_decode "$1"
  if [ -n "$opencv" ]; then
    set -- "$@" -- "OpenCV core" ./files_opencv smooth "$1" out.png
  fi
  shift
  ./files_turns "$runs" out.png "$@"
}

if wanted filter; then
  next_photograph "$@"
  image 2048-rgb.png 2048 2048 3
  image 4096x3072-rgb-3.png 4096 3072 3
  for name in 2048-rgb.png 4096x3072-rgb-3.png; do
    echo
    echo "filter 5x5 of $name, to png"
    smooths "$name"
  done
  for extension in png jpg; do
    echo
    echo "filter 9x9 of 2048x2048, rgb png, to $extension"
    filters $extension
  done
  echo
  echo "the same as PNG: bytes by gconv's default, --compression 1, 6 and 9"
  for option in '' '--compression 1' '--compression 6' '--compression 9'; do
    # shellcheck disable=SC2086 # an option and its value
    "$gconv" filter $option -f png -k disc9.txt 2048-rgb.png - | wc -c
  done
fi

# ---- Batches -------------------------------------------------------------------------------------

# EXTENSION TURNS COMMAND PEER'S_COMMAND
batches() {
  image "1024-rgb.$1" 1024 1024 3
  mkdir -p "batch-$1"
  pairs=
  for i in $(seq "$batch"); do
    ln -f "1024-rgb.$1" "batch-$1/$i.$1"
    pairs="$pairs batch-$1/$i.$1 many/$i.png"
  done
  echo
  echo "$3 of $batch files of 1024x1024, rgb $1, to png"
  # shellcheck disable=SC2086 # a command and its options
  "$gconv" $3 --verify -o many "batch-$1"
  turns=$2
  peer="rm -rf many; mkdir many; exec ./files_opencv $4 $pairs"
  set -- gconv sh -c "rm -rf many; exec '$gconv' $3 -o many batch-$1"
  if [ -n "$opencv" ]; then
    set -- "$@" -- "OpenCV core" sh -c "$peer"
  fi
  ./files_turns "$turns" out.png "$@"
  rm -rf many
}

if wanted batch; then
  batches jpg 5 edges edges
  batches png 5 edges edges
  batches png 3 'filter -f png -k gauss5' smooth
fi

# ---- Memory --------------------------------------------------------------------------------------

# SIDE RUNS KIND...
memory() {
  side=$1
  n=$2
  shift 2
  for kind; do
    channels=${kind#*-}
    image "$side-$kind" "$side" "$side" "${channels%.*}"
    echo
    echo "$side x $side, ${kind%-*} ${kind#*.}"
    ./files_turns "$n" out.png "edges" "$gconv" edges "$side-$kind" out.png \
      -- "filter 9x9" "$gconv" filter -k disc9.txt "$side-$kind" out.png \
      -- "decode alone" ./files_decode "$side-$kind"
  done
}

if wanted memory; then
  memory 8192 3 rgb-3.png rgb-3.jpg
  [ -z "${LARGE:-}" ] || memory 30000 1 grey-1.png rgb-3.jpg
fi
