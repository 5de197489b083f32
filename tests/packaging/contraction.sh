#!/bin/sh
# Products and sums are fused in two files of src/cpu/instructions and nowhere else: the last
# -ffp-contract of a command line counts.
#
# Usage: contraction.sh SOURCE_DIR BUILD_DIR
set -eu
commands=$2/compile_commands.json
[ -e "$commands" ] || { echo "skipped: no $commands"; exit 77; }

# As JSON has it.
SOURCES=$(printf '%s/src/' "$1" | sed 's/[\\"]/\\&/g')
export SOURCES
awk '/"command":/ { command = $0 }
     match($0, /^ *"file": "/) {
       source = substr($0, RLENGTH + 1)
       sub(/",?$/, "", source)
       if (index(source, ENVIRON["SOURCES"]) != 1 || source !~ /\.c$/)
         next
       last = command
       if (!sub(/.* -ffp-contract=/, "", last))
         last = "nothing"
       sub(/ .*/, "", last)
       wanted = source ~ /\/(taps|transform)_loops\.c$/ ? "fast" : "off"
       seen[wanted]++
       if (last != wanted) {
         print source ": " last ", not " wanted
         wrong = 1
       }
     }
     END {
       print seen["off"] + 0 " sources without, " seen["fast"] + 0 " with"
       exit wrong || !seen["off"] || !seen["fast"]
     }' "$commands"
