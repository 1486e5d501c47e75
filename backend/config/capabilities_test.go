package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const declared = `{
  // mine
  "tools": [
    { "name": "news", "code": "return 1", "colour": "red",
      "hosts": ["api.example.com", "*.example.org:8443"], // the two of them
      "folders": ["~/notes"], "secrets": ["news/key"], "tools": [] },
    { "name": "plain", "code": "return 2" },
    { "name": "bad host", "code": "return 3", "hosts": ["https://example.com/x"] },
    { "name": "bad folder", "code": "return 3", "folders": ["notes"] },
    { "name": "bad list", "code": "return 3", "secrets": [1] }
  ]
}`

// What a tool declares is read, an edit leaves the rest of the text alone, and a
// declaration that is wrong skips its tool with the reason.
func TestCapabilitiesInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.json")
	require.NoError(t, os.WriteFile(path, []byte(declared), 0o600))
	s, err := Open(path)
	require.NoError(t, err)
	f, err := s.Current()
	require.NoError(t, err)
	require.Len(t, f.Tools, 2)
	news := f.Tools[0]
	require.Equal(t, []string{"api.example.com", "*.example.org:8443"}, news.Hosts)
	require.Equal(t, []string{"~/notes"}, news.Folders)
	require.Equal(t, []string{"news/key"}, news.Secrets)
	require.Equal(t, &[]string{}, news.Tools, "an empty list means no tool")
	require.Nil(t, f.Tools[1].Tools, "a missing list means that the gate decides")
	require.Len(t, f.Skipped, 3)
	for i, want := range []string{"without https://", "begin with ~/", "secrets must be a list of texts"} {
		require.Contains(t, f.Skipped[i].Error.Message, want)
	}

	news.Tools, news.Folders, news.WriteFolders = nil, nil, []string{"/tmp"}
	require.NoError(t, s.UpdateTool(t.Context(), "news", news))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	text := string(raw)
	require.Contains(t, text, "// mine")
	require.Contains(t, text, "// the two of them")
	require.Contains(t, text, `"colour": "red"`)
	require.NotContains(t, text, `"~/notes"`)
	f, err = s.Current()
	require.NoError(t, err)
	require.Nil(t, f.Tools[0].Tools)
	require.Equal(t, []string{"/tmp"}, f.Tools[0].WriteFolders)

	// What a caller does with what it got must not reach the store.
	f.Tools[0].WriteFolders[0] = "/"
	again, err := s.Current()
	require.NoError(t, err)
	require.Equal(t, "/tmp", again.Tools[0].WriteFolders[0])
}
