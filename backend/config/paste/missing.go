package paste

import (
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// blank matches what stands for a value that the person has to fill in.
func blank() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join([]string{
		`\$\{(?-i:input|prompt|user_config|workspaceFolder|file|config)\b[^}]*\}`,
		`<[a-z][^<>]{0,80}>`,
		`\{\{[^{}]+\}\}`,
		`\[(your|insert|enter)[^\[\]]*\]`,
		`\b(your|insert|enter|replace|paste)[-_ ][a-z]`,
		`\byour[a-z0-9]*(key|token|secret|password|api)`,
		`[-_ ]here\b`,
		`^(x{3,}|\*{3,}|changeme|change[-_ ]me|replace_?me|todo|tbd|placeholder)$`,
		`x{4,}$|[-_]x{3,}$|\*{3,}`,
		`(^|[/\\])path[/\\]to([/\\]|$)`,
		`(^|[/\\])your([/\\]|$)`,
		`^my[-_](api|secret|access|auth)?[-_]?(key|token)$`,
		`[/\\](users|home)[/\\](username|yourname|your-name)([/\\]|$)`,
		`^\.{3}$|…$|^[a-z]{2,10}[-_][a-z0-9_-]*\.{3}$`,
	}, "|"))
}

// Missing lists the places of s that hold only a hint in the place of a value:
// "env.KEY", "headers.Authorization", "args.2" (0-based), "url", "command".
func Missing(s Server) []string {
	out := missing(s, nil)
	for i, place := range out {
		out[i] = place[len(s.Name)+1:]
	}
	return out
}

// missing lists the values of s that are only placeholders, and those of must,
// as "env.KEY", that nobody gave.
func missing(s Server, must []string) []string {
	re := blank()
	var out []string
	must = append(slices.Clone(must), passedOn(s)...)
	note := func(kind, key, value string, secret bool) {
		trimmed := strings.TrimSpace(value)
		empty := trimmed == "" && required(key)
		if secret {
			// "sk-..." is a placeholder, "./..." among the arguments is a path
			empty = empty || strings.HasSuffix(trimmed, "...") || strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") && !strings.ContainsAny(trimmed, "\": ") || strings.EqualFold(trimmed, key) && required(key)
			switch strings.ToLower(trimmed) {
			case "bearer", "basic", "token":
				empty = true
			}
		}
		if empty || re.MatchString(value) {
			out = append(out, s.Name+"."+kind+"."+key)
		}
	}
	if s.Command != "" && re.MatchString(s.Command) {
		out = append(out, s.Name+".command")
	}
	for i, a := range s.Args {
		if re.MatchString(a) {
			out = append(out, s.Name+".args."+strconv.Itoa(i))
		}
	}
	for _, k := range sortedKeys(s.Env) {
		note("env", k, s.Env[k], true)
	}
	if s.URL != "" && re.MatchString(s.URL) {
		out = append(out, s.Name+".url")
	}
	for _, k := range sortedKeys(s.Headers) {
		note("headers", k, s.Headers[k], true)
	}
	for _, place := range must {
		kind, key, _ := strings.Cut(place, ".")
		given := s.Env[key]
		if kind == "headers" {
			given = s.Headers[key]
		}
		if full := s.Name + "." + place; given == "" && !slices.Contains(out, full) {
			out = append(out, full)
		}
	}
	return out
}

// passedOn lists the variables that "docker run -e KEY" takes from its own
// environment, which therefore have to be given to the server.
func passedOn(s Server) []string {
	switch strings.ToLower(baseName(s.Command)) {
	case "docker", "podman":
	default:
		return nil
	}
	var out []string
	seen := false
	for i := 0; i < len(s.Args); i++ {
		a := s.Args[i]
		key, ok := "", false
		switch {
		case a == "run" && !seen:
			seen = true
			continue
		case !seen:
			continue
		case (a == "-e" || a == "--env") && i+1 < len(s.Args):
			i++
			key, ok = s.Args[i], true
		case strings.HasPrefix(a, "--env="):
			key, ok = strings.CutPrefix(a, "--env=")
		case strings.HasPrefix(a, "-e") && len(a) > 2:
			key, ok = a[2:], true
		case takesValue("docker", a):
			i++
			continue
		case !strings.HasPrefix(a, "-"): // the image: what follows is the server's
			return out
		}
		if ok && isAssignment(key+"=") && !strings.Contains(key, "=") {
			if _, given := s.Env[key]; !given {
				out = append(out, "env."+key)
			}
		}
	}
	return out
}

// required reports whether an empty value under this key is surely an omission.
func required(key string) bool {
	key = strings.ToUpper(key)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASS", "PAT", "AUTH", "CREDENTIAL", "URL", "URI", "HOST", "USER", "ENDPOINT", "DSN", "CONNECTION", "ACCOUNT", "_ID"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
