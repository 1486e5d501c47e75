package paste

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// blank matches what stands for a value that the person has to fill in.
func blank() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join([]string{
		`\$\{(input|prompt|user_config|workspaceFolder|file|config)\b[^}]*\}`,
		`<[a-z][^<>]{0,80}>`,
		`\{\{[^{}]+\}\}`,
		`\[(your|insert|enter)[^\[\]]*\]`,
		`\b(your|insert|enter|replace|paste)[-_ ][a-z]`,
		`\byour(key|token|secret|password|api)`,
		`[-_ ]here\b`,
		`^(x{3,}|\*{3,}|changeme|change[-_ ]me|replace_?me|todo|tbd|placeholder)$`,
		`x{4,}$`,
		`(^|[/\\])path[/\\]to([/\\]|$)`,
		`[/\\]users[/\\](username|yourname|your-name)([/\\]|$)`,
		`^\.{3}$|…$`,
	}, "|"))
}

// missing lists the values of s that are only placeholders.
func missing(s Server) []string {
	re := blank()
	var out []string
	note := func(kind, key, value string, secret bool) {
		trimmed := strings.TrimSpace(value)
		empty := trimmed == "" && required(key)
		if secret {
			// "sk-..." is a placeholder, "./..." among the arguments is a path
			empty = empty || strings.HasSuffix(trimmed, "...") || strings.EqualFold(trimmed, key) && required(key)
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
