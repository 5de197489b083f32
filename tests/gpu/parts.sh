# The parts of tests/gpu.sh, which reads this file: functions that test something, and what several of
# them share. $source, $build, $gconv, $check, $work, $log, $thin and $sanitizer are those of gpu.sh.
#
# shellcheck disable=SC2317,SC2030,SC2031,SC2034,SC2154 # functions are run by `part`, some with their own $work

build_all() {
  generator=
  ! command -v ninja >/dev/null || generator='-G Ninja'
  # shellcheck disable=SC2086
  CUDACXX=$(find_nvcc) cmake -S "$source" -B "$build" $generator -DCMAKE_BUILD_TYPE=Release \
    -DGCONV_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-native}" &&
    cmake --build "$build" --parallel "$(getconf _NPROCESSORS_ONLN)" \
      --target gconv --target gconv_check --target gpu_jit --target gpu_decode --target gpu_encode \
      --target gpu_caller --target gpu_lines --target gpu_rounded --target make_image \
      --target damage_jpeg --target model_answer --target edges_answer
}

# share_out N OPTIONS NAME...: a line for each process of check_shared. Together the processes check
# these implementations in one of N cases.
share_out() {
  step=$1
  options=$2
  shift 2
  count=$((2 * $(getconf _NPROCESSORS_ONLN)))
  share=0
  while [ "$share" -lt "$count" ] && [ $# -gt 0 ]; do
    echo "$(echo "$*" | tr ' ' ,) $((count * step)) $((share * step))${options:+ $options}"
    share=$((share + 1))
  done
}

# Kernels that are compiled at run time, and transforms that cuFFT plans for each shape, take longer
# than all else; of kernels with a code for each size and factor fewer cases are checked.
shares() {
  names=$(implementations)
  sized='^(.*:unrolled|twopass:tiled)$'
  slow="^(direct|separable|fused|fft)\$|$sized"
  # shellcheck disable=SC2046
  share_out 1 "${1:-}" $(echo "$names" | grep -vE "$slow")
  # shellcheck disable=SC2046
  share_out "$thin" "${1:-}" $(echo "$names" | grep -E "$slow" | grep -vE "$sized")
  # shellcheck disable=SC2046
  share_out "$thin" "${1:---cases 300}" $(echo "$names" | grep -E "$sized")
}

# check_shared [OPTION]: gconv_check on every implementation, shared out to all processors.
check_shared() {
  XDG_CACHE_HOME=$work/checked
  export XDG_CACHE_HOME
  mkdir -p "$XDG_CACHE_HOME"
  rm -rf "$work/shares"
  mkdir "$work/shares" || return
  # shellcheck disable=SC2016 # the inner shell expands
  shares "${1:-}" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 sh -c '
    "$0" --impl "$2" --every "$3" --from "$4" $5 $6 >"$1/$$-$4" 2>&1
    status=$?
    case $status in 0 | 77) exit ;; esac
    : >"$1/failed"
    echo "exit $status: --impl $2 --every $3 --from $4 $5 $6"
    tail -n 5 "$1/$$-$4"' "$check" "$work/shares"
  grep -h -A 3 FAILED "$work"/shares/[0-9]*
  cat "$work"/shares/[0-9]* | awk '/^[^ ]+ +[0-9]+ passed, / { passed[$1] += $2; failed[$1] += $4 }
    END { for (name in passed) print name ": " passed[name] " passed, " failed[name] " failed" }'
  tail -q -n 1 "$work"/shares/[0-9]* | awk '{ passed += $1; failed += $3; skipped += $5 }
    END { print passed " passed, " failed " failed, " skipped " skipped" }'
  [ ! -e "$work/shares/failed" ]
}

# at_once IMPLEMENTATIONS COMMAND...: COMMAND for each $implementation, all at the same time. Each
# has its own $work, and a log beside that of the part.
at_once() {
  names=$1
  shift
  rm -f "$work"/*.failed
  for implementation in $names; do
    (
      own=$work/of-$implementation
      mkdir -p "$own"
      (work=$own && "$@") >"${log%.log}-$implementation.log" 2>&1 ||
        echo "$implementation: exit $?" >"$work/$implementation.failed"
    ) &
  done
  wait
  for implementation in $names; do
    tail -n 3 "${log%.log}-$implementation.log"
  done
  cat "$work"/*.failed 2>/dev/null && return 1
  echo "$names" | wc -w | sed 's/$/ implementations/'
}

# with_name COMMAND...: with $implementation at its end.
with_name() {
  "$@" "$implementation"
}

# How an implementation refuses what it is not made for; of the others nothing that anybody says.
refusal() {
  case $1 in
  fused) echo 'only chains of whole weights' ;;
  adaptive:kth | twopass:transposed) echo 'integers of 16 bits' ;;
  tilefft) echo 'float32 transforms cannot restore' ;;
  *) echo 'never' ;;
  esac
}

# same_everywhere IMAGE COMMAND OPTION...: every implementation writes the reference's bytes.
same_everywhere() {
  image=$1
  shift
  reference=$work/reference.png
  "$gconv" "$@" --impl reference "$image" "$reference" || return 1
  at_once "$(implementations)" same_as_reference "$@"
}

# $implementation writes the bytes of $reference, or refuses as expected.
same_as_reference() {
  rm -f "$work/other.png"
  "$gconv" "$@" --impl "$implementation" "$image" "$work/other.png" 2>"$work/stderr"
  status=$?
  cat "$work/stderr"
  [ "$status" != 4 ] || { says "$(refusal "$implementation")" && return; }
  [ "$status" = 0 ] && cmp "$reference" "$work/other.png"
}

# The same with so little of the device's memory that the image goes through it in bands.
bands_everywhere() {
  for border in mirror mirror101 wrap constant:9; do
    GCONV_CUDA_MEMORY=6000000 same_everywhere "$source/samples/harbour.jpg" filter \
      --border "$border" --kernel gauss5 --kernel sobel-x --offset 128 || return
  done
}

# In bands of eleven rows, where the memory that others need beside the image is not in the way.
narrow_bands() (
  chosen_names='direct separable fused'
  for border in mirror mirror101 replicate wrap constant:9; do
    GCONV_CUDA_MEMORY=700000 same_everywhere "$source/samples/harbour.jpg" filter \
      --border "$border" --kernel gauss5 --kernel gauss3 --kernel laplace3 --offset 128 || return
  done
)

# The same bytes of $implementation from an inexact chain, whose bits rounding decides, in one band
# and in several of different heights: same_in_bands KERNEL...
same_in_bands() {
  sample=$source/samples/harbour.jpg
  for border in mirror wrap constant:33.3; do
    rm -f "$work/whole.pfm"
    "$gconv" filter --impl "$implementation" --border "$border" "$@" "$sample" "$work/whole.pfm" \
      2>"$work/stderr"
    status=$?
    cat "$work/stderr"
    [ "$status" != 4 ] || return 77
    [ "$status" = 0 ] || return 1
    # The least of these are too little for some, tilefft most of all.
    compared=0
    for memory in 1000000 4000000 6000000 9000000 14000000; do
      GCONV_CUDA_MEMORY=$memory "$gconv" filter --impl "$implementation" --border "$border" "$@" \
        "$sample" "$work/bands.pfm" 2>"$work/stderr"
      case $? in
      0) compared=$((compared + 1)) ;;
      *) says 'not even [0-9]* rows* fit' && continue || return 1 ;;
      esac
      cmp "$work/whole.pfm" "$work/bands.pfm" ||
        { echo "$implementation depends on $memory bytes" && return 1; }
    done
    [ "$compared" -ge 2 ] || { echo "$implementation: $compared limits compared" && return 1; }
  done
}

# That of each chain, of which $implementation takes one at least.
same_chains_in_bands() {
  served=
  for chain in '-k gaussian:1 -k fractions.txt -k gaussian:2' '-k gaussian:2' '-k full.txt'; do
    # shellcheck disable=SC2086
    (cd "$filters" && same_in_bands $chain)
    case $? in
    0) served=yes ;;
    77) ;;
    *) return 1 ;;
    esac
  done
  [ -n "$served" ] || { echo "$implementation took none of the chains" && return 1; }
}

# All but fft, whose transforms do not go in bands of an image that small, and those that take exact
# chains alone.
inexact_bands() {
  filters=$work
  at_once "$(implementations | grep -vxE 'fft|fused|adaptive:kth|twopass:transposed')" same_chains_in_bands
}

# fft takes this image in four shares of 4500 rows, of each step one at least: all at once, or one
# band each.
transforms_in_bands() {
  { printf 'P5\n7000 18000\n255\n' && head -c 126000000 /dev/urandom; } >"$work/large.pgm"
  for border in mirror101 wrap; do
    set -- filter --impl fft --border "$border" -k "$work/full.txt" -k "$work/fractions.txt"
    "$gconv" "$@" "$work/large.pgm" "$work/whole.pfm" || return
    GCONV_CUDA_MEMORY=2700000000 "$gconv" "$@" "$work/large.pgm" "$work/bands.pfm" || return
    cmp "$work/whole.pfm" "$work/bands.pfm" || return
  done
  # Less than a share cannot be computed.
  GCONV_CUDA_MEMORY=600000000 exits 1 "$gconv" "$@" "$work/large.pgm" "$work/none.pfm" || return
  says 'not even 4500 rows fit' || return
  rm "$work/large.pgm" "$work/whole.pfm" "$work/bands.pfm"
  echo 'bands change no bit'
}

# exits STATUS COMMAND...: it does, and says why where that is not 0.
exits() {
  wanted=$1
  shift
  "$@" >"$work/stdout" 2>"$work/stderr"
  status=$?
  cat "$work/stderr"
  [ "$status" = "$wanted" ] || { echo "exit $status, not $wanted: $*" && return 1; }
  [ "$wanted" = 0 ] || [ -s "$work/stderr" ] || { echo "no reason is given: $*" && return 1; }
}

says() {
  grep -q -e "$1" "$work/stderr" || { echo "nothing is said of '$1'" && return 1; }
}

hidden() {
  env CUDA_VISIBLE_DEVICES= "$gconv" "$@"
}

# Without a GPU, `auto` works on the CPU and says so; what is asked for by name is an error.
# In a cache of its own: figures that were measured while many processes started say that a GPU takes
# seconds to start.
fall_back() (
  XDG_CACHE_HOME=$work/fallbacks
  export XDG_CACHE_HOME
  sample=$source/samples/craters.png
  none=$work/none.png
  "$gconv" edges --impl reference "$sample" "$work/reference.png" || return
  exits 0 hidden edges --impl auto -v "$sample" "$work/other.png" || return
  says 'by cpu' || return
  cmp "$work/reference.png" "$work/other.png" || return
  # Enough work for a GPU to be asked for.
  { printf 'P5\n8000 8000\n255\n' && head -c 64000000 /dev/zero; } >"$work/large.pgm"
  exits 0 hidden filter --explain --threads 1 --kernel log:40,255 "$work/large.pgm" \
    "$work/other.png" || return
  says '^cuda *none: no CUDA-capable device' || return
  exits 4 hidden edges --impl naive "$sample" "$none" || return
  exits 4 hidden edges --device cuda "$sample" "$none" || return
  exits 4 "$gconv" edges --device cuda:9 "$sample" "$none" || return
  exits 4 "$gconv" edges --device cuda:9 --impl naive "$sample" "$none" || return
  [ ! -e "$none" ] || { echo 'an output was written all the same' && return 1; }
  echo 'auto falls back, names are refused'
)

# A batch uses all GPUs, and writes the CPU's files.
use_all_gpus() {
  mkdir -p "$work/many" || return
  for i in 1 2 3 4 5 6 7 8 9; do
    cp "$source/samples/craters.png" "$work/many/$i.png" || return
  done
  "$gconv" edges --device cpu --format png -o "$work/one" "$work"/many/*.png || return
  exits 0 "$gconv" edges --device cuda:all --explain --format png -o "$work/all" "$work"/many/*.png || return
  diff -r "$work/one" "$work/all" || return
  says '^cuda:0 *of equal devices' || return
  says '^cuda:1 *of equal devices' || return
  exits 4 "$gconv" edges --device cuda:0,63 "$work/many/1.png" "$work/none.png" || return
  echo 'all are used'
}

# make_batch DIRECTORY: pictures of all kinds, one of them damaged and one cut off. A JPEG that kernels
# take is called soundN.jpg.
make_batch() {
  [ -x "$build/tests/make_image" ] || { echo 'make_image was not built' && return 77; }
  rm -rf "$1" && mkdir -p "$1" || return 1
  count=0
  for size in '1 1' '7 1' '2 9' '33 17' '131 77' '320 240' '900 700'; do
    for kind in grey ycc:sampling=11 ycc:sampling=21 ycc:sampling=22 ycc:restart=3; do
      count=$((count + 1))
      # shellcheck disable=SC2086
      make_picture "jpeg:$kind:quality=90:exif=$((count % 8 + 1))" "$1/sound$count.jpg" $size || return 1
    done
  done
  for kind in jpeg:ycc:progressive jpeg:cmyk jpeg:rgb png:grey png:grey:1 png:grey-alpha png:rgb \
    png:rgb:16 png:rgba png:palette:4 pgm ppm; do
    count=$((count + 1))
    make_picture "$kind" "$1/other$count.${kind%%:*}" 203 151 || return 1
  done
  cp "$source"/samples/*.png "$source"/samples/*.jpg "$1" || return 1
  head -c 3000 "$1/sound25.jpg" >"$1/cut.jpg"
  { head -c 3000 "$1/sound25.jpg" && head -c 40 /dev/zero && tail -c +3041 "$1/sound25.jpg"; } \
    >"$1/damaged.jpg"
}

make_picture() {
  "$build/tests/make_image" make "$@" noise
}

# within_one FILE OTHER: samples of two images differ by 1 at most.
within_one() {
  "$build/tests/make_image" dump "$1" >"$work/dump" || return 1
  "$build/tests/make_image" dump "$2" | awk -v other="$work/dump" '
    {
      getline line <other
      count = split(line, wanted)
      if (count != NF) exit 1
      for (i = 1; i <= NF; i++)
        if ($i != wanted[i] && ($i "" ~ /[^0-9]/ || ($i - wanted[i]) ^ 2 > 1)) exit 1
    }'
}

# same_batch OUTPUT COMMAND...: $ways each make of $work/batch the files and messages of the CPU.
same_batch() {
  output=$1
  shift
  (cd "$work" && "$gconv" "$@" --device cpu -o "$output-cpu" batch) 2>"$work/$output-cpu.err"
  wanted_status=$?
  [ "$wanted_status" = 1 ] || { echo "exit $wanted_status on the CPU, though two files are broken" && return 1; }
  printf '%s\n' "$ways" | while read -r way; do
    rm -rf "${work:?}/$output-gpu"
    # shellcheck disable=SC2086
    (cd "$work" && "$gconv" "$@" $way -o "$output-gpu" batch) 2>"$work/$output-gpu.err"
    status=$?
    [ "$status" = 1 ] || { cat "$work/$output-gpu.err" && echo "exit $status: $* $way" && exit 1; }
    diff "$work/$output-cpu.err" "$work/$output-gpu.err" ||
      { echo "other messages: $* $way" && exit 1; }
    same_files "$output" || { echo "other files: $* $way" && exit 1; }
  done
}

# The files of `inexact` may differ by 1.
same_files() {
  [ "$1" = inexact ] || { diff -r "$work/$1-cpu" "$work/$1-gpu" && return; return 1; }
  [ "$(ls "$work/$1-cpu")" = "$(ls "$work/$1-gpu")" ] || { echo 'other names' && return 1; }
  for file in "$work/$1-cpu"/*; do
    cmp -s "$file" "$work/$1-gpu/${file##*/}" || within_one "$file" "$work/$1-gpu/${file##*/}" ||
      { echo "${file##*/} differs by more than 1" && return 1; }
  done
}

# Batches of pictures of all kinds, on all threads.
batches() {
  make_batch "$work/batch" || return
  ways='--device cuda
--device auto
--decoder cuda
--device cuda --decoder cuda -j 3'
  same_batch edges edges || return
  same_batch exact filter --kernel box:3 --alpha keep || return
  same_batch inexact filter --kernel gaussian:2 --format png || return
  decodes_sound || return
  echo 'the files of the CPU'
}

# Kernels decode all that are sound, and no others but harbour.jpg, a sample.
decodes_sound() {
  rm -rf "$work/json"
  (cd "$work" && "$gconv" edges --decoder cuda --json -o json batch) >"$work/json.txt" 2>"$work/stderr"
  decoded=$(grep '"decoder": "cuda"' "$work/json.txt" | grep -vc harbour.jpg)
  sound=$(find "$work/batch" -name 'sound*' | wc -l)
  [ "$decoded" = "$sound" ] || { echo "--decoder cuda has decoded $decoded of $sound" && return 1; }
}

# Every usable implementation is right and timed.
compare() {
  "$gconv" compare --impl "cpu,$(implementations | paste -sd, -)" --time 0.2 "$@" \
    "$source/samples/still-life.png" >"$work/table"
  status=$?
  cat "$work/table"
  case $status in 0 | 4) ;; *) return "$status" ;; esac # 4: one refuses
  for implementation in $(implementations); do
    grep -qE "^$implementation .* (exact|rounded once|within bound)\$" "$work/table" ||
      grep -qE "^$implementation +not usable: .*$(refusal "$implementation")" "$work/table" ||
      { echo "$implementation is not right" && return 1; }
  done
  echo 'all are right'
}

# Transforms of lines are right: those of our own, then those by cuFFT, too.
time_lines() {
  "$build/tests/gpu_lines" || return
  "$gconv" bench --preset fft-locality --impl fft --sample 5 --time 1 >"$work/table" || return
  cat "$work/table"
  [ "$(grep -c ' \(fft\|contiguous[:a-z]*\) .*\(exact\|within bound\)$' "$work/table")" = 17 ] &&
    echo 'all are right'
}

# A kernel is compiled at run time, found in the cache, and launched.
compile_at_run_time() {
  XDG_CACHE_HOME=$work "$build/tests/gpu_jit"
}

# The planes and rows of kernels that decode are those of libjpeg.
check_kernels() {
  "$build/tests/gpu_decode"
}

# Blocks of rows of one bit are those of the CPU's encoder.
check_compression() {
  "$build/tests/gpu_encode"
}

# sanitize_compression TOOL: the same, for fewer pictures, under one tool.
sanitize_compression() {
  "$sanitizer" --tool "$1" --error-exitcode 99 "$build/tests/gpu_encode" --quick
}

# Images in the caller's memory: of the device, pinned, and other.
check_caller() {
  XDG_CACHE_HOME=$work "$build/tests/gpu_caller" "$@"
}

# What is promised exact or rounded once, against the definition in fractions.
check_model() {
  command -v python3 >/dev/null || { echo 'no python3' && return 77; }
  XDG_CACHE_HOME=$work python3 -B "$source/tests/model/model.py" "$build/tests/model_answer" \
    --count 200 --instructions portable
}

# Samples that are rounded once, of filters of real weights. Nearly every case compiles a kernel, so
# that the implementations go side by side.
check_rounded() {
  rounded=0
  pids=
  for implementation in direct separable tensor; do
    XDG_CACHE_HOME=$work "$build/tests/gpu_rounded" --impl "$implementation" --cases $((400 / thin + 40)) &
    pids="$pids $!"
  done
  for pid in $pids; do
    wait "$pid" || rounded=1
  done
  return $rounded
}

# Edges by other methods: random ones by the model in numpy, and photographs by the CPU.
check_detector() {
  python3 -c 'import numpy' 2>/dev/null || { echo 'no numpy' && return 77; }
  XDG_CACHE_HOME=$work python3 -B "$source/tests/model/edges.py" "$build/tests/edges_answer" \
    --impl detector --count 1000 || return
  for options in '--method canny' '--method canny --norm l2 --low 20' '--like opencv' \
    '--method gradient' '--method zero-crossing'; do
    for image in "$source"/samples/*.png "$source"/samples/*.jpg; do
      for implementation in cpu detector; do
        # shellcheck disable=SC2086
        "$gconv" edges $options --impl $implementation "$image" "$work/$implementation.png" || return
      done
      cmp "$work/cpu.png" "$work/detector.png" || return
    done
  done
  status=0
  "$gconv" edges --method gradient --values --impl detector "$source/samples/craters.png" \
    "$work/detector.png" || status=$?
  [ "$status" = 4 ] || { echo "exit $status, though detector computes no magnitudes" && return 1; }
  echo 'the edges of the CPU'
}

# sanitize_detector TOOL: random ones under a tool. The first run leaves figures of the device in the
# cache: to measure them, gconv copies 128 MiB of memory that nothing has set.
sanitize_detector() {
  XDG_CACHE_HOME=$work python3 -B "$source/tests/model/edges.py" "$build/tests/edges_answer" \
    --impl detector --small --count 1 || return
  printf '#!/bin/sh\nexec "%s" --tool %s --error-exitcode 99 --log-file "%s" "%s"\n' "$sanitizer" "$1" \
    "$work/$1-%p.txt" "$build/tests/edges_answer" >"$work/answer" && chmod +x "$work/answer" || return 1
  XDG_CACHE_HOME=$work python3 -B "$source/tests/model/edges.py" "$work/answer" --impl detector \
    --small --count 40 || { cat "$work/$1"-*.txt && return 1; }
  tail -q -n 1 "$work/$1"-*.txt | grep -E ' 0 (errors|hazards)'
}

# sanitize_caller TOOL [OPTION...]: the same under one tool, by implementations that read and store
# images in place, and by one that does not.
sanitize_caller() {
  tool=$1
  shift
  XDG_CACHE_HOME=$work at_once 'naive direct separable fused tensor tilefft' with_name "$sanitizer" \
    --tool "$tool" --error-exitcode 99 "$@" "$build/tests/gpu_caller" --cases 6 --impl
}

# make_damaged SEED COUNT DIRECTORY: damaged and crafted JPEGs, also of files that take thousands of
# threads.
make_damaged() {
  [ -x "$build/tests/damage_jpeg" ] || { echo 'damage_jpeg was not built' && return 77; }
  rm -rf "$3" && mkdir -p "$3" || return 1
  make_picture jpeg:grey:quality=95 "$work/large1.jpg" 400 300 &&
    make_picture jpeg:ycc:sampling=22:quality=90 "$work/large2.jpg" 300 200 &&
    make_picture jpeg:ycc:sampling=21:restart=5 "$work/large3.jpg" 250 150 &&
    "$build/tests/damage_jpeg" "$1" "$2" "$3" "$work"/large[123].jpg >"$3.txt"
}

# check_damaged COUNT: kernels decode what the judge finds sound, to the samples of libjpeg. They reject
# all else.
check_damaged() {
  make_damaged 7 "$1" "$work/damaged" || return
  find "$work/damaged" -name '*.jpg' | sort |
    XDG_CACHE_HOME=$work xargs -n 2500 -P 4 "$build/tests/gpu_decode" --files >"$work/verdicts"
  status=$?
  cat "$work/verdicts"
  rm -rf "$work/damaged"
  [ "$status" = 0 ] || return 1
  awk '/ files, / { files += $1; sound += $3; decoded += $5 }
    END { print files " files, " sound " sound, " decoded " decoded" }' "$work/verdicts"
}

# compile_seconds CACHE: what compare says it took to compile the kernels of direct.
compile_seconds() {
  XDG_CACHE_HOME=$work/$1 "$gconv" compare --json --impl direct --time 0.05 "$source/samples/still-life.png" |
    sed -n 's/.*"implementation": "direct".*"compile_seconds": \([0-9.e+-]*\).*/\1/p'
}

# Compilation is timed apart from what is measured, the first time and with kernels from the cache.
time_compilation() {
  mkdir "$work/timed" || return
  first=$(compile_seconds timed)
  second=$(compile_seconds timed)
  echo "compiled in ${first:-no} s, found in the cache in ${second:-no} s"
  echo "${first:-0} ${second:-0}" | awk '{ exit !($1 > 0.01 && $2 < $1) }'
}

# A search that time cuts short is gone on with by the next one, and what they found serves.
tune() (
  XDG_CACHE_HOME=$work/tuned
  export XDG_CACHE_HOME
  mkdir "$XDG_CACHE_HOME" || return
  for known in 0 '[1-9][0-9]*'; do
    "$gconv" tune --time 15 -v 2>"$work/stderr" || { cat "$work/stderr" && return 1; }
    cat "$work/stderr"
    says "^gconv: [1-9][0-9]* of [0-9]* searched, $known known before" || return
    ! grep 'left out' "$work/stderr" || return
  done
  for implementation in direct separable; do
    "$check" --quick --impl "$implementation" || return
  done
)

# Cases of gconv_check under one tool; the memory of its threads and of the CPU is not its business.
sanitize() {
  tool=$1
  shift
  at_once "$(implementations)" with_name "$sanitizer" --tool "$tool" --error-exitcode 99 "$@" \
    "$check" --quick --device cuda:0 --impl
}

# Padding after each allocation is a guard against accesses far outside.
check_memory() {
  sanitize memcheck --padding 256
}

# A batch on several threads, by kernels that decode. Calls that fail are libraries' own trials;
# accesses are what is looked for.
check_batch_memory() {
  make_batch "$work/checked-batch" || return
  rm -f "$work"/checked-batch/sound3[1-5].jpg "$work"/checked-batch/cut.jpg \
    "$work"/checked-batch/damaged.jpg "$work"/checked-batch/craters.png
  rm -rf "$work/checked-out"
  "$sanitizer" --tool memcheck --padding 256 --report-api-errors no --error-exitcode 99 \
    "$gconv" filter --kernel box:3 --device cuda --decoder cuda -j 4 -o "$work/checked-out" \
    "$work/checked-batch" || return
  echo "$(find "$work/checked-out" -type f | wc -l) images"
}

# sanitize_decoding TOOL: the kernels that decode, on small sound and damaged files and on one that takes
# several blocks of threads.
sanitize_decoding() {
  make_damaged 3 24 "$work/few" || return
  options=
  [ "$1" != memcheck ] || options='--padding 256'
  # shellcheck disable=SC2086
  "$sanitizer" --tool "$1" $options --error-exitcode 99 "$build/tests/gpu_decode" --files \
    "$work"/few/*.jpg "$work"/large[23].jpg >"$work/decoding"
  status=$?
  cat "$work/decoding"
  [ "$status" = 0 ] || return "$status"
  grep ' decoded by the device' "$work/decoding"
}

# $implementation frees its memory on the device.
check_leak() {
  "$sanitizer" --tool memcheck --leak-check full --error-exitcode 99 "$check" --quick \
    --impl "$implementation" >"$work/leaks"
  status=$?
  cat "$work/leaks"
  [ "$status" = 0 ] || return "$status"
  grep -q 'LEAK SUMMARY: 0 bytes leaked' "$work/leaks" || { echo 'leaks, or none looked for' && return 1; }
}

# No implementation leaves device memory behind. fft is left out: cuFFT keeps two allocations of its
# own from its first plan to the end of the process.
check_leaks() {
  at_once "$(implementations | grep -vx fft)" check_leak
}
