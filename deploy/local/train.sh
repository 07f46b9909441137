#!/usr/bin/env bash
# From a fresh machine to a trained model: set-up, build, a coordinator and two CPU workers with different memory, the plays of
# Shakespeare, one job, its plan, its progress and its summary.
#
#   deploy/local/train.sh [--keep-running]
#
# --keep-running leaves coordinator and workers up and says how to stop them; otherwise nothing is left running. A second run
# reuses everything. AGOQ_BUILD_DIR names the build folder (default: build), AGOQ_PORT the first of four ports (default: 9400),
# AGOQ_WORKER_MIB the workers' memory in MiB (default: "34 20"). Exit status: 0 done, 1 after a message, else the job's.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${AGOQ_BUILD_DIR:-build}
port=${AGOQ_PORT:-9400}
read -r -a worker_mib <<<"${AGOQ_WORKER_MIB:-34 20}"
demo=$build/demo  # the job file's own paths lie below build/demo
job_file=deploy/examples/shakespeare.yaml
keep_running=false
export AGOQ_ADDRESS=127.0.0.1:$port

say() { echo "train: $*"; }
fail() {
  echo "train: $*" >&2
  exit 1
}

case "${1:-}" in
  "") ;;
  --keep-running) keep_running=true ;;
  *)
    sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac

prepare() {
  deploy/local/setup.sh
  say "building (log: $build/train-build.log)"
  mkdir -p "$build"
  { [ -f "$build/build.ninja" ] || cmake -S . -B "$build" -G Ninja; } >"$build/train-build.log" 2>&1 &&
    cmake --build "$build" --target agoq agoq-coordinator agoq-worker agoq-trainer >>"$build/train-build.log" 2>&1 ||
    { tail -n 20 "$build/train-build.log" >&2; fail "the build failed; see $build/train-build.log"; }
  deploy/local/fetch_shakespeare.sh build/demo
  if [ ! -f build/demo/shakespeare_valid.idx ]; then
    "$build/bin/agoq-trainer" tokenize build/demo/shakespeare.txt build/demo/shakespeare
  fi
  # A finished training would only be evaluated again.
  if [ -d build/demo/checkpoints ]; then
    rm -rf build/demo/checkpoints.previous
    mv build/demo/checkpoints build/demo/checkpoints.previous
    say "checkpoints of the last run are now in build/demo/checkpoints.previous"
  fi
}

daemons=()  # process ids, the coordinator's first
start_daemon() {  # NAME PROGRAM ARGUMENT...
  local name=$1
  shift
  "$@" >"$demo/$name.log" 2>&1 &
  daemons+=($!)
  disown $!
}

wait_until_ready() {  # NAME PORT PID
  local tries
  for ((tries = 0; tries < 200; ++tries)); do
    if python3 -c 'import sys, urllib.request; urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/readyz", timeout=1)' \
      "$2" 2>/dev/null; then
      return 0
    fi
    kill -0 "$3" 2>/dev/null || { tail -n 5 "$demo/$1.log" >&2; fail "$1 did not start; its log is $demo/$1.log"; }
    sleep 0.05
  done
  fail "$1 is not ready after 10 s; its log is $demo/$1.log"
}

start_daemons() {
  local k
  mkdir -p "$demo"
  start_daemon coordinator "$build/bin/agoq-coordinator" --listen-address "$AGOQ_ADDRESS" \
    --metrics-address "127.0.0.1:$((port + 1))" --state-directory "$demo/coordinator"
  wait_until_ready coordinator $((port + 1)) "${daemons[0]}"
  for k in 0 1; do
    start_daemon "worker-$k" "$build/bin/agoq-worker" --coordinator "$AGOQ_ADDRESS" --name "worker-$k" \
      --metrics-address "127.0.0.1:$((port + 2 + k))" --state-directory "$demo/worker-$k" \
      --device cpu --memory-bytes $((worker_mib[k] * 1024 * 1024))
  done
  for k in 0 1; do
    wait_until_ready "worker-$k" $((port + 2 + k)) "${daemons[$((k + 1))]}"
  done
}

stop_daemons() {
  local pid tries
  # Workers first: a job that still runs is drained by them.
  for pid in "${daemons[@]:1}" "${daemons[0]:-}"; do
    [ -n "$pid" ] && kill "$pid" 2>/dev/null || continue
    for ((tries = 0; tries < 300; ++tries)); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
  done
}

agoq() { "$build/bin/agoq" "$@"; }

prepare
trap '$keep_running || stop_daemons' EXIT
start_daemons
agoq worker list
say "the plan of $job_file:"
agoq job plan "$job_file"
job=$(agoq job submit "$job_file" -o name)
status=0
agoq job watch "$job" || status=$?
echo
agoq job get "$job" --summary
if [ "$status" = 0 ]; then
  echo "bigram entropy of the text: $(deploy/local/bigram_entropy.py build/demo/shakespeare.txt) nats per byte"
  echo
  "$build/bin/agoq-trainer" generate build/demo/checkpoints --prompt 'KING HENRY' --tokens 160
else
  agoq job events "$job" || true
fi
if $keep_running; then
  say "coordinator and workers go on: export AGOQ_ADDRESS=$AGOQ_ADDRESS; stop them with: kill ${daemons[*]}"
fi
exit "$status"
