#!/bin/sh
# Runs a backend and, before it, the page with live reload. Ctrl+C ends both.
set -eu
out=$(mktemp)
bin/patchbay serve >"$out" &
backend=$!
trap 'kill "$backend" 2>/dev/null || true; rm -f "$out"' EXIT INT TERM
until [ -s "$out" ]; do
	kill -0 "$backend" # ends here when the backend could not start
	sleep 0.1
done
address=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).address' "$out")
token=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).token' "$out")
echo "patchbay: open http://127.0.0.1:5173/#token=$token"
PATCHBAY_BACKEND=$address npm --prefix frontend run dev -- --host 127.0.0.1 --port 5173 --strictPort
