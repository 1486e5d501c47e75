package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestToolsAreImportedAndCalled(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"asked":"` + r.Method + " " + r.RequestURI + `"}`))
	}))
	defer s.Close()
	h := newHome(t)
	doc := filepath.Join(h.dir, "api.yaml")
	require.NoError(t, os.WriteFile(doc, []byte(`
openapi: 3.1.0
info: { title: Zoo, version: "1" }
servers: [{ url: "`+s.URL+`" }]
paths:
  /animals/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { operationId: getAnimal, responses: {} }
    delete: { operationId: freeAnimal, responses: {} }
`), 0o600))
	require.Contains(t, h.ok("tools", "import", doc, "--dry-run"), "getAnimal, freeAnimal")
	raw, err := os.ReadFile(filepath.Join(h.dir, "tools.json"))
	require.NoError(t, err)
	require.NotContains(t, string(raw), "getAnimal")
	h.ok("tools", "import", doc, "--operation", "getAnimal")
	h.ok("tools", "import", doc)
	// Reading needs no yes, deleting does.
	require.Equal(t, map[string]any{"asked": "GET /animals/a%2Fb"}, object(t, h.ok("call", "getAnimal", `{"id":"a/b"}`))["structuredContent"])
	require.Contains(t, h.ok("call", "getAnimal_2", `{"id":"1"}`), "GET /animals/1")
	code, _, _ := h.run("", "call", "freeAnimal", `{"id":"1"}`)
	require.Equal(t, exitDenied, code)
	code, _, errs := h.run("", "tools", "import", doc, "--operation", "none")
	require.NotZero(t, code)
	require.Contains(t, errs, `no operation "none"`)
}

func TestBuiltInToolsSayWhatTheyNeed(t *testing.T) {
	h := newHome(t)
	require.NotContains(t, h.ok("tools", "list"), "builtin__")
	require.Contains(t, h.ok("tools", "list", "--builtin"), "builtin__read_file")
	code, out, _ := h.run("", "call", "builtin__read_file", `{"path":"/etc/passwd"}`)
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "No folder was chosen")
	code, _, _ = h.run("", "call", "builtin__run_command", `{"command":["true"]}`)
	require.Equal(t, exitDenied, code)
}
