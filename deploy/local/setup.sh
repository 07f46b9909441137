#!/usr/bin/env bash
# Installs what a build on Debian 12 or Ubuntu 24.04 (x86-64) needs and lacks:
#
#   packages of packages.txt by apt, as root or through sudo;
#   LibTorch into .deps/libtorch, from the wheels of libtorch-wheels.txt (700 MB to fetch, 1.2 GB on disk);
#   the definitions of google.rpc into .deps/googleapis, from the wheel of googleapis-wheel.txt;
#   Prometheus and promtool, for tests, into .deps/prometheus: unpacked, not installed, so that no server is started.
#
# Says what it does; does nothing the second time. pip's and apt's own settings hold: PIP_INDEX_URL, PIP_CERT, https_proxy,
# /etc/apt. Exit status: 0, or 1 after a message with the remedy.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
deps=$(cd "$here/../.." && pwd)/.deps
libtorch_name=libtorch-2.11.0
disk_needed_mib=3000  # wheels and their contents lie side by side for a moment

temporaries=()
trap 'rm -rf "${temporaries[@]}"' EXIT

say() { echo "setup: $*"; }
fail() {
  echo "setup: $*" >&2
  exit 1
}

missing_packages() {
  local wanted
  wanted=$(sed -e 's/#.*//' -e '/^ *$/d' "$here/packages.txt")
  # shellcheck disable=SC2086
  comm -23 <(printf '%s\n' $wanted | LC_ALL=C sort) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
      sed -n 's/^installed //p' | LC_ALL=C sort -u)
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo --preserve-env=APT_CONFIG,http_proxy,https_proxy,no_proxy "$@"
  fi
}

install_packages() {
  local missing
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    fail "no apt here; use Debian 12 or Ubuntu 24.04, or install by hand what $here/packages.txt names"
  missing=$(missing_packages | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    fail "needs root to install packages; run as root: apt-get install $missing"
  say "installing by apt: $missing"
  as_root apt-get update -qq ||
    fail "apt-get update failed; see /etc/apt/sources.list.d and the network, then run this again"
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null ||
    fail "apt-get install failed; run it by hand to see why: apt-get install $missing"
}

fetch_wheels() {  # REQUIREMENTS FOLDER
  python3 -m pip download --quiet --no-cache-dir --disable-pip-version-check --no-deps --require-hashes \
    --only-binary=:all: --implementation cp --python-version 311 --abi cp311 \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 \
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
    --dest "$2" --requirement "$here/$1" ||
    fail "pip could not fetch what $1 names; see the message above. Behind a proxy or a mirror set https_proxy," \
      "PIP_INDEX_URL, and PIP_CERT to the certificate bundle; then run this again"
}

unpack_wheels() {  # WHEELS FOLDER
  local wheel
  for wheel in "$1"/nvidia_*.whl; do
    unzip -q "$wheel" 'nvidia/*' -d "$2" || return 1
  done
  unzip -q "$1"/torch-*.whl 'torch/lib/*' 'torch/include/*' 'torch/share/*' 'torch/version.py' -d "$2"
}

install_libtorch() {
  local free_mib work
  if [ ! -e "$deps/$libtorch_name/torch/lib/libtorch_cpu.so" ]; then
    [ "$(uname -m)" = x86_64 ] || fail "no LibTorch wheel for $(uname -m); use an x86-64 machine"
    mkdir -p "$deps" || fail "cannot create $deps; make its folder writable"
    exec 9>"$deps/.lock"
    flock 9  # a second set-up waits for the first
    rm -rf "$deps"/.new.*  # left by a run that was killed
    if [ ! -e "$deps/$libtorch_name/torch/lib/libtorch_cpu.so" ]; then
      free_mib=$(df -Pm "$deps" | awk 'NR == 2 {print $4}')
      [ "$free_mib" -ge "$disk_needed_mib" ] ||
        fail "$deps has $free_mib MiB free, LibTorch takes $disk_needed_mib; free some space"
      work=$(mktemp -d "$deps/.new.XXXXXX")
      temporaries+=("$work")
      say "fetching LibTorch into $deps/$libtorch_name"
      fetch_wheels libtorch-wheels.txt "$work/wheels"
      unpack_wheels "$work/wheels" "$work/tree" || fail "a wheel could not be unpacked; free some space and run this again"
      rm -rf "${deps:?}/$libtorch_name"
      mv -T "$work/tree" "$deps/$libtorch_name"
    fi
    exec 9>&-
  fi
  [ "$(readlink "$deps/libtorch" || true)" = "$libtorch_name" ] || ln -sfn "$libtorch_name" "$deps/libtorch"
}

install_googleapis() {
  local target=$deps/googleapis work
  [ ! -e "$target/google/rpc/error_details.proto" ] || return 0
  work=$(mktemp -d "$deps/.googleapis.XXXXXX")
  temporaries+=("$work")
  say "fetching the definitions of google.rpc into $target"
  fetch_wheels googleapis-wheel.txt "$work"
  unzip -q "$work"/googleapis_common_protos-*.whl 'google/rpc/*.proto' -d "$work/tree" ||
    fail "the wheel could not be unpacked; free some space and run this again"
  rm -rf "$target"
  mv -T "$work/tree" "$target"
}

install_prometheus() {
  local target=$deps/prometheus work
  [ ! -x "$target/usr/bin/promtool" ] || return 0
  work=$(mktemp -d "$deps/.prometheus.XXXXXX")
  temporaries+=("$work")
  chmod 755 "$work"  # apt fetches as a user of its own
  say "fetching Prometheus into $target"
  (cd "$work" && apt-get download -qq prometheus >/dev/null 2>&1) ||
    { as_root apt-get update -qq && (cd "$work" && apt-get download -qq prometheus >/dev/null 2>&1); } ||
    fail "apt-get could not download prometheus; run it by hand to see why: apt-get download prometheus"
  dpkg-deb --extract "$work"/prometheus_*.deb "$work/tree" ||
    fail "the package could not be unpacked; free some space and run this again"
  rm -rf "$target"
  mv -T "$work/tree" "$target"
}

install_packages
install_libtorch
install_googleapis
install_prometheus
say "ready"
