package export_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/config/export"
	"patchbay/backend/config/paste"
	"patchbay/backend/core"
)

// What is written for another program must mean the same when it is read back.
func TestRoundTrip(t *testing.T) {
	specs := []core.ServerSpec{
		{Name: "files", Transport: core.TransportStdio, Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/tmp/a b", `it's "quoted"`, "--x=1"},
			Env: map[string]string{"API_KEY": "${API_KEY}", "LEVEL": "debug", "YES": "true", "NUMBER": "007"}},
		{Name: "bare", Transport: core.TransportStdio, Command: "uvx", Args: []string{"mcp-server-time"}},
		{Name: "windows", Transport: core.TransportStdio, Command: `C:\Program Files\node.exe`, Args: []string{`C:\x\y.js`}},
		{Name: "web", Transport: core.TransportHTTP, URL: "https://mcp.example.com/mcp?a=1&b=2", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}", "X-A": "yes"}},
		{Name: "plain", Transport: core.TransportHTTP, URL: "https://mcp.example.com/mcp"},
		{Name: "old", Transport: core.TransportSSE, URL: "https://mcp.example.com/events"},
	}
	for _, f := range export.Formats() {
		for _, spec := range specs {
			t.Run(f.ID+"/"+spec.Name, func(t *testing.T) {
				text, err := export.Write(spec, f.ID)
				if f.ID == "codex" && spec.Transport == core.TransportSSE {
					require.Equal(t, core.CodeInvalid, core.CodeOf(err))
					return
				}
				require.NoError(t, err)
				got, err := paste.Parse(text)
				require.NoError(t, err, text)
				require.Len(t, got.Servers, 1, text)
				want, have := spec, got.Servers[0]
				if f.ID == "claude-desktop" && spec.URL != "" {
					assert.Equal(t, "npx", have.Command)
					assert.Contains(t, have.Args, spec.URL)
					return
				}
				if f.ID == "command" && spec.Headers == nil { // a line has no name, an address no transport
					want.Name = have.Name
					if spec.URL != "" {
						want.Transport = have.Transport
					}
				}
				if f.ID == "opencode" && spec.Transport == core.TransportSSE { // it tries both
					want.Transport = have.Transport
				}
				for _, m := range []map[string]string{have.Env, have.Headers} {
					for k, v := range m {
						m[k] = strings.ReplaceAll(v, "${env:", "${")
					}
				}
				if len(have.Args) == 0 {
					have.Args = nil
				}
				assert.Equal(t, want, have, text)
				assert.Empty(t, got.Warnings, text)
			})
		}
	}
}

func TestOwnFormKeepsEverySetting(t *testing.T) {
	spec := core.ServerSpec{Name: "a", Transport: core.TransportHTTP, URL: "https://x/mcp", TimeoutMS: 5000, Start: core.StartOnDemand,
		DisabledTools: []string{"t"}, Roots: []string{"/r"}, Auth: &core.ServerAuth{ClientID: "c"}}
	text, err := export.Write(spec, "patchbay")
	require.NoError(t, err)
	got, err := paste.Parse(text)
	require.NoError(t, err)
	assert.Equal(t, []core.ServerSpec{spec}, got.Servers)
}

func TestUnknownFormat(t *testing.T) {
	_, err := export.Write(core.ServerSpec{Name: "a"}, "emacs")
	assert.Equal(t, core.CodeInvalid, core.CodeOf(err))
	assert.ErrorContains(t, err, "cursor")
}

// A value must not end its quotes and become a command of its own.
func TestCommandIsQuoted(t *testing.T) {
	text, err := export.Write(core.ServerSpec{Name: "a", Transport: core.TransportStdio, Command: "x", Args: []string{"a'; rm -rf ~; '", "${A}`id`", "$(id)"}}, "command")
	require.NoError(t, err)
	assert.Equal(t, `x 'a'\''; rm -rf ~; '\''' '${A}`+"`id`"+`' '$(id)'`+"\n", text)
}
