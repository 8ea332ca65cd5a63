#!/bin/sh
# Makes the image of a release: `scripts/image.sh NODE_IMAGE@sha256:DIGEST TAG`. A name without a digest may be another
# image tomorrow, so it is refused. `docker buildx imagetools inspect node:26-trixie-slim` prints the digest.
set -eu

if [ $# -ne 2 ]; then
  echo "usage: scripts/image.sh NODE_IMAGE@sha256:DIGEST TAG" >&2
  exit 64
fi
if ! echo "$1" | grep -Eq '^[^@]+@sha256:[0-9a-f]{64}$'; then
  echo "$1 names no digest; a release is made from NODE_IMAGE@sha256:DIGEST" >&2
  exit 64
fi
docker build --build-arg "NODE_IMAGE=$1" --tag "$2" "$(dirname "$0")/.."
