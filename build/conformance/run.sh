#!/bin/sh
# Runs the official MCP conformance suite against Patchbay's client: the two
# revisions that it must conform to, and everything that there is. What fails is
# printed; what is expected to fail stands in expected-failures.yml, which is empty.
#
#   build/conformance/run.sh [path of the client]
set -eu
cd "$(dirname "$0")"
client=${1:-$PWD/../../bin/conformance-client}
out=${ARTIFACTS:-$PWD/../../artifacts}/conformance

# The suite needs Node 22. Its package brings one for machines with an older one.
node=node
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
	node=$PWD/node_modules/node/bin/node
	if [ ! -x "$node" ]; then
		echo "patchbay: the conformance suite needs Node 22, which its package could not install. Install Node 22 or newer, then run this again." >&2
		exit 1
	fi
fi

failed=0
for what in "--requirements 2025-11-25" "--requirements 2026-07-28" "--suite all"; do
	dir=$out/$(echo "$what" | tr -d ' -')
	rm -rf "$dir"
	mkdir -p "$dir"
	# shellcheck disable=SC2086 # two words
	if "$node" node_modules/@modelcontextprotocol/conformance/dist/index.js client --command "$client" $what \
		--expected-failures expected-failures.yml -o "$dir" >"$dir/log.txt" 2>&1; then
		status=passed
	else
		status=failed
		failed=1
		cat "$dir/log.txt"
	fi
	echo "patchbay: conformance $what $status: $(grep -c '^✓' "$dir/log.txt" || true) scenarios, $(sed -n 's/^Total: //p' "$dir/log.txt" | tail -n 1)"
	# Scenarios that a revision does not require do not count for the suite, but for us.
	if grep -q '^✗' "$dir/log.txt"; then
		grep '^✗' "$dir/log.txt"
		failed=1
	fi
done
exit $failed
