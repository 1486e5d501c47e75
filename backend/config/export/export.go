// Package export writes a server's configuration as other programs keep it. It
// is pure. Values are written as they are: take secrets out first.
package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"patchbay/backend/core"
)

// Format is one form of configuration.
type Format struct {
	ID   string // stable: "cursor"
	Name string // for people: "Cursor"
	// Where the text belongs, in words: "~/.cursor/mcp.json".
	Where string
	write func(core.ServerSpec) (string, error)
	// env is how the program spells the value of a variable; "" means ${NAME}.
	env string
}

// Formats lists every form, in the order in which to show them.
func Formats() []Format {
	return []Format{
		{ID: "patchbay", Name: "Patchbay", Where: "tools.json, or the box to paste into", write: inJSON("mcpServers", whole)},
		{ID: "claude-desktop", Name: "Claude Desktop", Where: "claude_desktop_config.json (Settings, Developer, Edit Config)", write: inJSON("mcpServers", bridged)},
		{ID: "claude-code", Name: "Claude Code", Where: ".mcp.json in the project, or ~/.claude.json", write: inJSON("mcpServers", plain)},
		{ID: "cursor", Name: "Cursor", Where: "~/.cursor/mcp.json", write: inJSON("mcpServers", untyped), env: "${env:%s}"},
		{ID: "vscode", Name: "VS Code", Where: ".vscode/mcp.json, or MCP: Open User Configuration", write: inJSON("servers", typed), env: "${env:%s}"},
		{ID: "windsurf", Name: "Windsurf", Where: "~/.codeium/windsurf/mcp_config.json", write: inJSON("mcpServers", windsurf), env: "${env:%s}"},
		{ID: "gemini", Name: "Gemini CLI", Where: "~/.gemini/settings.json", write: inJSON("mcpServers", gemini)},
		{ID: "cline", Name: "Cline", Where: "cline_mcp_settings.json (MCP Servers, Configure)", write: inJSON("mcpServers", cline)},
		{ID: "roo", Name: "Roo Code", Where: "mcp_settings.json (MCP Servers, Edit Global MCP)", write: inJSON("mcpServers", roo), env: "${env:%s}"},
		{ID: "zed", Name: "Zed", Where: "~/.config/zed/settings.json", write: inJSON("context_servers", untyped)},
		{ID: "opencode", Name: "opencode", Where: "~/.config/opencode/opencode.json", write: inJSON("mcp", opencode), env: "{env:%s}"},
		{ID: "lmstudio", Name: "LM Studio", Where: "~/.lmstudio/mcp.json", write: inJSON("mcpServers", untyped)},
		{ID: "amp", Name: "Amp", Where: "~/.config/amp/settings.json", write: inJSON("amp.mcpServers", untyped)},
		{ID: "continue", Name: "Continue", Where: "~/.continue/config.yaml", write: inContinue},
		{ID: "goose", Name: "Goose", Where: "~/.config/goose/config.yaml", write: inYAML("extensions", goose)},
		{ID: "librechat", Name: "LibreChat", Where: "librechat.yaml", write: inYAML("mcpServers", typed)},
		{ID: "codex", Name: "Codex", Where: "~/.codex/config.toml", write: inTOML},
		{ID: "command", Name: "Command line", Where: "a terminal", write: command},
	}
}

// Write returns spec in the form called id. The settings that only Patchbay
// knows are left out, except in its own form.
func Write(spec core.ServerSpec, id string) (string, error) {
	spec.AllowLoaders = nil // a person's consent is not the server's
	for _, f := range Formats() {
		if f.ID != id {
			continue
		}
		if f.env != "" {
			spec = respell(spec, f.env)
		}
		return f.write(spec)
	}
	ids := []string{}
	for _, f := range Formats() {
		ids = append(ids, f.ID)
	}
	return "", core.Errorf(core.CodeInvalid, "There is no form %q to export to. Choose one of %s.", id, strings.Join(ids, ", "))
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_]\w*)\}`)

// respell writes ${NAME} as the other program does.
func respell(spec core.ServerSpec, form string) core.ServerSpec {
	change := func(s string) string {
		return variable.ReplaceAllStringFunc(s, func(v string) string { return fmt.Sprintf(form, v[2:len(v)-1]) })
	}
	spec.URL = change(spec.URL)
	spec.Args, spec.Env, spec.Headers = slices.Clone(spec.Args), maps.Clone(spec.Env), maps.Clone(spec.Headers)
	for i, a := range spec.Args {
		spec.Args[i] = change(a)
	}
	for _, m := range []map[string]string{spec.Env, spec.Headers} {
		for k, v := range m {
			m[k] = change(v)
		}
	}
	return spec
}

// entry holds every key that one of the programs uses for a server.
type entry struct {
	Name        string            `json:"-" yaml:"name,omitempty" toml:"-"`
	Type        string            `json:"type,omitempty" yaml:"type,omitempty" toml:"-"`
	Command     any               `json:"command,omitempty" yaml:"command,omitempty" toml:"command,omitempty"`
	Cmd         string            `json:"-" yaml:"cmd,omitempty" toml:"-"`
	Args        []string          `json:"args,omitempty" yaml:"args,omitempty" toml:"args,omitempty"`
	URL         string            `json:"url,omitempty" yaml:"url,omitempty" toml:"url,omitempty"`
	HTTPURL     string            `json:"httpUrl,omitempty" yaml:"-" toml:"-"`
	ServerURL   string            `json:"serverUrl,omitempty" yaml:"-" toml:"-"`
	URI         string            `json:"-" yaml:"uri,omitempty" toml:"-"`
	Cwd         string            `json:"cwd,omitempty" yaml:"cwd,omitempty" toml:"cwd,omitempty"`
	Env         map[string]string `json:"env,omitempty" yaml:"env,omitempty" toml:"env,omitempty"`
	Environment map[string]string `json:"environment,omitempty" yaml:"-" toml:"-"`
	Envs        map[string]string `json:"-" yaml:"envs,omitempty" toml:"-"`
	Headers     map[string]string `json:"headers,omitempty" yaml:"headers,omitempty" toml:"-"`
	HTTPHeaders map[string]string `json:"-" yaml:"-" toml:"http_headers,omitempty"`
	Request     *request          `json:"-" yaml:"requestOptions,omitempty" toml:"-"`
	Enabled     *bool             `json:"enabled,omitempty" yaml:"enabled,omitempty" toml:"-"`
	Disabled    bool              `json:"disabled,omitempty" yaml:"-" toml:"-"`
	Timeout     int64             `json:"timeout,omitempty" yaml:"timeout,omitempty" toml:"-"`
}

type request struct {
	Headers map[string]string `yaml:"headers,omitempty"`
}

func start(s core.ServerSpec) entry {
	e := entry{Args: s.Args, Env: s.Env, Cwd: s.Cwd, Headers: s.Headers}
	if s.Transport == core.TransportStdio {
		e.Command, e.Headers = s.Command, nil
	} else {
		e.URL, e.Args, e.Env, e.Cwd = s.URL, nil, nil, ""
	}
	return e
}

func kind(s core.ServerSpec, stdio, http string) string {
	switch s.Transport {
	case core.TransportStdio:
		return stdio
	case core.TransportSSE:
		return "sse"
	}
	return http
}

// own is a server without its name, which stands beside it.
type own struct {
	core.ServerSpec
	Name *string `json:"name,omitempty"` // hides the one above
}

// whole keeps every setting.
func whole(s core.ServerSpec) any { return own{ServerSpec: s} }

func plain(s core.ServerSpec) any {
	e := start(s)
	e.Type, e.Disabled, e.Timeout = kind(s, "", "http"), s.Disabled, s.TimeoutMS
	return e
}

func typed(s core.ServerSpec) any {
	e := start(s)
	e.Type = kind(s, "stdio", "http")
	return e
}

// untyped is for programs that find out themselves; only the older transport is named.
func untyped(s core.ServerSpec) any {
	e := start(s)
	if s.Transport == core.TransportSSE {
		e.Type = "sse"
	}
	return e
}

// bridged reaches a URL through a program, for hosts that only start programs.
func bridged(s core.ServerSpec) any {
	if s.Transport == core.TransportStdio {
		return start(s)
	}
	args := []string{"-y", "mcp-remote", s.URL}
	if s.Transport == core.TransportSSE {
		args = append(args, "--transport", "sse-only")
	}
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		args = append(args, "--header", k+":"+s.Headers[k])
	}
	return entry{Command: "npx", Args: args}
}

func windsurf(s core.ServerSpec) any {
	e := start(s)
	e.ServerURL, e.URL, e.Disabled = e.URL, "", s.Disabled
	if s.Transport == core.TransportSSE {
		e.Type = "sse"
	}
	return e
}

func gemini(s core.ServerSpec) any {
	e := start(s)
	if s.Transport == core.TransportHTTP {
		e.HTTPURL, e.URL = e.URL, ""
	}
	if s.Transport == core.TransportSSE {
		e.Type = "sse"
	}
	e.Timeout = s.TimeoutMS
	return e
}

func cline(s core.ServerSpec) any {
	e := start(s)
	e.Type, e.Disabled = kind(s, "stdio", "streamableHttp"), s.Disabled
	return e
}

func roo(s core.ServerSpec) any {
	e := start(s)
	e.Type, e.Disabled = kind(s, "stdio", "streamable-http"), s.Disabled
	return e
}

func opencode(s core.ServerSpec) any {
	on := !s.Disabled
	e := entry{Type: "remote", URL: s.URL, Headers: s.Headers, Enabled: &on}
	if s.Transport == core.TransportStdio {
		e = entry{Type: "local", Command: append([]string{s.Command}, s.Args...), Environment: s.Env, Cwd: s.Cwd, Enabled: &on}
	}
	return e
}

func goose(s core.ServerSpec) any {
	on := !s.Disabled
	e := entry{Name: s.Name, Type: kind(s, "stdio", "streamable_http"), URI: s.URL, Headers: s.Headers, Enabled: &on}
	if s.Transport == core.TransportStdio {
		e.URI, e.Headers, e.Cmd, e.Args, e.Envs = "", nil, s.Command, s.Args, s.Env
	}
	return e
}

func inJSON(under string, shape func(core.ServerSpec) any) func(core.ServerSpec) (string, error) {
	return func(s core.ServerSpec) (string, error) {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err := enc.Encode(map[string]any{under: map[string]any{s.Name: shape(s)}})
		return out.String(), wrap(err, s)
	}
}

func inYAML(under string, shape func(core.ServerSpec) any) func(core.ServerSpec) (string, error) {
	return func(s core.ServerSpec) (string, error) {
		return asYAML(s, map[string]any{under: map[string]any{s.Name: shape(s)}})
	}
}

func inContinue(s core.ServerSpec) (string, error) {
	e := start(s)
	e.Name, e.Type = s.Name, kind(s, "stdio", "streamable-http")
	if len(e.Headers) > 0 {
		e.Headers, e.Request = nil, &request{e.Headers}
	}
	return asYAML(s, map[string]any{"mcpServers": []any{e}})
}

func asYAML(s core.ServerSpec, v any) (string, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := enc.Encode(v)
	if err == nil {
		err = enc.Close()
	}
	return out.String(), wrap(err, s)
}

func inTOML(s core.ServerSpec) (string, error) {
	if s.Transport == core.TransportSSE {
		return "", core.Errorf(core.CodeInvalid, "Codex knows no server over HTTP+SSE, so %s cannot be exported to it. Look whether the server has a streamable HTTP address.", s.Name)
	}
	e := start(s)
	e.HTTPHeaders, e.Headers = e.Headers, nil
	b, err := toml.Marshal(map[string]any{"mcp_servers": map[string]any{s.Name: e}})
	return string(b), wrap(err, s)
}

// command is a line for a terminal, or the address. Headers need a program that
// takes them.
func command(s core.ServerSpec) (string, error) {
	if s.Transport != core.TransportStdio {
		if len(s.Headers) == 0 {
			return s.URL + "\n", nil
		}
		words := []string{"claude", "mcp", "add", "--transport", kind(s, "", "http"), quote(s.Name), quote(s.URL)}
		for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
			words = append(words, "--header", quote(k+": "+s.Headers[k]))
		}
		return strings.Join(words, " ") + "\n", nil
	}
	var words []string
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		words = append(words, k+"="+quote(s.Env[k]))
	}
	words = append(words, quote(s.Command))
	for _, a := range s.Args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ") + "\n", nil
}

var bare = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// quote writes a word for a POSIX shell. A variable stays one, so that a shell fills it in.
func quote(s string) string {
	switch {
	case bare.MatchString(s):
		return s
	case variable.MatchString(s) && !strings.ContainsAny(variable.ReplaceAllString(s, ""), "$`\"\\!"):
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func wrap(err error, s core.ServerSpec) error {
	if err != nil {
		return fmt.Errorf("writing the configuration of %s: %w", s.Name, err)
	}
	return nil
}
