# Completion of gconv(1) and gconv-mpi(1) for bash 4 and newer, with or without the bash-completion
# package.
# shellcheck shell=bash

# Whether `program` is gconv-mpi. It computes batches: two of the commands, without rows of one image.
_gconv_mpi() { [[ $program == gconv-mpi ]]; }

_gconv_commands() {
  if _gconv_mpi; then
    echo 'edges filter help'
  else
    echo 'edges filter check compare bench tune kernel info help'
  fi
}

# Prints the long options of a command, or of all commands where there is none yet. A test compares
# these lists with `gconv help COMMAND`. Argument: COMMAND or nothing
_gconv_options() {
  local common='--quiet --verbose --help --version'
  local device='--impl --device --threads --tile --block'
  local images="--border --background --depth --format --quality --compression --strip --no-auto-orient
    --output --recursive --files-from --files0-from --shard --parents --name --no-clobber --update
    --dry-run --on-error --journal --hash --retry-failed --in-place --preserve --sync --max-pixels --white
    --tolerant $device --decoder --verify
    --explain --timings --json --progress"
  _gconv_mpi || images+=' --rows --join'
  local edges='--threshold --rule --invert'
  local filter='--kernel --correlate --scale --offset --abs --alpha'
  case $1 in
  edges) echo "$edges $images $common" ;;
  filter) echo "$filter $images $common" ;;
  compare)
    echo "--kernel --threshold --border --correlate --alpha --background --no-auto-orient --max-pixels
      --white --tolerant $device --shared-memory --explain --time --json --html --progress $common"
    ;;
  bench) echo "--kernel --border --correlate $device --shared-memory --preset --sizes --filters --samples --sample --resume --baseline --fail-above --time --json --csv --markdown --html --progress $common" ;;
  check) echo "--journal --verify --images --impl --device --threads --json --progress $common" ;;
  tune) echo "--impl --device --filters --time --json --progress $common" ;;
  kernel) echo "--kernel --response --write --notation --json $common" ;;
  info) echo "--json $common" ;;
  help) echo "$common" ;;
  *)
    echo "$edges $filter $images $common"
    _gconv_mpi || echo '--shared-memory --images --preset --sizes --filters --samples --sample --resume
      --baseline --fail-above --time --csv --markdown --html --response --write --notation'
    ;;
  esac
}

# Prints what may follow an option: words to choose from, FILE (with or without words), DIR, or NONE
# where the value cannot be completed. Prints nothing where the option takes no value. Arguments:
# OPTION COMMAND
_gconv_values() {
  case $1 in
  -k | --kernel)
    echo 'FILE box3 box5 emboss3 gauss3 gauss5 identity laplace3 laplace8 log5 prewitt-x prewitt-y
      roberts-x roberts-y scharr-x scharr-y sharpen3 sobel-x sobel-y box: gaussian: log:'
    ;;
  -b | --border) echo 'mirror mirror101 replicate wrap constant constant: zero' ;;
  -i | --impl)
    [[ $2 != tune ]] || {
      echo 'direct separable adaptive:unrolled'
      return
    }
    echo 'auto reference cpu cpu:taps cpu:sparse cpu:bytes cpu:products cpu:tiles cpu:box cpu:vectors naive naive:const shared const tiled tiled:nopad adaptive adaptive:nc adaptive:ours adaptive:kth adaptive:unrolled twopass twopass:lecture twopass:lecture1d twopass:transposed twopass:tiled direct separable fused tensor tilefft fft'
    [[ $2 != compare && $2 != bench ]] || echo all
    ;;
  -d | --device)
    case $2 in
    tune) echo 'auto cuda cuda:' ;;
    compare | bench) echo 'auto cpu cuda cuda:' ;;
    *) echo 'auto cpu cuda cuda: cuda:all' ;;
    esac
    ;;
  --decoder) echo 'auto cpu cuda' ;;
  -f | --format) echo 'png jpeg pnm pgm ppm pfm' ;;
  --name | --images | --rows) echo NONE ;;
  --journal) echo FILE ;;
  --hash) echo 'xxh3 sha256' ;;
  --on-error) echo 'continue stop' ;;
  --shard)
    if _gconv_mpi; then
      echo NONE
    else
      echo 'auto auto/'
    fi
    ;;
  --files-from | --files0-from) echo FILE ;;
  --rule) echo 'abs positive negative' ;;
  --alpha) echo 'auto keep filter premultiply' ;;
  --background) echo 'white black grey' ;;
  --depth) echo '1 8 16' ;;
  --compression) echo '0 1 2 3 4 5 6 7 8 9' ;;
  --progress) echo 'auto always never' ;;
  --preset) echo 'kth lecture adaptive-2011 adaptive-2014 fft-map fft-locality roofline ours quick' ;;
  --samples) echo 'grey8 rgb8 rgba8 grey16 rgb16 all' ;;
  --resume | --baseline) echo FILE ;;
  -o | --output) echo DIR ;;
  --html | --response | --write) echo FILE ;;
  --notation) echo 'gconv imagemagick libvips' ;;
  -t | --threshold | --scale | --offset | --quality | --max-pixels | -j | --threads | --tile | \
    --block | --shared-memory | --time | --sample | --fail-above | --sizes | --filters) echo NONE ;;
  esac
}

# Sets `words` to the words up to the cursor. Joins again what bash split at = and :
_gconv_join_words() {
  local i glue=
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $i -gt 0 && ${COMP_WORDS[i]} =~ ^[:=]+$ ]]; then
      words[${#words[@]} - 1]+=${COMP_WORDS[i]}
      glue=yes
    elif [[ $glue ]]; then
      words[${#words[@]} - 1]+=${COMP_WORDS[i]}
      glue=
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
}

# Sets `command` to the command among the words before the cursor, or to nothing.
_gconv_find_command() {
  local i
  command=
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    case ${words[i]} in
    --*=*) ;;
    -*) [[ -z $(_gconv_values "${words[i]}") ]] || i=$((i + 1)) ;;
    *)
      [[ " $(_gconv_commands) " != *" ${words[i]} "* ]] || command=${words[i]}
      return
      ;;
    esac
  done
}

# compopt fails where somebody calls the function by hand; this does no harm.
_gconv_compopt() {
  compopt "$@" 2>/dev/null || true
}

# Offers the words that begin with TEXT, each behind PREFIX. Arguments: PREFIX TEXT WORD...
_gconv_add() {
  local prefix=$1 text=$2 word
  shift 2
  for word in "$@"; do
    [[ $word != "$text"* ]] || COMPREPLY+=("$prefix$word")
  done
}

# Offers the values of an option. Arguments: PREFIX TEXT WORD-OF-_gconv_values...
_gconv_add_values() {
  local prefix=$1 text=$2 kind=${3-} file
  shift 2
  case $kind in
  FILE)
    shift
    while IFS= read -r file; do
      COMPREPLY+=("$prefix$file")
    done < <(compgen -f -- "$text")
    [[ ${#COMPREPLY[@]} -eq 0 ]] || _gconv_compopt -o filenames
    ;;
  DIR)
    _gconv_compopt -o dirnames
    return
    ;;
  NONE) return ;;
  esac
  _gconv_add "$prefix" "$text" "$@"
}

_gconv() {
  local words command current previous values word program=${1##*/}
  COMPREPLY=()
  _gconv_join_words
  _gconv_find_command
  current=${words[${#words[@]} - 1]}
  previous=
  [[ ${#words[@]} -lt 3 ]] || previous=${words[${#words[@]} - 2]}

  local option=$previous prefix='' text=$current
  if [[ $current == --*=* ]]; then
    option=${current%%=*}
    prefix=$option=
    text=${current#*=}
  fi
  values=$(_gconv_values "$option" "$command")
  if [[ $values ]]; then
    if [[ $text == *,* && ($option == --impl || $option == -i) && $values == *all* ]]; then
      prefix+=${text%,*},
      text=${text##*,}
    fi
    # Split into words on purpose.
    # shellcheck disable=SC2086
    _gconv_add_values "$prefix" "$text" $values
  elif [[ $current == -* ]]; then
    # shellcheck disable=SC2046
    _gconv_add '' "$current" $(_gconv_options "$command")
  elif [[ -z $command || ($command == help && $previous == help) ]]; then
    # shellcheck disable=SC2046
    _gconv_add '' "$current" $(_gconv_commands)
  elif [[ $command == kernel ]]; then
    # shellcheck disable=SC2046
    _gconv_add_values '' "$current" $(_gconv_values --kernel)
  elif [[ $command == edges || $command == filter || $command == compare || $command == check ]]; then
    _gconv_compopt -o default
  fi

  # bash replaces only the part of a word behind the last = or : in it.
  local last=${COMP_WORDS[COMP_CWORD]} i
  [[ ! $last =~ ^[:=]+$ ]] || last=
  for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do
    COMPREPLY[i]=${COMPREPLY[i]#"${current%"$last"}"}
  done
  [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *: ]] || _gconv_compopt -o nospace
}

complete -F _gconv gconv gconv-mpi
