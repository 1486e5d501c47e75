package discover

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	home := filepath.Join(t.TempDir(), "me [1]") // a folder whose name looks like a pattern
	p := Place{GOOS: "linux", Home: home, Config: filepath.Join(home, ".config")}
	write := func(body string, parts ...string) {
		path := filepath.Join(append([]string{home}, parts...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	}
	write(`{"mcpServers":{"a":{"command":"npx","args":["x"]}}}`, ".config", "Claude", "claude_desktop_config.json")
	write(`{"numStartups":3,"mcpServers":{"b":{"type":"http","url":"https://x/mcp"}},"projects":{"/p":{"mcpServers":{}}}}`, ".claude.json")
	write("[mcp_servers.c]\ncommand = \"uvx\"\n", ".codex", "config.toml")
	write("extensions:\n  d:\n    type: stdio\n    cmd: uvx\n    args: [y]\n    enabled: true\n", ".config", "goose", "config.yaml")
	write(`{"theme":"dark"}`, ".config", "zed", "settings.json")
	write(`{"mcpServers":{`, ".cursor", "mcp.json")
	write("mcpServers:\n  - name: e\n    command: uvx\n", ".continue", "mcpServers", "mine.yaml")

	found, err := Find(t.Context(), p.Apps())
	require.NoError(t, err)
	got := map[string][]string{}
	for _, f := range found {
		names := []string{}
		for _, s := range f.Servers {
			names = append(names, s.Name)
		}
		if f.Err != nil {
			assert.ErrorContains(t, f.Err, "mcp.json")
			names = append(names, "error")
		}
		got[f.App.ID] = names
	}
	assert.Equal(t, map[string][]string{"claude-desktop": {"a"}, "claude-code": {"b"}, "cursor": {"error"}, "codex": {"c"}, "goose": {"d"}, "continue": {"e"}}, got)
}

// A path that is wrong for a system finds nothing, and nobody would notice.
func TestPaths(t *testing.T) {
	files := func(p Place, id string) []string {
		for _, a := range p.Apps() {
			if a.ID == id {
				return a.Files
			}
		}
		return nil
	}
	mac := Place{GOOS: "darwin", Home: "/Users/me", Config: "/Users/me/.config"}
	assert.Contains(t, files(mac, "claude-desktop"), "/Users/me/Library/Application Support/Claude/claude_desktop_config.json")
	assert.Contains(t, files(mac, "vscode"), "/Users/me/Library/Application Support/Code/User/mcp.json")
	assert.NotContains(t, files(mac, "vscode"), "/Users/me/Library/Application Support/Cursor/User/mcp.json")
	win := Place{GOOS: "windows", Home: "H", Config: "C", AppData: "A"}
	assert.Contains(t, files(win, "claude-desktop"), filepath.Join("A", "Claude", "claude_desktop_config.json"))
	assert.Contains(t, files(win, "goose"), filepath.Join("A", "Block", "goose", "config", "config.yaml"))
	linux := Place{GOOS: "linux", Home: "/home/me", Config: "/home/me/.config"}
	assert.Equal(t, []string{"/home/me/.config/amp/settings.json"}, files(linux, "amp"), "a path stands twice")
	assert.GreaterOrEqual(t, len(linux.Apps()), 15)
}
