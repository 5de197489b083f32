#!/bin/sh
# Products and sums are fused in two files of src/cpu/instructions and nowhere else: the last
# -ffp-contract of a command line counts.
#
# Usage: contraction.sh BUILD_DIR
set -eu
commands=$1/compile_commands.json
[ -e "$commands" ] || { echo "skipped: no $commands"; exit 77; }

awk '/"command":/ && match($0, / -c [^"]*\/src\/[a-z0-9_\/]+\.c"/) {
       source = substr($0, RSTART + 4, RLENGTH - 5)
       last = $0
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
