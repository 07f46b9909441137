#!/usr/bin/env bash
# Builds with AddressSanitizer and UndefinedBehaviorSanitizer, and runs unit and integration tests.
#
#   tests/sanitize.sh [--daemons] [CTEST ARGUMENT...]
#
# --daemons leaves the engine out (no LibTorch). AGOQ_BUILD_DIR names the build folder (default: build-sanitize). What tests/run.sh
# installs must be there. Exit status: that of the first part that failed; a finding fails the test that made it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${AGOQ_BUILD_DIR:-build-sanitize}
engine=ON
if [ "${1:-}" = --daemons ]; then
  engine=OFF
  shift
fi

# vptr checks need type information that libraries of other builds lack. A sanitizer makes GCC warn of what is not so.
flags="-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
cmake -S . -B "$build" -G Ninja -DAGOQ_ENGINE=$engine -DAGOQ_BENCHMARKS=OFF -DAGOQ_WARNINGS_ARE_ERRORS=OFF \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1"
cmake --build "$build"
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/leaks_of_libraries.txt:print_suppressions=0
exec ctest --test-dir "$build" --output-on-failure --parallel 2 --label-regex 'unit|integration' "$@"
