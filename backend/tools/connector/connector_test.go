package connector_test

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools/connector"
	"patchbay/backend/tools/reach"
)

const token = "s3cr/t+v\"alue"

func secrets(_ context.Context, name string) (string, bool, error) { return token, name == "KEY", nil }

// seen is what a server was asked.
type seen struct {
	method, uri, body string
	header            http.Header
}

func server(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *[]seen) {
	t.Helper()
	var all []seen
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		all = append(all, seen{r.Method, r.RequestURI, string(b), r.Header.Clone()})
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s, &all
}

func run(t *testing.T, c core.Connector, args string) (core.ToolResult, error) {
	t.Helper()
	x := &connector.Connector{Secret: secrets}
	return x.Call(t.Context(), core.CustomTool{Name: "api", HTTP: &c}, json.RawMessage(args))
}

func TestARequestIsMadeOfItsTemplates(t *testing.T) {
	s, all := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[{"id":1},{"id":2}]}`) })
	c := core.Connector{Method: "POST", URL: s.URL + "/a/{{id}}/b?fixed=1", Headers: map[string]string{"X-Trace": "t-{{trace}}", "X-None": "{{none}}"},
		Query: map[string]string{"tag": "{{tags}}", "none": "{{none}}", "both": "{{id}} {{trace}}"},
		Body:  json.RawMessage(`{"n":"{{n}}","deep":{"list":["{{obj}}","{{none}}"],"text":"n={{n}}"},"gone":"{{none}}","const":true,"nul":"{{nul}}"}`),
		Auth:  &core.ConnectorAuth{Type: core.AuthBearer, Secret: "${secret:KEY}"}, Pick: "items.#.id"}
	r, err := run(t, c, `{"id":"x y/ü","trace":"7","tags":["a&b","c=d"],"n":12345678901234567890,"obj":{"k":[1]},"nul":null}`)
	require.NoError(t, err)
	require.JSONEq(t, `[1,2]`, string(r.StructuredContent))
	got := (*all)[0]
	require.Equal(t, "/a/x%20y%2F%C3%BC/b?fixed=1&both=x%20y%2F%C3%BC%207&tag=a%26b&tag=c%3Dd", got.uri)
	require.Equal(t, `{"const":true,"deep":{"list":[{"k":[1]}],"text":"n=12345678901234567890"},"n":12345678901234567890,"nul":null}`, got.body)
	require.Equal(t, "t-7", got.header.Get("X-Trace"))
	require.NotContains(t, got.header, "X-None")
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, "Bearer "+token, got.header.Get("Authorization"))
}

func TestFormsAndTexts(t *testing.T) {
	s, all := server(t, func(http.ResponseWriter, *http.Request) {})
	for as, want := range map[string]string{"form": "a=1+%26&b=x&b=y", "text": "say hi"} {
		body := map[string]string{"form": `{"a":"{{a}}","b":"{{b}}","c":"{{c}}"}`, "text": `"say {{d}}"`}[as]
		r, err := run(t, core.Connector{Method: "POST", URL: s.URL, Body: json.RawMessage(body), BodyAs: as}, `{"a":"1 &","b":["x","y"],"d":"hi"}`)
		require.NoError(t, err)
		require.Equal(t, "200 OK", r.Text())
		require.Equal(t, want, (*all)[len(*all)-1].body)
	}
}

// An argument must stay in its place: not another host, not another path, no second header.
func TestHostileArguments(t *testing.T) {
	s, all := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	c := core.Connector{Method: "GET", URL: s.URL + "/users/{{id}}/x", Headers: map[string]string{"X-H": "{{h}}"}, Query: map[string]string{"q": "{{q}}"}}
	for _, id := range []string{"src/main.go", "a..b/c...", "@evil.example", "//evil.example/", "a#b", "a?b=c", "%2e%2e", "\r\nX: y", "日本", "{{h}}", "..;/"} {
		before := len(*all)
		raw, err := json.Marshal(map[string]string{"id": id, "q": id})
		require.NoError(t, err)
		_, err = run(t, c, string(raw))
		require.NoError(t, err, id)
		require.Len(t, *all, before+1)
		got := (*all)[before]
		path, query, _ := strings.Cut(got.uri, "?")
		require.Equal(t, 3, strings.Count(path, "/"), got.uri)
		segment, err := url.PathUnescape(strings.Split(path, "/")[2])
		require.NoError(t, err)
		require.Equal(t, id, segment)
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		require.Equal(t, url.Values{"q": {id}}, values)
		require.NotContains(t, got.header, "X")
	}
	for _, args := range []string{`{"id":".."}`, `{"id":"."}`, `{"id":""}`, `{"id":[""]}`, `{"id":"../../admin"}`, `{"id":"a/../../b"}`, `{"id":"a\\..\\b"}`, `{"id":["x/../y","z"]}`, `{}`, `{"id":null}`, `{"id":[]}`, `{"id":{"a":1}}`, `{"id":[{"a":1}]}`,
		`{"id":"1","h":"a\r\nX: y"}`, `{"id":"1","h":"a\u0000"}`, `{"id":"1","q":{"a":1}}`} {
		before := len(*all)
		_, err := run(t, c, args)
		require.Equal(t, core.CodeInvalid, core.CodeOf(err), "%s: %v", args, err)
		require.Len(t, *all, before, args)
	}
}

func TestWhatNoConnectorMayBe(t *testing.T) {
	for path, c := range map[string]core.Connector{
		"method":  {Method: "TRACE", URL: "https://a.example"},
		"url":     {Method: "GET", URL: "https://{{host}}/x"},
		"url ":    {Method: "GET", URL: "https://a.example{{x}}"},
		"url  ":   {Method: "GET", URL: "{{scheme}}://a.example/"},
		"url   ":  {Method: "GET", URL: "https://me:pw@a.example/"},
		"url    ": {Method: "GET", URL: "file:///etc/passwd"},
		"headers": {Method: "GET", URL: "https://a.example", Headers: map[string]string{"Host": "b"}},
		"body":    {Method: "GET", URL: "https://a.example", Body: json.RawMessage(`1`)},
		"auth":    {Method: "GET", URL: "https://a.example", Auth: &core.ConnectorAuth{Type: core.AuthBearer, Secret: "plain"}},
	} {
		err := c.Check()
		var ce *core.Error
		require.ErrorAs(t, err, &ce, path)
		require.Equal(t, strings.TrimSpace(path), ce.Path)
		require.NotContains(t, ce.Message, "pw")
	}
}

func TestSecretsStayHidden(t *testing.T) {
	status := 200
	s, all := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		raw, _ := json.Marshal(map[string]any{"auth": r.Header, "uri": r.RequestURI, "q": r.URL.Query()})
		_, _ = w.Write(raw)
	})
	for _, a := range []core.ConnectorAuth{{Type: core.AuthBearer}, {Type: core.AuthBasic, User: "me"}, {Type: core.AuthHeader, Name: "X-Key"}, {Type: core.AuthQuery, Name: "key"}} {
		a.Secret = "${secret:KEY}"
		for _, status = range []int{200, 403} {
			before := len(*all)
			r, err := run(t, core.Connector{Method: "GET", URL: s.URL + "/x", Auth: &a}, `{}`)
			require.NoError(t, err)
			require.Equal(t, status == 403, r.IsError)
			shown, err := json.Marshal(r)
			require.NoError(t, err)
			require.Contains(t, string(shown), "•••")
			for _, form := range []string{"s3cr", "bWU6czNjc"} {
				require.NotContains(t, string(shown), form, a.Type)
			}
			got := (*all)[before]
			require.Contains(t, got.uri+fmt.Sprint(got.header), map[core.ConnectorAuthType]string{core.AuthBearer: token, core.AuthBasic: "Basic bWU6",
				core.AuthHeader: "X-Key:[" + token, core.AuthQuery: "?key=s3cr%2Ft%2Bv%22alue"}[a.Type])
		}
	}
	s.Close()
	_, err := run(t, core.Connector{Method: "GET", URL: s.URL, Auth: &core.ConnectorAuth{Type: core.AuthQuery, Name: "k", Secret: "${secret:KEY}"}}, `{}`)
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	require.NotContains(t, err.Error(), "s3cr")
	_, err = run(t, core.Connector{Method: "GET", URL: s.URL, Auth: &core.ConnectorAuth{Type: core.AuthBearer, Secret: "${secret:OTHER}"}}, `{}`)
	require.Equal(t, core.CodeNeedsValue, core.CodeOf(err))
}

func TestRedirectsGiveNothingAway(t *testing.T) {
	other, got := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "there") })
	target, code := "", 302
	s, first := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			fmt.Fprint(w, "end")
			return
		}
		http.Redirect(w, r, target, code)
	})
	c := core.Connector{Method: "GET", URL: s.URL + "/", Headers: map[string]string{"X-Mine": "1"}, AllowPrivate: true,
		Auth: &core.ConnectorAuth{Type: core.AuthQuery, Name: "key", Secret: "${secret:KEY}"}}
	for _, a := range []core.ConnectorAuth{*c.Auth, {Type: core.AuthHeader, Name: "X-Key", Secret: c.Auth.Secret}, {Type: core.AuthBearer, Secret: c.Auth.Secret}} {
		c.Auth = &a
		target = other.URL + "/"
		r, err := run(t, c, `{}`)
		require.NoError(t, err)
		require.Equal(t, "there", r.Text())
		there := (*got)[len(*got)-1]
		require.NotContains(t, there.uri+fmt.Sprint(there.header), "s3cr")
		require.NotContains(t, there.header, "X-Mine")
	}
	target = "/end"
	_, err := run(t, c, `{}`)
	require.NoError(t, err)
	require.Equal(t, "Bearer "+token, (*first)[len(*first)-1].header.Get("Authorization"), "the same origin keeps it")

	// A body must not travel to a host that the person never named.
	target, code = other.URL, 307
	before := len(*got)
	_, err = run(t, core.Connector{Method: "POST", URL: s.URL, Body: json.RawMessage(`"private"`), AllowPrivate: true}, `{}`)
	require.Equal(t, core.CodeDenied, core.CodeOf(err))
	require.Len(t, *got, before)
	// Nor may the answer of a server lead into the person's network.
	target, code = strings.Replace(other.URL, "127.0.0.1", "localhost", 1), 302
	_, err = run(t, core.Connector{Method: "GET", URL: s.URL}, `{}`)
	require.Equal(t, core.CodeDenied, core.CodeOf(err), "%v", err)
	require.Len(t, *got, before)
	// AllowPrivate is for the connector's own host and for no other.
	_, err = run(t, core.Connector{Method: "GET", URL: s.URL, AllowPrivate: true}, `{}`)
	require.Equal(t, core.CodeDenied, core.CodeOf(err), "%v", err)
	require.Len(t, *got, before)
}

func TestAnswers(t *testing.T) {
	kind, body, status := "", "", 200
	s, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
	c := core.Connector{Method: "GET", URL: s.URL}
	kind, body = "text/plain; charset=iso-8859-1", "gr\xfc\xdfe"
	r, err := run(t, c, `{}`)
	require.NoError(t, err)
	require.Equal(t, "grüße", r.Text())
	kind, body = "image/png", "\x89PNG\xff"
	r, err = run(t, c, `{}`)
	require.NoError(t, err)
	require.Equal(t, core.ContentImage, r.Content[0].Type)
	kind, body, status = "text/html", strings.Repeat("x", 9000), 503
	r, err = run(t, c, `{}`)
	require.NoError(t, err)
	require.True(t, r.IsError)
	require.Contains(t, r.Text(), "503 Service Unavailable")
	require.Less(t, len(r.Text()), 5000)
	kind, body, status = "application/json", `{"a":{"b":"text"},"n":null}`, 200
	for pick, want := range map[string]string{"a.b": "text", "a": `{"b":"text"}`, "n": "null"} {
		c.Pick = pick
		r, err = run(t, c, `{}`)
		require.NoError(t, err)
		require.Equal(t, want, r.Text())
		require.True(t, json.Valid(r.StructuredContent), pick)
	}
	c.Pick = "zzz"
	r, err = run(t, c, `{}`)
	require.NoError(t, err)
	require.True(t, r.IsError)
}

// A server must not end our process: the stack of a reader without a limit of depth would.
func TestAnAnswerThatIsNestedWithoutEnd(t *testing.T) {
	for _, body := range []string{strings.Repeat("[", 9<<20), strings.Repeat(`{"a":`, 1<<20), strings.Repeat("[", 4<<20) + strings.Repeat("]", 4<<20)} {
		s, _ := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		for _, pick := range []string{"", "@pretty"} {
			r, err := run(t, core.Connector{Method: "GET", URL: s.URL, Pick: pick}, `{}`)
			require.NoError(t, err)
			require.Equal(t, pick != "", r.IsError)
			require.Nil(t, r.StructuredContent)
		}
	}
}

// A server that says the secret back in another spelling, or as an image, shows it to nobody.
func TestASecretThatIsSaidBackIsMasked(t *testing.T) {
	kind, say := "text/plain", func(s string) string { return s }
	s, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, "<", say(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")), ">")
	})
	c := core.Connector{Method: "GET", URL: s.URL, Auth: &core.ConnectorAuth{Type: core.AuthBearer, Secret: "${secret:KEY}"}}
	for _, say = range []func(string) string{
		func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		func(s string) string { return fmt.Sprintf("%x", s) },
		func(s string) string { return strings.ToLower(url.QueryEscape(s)) },
		func(s string) string { kind = "image/png"; return "\xff" + s },
	} {
		r, err := run(t, c, `{}`)
		require.NoError(t, err)
		shown := r.Text() + string(r.Content[0].Data)
		require.Contains(t, shown, "••••••••")
		require.Less(t, len(shown), len("<••••••••>")+8, shown)
	}
}

// A small answer that unpacks to a huge one must not fill the memory.
func TestABombIsRefused(t *testing.T) {
	s, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(make([]byte, 30<<20))
		_ = z.Close()
	})
	_, err := run(t, core.Connector{Method: "GET", URL: s.URL}, `{}`)
	require.Equal(t, core.CodeTooLarge, core.CodeOf(err))
}

// A private address is reached only where it stands in the URL itself.
func TestPrivateAddressesMustBeNamed(t *testing.T) {
	s, all := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for _, host := range []string{"localhost", "[::ffff:127.0.0.1]", "127.0.0.1"} {
		_, err := run(t, core.Connector{Method: "GET", URL: "http://" + host + ":" + port}, `{}`)
		require.NoError(t, err, host)
	}
	require.Len(t, *all, 3)
	// A name that the system leads to this machine.
	own, err := os.Hostname()
	require.NoError(t, err)
	if addrs, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip", own); err != nil || len(addrs) == 0 || reach.Public(addrs[0].Unmap()) {
		t.Skip("this machine's name leads nowhere private")
	}
	_, err = run(t, core.Connector{Method: "GET", URL: "http://" + own + ":" + port}, `{}`)
	require.Equal(t, core.CodeDenied, core.CodeOf(err), "%v", err)
	require.Len(t, *all, 3)
}

// An object in a form is spelled as in a query, which is what APIs with forms read.
func TestAnObjectInAForm(t *testing.T) {
	c := core.Connector{Method: "POST", URL: "https://x.example/", BodyAs: "form", Body: json.RawMessage(`{"meta":"{{meta}}","tags":"{{tags}}"}`)}
	req, err := connector.Build(t.Context(), c, json.RawMessage(`{"meta":{"a b":"1&2","n":{"x":[1,2]}},"tags":["s t"]}`))
	require.NoError(t, err)
	body, err := io.ReadAll(req.Body)
	require.NoError(t, err)
	require.Equal(t, "tags=s+t&meta%5Ba%20b%5D=1%262&meta%5Bn%5D%5Bx%5D=1&meta%5Bn%5D%5Bx%5D=2", string(body))
	_, err = connector.Build(t.Context(), c, json.RawMessage(`{"meta":{"a":[{"b":1}]}}`))
	require.Equal(t, core.CodeInvalid, core.CodeOf(err), "an object in a list has no place in a form")
}
