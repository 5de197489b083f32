#!/bin/sh
# How far `cpu` is from the fastest of its solvers, in memory.
#
# Usage: choice.sh GCONV [THREADS [SECONDS [SIDE]]]
#
# Runs `cpu` and each solver alone on filters with sides from 3 to 31, of full rank and of rank 1,
# on grey samples of 8 and 16 bits of SIDE by SIDE pixels (default 4096), by THREADS (default: all),
# for some SECONDS (default 20). Prints the least time of `cpu` over that of the fastest solver, the
# largest first. Where `cpu` rounds once, solvers alone promise less and are not compared.
# GCONV_INSTRUCTIONS limits the instructions.
set -eu
LC_ALL=C
export LC_ALL
gconv=$1
threads=${2:-$(nproc)}
seconds=${3:-20}
sides=3,5,7,9,10,11,12,13,14,15,17,21,25,31

"$gconv" bench -i cpu,cpu:taps,cpu:tiles,cpu:products --samples grey8,grey16 \
  --filters "$sides,rank1:3,rank1:7,rank1:11,rank1:15,rank1:21,rank1:31" \
  --sizes "${4:-4096}" --threads "$threads" --time "$seconds" --csv |
  awk -F, '
    NR == 1 || $10 + 0 == 0 { next }
    { job = $3 ", " $4 }
    $6 == "cpu" { own[job] = $10; promise[job] = $7 }
    $6 != "cpu" && (!(job in best) || $10 < best[job]) { best[job] = $10; name[job] = $6 }
    END {
      for (job in own)
        if (job in best && promise[job] != "rounded once")
          printf "%.2f  %s: cpu %.3f ms, %s %.3f ms\n", own[job] / best[job], job,
            own[job] * 1e3, name[job], best[job] * 1e3
    }' | sort -rn
