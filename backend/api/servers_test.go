package api

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/api/wire"
	"patchbay/backend/config"
	"patchbay/backend/config/discover"
	"patchbay/backend/config/paste"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
	"patchbay/backend/mcp"
	"patchbay/backend/secret"
)

type bench struct {
	*MCP
	dir     string
	secrets *secret.Store
}

// servers makes the facade with real parts. Nothing is started: apply is empty.
func servers(t *testing.T) bench {
	t.Helper()
	dir := t.TempDir()
	c, err := config.Open(filepath.Join(dir, "tools.json"))
	require.NoError(t, err)
	s, err := secret.OpenWith(dir, nil)
	require.NoError(t, err)
	m := mcp.New(mcp.Options{StateDir: dir, ClientName: "test", ClientVersion: "1"})
	t.Cleanup(func() { assert.NoError(t, m.Close(context.Background())) })
	app := discover.App{ID: "cursor", Name: "Cursor", Files: []string{filepath.Join(dir, "cursor.json")}}
	return bench{NewMCP(MCPOptions{Config: c, Manager: m, Apply: func() {}, Secrets: s, Bundles: filepath.Join(dir, "bundles"),
		Doctor: &doctor.Doctor{Locate: m, Missing: paste.Missing}, Apps: []discover.App{app}}), dir, s}
}

func (b bench) file(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "tools.json"))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(text)
}

func full() core.ServerSpec {
	return core.ServerSpec{Name: "s", Transport: core.TransportStdio, Command: "node", Disabled: true,
		Args: []string{"--api-key", "k3y-one", "--token=t0ken-two", "--other-key", "k3y-three", "plain"},
		Env:  map[string]string{"API_KEY": "k3y-four", "REF": "${secret:s/api-key}"},
		Auth: &core.ServerAuth{ClientID: "id", ClientSecret: "s3cret-five", IdentityProvider: &core.IdentityProvider{TokenURL: "https://i/t", ClientSecret: "s3cret-six"}}}
}

func leaks(t *testing.T, v any, values ...string) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	for _, s := range values {
		assert.NotContains(t, string(text), s)
	}
}

var fullValues = []string{"k3y-one", "t0ken-two", "k3y-three", "k3y-four", "s3cret-five", "s3cret-six"}

// What the page gets must not hold a secret, and what it sends back must not lose one.
func TestMasksRoundTrip(t *testing.T) {
	b := servers(t)
	_, err := b.AddServer(t.Context(), wire.AddServerInput{Server: full()})
	require.NoError(t, err)
	view, err := b.GetServers(t.Context())
	require.NoError(t, err)
	leaks(t, view, fullValues...)
	assert.Equal(t, "${secret:s/api-key}", view.Servers[0].Spec.Env["REF"])

	edit := doctor.Clone(view.Servers[0].Spec)
	edit.Args = append([]string{"--new"}, edit.Args...) // an argument before the masked ones
	_, err = b.UpdateServer(t.Context(), wire.UpdateServerInput{Name: "s", Server: edit})
	require.NoError(t, err)
	want := full()
	want.Args = append([]string{"--new"}, want.Args...)
	got, err := b.find("s")
	require.NoError(t, err)
	assert.Equal(t, want, got)

	// The two that are whole masks are told apart by their flags.
	edit = doctor.Clone(mask(got))
	edit.Args = []string{edit.Args[4], edit.Args[5]}
	_, err = b.UpdateServer(t.Context(), wire.UpdateServerInput{Name: "s", Server: edit})
	require.NoError(t, err)
	got, err = b.find("s")
	require.NoError(t, err)
	assert.Equal(t, []string{"--other-key", "k3y-three"}, got.Args)

	edit = doctor.Clone(mask(got))
	edit.Args = []string{"--unknown", wire.Mask}
	_, err = b.UpdateServer(t.Context(), wire.UpdateServerInput{Name: "s", Server: edit})
	assert.Equal(t, core.CodeNeedsValue, core.CodeOf(err))
}

func TestMaskedURL(t *testing.T) {
	old := core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: "https://u:p4ssword@x.com/mcp?key=qu3ry-key&a=1"}
	hidden := mask(old)
	assert.Equal(t, "https://u:••••••••@x.com/mcp?key=••••••••&a=1", hidden.URL)
	restored := func(url string) string {
		s := hidden
		s.URL = url
		return unmask(s, old).URL
	}
	assert.Equal(t, old.URL, restored(hidden.URL))
	assert.Equal(t, "https://u:p4ssword@x.com/v2?a=2&key=qu3ry-key", restored("https://u:••••••••@x.com/v2?a=2&key=••••••••"))
	other := "https://u:••••••••@evil.com/mcp?key=••••••••&a=1"
	assert.Equal(t, other, restored(other), "a secret would go to another host")
	require.Error(t, unmasked(core.ServerSpec{URL: other}))
}

func TestSecretsMove(t *testing.T) {
	b := servers(t)
	require.NoError(t, b.secrets.Set(t.Context(), "s/api-key", "of somebody else"))
	review, err := b.ReviewServers(t.Context(), wire.ReviewServersInput{Servers: []wire.ReviewInput{{Server: full()}}})
	require.NoError(t, err)
	assert.NotContains(t, b.file(t), "node", "a review saved something")
	var places []string
	for _, s := range review.Reviews[0].Secrets {
		places = append(places, s.Place)
	}
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: full(), MoveSecrets: places})
	require.NoError(t, err)
	leaks(t, b.file(t), fullValues...)
	v, _, err := b.secrets.Get(t.Context(), "s/api-key-2")
	require.NoError(t, err)
	assert.Equal(t, "k3y-one", v)
	v, _, err = b.secrets.Get(t.Context(), "s/api-key")
	require.NoError(t, err)
	assert.Equal(t, "of somebody else", v)

	// A failed save keeps nothing.
	other := full()
	other.Name = "with\x00control"
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: other, MoveSecrets: places})
	require.Error(t, err)
	s := full()
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: s, MoveSecrets: places})
	assert.Equal(t, core.CodeConflict, core.CodeOf(err))
}

func TestLoadersNeedAWord(t *testing.T) {
	b := servers(t)
	spec := core.ServerSpec{Name: "s", Transport: core.TransportStdio, Command: "node", Disabled: true, Env: map[string]string{"NODE_OPTIONS": "--require /tmp/x.js"}}
	review, err := b.ReviewServers(t.Context(), wire.ReviewServersInput{Servers: []wire.ReviewInput{{Server: spec}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"env.NODE_OPTIONS"}, review.Reviews[0].Loaders)
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: spec, AllowLoaders: []string{"env.LD_PRELOAD"}})
	assert.Equal(t, core.CodeDenied, core.CodeOf(err))
	_, err = b.TestServer(t.Context(), wire.TestServerInput{Server: spec})
	assert.Equal(t, core.CodeDenied, core.CodeOf(err), "a test would have run it")
	assert.NotContains(t, b.file(t), "node")
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: spec, AllowLoaders: []string{"env.NODE_OPTIONS"}})
	require.NoError(t, err)
	assert.Contains(t, b.file(t), `"env.NODE_OPTIONS"`, "the word was not kept")
	spec.Env = map[string]string{"NODE_OPTIONS": wire.Mask}
	spec.TimeoutMS = 1000
	_, err = b.UpdateServer(t.Context(), wire.UpdateServerInput{Name: "s", Server: spec})
	require.NoError(t, err, "what was agreed to is asked again")
	assert.Contains(t, b.file(t), `"env.NODE_OPTIONS"`, "a later change lost the word")
	forged := spec
	forged.Name, forged.Env, forged.AllowLoaders = "t", map[string]string{"LD_PRELOAD": "/tmp/x.so"}, []string{"env.LD_PRELOAD"}
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: forged})
	assert.Equal(t, core.CodeDenied, core.CodeOf(err), "a server brought its own word along")
	spec.Env = map[string]string{"NODE_OPTIONS": "--require /tmp/y.js"}
	_, err = b.UpdateServer(t.Context(), wire.UpdateServerInput{Name: "s", Server: spec})
	assert.Equal(t, core.CodeDenied, core.CodeOf(err))
}

func TestBundleIsUnpackedBySaving(t *testing.T) {
	b := servers(t)
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, body := range map[string]string{"server.js": "1", "manifest.json": `{"name":"Notes","server":{"type":"node","entry_point":"server.js",
		"mcp_config":{"command":"node","args":["${__dirname}/server.js"],"env":{"KEY":"${user_config.key}"}}},"user_config":{"key":{"type":"string","title":"API key","sensitive":true,"required":true}}}`} {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(body))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	half := buf.Len() / 2
	_, err := b.UploadBundle(t.Context(), wire.UploadBundleInput{ID: "u", Data: buf.Bytes()[:half]})
	require.NoError(t, err)
	got, err := b.UploadBundle(t.Context(), wire.UploadBundleInput{ID: "u", Data: buf.Bytes()[half:], Last: true})
	require.NoError(t, err)
	p := got.Servers[0]
	assert.Equal(t, []wire.ServerInput{{Place: "env.KEY", Title: "API key", Secret: true, Required: true}}, p.Inputs)
	assert.Equal(t, []string{"env.KEY"}, p.Missing)
	assert.NoDirExists(t, filepath.Join(b.dir, "bundles"), "reading a bundle unpacked it")

	spec := p.Spec
	spec.Disabled, spec.Env = true, map[string]string{"KEY": "v"}
	for range 2 { // the same bundle twice lies in two folders
		_, err = b.UploadBundle(t.Context(), wire.UploadBundleInput{ID: "again", Data: buf.Bytes(), Last: true})
		require.NoError(t, err)
		view, err := b.AddServer(t.Context(), wire.AddServerInput{Server: spec, Bundle: p.Bundle, OnConflict: wire.ConflictKeepBoth})
		require.NoError(t, err)
		assert.FileExists(t, view.Spec.Args[0])
	}
	all, err := os.ReadDir(filepath.Join(b.dir, "bundles"))
	require.NoError(t, err)
	assert.Len(t, all, 2)
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: spec, Bundle: p.Bundle})
	assert.Equal(t, core.CodeConflict, core.CodeOf(err))
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: spec, Bundle: p.Bundle, OnConflict: wire.ConflictKeepBoth})
	assert.Equal(t, core.CodeNotFound, core.CodeOf(err), "a bundle stays in memory after it was saved")
}

func TestFoundServersKeepTheirSecrets(t *testing.T) {
	b := servers(t)
	path := filepath.Join(b.dir, "cursor.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"mcpServers":{"gh":{"command":"node","args":["--token","t0ken-found"],"env":{"KEY":"k3y-found"},"disabled":true}}}`), 0o600))
	found, err := b.FindConfigs(t.Context())
	require.NoError(t, err)
	require.Len(t, found.Files, 1)
	leaks(t, found, "t0ken-found", "k3y-found")
	p := found.Files[0].Servers[0]
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: p.Spec, From: p.From})
	require.NoError(t, err)
	assert.Contains(t, b.file(t), "t0ken-found")
	_, err = b.AddServer(t.Context(), wire.AddServerInput{Server: p.Spec, From: &wire.FoundIn{Path: "/etc/passwd", Name: "gh"}, OnConflict: wire.ConflictKeepBoth})
	assert.Equal(t, core.CodeNotFound, core.CodeOf(err), "any file could be read")
}

func TestExportHasNoSecrets(t *testing.T) {
	b := servers(t)
	_, err := b.AddServer(t.Context(), wire.AddServerInput{Server: full()})
	require.NoError(t, err)
	formats, err := b.GetExportFormats(t.Context())
	require.NoError(t, err)
	for _, f := range formats.Formats {
		out, err := b.ExportServer(t.Context(), wire.ExportServerInput{Name: "s", Format: f.ID})
		require.NoError(t, err)
		leaks(t, out, append(fullValues, "secret:")...)
		assert.Contains(t, out.Text, "API_KEY", f.ID)
	}
}

func TestSetToolsEnabled(t *testing.T) {
	b := servers(t)
	_, err := b.AddServer(t.Context(), wire.AddServerInput{Server: full()})
	require.NoError(t, err)
	_, err = b.SetToolsEnabled(t.Context(), wire.SetToolsEnabledInput{Name: "s", Tools: []string{"b", "a", "a"}})
	require.NoError(t, err)
	view, err := b.SetToolsEnabled(t.Context(), wire.SetToolsEnabledInput{Name: "s", Tools: []string{"b", "c"}, Enabled: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, view.Spec.DisabledTools)
	assert.True(t, strings.Contains(b.file(t), "disabledTools"))
	_, err = b.SetToolsEnabled(t.Context(), wire.SetToolsEnabledInput{Name: "s", Tools: []string{""}})
	assert.Equal(t, core.CodeInvalid, core.CodeOf(err))
}
