package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools/connector"
	"patchbay/backend/tools/openapi"
)

// What a large API uses beyond the plain cases reaches its server as the
// document says, and what cannot be sent is said per operation.
func TestObjectsCookiesAndFiles(t *testing.T) {
	var got *http.Request
	var parts []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, parts = r, nil
		if mr, err := r.MultipartReader(); err == nil {
			for p, err := mr.NextPart(); err == nil; p, err = mr.NextPart() {
				b, _ := io.ReadAll(p)
				parts = append(parts, fmt.Sprintf("%s %q %s %s", p.FormName(), p.FileName(), p.Header.Get("Content-Type"), b))
			}
		}
	}))
	defer s.Close()
	d, err := openapi.Parse(t.Context(), sample(t, "tracker.yaml"), "")
	require.NoError(t, err)
	require.Equal(t, "https://acme.tracker.example/v2/projects/{{key}}/issues?sort={{sort}}", find(t, d, "searchIssues").Tool.HTTP.URL)
	d, err = openapi.Parse(t.Context(), sample(t, "tracker.yaml"), s.URL)
	require.NoError(t, err)
	x := connector.Connector{Secret: func(context.Context, string) (string, bool, error) { return "k3y;!", true, nil }}
	call := func(name, args string) (core.ToolResult, error) {
		p := find(t, d, name)
		require.Empty(t, p.Problem)
		require.NoError(t, validate(t, p, args), string(p.Tool.Parameters))
		return x.Call(t.Context(), p.Tool, json.RawMessage(args))
	}

	search := find(t, d, "searchIssues")
	require.Equal(t, []string{"Its parameter range is an object that would be sent as one text, and is left out."}, search.Warnings)
	require.NotContains(t, string(search.Tool.Parameters), `"required":["key","limit"]`, "a field of an object that may be left out was made required")
	_, err = call("searchIssues", `{"key":"A/B","filter":{"state":"open","tags":["x y","z"]},"limit":5,"locale":"de; x=1","X-Trace":7}`)
	require.NoError(t, err)
	require.Equal(t, "/projects/A%2FB/issues?filter%5Bstate%5D=open&filter%5Btags%5D=x%20y&filter%5Btags%5D=z&limit=5", got.RequestURI)
	require.Equal(t, "locale=de%3B%20x%3D1; SESSION=k3y%3B%21", got.Header.Get("Cookie"))
	require.Equal(t, "7", got.Header.Get("X-Trace"))
	_, err = x.Call(t.Context(), search.Tool, json.RawMessage(`{"key":"A","filter":["a","b"],"sort":["x","y"]}`))
	require.NoError(t, err)
	require.Equal(t, "/projects/A/issues?sort=x,y&filter%5B%5D=a&filter%5B%5D=b", got.RequestURI)
	_, err = call("searchIssues", `{"key":"A"}`)
	require.NoError(t, err)
	require.Equal(t, "/projects/A/issues", got.RequestURI)

	_, err = call("attach", `{"id":1,"file":{"name":"a \"b\".png","mediaType":"image/png","base64":"iVBO"},"more":[{"text":"hi"}],"note":"see","labels":["l","m"],"meta":{"private":true}}`)
	require.NoError(t, err)
	require.Equal(t, "Bearer k3y;!", got.Header.Get("Authorization"))
	require.Equal(t, []string{
		`file "a \"b\".png" image/png ` + "\x89PN", `labels ""  l`, `labels ""  m`, `meta "" application/json {"private":true}`,
		`more "more" application/octet-stream hi`, `note ""  see`,
	}, parts)
	attach := find(t, d, "attach")
	require.Error(t, validate(t, attach, `{"id":1,"file":{"name":"x"}}`), "a file without content")
	require.Error(t, validate(t, attach, `{"id":1}`))
	_, err = x.Call(t.Context(), attach.Tool, json.RawMessage(`{"id":1,"file":{"base64":"!"}}`))
	require.Equal(t, core.CodeInvalid, core.CodeOf(err))
	_, err = x.Call(t.Context(), attach.Tool, json.RawMessage(`{"id":1,"file":{"name":"a\r\nX: y","text":"x"}}`))
	require.Equal(t, core.CodeInvalid, core.CodeOf(err), "a line break reached a header of a part")

	require.Contains(t, find(t, d, "matrix").Problem, "where")
	require.Contains(t, find(t, d, "putRaw").Problem, "application/octet-stream")
	create := find(t, d, "createIssue")
	require.JSONEq(t, `{"title":"{{title}}","state":"{{state}}","tags":"{{tags}}"}`, string(create.Tool.HTTP.Body), "the fields of an allOf")
	require.Error(t, validate(t, create, `{"key":"A"}`), "what a part of an allOf requires was lost")
	require.Equal(t, core.AuthBasic, find(t, d, "createIssue").Tool.HTTP.Auth.Type)
}

// A large document whose schemas all lead to each other must not become
// hundreds of copies of itself.
func TestSchemasThatAllLeadToEachOther(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.0","info":{"title":"x","version":"1"},"servers":[{"url":"https://x.example"}],"components":{"schemas":{"S":{"type":"string"}`)
	const n = 400
	for i := range n {
		fmt.Fprintf(&b, `,"S%d":{"type":"object","properties":{"about":{"type":"string","description":%q},"next":{"$ref":"#/components/schemas/S%d"}}}`, i, strings.Repeat("x", 1000), (i+1)%n)
	}
	b.WriteString(`}},"paths":{"/p":{}`)
	for i := range n {
		fmt.Fprintf(&b, `,"/p%d":{"post":{"operationId":"op%d","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S%d"}}}},"responses":{}}}`, i, i, i)
	}
	b.WriteString(`}}`)
	d, err := openapi.Parse(t.Context(), b.String(), "")
	require.NoError(t, err)
	total := 0
	for _, p := range d.Proposals {
		require.Empty(t, p.Problem)
		total += len(p.Tool.Parameters)
	}
	require.Less(t, total, 50<<20)
	first := find(t, d, "op7")
	require.NotEmpty(t, first.Warnings)
	require.NoError(t, validate(t, first, `{"about":"a","next":{"about":"b","next":{"about":"c"}}}`))
	require.Error(t, validate(t, first, `{"next":{"next":{"about":1}}}`), "what is near was not described")
}

func TestADocumentThatNestsTooDeep(t *testing.T) {
	_, err := openapi.Parse(t.Context(), `{"openapi":"3.0.0","info":{"title":"x","version":"1"},"paths":{},"x":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`}`, "")
	require.ErrorContains(t, err, "levels deep")
}
