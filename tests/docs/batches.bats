#!/usr/bin/env bats
# docs/batches.md does what it shows. Its blocks of ```console are run in the order of the page.

load documents

PAGE=$SOURCE/docs/batches.md

@test "the commands of docs/batches.md" {
  mkdir bin
  ln -s "$GCONV" bin/gconv
  ln -s "$SOURCE/samples" samples
  PATH=$PWD/bin:$PATH
  make_files "$PAGE"
  console "$PAGE" >commands
  run play <commands
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${output##*: }" -ge 25 ]
}

# block FIRST: the block of the page that begins with this line, without its fences.
block() { awk -v first="$1" '/^```/ { inside = 0 } $0 == first { inside = 1 } inside' "$PAGE"; }

# Seven photos, and gconv in PATH. GNU parallel keeps files in HOME and quotes commands for SHELL, and
# either may be unset; moreutils has another `parallel`.
setup_parallel() {
  needs parallel
  parallel --version 2>&1 </dev/null | grep -q '^GNU parallel' || skip 'parallel is not GNU parallel'
  mkdir bin home photos
  ln -s "$GCONV" bin/gconv
  PATH=$PWD/bin:$PATH
  export HOME=$PWD/home SHELL=/bin/sh
  for i in 1 2 3 4 5 6 7; do cp "$SOURCE/samples/craters.png" photos/$i.png; done
  block "$(grep '^find .* | parallel' "$PAGE")" >script
}

@test "GNU parallel with a list, as docs/batches.md has it" {
  setup_parallel
  sed -n 1p script | sed 's/-N 1000/-N 3/' >one
  grep -q -- '-N 3' one
  sh -e one
  same_list outputs "$(ls out/photos)" "$(ls photos)"
}

@test "GNU parallel on two hosts, as docs/batches.md has it" {
  setup_parallel
  # Both hosts are this machine.
  cat >bin/ssh <<'END'
#!/bin/sh
echo "$1" >>hosts
shift
[ "$1" != -- ] || shift
exec sh -c "$*"
END
  chmod +x bin/ssh
  sed 1d script >two
  sh -e two
  same_list outputs "$(ls out)" "$(ls photos)"
  same_list hosts "$(sort -u hosts)" "$(printf '%s\n' host1 host2)"
  [ "$(cat journal.[1-8] | grep -c '"status": "done"')" -eq 7 ]
}

@test "what jq reads in a journal, as docs/batches.md has it" {
  needs jq
  cp "$SOURCE"/samples/craters.png in.png
  expect 1 "$GCONV" edges -q --journal journal -o out in.png none.png
  grep '^jq ' "$PAGE" >script
  expect 0 sh -e script
  like "$out" 'none.png: cannot open: No such file or directory
*[0-9] in.png'
}

@test "the script for Slurm, as the tasks of an array run it" {
  mkdir bin photos
  ln -s "$GCONV" bin/gconv
  PATH=$PWD/bin:$PATH
  for i in $(seq 60); do cp "$SOURCE/samples/craters.png" photos/$i.png; done
  block '#!/bin/sh' >script
  grep -q '^#SBATCH --array=1-' script
  grep -q '^#SBATCH --signal=B:USR1@' script # without B: only what srun starts gets it
  task() {
    SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_STEP=1 \
      SLURM_ARRAY_TASK_COUNT=3 SLURM_CPUS_PER_TASK=2 exec sh script
  }
  # The time is up: Slurm sends USR1 to a task, which has finished nothing or something, or ends.
  (task 2) &
  pid=$!
  until [ -s journal.2 ]; do sleep 0.01; done
  kill -s USR1 $pid || true
  status=0
  wait $pid || status=$?
  [ $status -eq 138 ] || [ $status -eq 0 ]
  for i in 1 2 3; do (task $i); done
  [ "$(find out -name '*.png' | wc -l)" -eq 60 ]
  [ "$(cat journal.? | grep -c '"status": "done"')" -eq 60 ]
  [ -s journal.1 ] && [ -s journal.3 ]
  cp journal.2 before
  (task 2)
  cmp journal.2 before
}

@test "the container has the packages and options that gconv needs" {
  block 'FROM debian:bookworm AS build' >Dockerfile
  installs() { sed -z 's/\\\n//g' Dockerfile | sed -n 's/.*--no-install-recommends //p' | sed -n "$1p" | sed 's/ *$//'; }
  for package in $(installs 1); do
    sed -n '/^package_table/,/^END/p' "$SOURCE/quickstart.sh" | tr -s ', ' '\n' | grep -qx -- "$package" ||
      { echo "no need of quickstart.sh: $package"; return 1; }
  done
  # The libraries of this build, without those of the C library and those that libraries bring along.
  needs readelf
  for library in $(readelf -d "$GCONV" | sed -n 's/.*(NEEDED).*\[\(lib[a-z]*[0-9]*\)\.so.*/\1/p'); do
    case $library in
    libpng* | libjpeg | libisal) ;;
    *) continue ;;
    esac
    installs 2 | grep -q "\b$library" || { echo "not installed: $library"; return 1; }
  done
  for option in $(grep -o -- '-D[A-Z_]*=' Dockerfile | tr -d =); do
    grep -q -- "${option#-D}" "$SOURCE/CMakeLists.txt"
  done
}
