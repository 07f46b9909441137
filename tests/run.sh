#!/usr/bin/env bash
# Sets up, builds and tests everything.
#
#   tests/run.sh [--quick] [CTEST ARGUMENT...]
#
# --quick leaves out the tests that carry the label `slow` (the rest take less than 2 minutes). AGOQ_BUILD_DIR names the build
# folder (default: build). Prints the time of each part. Exit status: that of the first part that failed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${AGOQ_BUILD_DIR:-build}
selection=()
if [ "${1:-}" = --quick ]; then
  selection=(--label-exclude slow)
  shift
fi

part_times=()
part() {  # NAME COMMAND...
  local name=$1 start=$SECONDS status=0
  shift
  echo "== $name"
  "$@" || status=$?
  part_times+=("$name: $((SECONDS - start)) s")
  [ "$status" = 0 ] || finish "$status" "$name failed"
}
finish() {  # STATUS WORDS
  echo "== times"
  printf '%s\n' "${part_times[@]}" "all: $SECONDS s"
  echo "run.sh: $2"
  exit "$1"
}

part set-up deploy/local/setup.sh
part configure cmake -S . -B "$build" -G Ninja
part build cmake --build "$build"
part tests ctest --test-dir "$build" --output-on-failure --parallel 2 "${selection[@]}" "$@"
finish 0 "passed"
