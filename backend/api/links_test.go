package api

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
	"patchbay/backend/event"
)

// A link from outside is given to one page, once, and changes nothing itself.
func TestLinksWaitForThePage(t *testing.T) {
	b := servers(t)
	told := 0
	l := NewLinks(func(p event.Payload) { require.IsType(t, event.LinkOpened{}, p); told++ })
	b.links = l
	config := base64.StdEncoding.EncodeToString([]byte(`{"command":"npx","args":["-y","x"]}`))
	link := "cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=" + url.QueryEscape(config)
	require.NoError(t, l.Open(link))
	require.Equal(t, 1, told)
	view, err := b.GetServers(t.Context())
	require.NoError(t, err)
	require.Empty(t, view.Servers, "opening saves nothing")
	v, err := b.TakeLink(t.Context())
	require.NoError(t, err)
	require.Equal(t, link, v.Link)
	v, err = b.TakeLink(t.Context())
	require.NoError(t, err)
	require.Empty(t, v.Link)
	for _, bad := range []string{"", "https://example.com/mcp", "npx -y x", "/etc/passwd", "javascript:alert(1)", "cursor://nothing", "patchbay:"} {
		require.Equal(t, core.CodeInvalid, core.CodeOf(l.Open(bad)), bad)
	}
	for range 2 * maxLinks {
		require.NoError(t, l.Open(link))
	}
	require.Len(t, l.wait, maxLinks)
}

// A file that was dropped is read when the page takes it, and is no file for ever.
func TestOpenedFiles(t *testing.T) {
	b := servers(t)
	b.links = NewLinks(nil)
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	b.links.OpenFile(write("servers.json", `{"mcpServers":{}}`))
	v, err := b.TakeLink(t.Context())
	require.NoError(t, err)
	require.Equal(t, wire.LinkView{File: &wire.OpenedFile{Name: "servers.json", Text: `{"mcpServers":{}}`}}, v)

	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	f, err := z.Create("manifest.json")
	require.NoError(t, err)
	_, err = f.Write([]byte(`{"manifest_version":"0.3","name":"notes","version":"1.0.0","description":"x","author":{"name":"x"},
		"server":{"type":"node","entry_point":"a.js","mcp_config":{"command":"node","args":["${__dirname}/a.js"]}}}`))
	require.NoError(t, err)
	_, err = z.Create("a.js")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	b.links.OpenFile(write("notes.mcpb", archive.String()))
	v, err = b.TakeLink(t.Context())
	require.NoError(t, err)
	require.Equal(t, "notes", v.File.Found.Servers[0].Spec.Name)
	require.Empty(t, v.File.Text)

	for name, code := range map[string]core.Code{
		filepath.Join(dir, "gone.json"): core.CodeUnavailable,
		dir:                             core.CodeInvalid,
		write("large.json", strings.Repeat(" ", maxText+1)): core.CodeTooLarge,
		write("broken.mcpb", "no archive"):                  core.CodeInvalid,
	} {
		b.links.OpenFile(name)
		_, err = b.TakeLink(t.Context())
		require.Equal(t, code, core.CodeOf(err), "%s: %v", name, err)
		v, err = b.TakeLink(t.Context())
		require.NoError(t, err)
		require.Equal(t, wire.LinkView{}, v, "given out once")
	}
}
