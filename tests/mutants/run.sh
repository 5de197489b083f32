#!/bin/bash
# Makes small defects, one at a time, and tells which of them the tests see. For usage:
# tests/mutants/run.sh --help
set -euo pipefail

usage() {
    cat <<END
tests/mutants/run.sh [--jobs N] [--only PATTERN] [--work DIR] [--check] [--list]

Every mutation of mutations.txt is made in a copy of this tree, which is built, host code alone, and
tested until a test fails: it is caught. One that no test sees has survived. The score is their share.

  --jobs N         mutations that are tried at one time, each in a copy of its own (default: processors)
  --only PATTERN   mutations whose names match, as of bash: 'png-*'
  --work DIR       where the copies are made and kept for the next time (default: a new directory of
                   TMPDIR, removed at the end)
  --check          only sees to it that every mutation applies
  --list           names, files and kinds

Environment: CMAKE_PREFIX_PATH, where cmocka is; BATS, the program, where it is not in PATH; SECONDS_MAX,
tests that take longer without a mutation are left out (default 60).
END
}

source_tree=$(cd "$(dirname "$0")/../.." && pwd)
list=$source_tree/tests/mutants/mutations.txt
jobs=$(nproc)
only='*'
work=
action=run
while [ $# -gt 0 ]; do
    case $1 in
    --jobs) jobs=$2 && shift ;;
    --only) only=$2 && shift ;;
    --work) work=$2 && shift ;;
    --check | --list) action=${1#--} ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift
done

# ---- The list ------------------------------------------------------------------------------------

names=() files=() flags=() kinds=() olds=() news=()

read_list() {
    local line number=0 last=-1
    local mutation='^@ ([^ ]+) ([^ ]+)( asan)? : (.+)$'
    while IFS= read -r line; do
        number=$((number + 1))
        if [[ $line =~ $mutation ]]; then
            last=$((last + 1))
            names+=("${BASH_REMATCH[1]}") files+=("${BASH_REMATCH[2]}") flags+=("${BASH_REMATCH[3]# }")
            kinds+=("${BASH_REMATCH[4]}") olds+=('') news+=('')
        elif [[ $line == '- '* ]]; then
            olds[last]+=${olds[last]:+$'\n'}${line#- }
        elif [[ $line == '+ '* ]]; then
            news[last]+=${news[last]:+$'\n'}${line#+ }
        elif [[ -n $line && $line != '#'* ]]; then
            echo "$list:$number: not a line of a mutation" >&2
            return 1
        fi
    done <"$list"
}

# mutate INDEX TREE: fails unless the old text stands exactly once in the file.
mutate() {
    local file=$2/${files[$1]} old=${olds[$1]} text before after
    text=$(cat "$file" && echo x) || return 1
    text=${text%x}
    before=${text%%"$old"*}
    after=${text#*"$old"}
    if [ -z "$old" ] || [ "$before" = "$text" ] || [[ $after == *"$old"* ]]; then
        echo "${names[$1]}: its text does not stand exactly once in ${files[$1]};" \
            "correct it in $list" >&2
        return 1
    fi
    printf '%s%s%s' "$before" "${news[$1]}" "$after" >"$file"
}

# Applies every mutation to a copy of its file.
check_list() {
    local scratch failures=0 i
    scratch=$(mktemp -d)
    for i in "${!names[@]}"; do
        mkdir -p "$scratch/$(dirname "${files[i]}")"
        cp "$source_tree/${files[i]}" "$scratch/${files[i]}"
        if ! mutate "$i" "$scratch"; then
            failures=$((failures + 1))
        elif cmp -s "$source_tree/${files[i]}" "$scratch/${files[i]}"; then
            echo "${names[i]}: changes nothing" >&2
            failures=$((failures + 1))
        fi
    done
    rm -r "$scratch"
    printf '%s\n' "${names[@]}" | sort | uniq -d | sed 's/$/: a name given twice/' >&2
    [ "$failures" -eq 0 ]
}

# ---- Building and testing ------------------------------------------------------------------------

# configure TREE BUILD: without what takes long to build.
configure() {
    local sanitize=OFF type=Release
    [ "$2" = asan ] && sanitize=ON type=Debug
    cmake -S "$1" -B "$1/build/$2" -G Ninja -DCMAKE_BUILD_TYPE=$type -DCMAKE_C_FLAGS_DEBUG="-O1 -g" \
        -DGCONV_SANITIZE=$sanitize -DGCONV_CUDA=OFF ${BATS:+"-DBATS=$BATS"} >"$1/configure.log" 2>&1
}

# A copy that differs nowhere in what it is built from; files that are the same keep their time.
copy_tree() {
    mkdir -p "$1/tmp"
    (cd "$source_tree" && find . -mindepth 1 -maxdepth 1 ! -name .git ! -name build ! -name '.c*ache*' \
        ! -name .mutants -print0 | tar -c --null -T - -f -) | tar -x --skip-old-files -C "$1" -f -
    (cd "$source_tree" && find src lab tests include cmake filters CMakeLists.txt -type f) |
        while IFS= read -r file; do
            cmp -s "$source_tree/$file" "$1/$file" || cp "$source_tree/$file" "$1/$file"
        done
}

# prepare WORKER: its copy, of which nothing is built yet.
prepare() {
    copy_tree "$work/$1"
    configure "$work/$1" plain
}

# What a test runs.
targets_of() {
    case $1 in
    unit_*) echo "$1" ;;
    check_*) echo gconv_check ;;
    fuzz_*) echo "replay_${1#fuzz_}" ;;
    cli_* | docs_*) echo gconv gconv_faulty make_image ending json ;;
    *) echo all ;;
    esac
}

# build_for TEST TREE BUILD
build_for() {
    # shellcheck disable=SC2046
    ninja -C "$2/build/$3" -j 1 $(targets_of "$1") >"$2/build.log" 2>&1
}

# run_test TEST TREE BUILD SECONDS
run_test() {
    (cd "$2/build/$3" && TMPDIR=$2/tmp timeout "$4" ctest -R "^$1\$" --no-tests=error) >"$2/test.log" 2>&1 </dev/null
}

# The tests that pass without a mutation, and the seconds that each takes, the fastest first.
measure_tests() {
    local left_out='^(packaging_|check_sweep$|gpu$|docs_render$)'
    ninja -C "$work/0/build/plain" -j "$jobs" >"$work/0/build.log" 2>&1 || return 1
    (cd "$work/0/build/plain" && TMPDIR=$work/0/tmp ctest -E "$left_out" -LE campaign -j "$jobs") >"$work/baseline" || true
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.+ +Passed +([0-9.]+) sec.*/\2 \1/p' "$work/baseline" |
        sort -n | awk -v most="${SECONDS_MAX:-60}" '$1 <= most' >"$work/tests"
    grep -E 'Test +#' "$work/baseline" | grep -v ' Passed ' | sed 's/^/without a mutation: /' >&2 || true
    [ -s "$work/tests" ]
}

# Whether DIR has kept the tests, and this tree has each of them.
tests_are_kept() {
    [ -s "$work/tests" ] && ! awk '{ print $2 }' "$work/tests" |
        grep -vxFf <(ctest --test-dir "$work/0/build/plain" -N | sed -n 's/^ *Test *#[0-9]*: //p') | grep -q .
}

# order_tests FILE: what is likely to see a defect of the file first, then the fastest.
order_tests() {
    local base area=${1#src/}
    base=$(basename "$1")
    base=${base%.*} area=${area%%/*}
    awk -v base="$base" -v area="$area" '{
        name = $2; kind = name; sub(/_.*/, "", kind); rest = name; sub(/^[a-z]+_/, "", rest)
        rank = kind == "unit" ? 2 : kind == "check" ? 3 : 4
        if ((area == "cpu" || area == "core") && kind == "check") rank = 1
        if (area == "cli") rank = kind == "cli" ? 1 : kind == "docs" ? 2 : 9
        if (area == "io" && name ~ /^unit_(io|output|verdicts)$/) rank = 1
        if (kind == "unit" && (rest == base || index(base, rest "_") == 1 || index(rest, base "_") == 1)) rank = 0
        print rank, $1, name }' "$work/tests" | sort -n -k1,1 -k2,2 | awk '{ print $2, $3 }'
}

# try INDEX WORKER: prints the verdict.
try() {
    local i=$1 tree=$work/$2 build=plain slower=8 verdict=SURVIVED seconds test limit failure
    local file=${files[i]}
    if [ "${flags[i]}" = asan ]; then
        build=asan slower=40
        [ -d "$tree/build/asan" ] || configure "$tree" asan || return 1
    fi
    mutate "$i" "$tree" || return 1
    while read -r seconds test; do
        if ! build_for "$test" "$tree" "$build"; then
            verdict='DID NOT BUILD'
            cp "$tree/build.log" "$work/${names[i]}.log"
            break
        fi
        limit=$(awk "BEGIN { print int(60 + $slower * $seconds) }")
        # Twice: a busy machine must not count as a test that sees something.
        if ! run_test "$test" "$tree" "$build" "$limit"; then
            failure=0
            run_test "$test" "$tree" "$build" "$limit" || failure=$?
            [ "$failure" -eq 0 ] || verdict="caught by $test"
            [ "$failure" -ne 124 ] || verdict+=', which does not end'
            [ "$failure" -eq 0 ] || break
        fi
    done < <(order_tests "$file")
    cp "$source_tree/$file" "$tree/$file"
    printf '%-26s %-26s %s\n' "${names[i]}" "${file#src/}" "$verdict"
}

# Takes mutations from the list until none is left.
run_worker() {
    local next start verdict
    [ "$1" -eq 0 ] || prepare "$1" || { echo "no copy: $work/$1/configure.log" >&2 && return 1; }
    while next=$({ flock 9 && head -n 1 "$work/queue" && sed -i 1d "$work/queue"; } 9>"$work/lock") && [ -n "$next" ]; do
        start=$SECONDS
        verdict=$(try "$next" "$1") || return 1
        echo "$verdict ($((SECONDS - start)) s)" | tee -a "$work/verdicts"
    done
}

# pinned WORKER COMMAND...: on two processors, so that copies do not get into each other's way.
pinned() {
    local part processors=()
    if [ "$jobs" -gt 1 ] && [ "$(nproc)" -gt 2 ] && command -v taskset >/dev/null; then
        for part in $(taskset -pc $BASHPID | sed 's/.*: //; s/,/ /g'); do
            mapfile -t -O ${#processors[@]} processors < <(seq "${part%-*}" "${part#*-}")
        done
        taskset -pc "${processors[$1 % ${#processors[@]}]},${processors[($1 + 1) % ${#processors[@]}]}" \
            $BASHPID >/dev/null || true
    fi
    shift
    "$@"
}

# ---- What is asked for ---------------------------------------------------------------------------

read_list
case $action in
list)
    for i in "${!names[@]}"; do
        # shellcheck disable=SC2053
        [[ ${names[i]} == $only ]] || continue
        printf '%-26s %-26s %s\n' "${names[i]}" "${files[i]}" "${kinds[i]}"
    done
    exit
    ;;
check)
    check_list || exit
    echo "all ${#names[@]} apply"
    exit
    ;;
esac

check_list
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
work=$(cd "$work" && pwd)
rm -f "$work/verdicts"
for flag in asan ''; do # what takes longest first
    for i in "${!names[@]}"; do
        # shellcheck disable=SC2053
        [[ ${names[i]} == $only && ${flags[i]} = "$flag" ]] && echo "$i"
    done
done >"$work/queue"
[ -s "$work/queue" ] || { echo "no mutation is named '$only'" >&2 && exit 2; }
prepare 0 || { echo "this tree cannot be configured: $work/0/configure.log" >&2 && exit 1; }
tests_are_kept || measure_tests || { echo "no test passes: $work/0/build.log, $work/baseline" >&2 && exit 1; }
for ((k = 0; k < jobs; k++)); do
    pinned "$k" run_worker "$k" &
done
wait
# ---- The score -----------------------------------------------------------------------------------

# count TEXT [KIND]: verdicts with this text.
count() {
    local total=0 i
    for i in "${!names[@]}"; do
        [ "${2:-${kinds[i]}}" = "${kinds[i]}" ] && grep -q "^${names[i]} .*$1" "$work/verdicts" && total=$((total + 1))
    done
    echo "$total"
}

echo
for kind in $(printf '%s\n' "${kinds[@]}" | sort -u); do
    caught=$(count ' caught by ' "$kind")
    printf '%-10s %3d of %3d\n' "$kind" "$caught" $((caught + $(count ' SURVIVED ' "$kind")))
done
grep -E ' (SURVIVED|DID NOT BUILD) ' "$work/verdicts" || true
caught=$(count ' caught by ') survived=$(count ' SURVIVED ')
echo "$caught of $((caught + survived)) caught, $survived survived, $(count ' DID NOT BUILD ') did not build"
