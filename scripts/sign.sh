#!/bin/sh
# Signs what is handed out: `scripts/sign.sh KEY.pem FILE…` writes SHA256SUMS of the files into their folder, and
# SHA256SUMS.sig, its Ed25519 signature. The files lie in one folder; the key is made by `openssl genpkey -algorithm
# ed25519`. docs/how-to/install.md says how a signature is checked.
set -eu

if [ $# -lt 2 ]; then
  echo "usage: scripts/sign.sh KEY.pem FILE…" >&2
  exit 64
fi
key=$(realpath "$1")
shift
folder=$(dirname "$(realpath "$1")")
for file in "$@"; do
  if [ "$(dirname "$(realpath "$file")")" != "$folder" ]; then
    echo "$file does not lie in $folder; put the files into one folder first" >&2
    exit 64
  fi
done
# The names alone, so that they are checked wherever they lie.
names=$(for file in "$@"; do basename "$file"; done)
cd "$folder"
echo "$names" | while IFS= read -r name; do sha256sum -- "$name"; done >SHA256SUMS
openssl pkeyutl -sign -rawin -inkey "$key" -in SHA256SUMS -out SHA256SUMS.sig
