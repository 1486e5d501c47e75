package paste

import (
	"net"
	"net/url"
	"path"
	"reflect"
	"strings"
	"unicode"

	"patchbay/backend/config/internal/entry"
)

func sameSpec(a, b Server) bool { return reflect.DeepEqual(a, b) }

// deriveName makes a name from the package, the script, the image or the address.
func deriveName(s Server) string {
	name := ""
	if s.URL != "" {
		name = nameOfURL(s.URL)
	} else {
		name = nameOfCommand(s.Command, s.Args)
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-_."); name == "" {
		return "server"
	}
	if r := []rune(name); len(r) > 60 {
		name = string(r[:60])
	}
	return name
}

func nameOfURL(s string) string {
	u, err := url.Parse(entry.Neutral(s))
	if err != nil || u.Hostname() == "" {
		return "server"
	}
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || net.ParseIP(host) != nil {
		if p := u.Port(); p != "" {
			return host + "-" + p
		}
		return host
	}
	labels := strings.Split(host, ".")
	for len(labels) > 2 {
		switch labels[0] {
		case "www", "mcp", "api", "app", "server", "sse", "remote":
			labels = labels[1:]
			continue
		}
		break
	}
	if len(labels) > 2 {
		// a person's own name on a hosting service says more than the service's
		switch strings.Join(labels[len(labels)-2:], ".") {
		case "workers.dev", "vercel.app", "fly.dev", "netlify.app", "pages.dev", "onrender.com", "herokuapp.com", "railway.app", "run.app", "ngrok.io", "ngrok.app", "smithery.ai", "azurewebsites.net":
			return labels[0]
		}
		if tld := labels[len(labels)-1]; len(tld) == 2 && len(labels[len(labels)-2]) <= 3 { // example.co.uk
			return labels[len(labels)-3]
		}
	}
	if len(labels) > 1 {
		return labels[len(labels)-2]
	}
	return labels[0]
}

// nameOfCommand looks for the word that says what is run.
func nameOfCommand(command string, args []string) string {
	runner := strings.ToLower(baseName(command))
	switch runner {
	case "cmd", "sh", "bash", "zsh", "wsl", "sudo", "env":
		for i, a := range args {
			if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "/") && !strings.Contains(a, "=") {
				if words, err := entry.Split(a); err == nil && len(words) > 1 {
					return nameOfCommand(words[0], words[1:])
				}
				return nameOfCommand(a, args[i+1:])
			}
		}
	case "npx", "bunx", "pnpx", "dnx", "uvx", "pipx", "npm", "pnpm", "yarn", "bun", "deno", "uv", "node", "tsx", "ts-node", "python", "python3", "py", "docker", "podman", "java", "dotnet", "go", "cargo", "ruby", "php":
		if w := mainWord(runner, args); w != "" {
			return w
		}
	}
	return simplify(baseName(command))
}

// mainWord returns the package, script or image among a runner's arguments.
func mainWord(runner string, args []string) string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-m" && i+1 < len(args), (a == "--package" || a == "-p" || a == "--from") && runner != "docker" && runner != "podman" && i+1 < len(args):
			if a == "-m" {
				return simplify(strings.Split(args[i+1], ".")[0])
			}
			i++ // the command that follows says more than the package
		case takesValue(runner, a) && i+1 < len(args):
			i++
		case strings.HasPrefix(a, "-"):
		case isSubcommand(runner, a):
		default:
			if runner == "docker" || runner == "podman" {
				a = strings.SplitN(a[strings.LastIndexByte(a, '/')+1:], ":", 2)[0]
				a = strings.SplitN(a, "@", 2)[0]
			}
			return simplify(scriptName(a))
		}
	}
	return ""
}

func takesValue(runner, flag string) bool {
	switch runner {
	case "docker", "podman":
		switch flag {
		case "-e", "--env", "-v", "--volume", "--mount", "--name", "-p", "--publish", "--network", "--env-file", "-w", "--workdir", "-u", "--user", "--pull", "--platform", "--entrypoint":
			return true
		}
	case "uv", "uvx", "pipx":
		switch flag {
		case "--directory", "--project", "--with", "--python", "-p", "--index-url", "--with-editable":
			return true
		}
	case "npm", "pnpm", "yarn":
		return flag == "--prefix" || flag == "--dir" || flag == "-C"
	case "java":
		return flag == "-cp" || flag == "-classpath"
	case "dotnet":
		return flag == "--project"
	case "node", "tsx":
		return flag == "-r" || flag == "--require" || flag == "--import" || flag == "--env-file"
	}
	return false
}

func isSubcommand(runner, word string) bool {
	switch runner {
	case "docker", "podman", "uv", "deno", "bun", "go", "npm", "pnpm", "yarn", "pipx", "cargo", "dotnet":
		switch word {
		case "run", "exec", "x", "dlx", "tool", "container", "mcp", "gateway":
			return true
		}
	}
	return false
}

// scriptName gives a path's telling part: the file, or the folder of an index.js.
func scriptName(s string) string {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "git+") {
		return strings.TrimSuffix(path.Base(strings.SplitN(s, "#", 2)[0]), ".git")
	}
	if strings.HasPrefix(s, "@") && strings.Count(s, "/") == 1 {
		return s
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
	for i := len(parts) - 1; i >= 0; i-- {
		word := strings.ToLower(strings.TrimSuffix(parts[i], path.Ext(parts[i])))
		switch word {
		case "index", "main", "server", "app", "cli", "dist", "build", "src", "lib", "out", "bin", "stdio", "__main__", "..", ".", "":
			continue
		}
		if i == len(parts)-1 && len(path.Ext(parts[i])) <= 5 && len(parts) > 1 {
			return strings.TrimSuffix(parts[i], path.Ext(parts[i]))
		}
		return parts[i]
	}
	return s
}

func baseName(s string) string {
	s = s[strings.LastIndexAny(s, `/\`)+1:]
	for _, ext := range []string{".exe", ".cmd", ".bat", ".js", ".mjs", ".py", ".sh", ".ts", ".jar"} {
		if len(s) > len(ext) && strings.EqualFold(s[len(s)-len(ext):], ext) {
			return s[:len(s)-len(ext)]
		}
	}
	return s
}

// simplify takes away what every server's package has in its name.
func simplify(s string) string {
	if strings.HasPrefix(s, "@") {
		scope, rest, ok := strings.Cut(s[1:], "/")
		rest = cutVersion(rest)
		if short := trimMCP(rest); ok && short == "" {
			return scope // @playwright/mcp
		}
		s = rest
	} else {
		s = cutVersion(s)
		s = s[strings.LastIndexByte(s, '/')+1:]
		s = baseName(s)
	}
	if short := trimMCP(s); short != "" {
		return short
	}
	return s
}

func cutVersion(s string) string {
	if i := strings.IndexAny(s, "@=<>~["); i > 0 {
		return s[:i]
	}
	return s
}

func trimMCP(s string) string {
	for _, prefix := range []string{"mcp-server-", "mcp_server_", "server-", "mcp-", "mcp_"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			s = rest
			break
		}
	}
	for _, suffix := range []string{"-mcp-server", "_mcp_server", "-mcp", "_mcp", "-server"} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s = rest
			break
		}
	}
	if s == "mcp" || s == "server" || s == "mcp-server" {
		return ""
	}
	return s
}
