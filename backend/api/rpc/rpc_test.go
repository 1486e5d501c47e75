package rpc

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"patchbay/backend/api"
	"patchbay/backend/approval"
	"patchbay/backend/core"
	"patchbay/backend/event"
)

const token = "t0ken"

func served(t *testing.T) (*httptest.Server, *event.Bus) {
	t.Helper()
	bus := &event.Bus{}
	d := api.NewDispatcher(t.Context(), api.Facades{Approvals: api.NewApprovals(approval.NewDesk(bus.Publish, nil))}, nil)
	s := httptest.NewServer(New(d, bus, token, fstest.MapFS{"index.html": {Data: []byte("<title>page</title>")}}))
	t.Cleanup(s.Close)
	return s, bus
}

func request(t *testing.T, s *httptest.Server, method, path, body string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	if change != nil {
		change(r)
	}
	res, err := s.Client().Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

func TestCalls(t *testing.T) {
	s, _ := served(t)
	status, body := request(t, s, "POST", "/rpc/approvals:get", "", nil)
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"approvals":[]}`, body)
	status, body = request(t, s, "POST", "/rpc/approvals:resolve", `{"id":"x","answer":"deny"}`, nil)
	require.Equal(t, 404, status)
	require.Contains(t, body, `"code":"not_found"`)
	status, _ = request(t, s, "POST", "/rpc/no:such", "{}", nil)
	require.Equal(t, 404, status)
	status, body = request(t, s, "GET", "/", "", nil)
	require.Equal(t, 200, status)
	require.Contains(t, body, "page")
	status, _ = request(t, s, "POST", "/rpc/rpc:cancel", `{"callId":"x"}`, nil)
	require.Equal(t, 200, status)
}

// No website may reach the backend through the person's browser.
func TestStrangersAreRefused(t *testing.T) {
	s, _ := served(t)
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"no token":           {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"wrong token":        {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401},
		"token elsewhere":    {func(r *http.Request) { r.Header.Set("Authorization", token) }, 401},
		"rebound host":       {func(r *http.Request) { r.Host = "evil.example:80" }, 403},
		"host that is alike": {func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }, 403},
		"other origin":       {func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"null origin":        {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"other port":         {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		"two origins":        {func(r *http.Request) { r.Header["Origin"] = []string{"http://" + r.URL.Host, "http://evil.example"} }, 403},
		"cross-site":         {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"form post":          {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"own page": {func(r *http.Request) {
			r.Header.Set("Origin", "http://"+r.URL.Host)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			status, _ := request(t, s, "POST", "/rpc/approvals:get", "{}", c.change)
			require.Equal(t, c.status, status)
		})
	}
	status, _ := request(t, s, "GET", "/", "", func(r *http.Request) { r.Host = "evil.example" })
	require.Equal(t, 403, status, "the page's files too")
	status, _ = request(t, s, "POST", "/rpc/approvals:get", strings.Repeat(" ", maxBody+1), nil)
	require.Equal(t, 413, status)
}

func TestEvents(t *testing.T) {
	s, bus := served(t)
	url := "ws" + strings.TrimPrefix(s.URL, "http") + "/events"
	dial := func(tok string, h http.Header) (*websocket.Conn, *http.Response, error) {
		return websocket.Dial(t.Context(), url, &websocket.DialOptions{Subprotocols: []string{"patchbay", "token." + tok}, HTTPHeader: h})
	}
	for _, refused := range []func() (*websocket.Conn, *http.Response, error){
		func() (*websocket.Conn, *http.Response, error) { return dial("wrong", nil) },
		func() (*websocket.Conn, *http.Response, error) {
			return dial(token, http.Header{"Origin": {"http://evil.example"}})
		},
	} {
		_, res, err := refused()
		require.Error(t, err)
		require.Contains(t, []int{401, 403}, res.StatusCode)
	}
	conn, _, err := dial(token, nil)
	require.NoError(t, err)
	defer func() { _ = conn.CloseNow() }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	next := func() (batch []struct {
		Seq  int64
		Type string
		Data json.RawMessage
	}) {
		_, b, err := conn.Read(ctx)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &batch))
		return batch
	}
	require.Equal(t, "resync", next()[0].Type)
	bus.Publish(event.ToolsStreamChunk{Chunk: core.Chunk{CallID: "c", Seq: 1}})
	got := next()
	require.Equal(t, "tools:streamChunk", got[0].Type)
	require.EqualValues(t, 2, got[0].Seq)
}
