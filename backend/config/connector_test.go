package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

func aConnector() CustomTool {
	return CustomTool{Name: "user", Description: "Finds a user.", Parameters: json.RawMessage(`{"type":"object"}`), Enabled: true, HTTP: &core.Connector{
		Method: "POST", URL: "https://api.example.com/users/{{id}}", Query: map[string]string{"q": "{{q}}"}, Body: json.RawMessage(`{"a":"{{a}}"}`),
		Auth: &core.ConnectorAuth{Type: core.AuthBearer, Secret: "${secret:KEY}"}, Pick: "items.0"}}
}

func TestConnectorsAreWrittenAndReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.json")
	s, err := Open(path)
	require.NoError(t, err)
	want := aConnector()
	require.NoError(t, s.AddTool(t.Context(), want))
	f, err := s.Current()
	require.NoError(t, err)
	got := f.Tools[0]
	require.JSONEq(t, string(want.HTTP.Body), string(got.HTTP.Body))
	got.HTTP.Body = want.HTTP.Body
	require.Equal(t, want.HTTP, got.HTTP)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(raw), `"code"`)

	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	require.NoError(t, c.AddResource("s", doc))
	sch, err := c.Compile("s")
	require.NoError(t, err)
	inst, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	require.NoError(t, sch.Validate(inst), "what we write breaks our own schema")

	// The way to a script and back leaves nothing of the other behind.
	script := want
	script.HTTP, script.Code = nil, "return 1"
	require.NoError(t, s.UpdateTool(t.Context(), "user", script))
	raw, err = os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(raw), `"http"`)
	require.NoError(t, s.UpdateTool(t.Context(), "user", want))
	raw, err = os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(raw), `"code"`)
}

func TestAFaultyConnectorIsSkippedWithItsPlace(t *testing.T) {
	for path, text := range map[string]string{
		"/tools/0/http/url":    `{"name":"x","http":{"method":"GET","url":"https://{{h}}/"}}`,
		"/tools/0/http/method": `{"name":"x","http":{"method":"get","url":"https://a.example"}}`,
		"/tools/0/http/auth":   `{"name":"x","http":{"method":"GET","url":"https://a.example","auth":{"type":"bearer","secret":"plain"}}}`,
		"/tools/0/http/query":  `{"name":"x","http":{"method":"GET","url":"https://a.example","query":1}}`,
		"/tools/0/http":        `{"name":"x","code":"return 1","http":{"method":"GET","url":"https://a.example"}}`,
		"/tools/0/code":        `{"name":"x"}`,
	} {
		p, err := decode([]byte(`{"tools":[` + text + `]}`))
		require.NoError(t, err)
		require.Empty(t, p.file.Tools, text)
		require.Equal(t, path, p.file.Skipped[0].Error.Path, text)
		require.NotContains(t, p.file.Skipped[0].Error.Message, "plain")
	}
}
