package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"patchbay/backend/core"
)

// manifest is what we use of a manifest.json (MCPB specification, versions 0.1
// to 0.4; what we do not know is passed over).
type manifest struct {
	Name        string           `json:"name"`
	DisplayName string           `json:"display_name"`
	Version     string           `json:"version"`
	Description string           `json:"description"`
	Server      server           `json:"server"`
	UserConfig  map[string]field `json:"user_config"`
	Compat      struct {
		Platforms []string          `json:"platforms"`
		Runtimes  map[string]string `json:"runtimes"`
	} `json:"compatibility"`
}

type server struct {
	Type       string    `json:"type"`
	EntryPoint string    `json:"entry_point"`
	MCPConfig  mcpConfig `json:"mcp_config"`
}

type mcpConfig struct {
	Command   string               `json:"command"`
	Args      []string             `json:"args"`
	Env       map[string]string    `json:"env"`
	Platforms map[string]mcpConfig `json:"platform_overrides"`
}

type field struct {
	Type        string `json:"type"` // string, number, boolean, directory, file
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Multiple    bool   `json:"multiple"`
	Sensitive   bool   `json:"sensitive"`
	Default     any    `json:"default"`
}

// dirname matches the place of the bundle's folder, and variable every
// variable of a manifest. Both are compiled when asked for, which is seldom.
func dirname() *regexp.Regexp  { return regexp.MustCompile(`\$\{__dirname\}`) }
func variable() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_/][\w.]*)\}`) }

// describe fills in what the manifest says.
func (b *Bundle) describe(raw []byte, goos string) error {
	var m manifest
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		return core.Errorf(core.CodeInvalid, "The manifest.json of the bundle cannot be read: %w", err)
	}
	name := strings.TrimSpace(m.Name)
	if name == "" {
		name = strings.TrimSpace(m.DisplayName)
	}
	if name == "" || len(name) > 200 || strings.ContainsFunc(name, unicode.IsControl) {
		return core.Errorf(core.CodeInvalid, "The manifest.json of the bundle gives it no usable name.")
	}
	config, err := m.config(goos)
	if err != nil {
		return err
	}
	b.Version, b.Description = m.Version, m.Description
	b.Server = core.ServerSpec{Name: name, Transport: core.TransportStdio, Command: config.Command, Args: config.Args, Env: config.Env}
	b.fill(m.UserConfig, goos)
	if hasControl(b.Server) {
		return core.Errorf(core.CodeInvalid, "The command of the bundle %s holds a control character. It was refused.", name)
	}
	if p := m.Compat.Platforms; len(p) > 0 && !slices.Contains(p, platform(goos)) {
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s says that it runs on %s only.", name, strings.Join(p, ", ")))
	}
	for _, k := range slices.Sorted(maps.Keys(m.Compat.Runtimes)) {
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s needs %s %s.", name, k, m.Compat.Runtimes[k]))
	}
	return nil
}

// platform is the manifest's word for a system.
func platform(goos string) string {
	if goos == "windows" {
		return "win32"
	}
	return goos
}

// config returns how the server is started on this system.
func (m *manifest) config(goos string) (mcpConfig, error) {
	c := m.Server.MCPConfig
	c.Env = maps.Clone(c.Env)
	if over, ok := c.Platforms[platform(goos)]; ok {
		if over.Command != "" {
			c.Command = over.Command
		}
		if over.Args != nil {
			c.Args = over.Args
		}
		for k, v := range over.Env {
			if c.Env == nil {
				c.Env = map[string]string{}
			}
			c.Env[k] = v
		}
	}
	if c.Command != "" {
		return c, nil
	}
	entry := strings.TrimPrefix(filepath.ToSlash(m.Server.EntryPoint), "./")
	if entry == "" {
		return c, core.Errorf(core.CodeInvalid, "The manifest.json of the bundle %s says neither a command nor an entry point.", m.Name)
	}
	inside := "${__dirname}/" + entry
	switch m.Server.Type {
	case "node":
		c.Command, c.Args = "node", append([]string{inside}, c.Args...)
	case "python":
		c.Command, c.Args = "python3", append([]string{inside}, c.Args...)
		if goos == "windows" {
			c.Command = "python"
		}
	case "uv":
		c.Command, c.Args = "uv", append([]string{"run", "--directory", "${__dirname}", entry}, c.Args...)
	case "binary":
		c.Command = inside
	default:
		return c, core.Errorf(core.CodeInvalid, "The bundle %s is of the type %q; node, python, binary and uv are known.", m.Name, m.Server.Type)
	}
	return c, nil
}

// fill puts defaults and folders in the place of variables and notes what a
// person has to give.
func (b *Bundle) fill(fields map[string]field, goos string) {
	known := standard(goos)
	s := &b.Server
	subst := func(text string) string {
		return variable().ReplaceAllStringFunc(text, func(v string) string {
			name := v[2 : len(v)-1]
			if out, ok := known[name]; ok {
				return out
			}
			f, ok := fields[strings.TrimPrefix(name, "user_config.")]
			if ok && strings.HasPrefix(name, "user_config.") && f.Default != nil && !f.Multiple {
				if out, ok := scalar(f.Default); ok {
					return expand(out, known)
				}
			}
			return v
		})
	}
	s.Command = subst(s.Command)
	var args []string
	for _, a := range s.Args {
		name, whole := userConfig(a)
		f := fields[name]
		if whole && f.Multiple {
			if list, ok := f.Default.([]any); ok && len(list) > 0 {
				for _, e := range list {
					if v, ok := scalar(e); ok {
						args = append(args, expand(v, known))
					}
				}
				continue
			}
		}
		if out := subst(a); out != a || !whole || f.Required || f.Title == "" && f.Type == "" {
			args = append(args, out)
		}
	}
	s.Args = args
	for k, v := range s.Env {
		name, whole := userConfig(v)
		out := subst(v)
		s.Env[k] = out
		// A value that nobody has to give and nobody gave is not set at all,
		// unless it is a secret, which people come to a server with.
		if f, ok := fields[name]; ok && whole && out == v && !f.Required && !f.Sensitive {
			delete(s.Env, k)
		}
	}
	for i, a := range s.Args {
		b.ask("args."+strconv.Itoa(i), a, fields)
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		b.ask("env."+k, s.Env[k], fields)
	}
}

// ask notes the values that are still missing in text.
func (b *Bundle) ask(place, text string, fields map[string]field) {
	for _, m := range variable().FindAllStringSubmatch(text, -1) {
		key, ok := strings.CutPrefix(m[1], "user_config.")
		if !ok {
			continue
		}
		f := fields[key]
		in := Input{Place: place, Title: f.Title, Description: f.Description, Secret: f.Sensitive, Required: f.Required}
		if in.Title == "" {
			in.Title = key
		}
		b.Inputs = append(b.Inputs, in)
		return
	}
}

// userConfig returns the field that text names, and whether it is all of text.
func userConfig(text string) (name string, whole bool) {
	m := variable().FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	name, ok := strings.CutPrefix(m[1], "user_config.")
	return name, ok && m[0] == text
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// standard are the variables that every bundle may use.
func standard(goos string) map[string]string {
	sep := "/"
	if goos == "windows" {
		sep = `\`
	}
	out := map[string]string{"/": sep, "pathSeparator": sep}
	if home, err := os.UserHomeDir(); err == nil && goos == runtime.GOOS {
		out["HOME"] = home
		for _, name := range []string{"Desktop", "Documents", "Downloads"} {
			out[strings.ToUpper(name)] = filepath.Join(home, name)
		}
	}
	return out
}

func expand(text string, known map[string]string) string {
	return variable().ReplaceAllStringFunc(text, func(v string) string {
		if out, ok := known[v[2:len(v)-1]]; ok {
			return out
		}
		return v
	})
}

func replaceAll(spec core.ServerSpec, f func(string) string) core.ServerSpec {
	spec.Command, spec.Cwd = f(spec.Command), f(spec.Cwd)
	spec.Args = slices.Clone(spec.Args)
	for i, a := range spec.Args {
		spec.Args[i] = f(a)
	}
	spec.Env = maps.Clone(spec.Env)
	for k, v := range spec.Env {
		spec.Env[k] = f(v)
	}
	return spec
}

// hasControl finds what could hide a part of the command from the person.
func hasControl(s core.ServerSpec) bool {
	bad := func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		})
	}
	for k, v := range s.Env {
		if bad(k) || bad(v) || strings.ContainsAny(k, "=\n") || k == "" {
			return true
		}
	}
	return bad(s.Command) || strings.Contains(s.Command, "\n") || slices.ContainsFunc(s.Args, bad)
}
