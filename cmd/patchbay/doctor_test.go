package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An entry that cannot be used must not vanish without a word.
func TestSkippedEntriesAreTold(t *testing.T) {
	h := newHome(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "tools.json"), []byte(
		`{"tools":[{"name":"a","http":{"method":"FETCH","url":"https://x.example"}}],"mcpServers":[{"name":"q","args":["x"]}]}`), 0o600))
	code, out, said := h.run("", "doctor", "--offline")
	require.Equal(t, exitFailed, code, "a configuration with wrong entries is called healthy")
	require.NotContains(t, out, "No server is configured")
	require.Contains(t, said, "q: the entry has neither a command nor a url")
	require.Contains(t, said, `a: http: "FETCH"`)
	code, out, _ = h.run("", "doctor", "q", "--json")
	require.Equal(t, exitFailed, code)
	skipped, _ := object(t, out)["skipped"].([]any)
	require.Len(t, skipped, 1)
	code, _, said = h.run("", "tools", "list")
	require.Zero(t, code)
	require.Contains(t, said, `a: http: "FETCH"`)
	code, _, _ = h.run("", "doctor", "nobody")
	require.Equal(t, exitBadInput, code)
}

// What a person agreed to is not asked again, and a refusal names the flag.
func TestLoadersAreAgreedToOnTheCommandLine(t *testing.T) {
	h := newHome(t)
	config := `{"n":{"command":"` + filepath.ToSlash(program) + `","args":["demo-server"],"env":{"NODE_OPTIONS":"--max-old-space-size=512"}}}`
	code, _, said := h.run("", "servers", "add", config)
	require.Equal(t, exitDenied, code)
	require.Contains(t, said, "--allow-loaders")
	h.ok("servers", "add", "--allow-loaders", config)
	out := h.ok("doctor", "n", "--offline")
	require.Contains(t, out, "you agreed")
	_, _, said = h.run("", "servers", "add", "--allow-loaders", config)
	require.Contains(t, said, "--on-conflict")
	require.NotContains(t, h.ok("servers", "export", "n"), "allowLoaders")
}
