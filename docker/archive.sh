#!/usr/bin/env bash
# Writes the three images, as `make images` built them, to a folder that can be carried to a hospital, and signs it.
#
#   docker/archive.sh PRIVATE_KEY FOLDER
#
# FOLDER gets images.tar, images.txt (each image's name and id; the id is the hash of what is in it), SHA256SUMS of
# both, and SHA256SUMS.sig. Any OpenSSL verifies that, see docker/load.sh. A key, once:
#
#   openssl ecparam -genkey -noout -name prime256v1 -out images.key
#   openssl ec -in images.key -pubout -out images.pub
set -euo pipefail
[ $# = 2 ] || { sed -n '2,4p' "$0" >&2 && exit 2; }
key=$(realpath "$1")
mkdir -p "$2"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$(dirname "$0")/../pyproject.toml")
cd "$2"

names=()
for target in parent tabular imaging; do names+=("wardround/$target:$version"); done
for name in "${names[@]}"; do
    echo "$name $("${ENGINE:-docker}" image inspect --format '{{.Id}}' "$name")"
done >images.txt
"${ENGINE:-docker}" save --output images.tar "${names[@]}"
sha256sum images.tar images.txt >SHA256SUMS
openssl dgst -sha256 -sign "$key" -out SHA256SUMS.sig SHA256SUMS
cat images.txt
