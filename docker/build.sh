#!/usr/bin/env bash
# Builds the three images and prints each one's size and how long it took.
#
#   BASE_IMAGE, TORCH_INDEX   see docker/Dockerfile
#   BUILD_OPTIONS             further options of `docker build`, such as "--network host"
#   ENGINE                    docker by default
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
revision=$(git describe --always --dirty --abbrev=40 --exclude="*" 2>/dev/null || echo unknown)
options=(--file docker/Dockerfile --build-arg "VERSION=$version" --build-arg "REVISION=$revision")
for name in BASE_IMAGE TORCH_INDEX; do
    [ -z "${!name:-}" ] || options+=(--build-arg "$name=${!name}")
done
read -r -a further <<<"${BUILD_OPTIONS:-}"

for target in parent tabular imaging; do
    tag=wardround/$target:$version
    started=$SECONDS
    log=$(mktemp)
    if ! "${ENGINE:-docker}" build "${options[@]}" "${further[@]}" --target "$target" --tag "$tag" . >"$log" 2>&1; then
        cat "$log" >&2
        rm "$log"
        exit 1
    fi
    rm "$log"
    bytes=$("${ENGINE:-docker}" image inspect --format '{{.Size}}' "$tag")
    printf '%-26s %5d MB  %4d s\n' "$tag" $((bytes / 1000000)) $((SECONDS - started))
done
