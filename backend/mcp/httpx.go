package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	versionModern = "2026-07-28" // the first revision without a handshake
	versionLegacy = "2025-11-25" // the last one with it
)

// goodbye bounds the wait for the answer to a DELETE.
const goodbye = 2 * time.Second

// roundTripper repairs, at the HTTP layer, what the SDK's client leaves open.
// It is the only place for that: wrapping the SDK's connection would lose the
// session updates, and with them the version header and the GET stream.
type roundTripper struct {
	base     http.RoundTripper
	ctx      context.Context // of the link: streams end with it
	scheme   string          // the configured scheme and host; headers go nowhere else
	host     string
	header   http.Header   // configured
	probe    time.Duration // for the answer to server/discover
	stream   time.Duration // for the headers of a GET or subscriptions/listen
	maxBody  int
	auth     *authorizer // nil where OAuth is not used
	onListen func()      // a subscriptions/listen stream ended
	onDenied func()      // a request within the session was answered with 401
	logged   func(level, text string)
	older    *older         // nil over streamable HTTP
	jar      http.CookieJar // of the session, for balancers that tell by it who serves it
	user     *url.Userinfo  // of the configured URL

	closed atomic.Bool
	mute   atomic.Bool  // the probe got no answer
	gets   atomic.Int32 // streams of news that were opened
	baking atomic.Bool  // there are cookies
	away   atomic.Value // string: the other origin to which a request was redirected; none: nil

	mu      sync.Mutex
	statusI int    // of the last answer to initialize; 0: none
	denied  int    // 401 or 403, if one was the last answer
	deniedP int    // 401 or 403, if one was the answer to the probe
	bodyI   string // begin of a refused initialize
	headI   []byte // begin of the last answer to initialize, as it came
	packed  string // its Content-Encoding
}

// RoundTrip implements http.RoundTripper.
func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if l := liftOf(req.Context()); l != nil && l.handed != nil && req.Method == http.MethodPost {
		return t.handOver(req, l)
	}
	if t.auth != nil {
		return t.authorized(req)
	}
	return t.once(req)
}

// handOver answers the SDK's request with what a direct call got.
func (t *roundTripper) handOver(req *http.Request, l *lift) (*http.Response, error) {
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	h := l.handed
	l.handed = nil
	e, _ := outline(body)
	return h.take(req, l, string(e.id))
}

// once sends a request with what it carries.
func (t *roundTripper) once(req *http.Request) (*http.Response, error) {
	l := liftOf(req.Context())
	own := req.URL.Host == t.host && req.URL.Scheme == t.scheme
	if !own && req.Response != nil {
		t.away.Store(req.URL.Scheme + "://" + req.URL.Host)
	} else if !own && req.Method == http.MethodPost {
		// MCP 2024-11-05, HTTP with SSE: the endpoint must be of the stream's origin.
		return nil, fmt.Errorf("the server names an endpoint of another origin, %s://%s, which is not used", req.URL.Scheme, req.URL.Host)
	}
	var cookies []*http.Cookie
	if own && t.baking.Load() {
		cookies = t.jar.Cookies(req.URL)
	}
	if own && (len(t.header) > 0 || t.user != nil || len(cookies) > 0) || req.Header.Get("Mcp-Name") != "" {
		req = req.Clone(req.Context())
		if own && t.user != nil && req.Header.Get("Authorization") == "" { // as http.Client does it
			password, _ := t.user.Password()
			req.SetBasicAuth(t.user.Username(), password)
		}
		for _, c := range cookies {
			req.AddCookie(c)
		}
		if own { // neither redirects nor a foreign endpoint may carry them off
			for k, v := range t.header {
				req.Header[k] = v
			}
		}
		if n := req.Header.Get("Mcp-Name"); n != "" && needsEncoding(n) {
			req.Header.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(n))+"?=")
		}
	}
	switch req.Method {
	case http.MethodGet:
		return t.baked(own)(t.get(req, l))
	case http.MethodPost:
		return t.baked(own)(t.post(req, l))
	}
	// Saying goodbye (MCP 2025-11-25, Session Management) is a courtesy that
	// must not hold up the end. It can meet a connection that is being closed under
	// the calls: a key without a value, which is not sent, has net/http try another.
	req = req.Clone(req.Context())
	req.Header["Idempotency-Key"] = nil
	resp, err := t.headersWithin(req, goodbye)
	if resp == nil && err == nil {
		return nil, context.DeadlineExceeded
	}
	return resp, err
}

// baked keeps the cookies of an answer of the server's own origin.
func (t *roundTripper) baked(own bool) func(*http.Response, error) (*http.Response, error) {
	return func(resp *http.Response, err error) (*http.Response, error) {
		if err == nil && own && t.jar != nil && resp.Request != nil && len(resp.Header["Set-Cookie"]) > 0 {
			t.jar.SetCookies(resp.Request.URL, resp.Cookies())
			t.baking.Store(true)
		}
		return resp, err
	}
}

func (t *roundTripper) get(req *http.Request, l *lift) (*http.Response, error) {
	resp, err := t.headersWithin(req, t.stream)
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return fake(req, http.StatusMethodNotAllowed, "", ""), nil
	}
	if resp.StatusCode >= 400 {
		resp.Header.Del("Content-Type") // whatever it calls itself, it is not a stream
		return resp, nil
	}
	if mediaType(resp) == "text/event-stream" {
		t.gets.Add(1)
	}
	if t.older != nil && mediaType(resp) == "text/event-stream" {
		resp.Body = t.older.stream(resp.Body)
	}
	if l != nil && mediaType(resp) == "text/event-stream" {
		resp.Body = newEventBody(resp.Body, l, t.logged)
	}
	return resp, nil
}

func (t *roundTripper) post(req *http.Request, l *lift) (*http.Response, error) {
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	fresh := func(ctx context.Context) *http.Request { return req.WithContext(ctx) }
	e, _ := outline(body)
	switch method := strings.Trim(string(e.method), `"`); {
	case method == "server/discover":
		return t.discover(req, fresh, string(e.id))
	case method == "subscriptions/listen":
		return t.listen(req, fresh)
	case e.id == nil:
		return t.notify(req, fresh)
	default:
		resp, err := t.base.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if m := movedBy(resp); m != nil {
			resp.Body.Close()
			return nil, m
		}
		t.seen(method, resp)
		if t.older != nil {
			t.older.posted(resp, string(e.id), t.maxBody)
		}
		if l == nil {
			if method == "initialize" {
				resp.Body = t.headed(resp)
			}
			if mediaType(resp) == "application/json" && resp.StatusCode/100 == 2 {
				b, err := readAll(resp.Body, -1, t.maxBody)
				if err != nil {
					resp.Body.Close()
					return nil, err
				}
				return swap(resp, unbatched(unmarked(b), string(e.id))), nil
			}
			return resp, nil
		}
		l.id, l.as, l.raw, l.status, l.lost = string(e.id), "", nil, resp.StatusCode, false
		l.after = retryAfter(resp.Header)
		l.modern, l.max = req.Header.Get("Mcp-Protocol-Version") >= versionModern, t.maxBody
		if resp.StatusCode/100 != 2 {
			if had := req.Header.Get("Mcp-Session-Id") != ""; had && resp.StatusCode == http.StatusBadRequest {
				b, _ := readAll(resp.Body, -1, 64<<10)
				l.lost = bytes.Contains(bytes.ToLower(b), []byte("session"))
				return swap(resp, b), nil
			} else if had && resp.StatusCode == http.StatusNotFound {
				l.lost = true
			}
			return resp, nil
		}
		switch mediaType(resp) {
		case "application/json":
			resp.Body = &jsonBody{ReadCloser: resp.Body, l: l, logged: t.logged, size: resp.ContentLength}
			resp.ContentLength = -1
		case "text/event-stream":
			resp.Body = newEventBody(resp.Body, l, t.logged)
		default:
			return swap(resp, failure(l.id, codeBroken, "the server answered with "+resp.Header.Get("Content-Type")+" instead of JSON")), nil
		}
		return resp, nil
	}
}

// bodyOf reads a request's body and leaves it to be sent.
func bodyOf(req *http.Request) ([]byte, error) {
	r := req.Body
	if req.GetBody != nil {
		var err error
		if r, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	body := make([]byte, max(req.ContentLength, 0))
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	if req.GetBody == nil {
		rest, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		body = append(body, rest...)
		r.Close()
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return body, nil
}

// discover makes sure that only a usable answer to the probe counts as one
// (MCP 2026-07-28, Versioning): anything else is an older server.
func (t *roundTripper) discover(req *http.Request, fresh func(context.Context) *http.Request, id string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.probe)
	resp, err := t.base.RoundTrip(fresh(ctx))
	if err != nil {
		late := ctx.Err() != nil && req.Context().Err() == nil
		cancel()
		if late {
			t.mute.Store(true)
			return fake(req, http.StatusNotFound, "", "the probe timed out"), nil
		}
		return nil, err
	}
	if resp.StatusCode/100 == 2 && mediaType(resp) == "text/event-stream" {
		resp.Body = &closeHook{ReadCloser: resp.Body, f: cancel}
		return resp, nil
	}
	b, rerr := readAll(resp.Body, -1, 1<<20)
	b = unbatched(unmarked(b), id)
	resp.Body.Close()
	cancel()
	t.seen("server/discover", resp)
	if movedBy(resp) != nil {
		return fake(req, http.StatusNotFound, "", "not an endpoint of this revision"), nil
	}
	if resp.StatusCode/100 == 2 {
		e, ok := outline(bytes.TrimSpace(b))
		if rerr != nil || !ok || mediaType(resp) != "application/json" || e.result == nil && e.error == nil || !sameID(e.id, id) || !json.Valid(b) {
			return fake(req, http.StatusNotFound, "", "not an endpoint of this revision"), nil
		}
		if string(e.id) != id {
			b = renamed(id, e)
		}
	}
	return swap(resp, b), nil
}

// listen bounds the wait for the stream's headers, for which the SDK would wait
// for ever, and tells when the stream ended, which the SDK keeps to itself.
func (t *roundTripper) listen(req *http.Request, fresh func(context.Context) *http.Request) (*http.Response, error) {
	resp, err := t.headersWithin(fresh(req.Context()), t.stream)
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return fake(req, http.StatusNotFound, "", "no listen stream"), nil
	}
	if resp.StatusCode/100 == 2 && t.onListen != nil {
		resp.Body = &closeHook{ReadCloser: resp.Body, f: func() {
			if !t.closed.Load() {
				t.onListen()
			}
		}}
	}
	return resp, nil
}

// notify sends a notification. A server that refuses one has lost nothing,
// but the SDK would end the session.
func (t *roundTripper) notify(req *http.Request, fresh func(context.Context) *http.Request) (*http.Response, error) {
	if req.Header.Get("Mcp-Protocol-Version") >= versionModern {
		return fake(req, http.StatusAccepted, "", ""), nil // closing the stream is the only signal left in this revision
	}
	resp, err := t.base.RoundTrip(fresh(req.Context()))
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode/100 == 2:
		return resp, nil
	case resp.StatusCode == 401, resp.StatusCode == 403, resp.StatusCode == 404:
		t.seen("notification", resp)
		return resp, nil
	}
	resp.Body.Close()
	return fake(req, http.StatusAccepted, "", ""), nil
}

// seen remembers what explains a failure later, since the SDK turns a status
// into text.
func (t *roundTripper) seen(method string, resp *http.Response) {
	if resp.StatusCode == http.StatusUnauthorized && t.onDenied != nil && t.auth == nil {
		t.onDenied() // before the SDK ends the session over it
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.denied = 0
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		t.denied = resp.StatusCode
	}
	if method == "server/discover" {
		t.deniedP = t.denied
	}
	if method != "initialize" {
		return
	}
	t.statusI, t.bodyI = resp.StatusCode, ""
	if resp.StatusCode >= 400 {
		t.denied = max(t.denied, t.deniedP) // it knows no handshake, but whom to let in
		b, _ := readAll(resp.Body, -1, 64<<10)
		resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(b))
		t.bodyI = strings.TrimSpace(string(b[:min(len(b), 500)]))
	}
}

// oddBytes is how much of an answer is kept to describe it by.
const oddBytes = 512

// headed keeps the begin of an answer to initialize.
func (t *roundTripper) headed(resp *http.Response) io.ReadCloser {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.headI, t.packed = nil, resp.Header.Get("Content-Encoding")
	return &oddHead{resp.Body, func(p []byte) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.headI = append(t.headI, p[:min(len(p), oddBytes-len(t.headI))]...)
	}}
}

// oddity describes the last answer to initialize, one that is no message; what
// it came as is for streams of events.
func (t *roundTripper) oddity() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	head := t.headI
	if i := bytes.Index(head, []byte("data:")); i >= 0 && (i == 0 || head[i-1] == '\n') {
		head, _, _ = bytes.Cut(bytes.TrimPrefix(head[i+len("data:"):], []byte(" ")), []byte("\n"))
	}
	return oddity(head, t.packed)
}

// state returns the status of the last initialize, 401 or 403 if the last
// answer was one, and the begin of a refused initialize's body.
func (t *roundTripper) state() (initialize, denied int, body string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.statusI, t.denied, t.bodyI
}

// headersWithin bounds the wait for response headers only, not the stream.
// nil, nil means that the time ran out, or that the link ended.
func (t *roundTripper) headersWithin(req *http.Request, d time.Duration) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	release := context.AfterFunc(t.ctx, cancel)
	timer := time.AfterFunc(d, cancel)
	resp, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		release()
		// At the link's end too: an error would only make the SDK try again.
		if !timer.Stop() && req.Context().Err() == nil || t.ctx.Err() != nil {
			return nil, nil
		}
		return nil, err
	}
	timer.Stop()
	resp.Body = &closeHook{ReadCloser: resp.Body, f: func() {
		cancel()
		release()
	}}
	return resp, nil
}

// closeHook calls f once when the body is closed.
type closeHook struct {
	io.ReadCloser
	once sync.Once
	f    func()
}

func (h *closeHook) Close() error {
	err := h.ReadCloser.Close()
	h.once.Do(h.f)
	return err
}

func mediaType(r *http.Response) string {
	ct := r.Header.Get("Content-Type")
	if ct == "application/json" || ct == "text/event-stream" {
		return ct
	}
	m, _, _ := mime.ParseMediaType(ct)
	return m
}

func fake(req *http.Request, code int, contentType, body string) *http.Response {
	h := http.Header{}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: req}
}

// swap gives resp another body, of JSON if it is a success.
func swap(resp *http.Response, body []byte) *http.Response {
	if resp.StatusCode/100 == 2 {
		resp.Header.Set("Content-Type", "application/json")
	}
	resp.Header.Del("Content-Length")
	resp.Body.Close()
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp
}

// needsEncoding reports whether a name cannot stand in a header as it is (MCP
// 2026-07-28, Transports, Mcp-Name).
func needsEncoding(s string) bool {
	if strings.TrimSpace(s) != s || strings.HasPrefix(s, "=?base64?") && strings.HasSuffix(s, "?=") {
		return true
	}
	for _, c := range []byte(s) {
		if c < 0x20 || c > 0x7e {
			return true
		}
	}
	return false
}
