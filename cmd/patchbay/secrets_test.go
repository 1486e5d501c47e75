package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Why a server failed can be read later, by another run, and without secrets.
func TestLogOfAServer(t *testing.T) {
	h := newHome(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "tools.json"), fmt.Appendf(nil, `{"mcpServers":[
		{"name":"box","command":"sh","args":["-c","echo the key $KEY is too old >&2; exec %s demo-server"],"env":{"KEY":"${secret:box/KEY}"}}]}`, program), 0o600))
	h.run("s3cret-value\n", "secrets", "set", "box/KEY")
	code, _, errs := h.run("", "servers", "log", "nobody")
	require.Equal(t, exitBadInput, code)
	require.Contains(t, errs, "nobody")
	_, out, errs := h.run("", "servers", "log", "box")
	require.Empty(t, out)
	require.Contains(t, errs, "begins when it is started")
	h.run("", "servers", "list", "--connect")
	out = h.ok("servers", "log", "box")
	require.Regexp(t, `stderr the key \S+ is too old`, out)
	require.NotContains(t, out, "s3cret-value")
	require.Contains(t, h.ok("servers", "log", "box", "-n", "1"), "event")
	require.FileExists(t, strings.TrimSpace(h.ok("servers", "log", "box", "--path")))
}

// A value goes in and is never printed; what uses it is told before it goes.
func TestSecretsFromTheCommandLine(t *testing.T) {
	h := newHome(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "tools.json"), []byte(`{
		"tools":[{"name":"mine","code":"return 1","parameters":{"type":"object"},"secrets":["box/KEY"]}],
		"mcpServers":[{"name":"box","command":"node","env":{"KEY":"${secret:box/KEY}","OTHER":"${secret:box/OTHER}"},"disabled":true}]}`), 0o600))
	code, out, errs := h.run("s3cret-value\n", "secrets", "set", "box/KEY")
	require.Equal(t, 0, code, errs)
	h.run("alone", "secrets", "set", "alone")
	list := h.ok("secrets", "list")
	for _, s := range []string{out, errs, list} {
		require.NotContains(t, s, "s3cret-value")
	}
	lines := strings.Split(strings.TrimSpace(list), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^alone\s+kept\s+not used$`, lines[0])
	require.Regexp(t, `^box/KEY\s+kept\s+used by box, mine$`, lines[1])
	require.Regexp(t, `^box/OTHER\s+missing\s+used by box$`, lines[2])

	code, _, errs = h.run("", "secrets", "remove", "box/KEY")
	require.Equal(t, exitBadInput, code)
	require.Contains(t, errs, "the server box and the custom tool mine would stop working")
	h.ok("secrets", "remove", "--force", "box/KEY")
	h.ok("secrets", "remove", "alone")
	code, _, errs = h.run("", "secrets", "remove", "alone")
	require.Equal(t, exitBadInput, code)
	require.Contains(t, errs, "alone")

	for _, name := range []string{"provider/x", "oauth/x", "a}b", " "} {
		code, _, _ = h.run("v", "secrets", "set", name)
		require.Equal(t, exitBadInput, code, name)
	}
	code, _, _ = h.run("\n", "secrets", "set", "empty")
	require.Equal(t, exitBadInput, code)
	require.NotContains(t, h.ok("--json", "secrets", "list"), "provider/")
}
