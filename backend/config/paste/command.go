package paste

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/core"
)

// commandDialect reads addresses and command lines, one a line.
func commandDialect() dialect {
	return dialect{
		match: func(t string) bool {
			lines := splitLines(t)
			if len(lines) > MaxServers {
				return readable(lines[0].text)
			}
			for _, l := range lines {
				if l.text != "" && !readable(l.text) {
					return false
				}
			}
			return len(lines) > 0
		},
		parse: (*parser).lines,
	}
}

// line is one line with its continuations joined.
type line struct {
	text string
	off  int // of its beginning
}

// splitLines joins continued lines, takes prompts away and drops comments.
func splitLines(t string) []line {
	var out []line
	for off := 0; off < len(t); {
		start := off
		var b strings.Builder
		for off < len(t) {
			end := lineEnd(t, off)
			raw := strings.TrimRight(t[off:end], " \t\r")
			off = min(end+1, len(t))
			body := strings.TrimSuffix(strings.TrimSuffix(raw, "\\"), " `")
			body = strings.TrimSuffix(body, " ^")
			b.WriteString(body)
			if body == raw {
				break
			}
			b.WriteByte(' ')
		}
		s := strings.TrimSpace(strings.Map(func(r rune) rune {
			if isSpace(r) {
				return ' '
			}
			return r
		}, b.String()))
		s = withoutPrompt(s)
		if n := len(s); n >= 2 && s[0] == '`' && s[n-1] == '`' {
			s = strings.Trim(s, "`")
		}
		if s = typed(s); s != "" && !strings.HasPrefix(s, "#") {
			out = append(out, line{text: s, off: start})
		}
	}
	return out
}

// withoutPrompt takes away what a shell writes before a command.
func withoutPrompt(s string) string {
	if head := s[:min(len(s), 24)]; strings.ContainsAny(head, `@:(`) || strings.HasPrefix(head, "PS ") {
		s = s[len(prompt.FindString(s[:min(len(s), 300)])):]
	}
	for _, p := range []string{"$ ", "> ", "% ", "❯ "} {
		s = strings.TrimSpace(strings.TrimPrefix(s, p))
	}
	return s
}

// prompt matches "PS C:\\Users\\me> ", "C:\\> " and "me@host:~$ ", perhaps
// behind the "(venv) " of an environment. It is asked for every line.
var prompt = regexp.MustCompile(`^(\([\w.-]+\) )?((PS )?[A-Za-z]:\\[^<>|"]{0,200}>|PS /[^<>|"]{0,200}>|[\w.-]+@[\w.-]+[: ][^<>|"$%#]{0,200}[$%#]) ?`)

// typed undoes what word processors do to a command line, quotes and dashes,
// and takes a comment at its end away.
func typed(s string) string {
	if strings.ContainsAny(s, "“”„‘’–—") {
		words := strings.Fields(strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'").Replace(s))
		for i, w := range words {
			if bare := strings.TrimLeft(w, "-–—"); bare != w && bare != "" && strings.ContainsAny(w[:len(w)-len(bare)], "–—") {
				dashes := "--"
				if len(bare) == 1 {
					dashes = "-"
				}
				words[i] = dashes + bare
			} else if w == "—" || w == "––" {
				words[i] = "--"
			}
		}
		if readable := strings.Join(words, " "); isCommand(strings.Fields(readable)) {
			s = readable
		}
	}
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#' && i > 0 && s[i-1] == ' ':
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}

// maxLine is longer than any command line that a system would start.
const maxLine = 256 << 10

// readable reports whether a line is an address or a command line rather than prose.
func readable(s string) bool {
	if !strings.ContainsAny(s, " \t") && (isWebAddress(s) || isLink(s) || isLocalAddress(s)) {
		return true
	}
	if len(s) > maxLine {
		return false
	}
	if rest, env := peelEnv(s); len(env) > 0 {
		if rest == "" || isWebAddress(rest) {
			return true
		}
		s = rest
	}
	words, err := entry.Split(s)
	if err != nil {
		words = strings.Fields(s)
	}
	return isCommand(words)
}

// isCommand tells a command line from a sentence.
func isCommand(words []string) bool {
	rest, env := cutEnv(words)
	if len(rest) == 0 {
		return len(env) > 0
	}
	if strings.TrimSpace(rest[0]) == "" {
		return false
	}
	if len(env) > 0 || isLauncher(rest[0]) {
		return !(len(env) == 0 && len(rest) > 1 && strings.HasSuffix(rest[len(rest)-1], ".") && !strings.ContainsAny(rest[1], "-/@._"))
	}
	first := rest[0]
	if strings.HasSuffix(first, ":") || strings.Contains(first, "://") || strings.ContainsAny(first, "{}\"=,;<>") {
		return false
	}
	if strings.HasPrefix(first, "/") || strings.HasPrefix(first, "./") || strings.HasPrefix(first, "~/") || strings.Contains(first, `:\`) || isPackage(first) {
		return true
	}
	switch strings.ToLower(first[strings.LastIndexByte(first, '.')+1:]) {
	case "exe", "cmd", "bat", "sh", "py", "js", "mjs", "jar":
		return true
	}
	if len(rest) == 1 {
		return strings.Contains(strings.ToLower(first), "mcp") && !strings.HasSuffix(first, ".")
	}
	if strings.ContainsAny(rest[len(rest)-1], "!?") || strings.HasSuffix(rest[len(rest)-1], ".") || first != strings.ToLower(first) {
		return false
	}
	if len(rest) >= 3 && rest[1] == "mcp" && (rest[2] == "add" || rest[2] == "add-json") {
		return true
	}
	for _, w := range rest[1:] {
		if strings.HasPrefix(w, "-") && len(w) > 1 {
			return true
		}
	}
	return false
}

func isLauncher(word string) bool {
	switch strings.ToLower(baseName(word)) {
	case "npx", "bunx", "pnpx", "uvx", "uv", "pipx", "npm", "pnpm", "yarn", "bun", "deno", "node", "tsx", "ts-node",
		"python", "python3", "py", "dnx", "docker", "podman", "java", "dotnet", "cargo", "ruby", "php", "cmd", "sh", "bash", "wsl", "env", "sudo":
		return true
	case "go":
		return true
	}
	return false
}

// isPackage recognises a scoped npm package.
func isPackage(word string) bool {
	scope, rest, ok := strings.Cut(word, "/")
	name, version, _ := strings.Cut(rest, "@")
	plain := func(s, more string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.-"+more, r)
		})
	}
	return ok && len(scope) > 1 && scope[0] == '@' && name != "" && plain(scope[1:], "") && plain(name, "") && plain(version, "^~")
}

func isWebAddress(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// isLocalAddress recognises localhost:8000/mcp, which lacks its "http://".
func isLocalAddress(s string) bool {
	host, rest, ok := strings.Cut(s, ":")
	port, _, _ := strings.Cut(rest, "/")
	n, err := strconv.ParseUint(port, 10, 16)
	return ok && (host == "localhost" || host == "127.0.0.1") && err == nil && n > 0 && !strings.ContainsFunc(rest, isSpace)
}

// isProjectPage recognises the pages on which people find servers.
func isProjectPage(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	switch strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") {
	case "github.com", "hub.docker.com":
		return true
	case "npmjs.com":
		return strings.HasPrefix(u.Path, "/package/")
	case "pypi.org":
		return strings.HasPrefix(u.Path, "/project/")
	}
	return false
}

// cutEnv splits leading KEY=value words off.
func cutEnv(words []string) (rest []string, env map[string]string) {
	for i, w := range words {
		if i == 0 && (w == "env" || w == "export" || w == "set") && len(words) > 1 && isAssignment(words[1]) {
			continue
		}
		if !isAssignment(w) {
			return words[i:], env
		}
		if env == nil {
			env = map[string]string{}
		}
		k, v, _ := strings.Cut(w, "=")
		env[k] = v
	}
	return nil, env
}

func isAssignment(w string) bool {
	k, _, ok := strings.Cut(w, "=")
	if !ok || k == "" {
		return false
	}
	for i, r := range k {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}

func (p *parser) lines(src source) *Error {
	var env map[string]string
	n, installers := 0, 0
	lines := splitLines(src.text)
	if len(lines) > MaxServers {
		return tooMany()
	}
	for _, l := range lines {
		if isLink(l.text) {
			if err := p.link(src, l.off, l.text); err != nil {
				return err
			}
			n++
			continue
		}
		if words := strings.Fields(l.text); isInstaller(words) && shellSyntax(l.text) == "" {
			installers++
			continue
		}
		f, err := p.lineServer(l.text)
		if err != nil {
			err.Line, err.Column = p.position(src.offset(l.off))
			return err
		}
		if f == nil {
			continue
		}
		if f.spec.Command == "" && f.spec.URL == "" && f.problem == nil { // only variables, for the lines that follow
			if env == nil {
				env = map[string]string{}
			}
			for k, v := range f.spec.Env {
				env[k] = v
			}
			continue
		}
		for k, v := range env {
			if f.spec.Command != "" {
				if f.spec.Env == nil {
					f.spec.Env = map[string]string{}
				}
				if _, ok := f.spec.Env[k]; !ok {
					f.spec.Env[k] = v
				}
			}
		}
		f.src, f.offset = src, l.off
		if f.problem != nil {
			f.problem.Offset = l.off
		}
		p.add(*f)
		n++
	}
	if installers > 0 && n > 0 {
		p.warn("Commands that only install something were left out; run them yourself if the server needs them.")
	}
	if n == 0 && installers > 0 {
		return p.errorAt(src, 0, MissingCommand, "%s", installerMessage)
	}
	if n == 0 {
		return p.errorAt(src, 0, MissingCommand, "The text sets variables, but there is no command behind them.")
	}
	return nil
}

// lineServer reads one address or command line. The error has no place yet.
// nil and nil mean that it is neither.
func (p *parser) lineServer(s string) (*found, *Error) {
	s, before := peelEnv(strings.TrimSpace(s))
	if s == "" {
		if before == nil {
			return nil, nil
		}
		return &found{spec: Server{Env: before}}, nil
	}
	if isLocalAddress(s) {
		s = "http://" + s
	}
	if isWebAddress(s) && !strings.ContainsAny(s, " \t") {
		f := &found{spec: Server{Transport: entry.GuessTransport(s), URL: s}}
		if msg := entry.CheckURL(s); msg != "" {
			f.problem = &entry.Problem{Reason: entry.BadURL, Message: upper(msg)}
		} else if isProjectPage(s) {
			f.problem = &entry.Problem{Reason: entry.BadURL, Message: fmt.Sprintf("The address %q is the page of a project, not of a server. Paste the configuration that stands on the page.", core.Clip(s, 80))}
		}
		return f, nil
	}
	if msg := shellSyntax(s); msg != "" {
		return nil, &Error{Reason: ShellSyntax, Message: msg}
	}
	words, err := entry.Split(s)
	if err != nil {
		return nil, &Error{Reason: Truncated, Message: "The command line cannot be read: " + err.Error() + ". Copy it again, to its end."}
	}
	if !isCommand(words) {
		return nil, nil
	}
	if strings.ContainsRune(s, '\x00') || entry.HasControl(s, true) {
		return nil, &Error{Reason: ControlChars, Message: "The command line holds a control character; remove it."}
	}
	rest, env := cutEnv(words)
	for k, v := range before {
		if _, ok := env[k]; !ok {
			set(&env, k, v)
		}
	}
	if len(rest) == 0 {
		return &found{spec: Server{Env: env}}, nil
	}
	if f, err, handled := addCommand(rest); handled {
		return f, err
	}
	if isInstaller(rest) {
		return nil, &Error{Reason: MissingCommand, Message: installerMessage}
	}
	f := &found{spec: Server{Transport: core.TransportStdio, Command: rest[0], Args: rest[1:], Env: env}}
	if len(f.spec.Args) == 0 {
		f.spec.Args = nil
	}
	f.unwrap()
	if isPackage(rest[0]) {
		f.spec.Command, f.spec.Args = "npx", append([]string{"-y"}, rest...)
		f.warnings = append(f.warnings, "a package alone is run with npx.")
	}
	return f, nil
}

// shellSyntax finds what only a shell could do. Nothing is run in a shell, so
// it must be said rather than passed on as an argument.
func shellSyntax(s string) string {
	var quote rune
	runes := []rune(s)
	for i, r := range runes {
		next, prev := ' ', ' '
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		if i > 0 {
			prev = runes[i-1]
		}
		switch {
		case quote == '\'' && r != '\'':
		case r == '`' || r == '$' && next == '(':
			return "The command line runs another command inside it (` or $(…)), which needs a shell. Put the value itself there."
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case prev == '\\':
		case r == '|' && (prev == ' ' || next == ' '), r == ';' && next == ' ', r == '&' && (next == '&' || next == ' '), r == '>' && (prev == ' ' || next == '>') && !strings.Contains(string(runes[:i]), "<"):
			return "The command line joins or redirects commands (" + string(r) + "), which needs a shell. Paste the one command that starts the server."
		}
	}
	return ""
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
