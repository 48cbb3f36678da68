#!/usr/bin/env bash
# Makes the Docker image of stripe-mock that test/payments/stripe-mock.test.ts runs: one static binary, built from its
# Go module, or the published one where there is no Go. Needs a running Docker; does nothing when the image is there.
set -euo pipefail
version=v0.197.0
image="stripe/stripe-mock:$version"

if docker image inspect "$image" >/dev/null 2>&1; then exit 0; fi
if ! command -v go >/dev/null; then exec docker pull --quiet "$image"; fi
folder="$(mktemp -d "${TMPDIR:-/tmp}/stripe-mock.XXXXXX")"
# What Go has downloaded is read-only.
trap 'chmod -R u+w "$folder" && rm -rf "$folder"' EXIT
GOPATH="$folder/go" GOCACHE="$folder/cache" GOBIN="$folder/image" CGO_ENABLED=0 GOFLAGS=-mod=mod \
  go install "github.com/stripe/stripe-mock@$version"
printf 'FROM scratch\nCOPY stripe-mock /stripe-mock\nENTRYPOINT ["/stripe-mock"]\n' >"$folder/image/Dockerfile"
docker build --quiet --tag "$image" "$folder/image" 2>/dev/null
