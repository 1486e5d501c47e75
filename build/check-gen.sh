#!/bin/sh
# Fails when a generated file is not what "make gen" writes now.
set -eu
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
for path in "$@"; do
	mkdir -p "$before/$(dirname "$path")"
	cp -R "$path" "$before/$path"
done
make --no-print-directory gen >/dev/null
stale=0
for path in "$@"; do
	diff -r -u "$before/$path" "$path" || stale=1
done
if [ "$stale" = 1 ]; then
	echo "patchbay: the generated files were not current. They are now: look at the difference and commit it." >&2
	exit 1
fi
