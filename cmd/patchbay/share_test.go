package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func notesBundle(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes.mcpb")
	f, err := os.Create(path)
	require.NoError(t, err)
	w := zip.NewWriter(f)
	for name, body := range map[string]string{"index.js": "1", "manifest.json": `{"name":"notes","server":{"type":"node","entry_point":"index.js",
		"mcp_config":{"command":"node","args":["${__dirname}/index.js"],"env":{"KEY":"${user_config.key}"}}},"user_config":{"key":{"type":"string","title":"Key","sensitive":true}}}`} {
		e, err := w.Create(name)
		require.NoError(t, err)
		_, err = e.Write([]byte(body))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return path
}

// Parsing changes nothing; adding unpacks.
func TestBundleOnTheCommandLine(t *testing.T) {
	path := notesBundle(t)
	h := newHome(t)
	code, out, errs := h.run("", "--json", "servers", "parse", path)
	require.Equal(t, 0, code, errs)
	var parsed struct {
		Servers []struct {
			Name, Command string
			Args          []string
		}
		Missing []string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &parsed))
	require.Len(t, parsed.Servers, 1)
	assert.Equal(t, []string{"${__dirname}/index.js"}, parsed.Servers[0].Args)
	assert.Equal(t, []string{"notes.env.KEY"}, parsed.Missing)
	left, err := os.ReadDir(h.dir)
	require.NoError(t, err)
	assert.Empty(t, left)

	code, _, errs = h.run("", "servers", "add", path)
	require.Equal(t, 0, code, errs)
	found, err := filepath.Glob(filepath.Join(h.dir, "data", "bundles", "notes-*", "index.js"))
	require.NoError(t, err)
	assert.Len(t, found, 1)
}

func TestImportExportDoctor(t *testing.T) {
	user := t.TempDir()
	h := newHome(t, "HOME="+user, "USERPROFILE="+user, "APPDATA="+user, "XDG_CONFIG_HOME="+filepath.Join(user, ".config"))
	require.NoError(t, os.MkdirAll(filepath.Join(user, ".cursor"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(user, ".cursor", "mcp.json"),
		[]byte(`{"mcpServers":{"gone":{"command":"no-such-program-here","args":["--token","t0ken-in-clear"]}}}`), 0o600))

	code, out, errs := h.run("", "--json", "servers", "import")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, `"gone"`)
	code, _, _ = h.run("", "servers", "import", "emacs")
	assert.Equal(t, exitBadInput, code)
	code, out, errs = h.run("", "--json", "servers", "import", "cursor")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, `"added":["gone"]`)

	code, out, errs = h.run("", "servers", "export", "gone", "--to", "codex")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "[mcp_servers.gone]")
	assert.NotContains(t, out, "t0ken-in-clear")
	code, _, _ = h.run("", "servers", "export", "gone", "--to", "emacs")
	assert.Equal(t, exitBadInput, code)

	code, out, _ = h.run("", "doctor")
	assert.Equal(t, exitFailed, code, "an ill server is told as healthy")
	assert.Contains(t, out, "no-such-program-here")
	assert.Contains(t, out, "in clear")
	assert.NotContains(t, out, "t0ken-in-clear")
	code, _, _ = h.run("", "doctor", "nobody")
	assert.Equal(t, exitBadInput, code)
}

// Code that a configuration would load needs a word on the command line too.
func TestAddAsksForLoaders(t *testing.T) {
	h := newHome(t)
	const text = `{"mcpServers":{"a":{"command":"node","env":{"LD_PRELOAD":"/tmp/x.so"}}}}`
	code, _, errs := h.run("", "servers", "add", text)
	assert.Equal(t, exitDenied, code)
	assert.Contains(t, errs, "LD_PRELOAD")
	code, _, errs = h.run("", "servers", "add", "--allow-loaders", text)
	assert.Equal(t, 0, code, errs)
}
