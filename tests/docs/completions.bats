#!/usr/bin/env bats
# The completions offer what the program takes: each shell is asked.

load documents

DIRECTORY=$BUILD/completions

# gconv-mpi is not in every build.
needs_mpi() {
  [ -e "$DIRECTORY/gconv-mpi.bash" ] || skip "no gconv-mpi"
}

# The commands of gconv-mpi. cli_mpi tests what it refuses.
MPI_COMMANDS=$(printf '%s\n' edges filter help sketch thin)

# What `long_options` has, without the options that gconv-mpi refuses.
mpi_long_options() {
  long_options "$1" | grep -vxE -- '--(rows|join)'
}

# offers_options OFFERS OPTIONS COMMAND...: fails unless the function OFFERS has the options of each
# command, as OPTIONS lists them, and those of all where there is no command.
offers_options() {
  local offers=$1 options=$2 command
  shift 2
  for command; do
    same_list "$command" "$("$offers" "$command")" "$("$options" "$command")"
  done
  same_list "no command" "$("$offers" '')" "$(for command; do "$options" "$command"; done | sort -u)"
}

# ---- bash ----------------------------------------------------------------------------------------

# What bash offers for a line of words, split as bash splits it; the first word is the program, the
# last one is at the cursor. Runs without bash-completion. Both programs have been completed before.
offers_bash_for() {
  bash --norc --noprofile -c '
    for file in "$1"/*.bash; do source "$file"; done; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
    function=$(complete -p "$1" | sed -n "s/.* -F \([^ ]*\) .*/\1/p")
    "$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf "%s\n" "${COMPREPLY[@]}"' bash "$DIRECTORY" "$@" | sort
}

offers_bash() { offers_bash_for gconv "$@"; }

offers_bash_mpi() { offers_bash_for gconv-mpi "$@"; }

# The options for a command. Arguments: COMMAND, or nothing
options_bash() { offers_bash ${1:+"$1"} --; }

options_bash_mpi() { offers_bash_mpi ${1:+"$1"} --; }

@test "bash: options of every command" {
  offers_options options_bash long_options $(commands)
}

@test "bash: commands, before and after options" {
  same_list "at first" "$(offers_bash '')" "$(commands | sort)"
  same_list "after options" "$(offers_bash --border wrap -v '')" "$(commands | sort)"
  same_list "after help" "$(offers_bash help ed)" edges
  same_list "options follow the command" "$(offers_bash --threshold 5 edges in.png --threa)" --threads
}

@test "bash: values, after a blank and after =" {
  same_list rule "$(offers_bash edges --rule '')" "$(printf '%s\n' abs negative positive)"
  same_list border "$(offers_bash filter --border w)" wrap
  same_list "border=" "$(offers_bash filter --border = w)" wrap
  same_list "border= alone" "$(offers_bash filter --border =)" "$(offers_bash filter --border '')"
  same_list implementations "$(offers_bash edges --impl '')" "$({ implementations; echo auto; } | sort)"
  same_list "a list" "$(offers_bash compare --impl cpu,nai)" "$(printf '%s\n' cpu,naive cpu,naive:const cpu,naive:lecture)"
  same_list "several" "$(offers_bash bench -i al)" all
  same_list "of tune" "$(offers_bash tune --impl '')" "$(printf '%s\n' adaptive:unrolled direct separable)"
  same_list "devices" "$(offers_bash edges --device cuda)" "$(printf '%s\n' cuda cuda: cuda:all)"
  for command in compare bench; do
    same_list "of $command" "$(offers_bash $command -d '' | LC_ALL=C sort)" "$(printf '%s\n' auto cpu cuda cuda:)"
  done
  same_list "of tune" "$(offers_bash tune -d '' | LC_ALL=C sort)" "$(printf '%s\n' auto cuda cuda:)"
  [ -z "$(offers_bash edges -i al)" ]
  [ "$(offers_bash edges --quality '')" = same ]
}

@test "bash: filters are names, generators and files" {
  touch gauss-mine.txt
  same_list kernel "$(offers_bash filter -k gau | LC_ALL=C sort)" \
    "$(printf '%s\n' gauss-mine.txt gauss3 gauss5 gaussian: | LC_ALL=C sort)"
  mine=$(builtin_filters | tr '\n' ' ')
  rm gauss-mine.txt
  offered=$(offers_bash filter --kernel '' | grep -v : | tr '\n' ' ')
  [ "$mine" = "$offered" ]
}

@test "bash: gconv-mpi" {
  needs_mpi
  same_list "at first" "$(offers_bash_mpi '')" "$MPI_COMMANDS"
  same_list "after help" "$(offers_bash_mpi help '')" "$MPI_COMMANDS"
  offers_options options_bash_mpi mpi_long_options $MPI_COMMANDS
  same_list implementations "$(offers_bash_mpi edges --impl '')" "$(offers_bash edges --impl '')"
  [ -z "$(offers_bash_mpi edges --shard '')" ]
  [ -n "$(offers_bash edges --shard '')" ]
}

# ---- zsh -----------------------------------------------------------------------------------------

# What _gconv tells zsh: the arguments of _arguments, then each command behind "describe:". Arguments:
# PROGRAM COMMAND
asked_of_zsh() {
  zsh -f -c '
    file=$1 service=$2
    _arguments() { print -rl -- "$@"; state=command; return 1 }
    _describe() { print -rl -- "describe:${(@P)^2}" }
    words=($service $3 "") CURRENT=3
    [[ -n $3 ]] || { words=($service ""); CURRENT=2 }
    complete_gconv() { source $file }
    complete_gconv' zsh "$DIRECTORY/_$1" "$@"
}

# The options for a command. Arguments: COMMAND [PROGRAM]
offers_zsh() {
  asked_of_zsh "${2-gconv}" "$1" | sed -nE 's/^(\([^)]*\)|\*)?(--[a-z0-9-]+).*/\2/p' | sort
}

offers_zsh_mpi() { offers_zsh "$1" gconv-mpi; }

@test "zsh: options of every command" {
  needs zsh
  same "$(head -n 1 "$DIRECTORY/_gconv")" '#compdef gconv'
  offers_options offers_zsh long_options $(commands)
}

# The devices that _gconv offers for a command.
devices_zsh() {
  asked_of_zsh gconv "$1" | sed -nE 's/.*--device=.*:device:\((.*)\)/\1/p' | tr -d '\\'
}

@test "zsh: devices" {
  needs zsh
  [ "$(devices_zsh edges)" = 'auto cpu cuda cuda: cuda:all' ]
  [ "$(devices_zsh bench)" = 'auto cpu cuda cuda:' ]
  [ "$(devices_zsh tune)" = 'auto cuda cuda:' ]
}

@test "zsh: gconv-mpi" {
  needs zsh
  needs_mpi
  same_list commands "$(asked_of_zsh gconv-mpi '' | sed -n 's/^describe:\([a-z]*\):.*/\1/p' | sort)" "$MPI_COMMANDS"
  offers_options offers_zsh_mpi mpi_long_options $MPI_COMMANDS
  asked_of_zsh gconv edges | grep -q -- '--shard=.*auto'
  ! asked_of_zsh gconv-mpi edges | grep -q -- '--shard=.*auto'
}

# ---- fish ----------------------------------------------------------------------------------------

# What fish offers for a line. Both programs have been completed before. Arguments:
# LINE-AFTER-THE-PROGRAM [PROGRAM]
offers_fish() {
  HOME=$WORK fish --no-config -c 'for file in $argv[1]/*.fish; source $file; end; complete -C $argv[2]' \
    "$DIRECTORY" "${2-gconv} $1" | cut -f 1 | sort
}

offers_fish_mpi() { offers_fish "$1" gconv-mpi; }

options_fish() { offers_fish "$1 --"; }

options_fish_mpi() { offers_fish_mpi "$1 --"; }

@test "fish: options of every command" {
  needs fish
  offers_options options_fish long_options $(commands)
}

@test "fish: commands and values" {
  needs fish
  same_list "at first" "$(offers_fish '')" "$(commands | sort)"
  same_list rule "$(offers_fish 'edges --rule ')" "$(printf '%s\n' abs negative positive)"
  same_list implementations "$(offers_fish 'edges --impl ')" "$({ implementations; echo auto; } | sort)"
  same_list several "$(offers_fish 'compare --impl al')" all
  same_list "of tune" "$(offers_fish 'tune --impl ')" "$(printf '%s\n' adaptive:unrolled direct separable)"
  same_list devices "$(offers_fish 'edges --device cuda')" "$(printf '%s\n' cuda cuda: cuda:all)"
  same_list "of compare" "$(offers_fish 'compare -d ' | LC_ALL=C sort)" "$(printf '%s\n' auto cpu cuda cuda:)"
  same_list "of tune" "$(offers_fish 'tune -d ' | LC_ALL=C sort)" "$(printf '%s\n' auto cuda cuda:)"
}

@test "fish: gconv-mpi" {
  needs fish
  needs_mpi
  same_list "at first" "$(offers_fish_mpi '')" "$MPI_COMMANDS"
  same_list "after help" "$(offers_fish_mpi 'help ')" "$MPI_COMMANDS"
  offers_options options_fish_mpi mpi_long_options $MPI_COMMANDS
  same_list implementations "$(offers_fish_mpi 'edges --impl ')" "$(offers_fish 'edges --impl ')"
  [ -z "$(offers_fish_mpi 'edges --shard ')" ]
  [ -n "$(offers_fish 'edges --shard ')" ]
}
