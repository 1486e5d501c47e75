package paste

import (
	"strings"

	"patchbay/backend/config/internal/entry"
)

// peelEnv takes variables off the beginning of a line that a shell would set
// before the command: $env:KEY = "value"; set KEY=value && export KEY=value;
// They are settings of the server, so no shell is needed for them.
func peelEnv(s string) (rest string, env map[string]string) {
	for range maxPeeled {
		next, k, v, ok := peelOne(s)
		if !ok {
			break
		}
		set(&env, k, v)
		s = next
	}
	return s, env
}

const maxPeeled = 100

func peelOne(s string) (rest, key, value string, ok bool) {
	lower := strings.ToLower(s[:min(len(s), len("export "))])
	switch {
	case strings.HasPrefix(lower, "$env:"):
		k, tail, found := strings.Cut(s[len("$env:"):], "=")
		k, tail = strings.TrimSpace(k), strings.TrimSpace(tail)
		if !found || !isAssignment(k+"=") || tail == "" {
			return s, "", "", false
		}
		if q := tail[0]; q == '"' || q == '\'' {
			end := strings.IndexByte(tail[1:], q)
			if end < 0 {
				return s, "", "", false
			}
			value, tail = tail[1:1+end], strings.TrimSpace(tail[end+2:])
			if tail != "" && tail[0] != ';' {
				return s, "", "", false
			}
		} else {
			value, tail, _ = strings.Cut(tail, ";")
			value = strings.TrimSpace(value)
			if strings.ContainsAny(value, "$(){}|&`") {
				return s, "", "", false
			}
		}
		return strings.TrimSpace(strings.TrimPrefix(tail, ";")), k, value, true
	case strings.HasPrefix(lower, "set -"): // fish: set -gx KEY value
		words, err := entry.Split(s)
		if err != nil || len(words) != 4 || !strings.HasSuffix(words[1], "x") || !isAssignment(words[2]+"=") {
			return s, "", "", false
		}
		return "", words[2], words[3], true
	case strings.HasPrefix(lower, "set ") || strings.HasPrefix(lower, "export "):
		_, tail, _ := strings.Cut(s, " ")
		tail = strings.TrimSpace(tail)
		end, skip := strings.Index(tail, "&&"), 2
		if semi := strings.Index(tail, "; "); lower[0] == 'e' && semi >= 0 && (end < 0 || semi < end) {
			end, skip = semi, 1
		}
		if end < 0 && lower[0] == 's' {
			return setLine(s, tail)
		}
		if end < 0 {
			return s, "", "", false
		}
		// One assignment, and nothing that a shell would compute.
		piece := strings.TrimSpace(tail[:end])
		if lower[0] == 's' && len(piece) > 2 && piece[0] == '"' && piece[len(piece)-1] == '"' {
			piece = piece[1 : len(piece)-1]
		}
		words := []string{piece}
		if lower[0] == 'e' {
			var err error
			if words, err = entry.Split(piece); err != nil {
				return s, "", "", false
			}
		}
		if len(words) != 1 || !isAssignment(words[0]) || strings.Contains(piece, "$(") || strings.ContainsAny(piece, "`|<>;") {
			return s, "", "", false
		}
		k, v, _ := strings.Cut(words[0], "=")
		return strings.TrimSpace(tail[end+skip:]), k, v, true
	}
	return s, "", "", false
}

// setLine reads a line of the Windows shell, where all behind "=" is the value.
func setLine(s, tail string) (rest, key, value string, ok bool) {
	if n := len(tail); n > 2 && tail[0] == '"' && tail[n-1] == '"' {
		tail = tail[1 : n-1]
	}
	k, v, _ := strings.Cut(tail, "=")
	if !isAssignment(tail) || strings.ContainsAny(v, "|<>&`\"") || strings.Contains(v, "$(") {
		return s, "", "", false
	}
	for _, w := range strings.Fields(v) {
		if isLauncher(w) {
			return s, "", "", false
		}
	}
	return "", k, v, true
}

// isInstaller recognises a command that fetches or builds something and starts
// no server.
func isInstaller(words []string) bool {
	if len(words) < 2 {
		return false
	}
	sub := words[1]
	switch strings.ToLower(words[0]) {
	case "curl", "wget", "cd", "mkdir", "echo", "cat", "chmod", "source", "invoke-webrequest":
		return true
	}
	switch strings.ToLower(baseName(words[0])) {
	case "npm", "pnpm", "yarn", "bun":
		switch sub {
		case "install", "i", "ci", "add", "link", "build", "update", "uninstall", "init", "login":
			return true
		}
		return len(words) > 2 && sub == "run" && (words[2] == "build" || strings.HasPrefix(words[2], "build:"))
	case "pip", "pip3", "brew", "apt", "apt-get", "winget", "choco", "scoop", "go", "cargo", "pipx", "gem", "composer":
		return sub == "install" || sub == "add" || sub == "build" || sub == "get"
	case "uv":
		switch sub {
		case "add", "sync", "venv", "pip", "init", "lock", "build":
			return true
		}
		return len(words) > 2 && sub == "tool" && words[2] == "install"
	case "docker", "podman":
		return sub == "pull" || sub == "build" || sub == "login" || sub == "compose"
	case "git":
		return sub == "clone" || sub == "pull"
	case "python", "python3", "py":
		return len(words) > 3 && sub == "-m" && (words[2] == "pip" || words[2] == "venv")
	case "npx", "bunx":
		for i, w := range words[1:] {
			if strings.HasPrefix(w, "@smithery/cli") {
				return i+2 < len(words) && words[i+2] == "install"
			}
		}
	}
	return false
}

const installerMessage = "This command installs or fetches something and starts no server. Paste the command that starts the server, or its JSON."

// unwrap takes "cmd /c" off: a script such as npx is started without it on
// every system.
func (f *found) unwrap() {
	if command, args, ok := entry.Unwrap(f.spec.Command, f.spec.Args); ok {
		f.spec.Command, f.spec.Args = command, args
	}
}
