#!/bin/sh
# The shared library exports exactly what gconv.h declares. The static library also has what
# gconv_lab.h declares; every other external name there begins with gc_, in CUDA builds as C++ writes
# it. Weak ones are the C++ compiler's own. Shared symbols bear the version of the interface. The CUDA
# module exports its table alone. Nothing needs a C++ library.
#
# Usage: symbols.sh SOURCE_DIR SHARED_LIBRARY STATIC_LIBRARY [CUDA_MODULE]
set -eu
header=$1/include/gconv.h
shared=$2
static=$3
module=${4-}

command -v nm >/dev/null || { echo "skipped: no nm"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
result=0

complain() {
  if [ -s "$work/wrong" ]; then
    echo "$1"
    sed 's/^/  /' "$work/wrong"
    result=1
  fi
}

# Declarations may run over several lines: one statement a line, then what stands before the
# first parenthesis.
tr '\n' ' ' <"$header" | tr ';' '\n' |
  sed -n 's/.*GCONV_API [^(]*[ *]\(gconv_[a-z0-9_]*\)(.*/\1/p' | sort >"$work/declared"
nm -D --defined-only "$shared" | awk '$2 != "A" { print $3 }' >"$work/versioned"
sed 's/@.*//' "$work/versioned" | sort >"$work/exported"
nm -g --defined-only "$static" 2>/dev/null |
  awk 'NF == 3 && $2 !~ /[VWvwu]/ { sub(/^_Z[0-9]+gc_/, "gc_", $3); print $3 }' |
  sort -u >"$work/external"
[ -s "$work/declared" ] || { echo "no declaration found in $header"; exit 1; }
[ -s "$work/exported" ] || { echo "$shared exports nothing"; exit 1; }

comm -13 "$work/declared" "$work/exported" >"$work/wrong"
complain "exported by the shared library, but not declared in gconv.h:"
comm -23 "$work/declared" "$work/exported" >"$work/wrong"
complain "declared in gconv.h, but not exported by the shared library:"
grep -vE '@@GCONV_[0-9]+\.[0-9]+$' "$work/versioned" >"$work/wrong" || true
complain "exported without the version of the interface:"
grep -o 'gconv_[a-z0-9_]*(' "$1/include/gconv_lab.h" | tr -d '(' | sort -u >"$work/lab"
[ -s "$work/lab" ] || { echo "no declaration found in gconv_lab.h"; exit 1; }
comm -13 "$work/declared" "$work/external" | comm -13 "$work/lab" - | grep -v '^gc_' >"$work/wrong" || true
complain "external in the static library, neither public nor gc_:"
if [ -n "$module" ]; then
  nm -D --defined-only "$module" | awk '$3 != "gc_cuda_module" { print $3 }' >"$work/wrong"
  complain "exported by the CUDA module:"
fi
for file in "$static" $module; do
  nm -g --undefined-only "$file"
  nm -D --undefined-only "$file"
done 2>/dev/null |
  awk '$2 ~ /^(__cxa_|__gxx_|_ZS|_ZNS|_ZNKS|_Zn|_Zd)/ && $2 !~ /@GLIBC_/ { print $2 }' | sort -u >"$work/wrong"
complain "needed from a C++ library:"

echo "$(wc -l <"$work/declared") public functions"
exit $result
