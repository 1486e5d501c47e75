package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools/connector"
	"patchbay/backend/tools/openapi"
)

func sample(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(raw)
}

func find(t *testing.T, d openapi.Document, name string) core.ConnectorProposal {
	t.Helper()
	for _, p := range d.Proposals {
		if p.Tool.Name == name {
			return p
		}
	}
	require.Fail(t, "no proposal "+name)
	return core.ConnectorProposal{}
}

// validate holds arguments against the schema of a proposal, as the gate does.
func validate(t *testing.T, p core.ConnectorProposal, args string) error {
	t.Helper()
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(p.Tool.Parameters))
	require.NoError(t, err)
	require.NoError(t, c.AddResource("mem:s", doc))
	s, err := c.Compile("mem:s")
	require.NoError(t, err, string(p.Tool.Parameters))
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
	require.NoError(t, err)
	return s.Validate(v)
}

func TestPetstore(t *testing.T) {
	d, err := openapi.Parse(t.Context(), sample(t, "petstore.yaml"), "")
	require.NoError(t, err)
	require.Equal(t, "Swagger Petstore", d.Title)
	require.Len(t, d.Proposals, 5)
	list := find(t, d, "listPets")
	require.Empty(t, list.Problem)
	require.Equal(t, "https://eu.petstore.example/v1/pets", list.Tool.HTTP.URL)
	require.Equal(t, map[string]string{"limit": "{{limit}}", "tags": "{{tags}}"}, list.Tool.HTTP.Query)
	require.Nil(t, list.Tool.HTTP.Auth, "security: [] needs none")
	require.NoError(t, validate(t, list, `{"limit":5}`))
	require.Error(t, validate(t, list, `{"limit":100}`), "exclusiveMaximum of 3.0 was lost")
	create := find(t, d, "createPet")
	require.Equal(t, "header", string(create.Tool.HTTP.Auth.Type))
	require.Equal(t, "${secret:swagger_petstore/api_key}", create.Tool.HTTP.Auth.Secret)
	require.JSONEq(t, `{"name":"{{name}}","tag":"{{tag}}"}`, string(create.Tool.HTTP.Body), "a field that is read only is no part of a request")
	require.NoError(t, validate(t, create, `{"name":"Rex","tag":null}`), "nullable of 3.0 was lost")
	require.Error(t, validate(t, create, `{"tag":"x"}`))
	unnamed := find(t, d, "delete_pets_petId")
	require.Equal(t, "DELETE", unnamed.Tool.HTTP.Method)
	require.Equal(t, "https://eu.petstore.example/v1/pets/{{petId}}", unnamed.Tool.HTTP.URL)
	require.Error(t, validate(t, unnamed, `{}`))
	upload := find(t, d, "uploadPhoto")
	require.Contains(t, upload.Problem, "fields of its form are not known")
	for _, p := range d.Proposals {
		require.NoError(t, p.Tool.HTTP.Check(), p.Operation)
	}
}

func TestOpenAPI31(t *testing.T) {
	d, err := openapi.Parse(t.Context(), sample(t, "orders31.json"), "https://other.example/base/")
	require.NoError(t, err)
	p := find(t, d, "place_order")
	require.Empty(t, p.Problem)
	require.Equal(t, "https://other.example/base/orders", p.Tool.HTTP.URL)
	require.Equal(t, `"{{body}}"`, string(p.Tool.HTTP.Body))
	require.Equal(t, core.AuthBearer, p.Tool.HTTP.Auth.Type)
	require.NoError(t, validate(t, p, `{"body":{"kind":"card","number":"1"}}`))
	require.NoError(t, validate(t, p, `{"body":{"kind":"cash","amount":null}}`))
	require.Error(t, validate(t, p, `{"body":{"kind":"none"}}`))
	d, err = openapi.Parse(t.Context(), sample(t, "orders31.json"), "")
	require.NoError(t, err)
	require.Contains(t, find(t, d, "place_order").Problem, "base address")
}

// A schema that holds itself must neither hang us nor lose what it says.
func TestACircularDocument(t *testing.T) {
	d, err := openapi.Parse(t.Context(), sample(t, "circular.yaml"), "")
	require.NoError(t, err)
	p := find(t, d, "putNode")
	require.NoError(t, validate(t, p, `{"id":"1","value":1,"children":[{"value":2,"children":[]}]}`))
	require.Error(t, validate(t, p, `{"id":"1","value":1,"children":[{"value":"x"}]}`))
}

func TestNothingIsFetched(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer s.Close()
	for _, ref := range []string{s.URL + "/x.yaml#/A", "other.yaml#/A", "file:///etc/passwd"} {
		_, err := openapi.Parse(t.Context(), `{"openapi":"3.0.0","info":{"title":"x","version":"1"},"paths":{"/a":{"get":{"parameters":[{"$ref":"`+ref+`"}],"responses":{}}}}}`, "")
		require.Equal(t, core.CodeInvalid, core.CodeOf(err), ref)
		require.Contains(t, err.Error(), "not fetched")
	}
	require.Zero(t, asked)
}

func TestWhatIsNoDocument(t *testing.T) {
	for _, text := range []string{"", "  ", "[]", "{}", "hello", `{"swagger":"2.0","info":{"title":"x","version":"1"},"paths":{}}`, "a: [", `{"openapi":"3.0.0","paths":{}}`, `{"openapi":"3.0.0"}`} {
		_, err := openapi.Parse(t.Context(), text, "")
		require.Equal(t, core.CodeInvalid, core.CodeOf(err), "%q: %v", text, err)
	}
	// The sentence is for people; the library tells the faults of two notations.
	for text, want := range map[string]string{
		"hello":                      "an object with openapi, info and paths must stand there.",
		`{"openapi":"3.0.0","info":`: "it ends before its last bracket is closed.",
		`{"openapi":"3.0.0","info":{"title":5,"version":"1"},"paths":{}}`:                                                                         "Info.title must not be a number.",
		"openapi: 3.0.0\ninfo: {title: x, version: '1'}\npaths: {/a: {get: {parameters: [{$ref: '#/components/parameters/No'}], responses: {}}}}": "it refers to #/components/parameters/No, which it does not hold.",
	} {
		_, err := openapi.Parse(t.Context(), text, "")
		require.ErrorContains(t, err, want[:len(want)-1], text)
	}
	_, err := openapi.Parse(t.Context(), "openapi: 3.0.0", "example.com")
	require.ErrorContains(t, err, "base address")
	_, err = openapi.Parse(t.Context(), strings.Repeat(" ", openapi.MaxBytes+1), "")
	require.Equal(t, core.CodeTooLarge, core.CodeOf(err))
}

// What is imported does what the document says.
func TestAnImportedOperationRuns(t *testing.T) {
	var uri, body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		uri, body = r.Method+" "+r.RequestURI+" "+r.Header.Get("X-Api-Key"), string(b)
	}))
	defer s.Close()
	d, err := openapi.Parse(t.Context(), sample(t, "petstore.yaml"), s.URL)
	require.NoError(t, err)
	x := connector.Connector{Secret: func(context.Context, string) (string, bool, error) { return "k3y!", true, nil }}
	_, err = x.Call(t.Context(), find(t, d, "createPet").Tool, json.RawMessage(`{"name":"Rex"}`))
	require.NoError(t, err)
	require.Equal(t, `POST /pets k3y! {"name":"Rex"}`, uri+" "+body)
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"petstore.yaml", "orders31.json", "circular.yaml"} {
		f.Add(sample(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := openapi.Parse(t.Context(), text, "")
		if err != nil {
			return
		}
		for _, p := range d.Proposals {
			if p.Problem == "" && p.Tool.HTTP.Check() != nil {
				t.Errorf("%s is offered and cannot be saved: %v", p.Operation, p.Tool.HTTP.Check())
			}
		}
	})
}
