#!/bin/sh
# Installs what building, running and testing need from the system, and says
# what it does. What is there already is left alone.
#
#   build/install-deps.sh page      to build the command line and the page
#   build/install-deps.sh window    to build and run the window as well
#   build/install-deps.sh test      to run all tests
set -eu

want=${1:?page, window or test}
say() { printf '\033[1m%s\033[0m\n' "patchbay: $*" >&2; }

for tool in go node npm; do
	if ! command -v "$tool" >/dev/null 2>&1; then
		say "$tool is missing. Install Go 1.26 or newer and Node 20 or newer (with npm), then run this again."
		exit 1
	fi
done
major=$(node -p 'process.versions.node.split(".")[0]')
if [ "$major" -lt 20 ]; then
	say "Node $major is too old. Install Node 20 or newer, then run this again."
	exit 1
fi

[ "$want" = page ] && exit 0

case $(uname -s) in
Darwin)
	if ! xcode-select -p >/dev/null 2>&1; then
		say "Installing Apple's command line tools. Confirm in the dialog, then run this again."
		xcode-select --install || true
		exit 1
	fi
	exit 0
	;;
Linux) ;;
*)
	say "On this system, install a C compiler and what https://wails.io/docs/gettingstarted/installation lists."
	exit 0
	;;
esac

packages="gcc libc6-dev pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev"
if [ "$want" = test ]; then
	packages="$packages xvfb dbus-daemon webkit2gtk-driver chromium fonts-liberation"
fi

if ! command -v dpkg-query >/dev/null 2>&1; then
	say "This is no Debian or Ubuntu. Make sure that you have the equivalents of: $packages"
	exit 0
fi

missing=
for p in $packages; do
	dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -z "$missing" ] && exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		say "These packages are missing and cannot be installed without root or sudo:$missing"
		exit 1
	fi
	sudo=sudo
fi
say "Installing from the system's packages:$missing"
$sudo apt-get update -q
# shellcheck disable=SC2086 # a list of names
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
