// Package discover finds the configuration files of other programs on this
// machine and the servers in them. It only reads.
package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"patchbay/backend/config/paste"
	"patchbay/backend/core"
)

// Place says where programs keep their files. The zero value of a folder means
// that the system has none.
type Place struct {
	GOOS    string
	Home    string
	AppData string // Windows: %APPDATA%
	Config  string // where programs on Linux keep settings, ~/.config
}

// System is the place of this person. getenv reads the environment.
func System(goos string, getenv func(string) string) (Place, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Place{}, core.Errorf(core.CodeUnavailable, "The home folder cannot be found, so other programs' files cannot be either: %w", err)
	}
	p := Place{GOOS: goos, Home: home, AppData: getenv("APPDATA"), Config: filepath.Join(home, ".config")}
	if x := getenv("XDG_CONFIG_HOME"); x != "" {
		p.Config = x
	}
	return p, nil
}

// App is another program.
type App struct {
	ID, Name string
	Files    []string // absolute; "*" stands for any name in a folder
}

// support is the folder in which programs with a window keep their settings.
func (p Place) support(parts ...string) string {
	base := p.Config
	switch p.GOOS {
	case "darwin":
		base = filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		base = p.AppData
	}
	if base == "" {
		return ""
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// Apps lists the programs whose files are known.
func (p Place) Apps() []App {
	home := func(parts ...string) string { return filepath.Join(append([]string{p.Home}, parts...)...) }
	config := func(parts ...string) string { return filepath.Join(append([]string{p.Config}, parts...)...) }
	var code, cline, roo []string
	for _, edition := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
		user := p.support(edition, "User")
		if user == "" {
			continue
		}
		if edition[:2] == "Co" || edition[:2] == "VS" {
			code = append(code, filepath.Join(user, "mcp.json"), filepath.Join(user, "settings.json"))
		}
		cline = append(cline, filepath.Join(user, "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"))
		roo = append(roo, filepath.Join(user, "globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"),
			filepath.Join(user, "globalStorage", "rooveterinaryinc.roo-cline", "settings", "cline_mcp_settings.json"))
	}
	apps := []App{
		{"claude-desktop", "Claude Desktop", []string{p.support("Claude", "claude_desktop_config.json")}},
		{"claude-code", "Claude Code", []string{home(".claude.json"), home(".claude", "settings.json")}},
		{"cursor", "Cursor", []string{home(".cursor", "mcp.json")}},
		{"vscode", "VS Code", code},
		{"windsurf", "Windsurf", []string{home(".codeium", "windsurf", "mcp_config.json")}},
		{"cline", "Cline", append(cline, home(".cline", "data", "settings", "cline_mcp_settings.json"))},
		{"roo", "Roo Code", roo},
		{"zed", "Zed", []string{config("zed", "settings.json"), p.support("Zed", "settings.json")}},
		{"gemini", "Gemini CLI", []string{home(".gemini", "settings.json")}},
		{"codex", "Codex", []string{home(".codex", "config.toml")}},
		{"opencode", "opencode", []string{config("opencode", "opencode.json"), config("opencode", "opencode.jsonc")}},
		{"goose", "Goose", []string{config("goose", "config.yaml"), p.support("Block", "goose", "config", "config.yaml")}},
		{"lmstudio", "LM Studio", []string{home(".lmstudio", "mcp.json"), home(".cache", "lm-studio", "mcp.json")}},
		{"continue", "Continue", []string{home(".continue", "config.yaml"), home(".continue", "config.json"), home(".continue", "mcpServers", "*.yaml"), home(".continue", "mcpServers", "*.json")}},
		{"amp", "Amp", []string{config("amp", "settings.json"), home(".config", "amp", "settings.json")}},
	}
	for i := range apps {
		seen := map[string]bool{"": true}
		apps[i].Files = slices.DeleteFunc(apps[i].Files, func(f string) bool {
			again := seen[f]
			seen[f] = true
			return again
		})
	}
	return apps
}

// Found is one file of another program with servers in it.
type Found struct {
	App      App
	Path     string
	Servers  []core.ServerSpec
	Rejected []paste.Rejected
	Warnings []string
	// Err is why the file cannot be used; nil when it can. Servers is then empty.
	Err error
}

// Find reads the files of apps. Files that are not there, and such without
// servers, are left out.
func Find(ctx context.Context, apps []App) ([]Found, error) {
	var out []Found
	for _, app := range apps {
		for _, pattern := range app.Files {
			paths, err := filepath.Glob(escape(pattern))
			if err != nil {
				return nil, fmt.Errorf("looking for %s: %w", pattern, err)
			}
			for _, path := range paths {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				f := Read(path)
				f.App = app
				if len(f.Servers) > 0 || f.Err != nil {
					out = append(out, f)
				}
			}
		}
	}
	return out, nil
}

// escape keeps the characters of a folder's name from being a pattern; only a
// "*" at the beginning of the file's name is one.
func escape(path string) string {
	dir, file := filepath.Split(path)
	var b []byte
	for i := range len(dir) {
		switch c := dir[i]; c {
		case '*', '?', '[':
			b = append(b, '[', c, ']')
		default:
			b = append(b, c)
		}
	}
	return string(b) + file
}

// Read reads one file. A file without servers is no error.
func Read(path string) Found {
	f := Found{Path: path}
	text, err := read(path)
	if err != nil {
		f.Err = err
		return f
	}
	res, err := paste.Parse(text)
	var pe *paste.Error
	switch {
	case err == nil:
		f.Servers, f.Warnings, f.Rejected = res.Servers, res.Warnings, res.Rejected
	case errors.As(err, &pe) && (pe.Reason == paste.NoServers || pe.Reason == paste.Empty || pe.Reason == paste.Prose):
	default:
		f.Err = core.Errorf(core.CodeOf(err), "%s cannot be read: %w", path, err)
	}
	return f
}

func read(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", core.Errorf(core.CodeUnavailable, "%s cannot be opened: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", core.Errorf(core.CodeInvalid, "%s is not a file.", path)
	}
	b, err := io.ReadAll(io.LimitReader(file, paste.MaxBytes+1))
	if err != nil {
		return "", core.Errorf(core.CodeUnavailable, "%s cannot be read: %w", path, err)
	}
	if len(b) > paste.MaxBytes {
		return "", core.Errorf(core.CodeTooLarge, "%s is larger than %d MiB.", path, paste.MaxBytes>>20)
	}
	return string(b), nil
}
