#!/usr/bin/env bash
# Loads images from a folder that docker/archive.sh wrote, if it is signed with the key that belongs to PUBLIC_KEY.
# No network is used. Get PUBLIC_KEY by another way than the folder.
#
#   docker/load.sh PUBLIC_KEY FOLDER
set -euo pipefail
[ $# = 2 ] || { sed -n '5p' "$0" >&2 && exit 2; }
key=$(realpath "$1")
cd "$2"

if ! openssl dgst -sha256 -verify "$key" -signature SHA256SUMS.sig SHA256SUMS >/dev/null; then
    echo "$2/SHA256SUMS.sig: not made with the key that belongs to $1; nothing was loaded" >&2
    exit 1
fi
if ! sha256sum --check --strict --quiet SHA256SUMS >&2; then
    echo "$2: files differ from what was signed; nothing was loaded" >&2
    exit 1
fi
"${ENGINE:-docker}" load --quiet --input images.tar >/dev/null
while read -r name id; do
    found=$("${ENGINE:-docker}" image inspect --format '{{.Id}}' "$name")
    [ "$found" = "$id" ] || { echo "$name: expected $id, found $found" >&2 && exit 1; }
    echo "$name $id"
done <images.txt
