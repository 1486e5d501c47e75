package entry

import (
	"strings"

	"github.com/tailscale/hujson"

	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

// extras reads the fields by which other programs name values that they keep
// elsewhere: in their own secret store or in the environment.
func (d *Decoder) extras(o *hujson.Object, spec *core.ServerSpec) {
	d.leadingEnv(spec)
	for _, name := range d.names(o, "env_keys") { // Goose
		if _, ok := spec.Env[name]; !ok {
			put(&spec.Env, name, "")
			d.Missing = append(d.Missing, "env."+name)
		}
	}
	for _, name := range d.names(o, "env_vars") { // Codex
		if _, ok := spec.Env[name]; !ok {
			put(&spec.Env, name, "${"+name+"}")
		}
	}
	if name := d.text(o, "bearer_token_env_var"); name != "" {
		put(&spec.Headers, "Authorization", "Bearer ${"+name+"}")
	}
	if token := d.text(o, "bearer_token"); token != "" {
		put(&spec.Headers, "Authorization", "Bearer "+token)
	}
	for k, v := range d.stringMap(o, "env_http_headers") {
		put(&spec.Headers, k, "${"+v+"}")
	}
	for _, key := range []string{"requestOptions", "requestInit"} { // Continue; the SDK of MCP
		r, ok := memberObject(o, key)
		if !ok {
			continue
		}
		inner := d.path
		d.path += "/" + key
		for k, v := range d.stringMap(r, "headers") {
			put(&spec.Headers, k, v)
		}
		d.path = inner
	}
	if m := jsonc.Member(o, "tool_timeout_sec"); m != nil && spec.TimeoutMS == 0 {
		if s, ok := Millis(m); ok && s <= 24*3600 {
			spec.TimeoutMS = s * 1000
		}
	}
	if token := d.text(o, "authorization_token"); token != "" {
		put(&spec.Headers, "Authorization", "Bearer "+token)
	}
	for _, m := range []map[string]string{spec.Env, spec.Headers} { // opencode
		for k, v := range m {
			if name, ok := strings.CutPrefix(v, "{env:"); ok && strings.HasSuffix(name, "}") {
				m[k] = "${env:" + name
			} else if i := strings.Index(v, " {env:"); i >= 0 && strings.HasSuffix(v, "}") {
				m[k] = v[:i+1] + "$" + v[i+1:]
			}
		}
	}
	for _, key := range []string{"envFile", "env_file"} {
		if jsonc.Member(o, key) != nil {
			d.warn("the file named by %q is not read; put its values into env.", key)
		}
	}
	if command, args, ok := Unwrap(spec.Command, spec.Args); ok {
		d.warn("%q was taken off: %s is started without it on every system.", spec.Command+" "+spec.Args[0], command)
		spec.Command, spec.Args = command, args
	}
}

// leadingEnv moves the variables before a command, "env KEY=value npx …", to
// where they belong.
func (d *Decoder) leadingEnv(spec *core.ServerSpec) {
	words := append([]string{spec.Command}, spec.Args...)
	if words[0] == "env" {
		words = words[1:]
	}
	n := 0
	for n < len(words)-1 && isVariable(words[n]) {
		n++
	}
	if n == 0 {
		return
	}
	for _, w := range words[:n] {
		k, v, _ := strings.Cut(w, "=")
		if _, ok := spec.Env[k]; !ok {
			put(&spec.Env, k, v)
		}
	}
	spec.Command, spec.Args = words[n], words[n+1:]
}

func isVariable(w string) bool {
	k, _, ok := strings.Cut(w, "=")
	return ok && k != "" && !strings.ContainsFunc(k, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

func put(m *map[string]string, k, v string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[k] = v
}

// names reads a list of names of variables; Codex may write objects with a name.
func (d *Decoder) names(o *hujson.Object, field string) []string {
	m := jsonc.Member(o, field)
	if m == nil {
		return nil
	}
	a, ok := m.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	var out []string
	for i := range a.Elements {
		s, ok := jsonc.String(&a.Elements[i])
		if in, isObject := a.Elements[i].Value.(*hujson.Object); isObject {
			if n := jsonc.Member(in, "name"); n != nil {
				s, ok = jsonc.String(n)
			}
		}
		if ok && s != "" && !strings.ContainsAny(s, "=\x00") && !HasControl(s, false) {
			out = append(out, s)
		}
	}
	return out
}

// IsRunner reports whether a command, perhaps with its folder, is a program that
// runs what its arguments name.
func IsRunner(command string) bool {
	program := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	switch strings.TrimSuffix(strings.TrimSuffix(program, ".cmd"), ".exe") {
	case "npx", "uvx", "uv", "bunx", "pnpx", "pnpm", "npm", "yarn", "node", "python", "python3", "py", "deno", "bun", "docker", "dnx", "tsx":
		return true
	}
	return false
}

// Unwrap takes the shell of Windows off a command line, "cmd /c npx …", when
// what follows is a program that fetches and runs packages. ok is false when
// there is nothing to take off.
func Unwrap(command string, args []string) (string, []string, bool) {
	shell := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	if shell != "cmd" && shell != "cmd.exe" || len(args) < 2 || !strings.EqualFold(args[0], "/c") && !strings.EqualFold(args[0], "/k") {
		return command, args, false
	}
	rest := args[1:]
	if len(rest) == 1 {
		if words, err := Split(rest[0]); err == nil && len(words) > 1 {
			rest = words
		}
	}
	if !IsRunner(rest[0]) || strings.ContainsAny(rest[0], `/\`) {
		return command, args, false
	}
	for _, a := range rest {
		// Only the shell can join or redirect; then it has to stay.
		if a == "&&" || a == "||" || a == "|" || a == "&" || a == ">" || a == "<" {
			return command, args, false
		}
	}
	return rest[0], append([]string(nil), rest[1:]...), true
}
