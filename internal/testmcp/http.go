package testmcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// HTTP is the server over HTTP. It implements http.Handler.
type HTTP struct {
	s       *server
	session atomic.Int64
	dead    atomic.Int64 // sessions up to this one are forgotten

	// Requests counts what arrived, by method and by "GET" and "DELETE".
	Requests sync.Map // string → *atomic.Int64

	mu      sync.Mutex
	streams map[string]chan message // of the legacy transport
	closing chan struct{}
	once    sync.Once
}

// Handler makes a server over HTTP. Close it before the http.Server that it runs in.
func Handler(o Options) *HTTP {
	return &HTTP{s: newServer(o), streams: map[string]chan message{}, closing: make(chan struct{})}
}

// Close ends all streams.
func (h *HTTP) Close() { h.once.Do(func() { close(h.closing) }) }

// Count says how many requests of a method arrived.
func (h *HTTP) Count(method string) int {
	v, ok := h.Requests.Load(method)
	if !ok {
		return 0
	}
	return int(v.(*atomic.Int64).Load())
}

// Forget makes the server forget its sessions, as a restart would.
func (h *HTTP) Forget() { h.dead.Store(h.session.Load()) }

func (h *HTTP) count(method string) int64 {
	v, _ := h.Requests.LoadOrStore(method, new(atomic.Int64))
	return v.(*atomic.Int64).Add(1)
}

// ServeHTTP implements http.Handler.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o := h.s.o
	odd := &oddWriter{ResponseWriter: w, o: o}
	defer odd.end()
	w = odd
	wait := func() {
		select {
		case <-r.Context().Done():
		case <-h.closing:
		}
	}
	switch {
	case o.has(Unauthorized) || o.Token != "" && r.Header.Get("Authorization") != o.Token:
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://localhost/.well-known/oauth-protected-resource"`)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	case o.has(Forbidden):
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	case o.has(NotFound):
		http.NotFound(w, r)
		return
	case o.has(Redirects):
		status := http.StatusTemporaryRedirect
		if o.RedirectStatus != 0 {
			status = o.RedirectStatus
		}
		http.Redirect(w, r, o.Target, status)
		return
	case o.has(Page):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!doctype html><title>Sign in</title>")
		return
	case o.has(RedirectsLoop):
		http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		return
	case o.has(LegacySSE):
		h.legacy(w, r)
		return
	}
	switch r.Method {
	case http.MethodGet:
		h.count("GET")
		switch {
		case o.has(GetHangs):
			wait()
		case o.has(Get500):
			http.Error(w, "broken", http.StatusInternalServerError)
		case o.has(Get500Stream):
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusInternalServerError)
		case o.has(Get404):
			http.NotFound(w, r)
		case o.has(GetEnds):
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
		case o.has(GetStream):
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			wait()
		default:
			http.Error(w, "no stream", http.StatusMethodNotAllowed)
		}
		return
	case http.MethodDelete:
		h.count("DELETE")
		if o.has(DeleteHangs) {
			wait()
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := io.ReadAll(r.Body)
	var m message
	if err != nil || json.Unmarshal(body, &m) != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	n := h.count(m.Method)
	if m.Method == "" {
		h.s.answered(m)
	}
	if m.Method == "notifications/roots/list_changed" {
		h.s.rootNews.Add(1)
	}
	if m.ID == nil || m.Method == "" {
		if o.has(NotifyRefused) {
			http.Error(w, "no notifications here", http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "tools/call" {
		switch {
		case int(n) <= o.Busy:
			if o.RetryAfter != "" {
				w.Header().Set("Retry-After", o.RetryAfter)
			}
			http.Error(w, "busy", o.BusyStatus)
			return
		case o.has(Mismatch) && h.s.lists.Load() < 2:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Header mismatch"}}`, m.ID)
			return
		}
	}
	switch m.Method {
	case "server/discover":
		switch {
		case o.has(Discover202):
			w.WriteHeader(http.StatusAccepted)
			return
		case o.has(DiscoverHTML):
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>Welcome</html>")
			return
		case o.has(DiscoverJSON):
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"hello":"world"}`)
			return
		case o.has(DiscoverNull):
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid"}}`)
			return
		case o.has(Discover500):
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		case o.has(DiscoverHangs):
			wait()
			return
		}
		if !h.s.modern() {
			http.Error(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`, http.StatusBadRequest)
			return
		}
	case "initialize":
		if h.s.modern() {
			http.Error(w, "no handshake in this revision", http.StatusNotFound)
			return
		}
		w.Header().Set("Mcp-Session-Id", strconv.FormatInt(h.session.Add(1), 10))
		if o.has(Sticky) {
			http.SetCookie(w, &http.Cookie{Name: "served-by", Value: "7", Path: "/"})
		}
	case "subscriptions/listen":
		h.listen(w, m, wait)
		return
	default:
		if !h.s.modern() && h.refuse(w, r, m, n) {
			return
		}
	}
	if o.has(NewSession) && m.Method != "initialize" {
		w.Header().Set("Mcp-Session-Id", strconv.FormatInt(h.session.Add(1), 10))
	}
	if m.Method == "tools/list" && o.has(ListFails) {
		http.Error(w, "oops", http.StatusInternalServerError)
		return
	}
	if m.Method == "tools/call" && h.oddCall(w, m, wait) {
		return
	}
	h.answer(w, r, m)
	if o.has(ClosesIdle) {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// refuse handles requests of sessions that are unknown or will be.
func (h *HTTP) refuse(w http.ResponseWriter, r *http.Request, m message, n int64) bool {
	o := h.s.o
	id, err := strconv.ParseInt(r.Header.Get("Mcp-Session-Id"), 10, 64)
	if c, none := r.Cookie("served-by"); o.has(Sticky) && (none != nil || c.Value != "7") {
		err = http.ErrNoCookie
	}
	if m.Method == "tools/call" && n == 2 && (o.has(LoseSession) || o.has(LoseSession4)) {
		h.Forget()
	}
	if err == nil && id > h.dead.Load() {
		if m.Method == "tools/call" && o.has(CallDenied) {
			http.Error(w, "sign in", http.StatusUnauthorized)
			return true
		}
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	if o.has(LoseSession4) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		return true
	}
	w.WriteHeader(http.StatusNotFound)
	io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`)
	return true
}

func (h *HTTP) listen(w http.ResponseWriter, m message, wait func()) {
	o := h.s.o
	switch {
	case o.has(ListenHangs):
		wait()
		return
	case !h.s.modern():
		http.Error(w, "unknown", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	h.event(w, message{JSONRPC: "2.0", Method: "notifications/subscriptions/acknowledged", Params: raw(map[string]any{
		"_meta": map[string]any{"io.modelcontextprotocol/subscriptionId": m.ID}, "notifications": map[string]any{"toolsListChanged": true}})})
	if !o.has(ListenEnds) {
		wait()
	}
}

func (h *HTTP) answer(w http.ResponseWriter, r *http.Request, m message) {
	o := h.s.o
	var started bool
	var mu sync.Mutex
	stream := func(m message) {
		mu.Lock()
		defer mu.Unlock()
		if !started {
			started = true
			w.Header().Set("Content-Type", "text/event-stream")
		}
		h.event(w, m)
	}
	gone := make(chan struct{})
	go func() {
		select {
		case <-r.Context().Done():
		case <-h.closing:
		}
		close(gone)
	}()
	a := h.s.handle(m, stream, gone)
	if a == nil {
		return
	}
	if m.Method == "tools/call" {
		switch {
		case o.has(BrokenJSON):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[`, m.ID)
			return
		case o.has(CutCall):
			stream(message{JSONRPC: "2.0", Method: "notifications/message", Params: raw(map[string]any{"level": "info", "data": "bye"})})
			return
		}
	}
	if started || o.has(EventAnswers) || len(a.verbatim) > 1 {
		stream(*a)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	b := o.encode(*a)
	if o.has(Batch) && m.Method == "tools/call" || o.has(BatchHello) && m.Method == "initialize" {
		b = fmt.Appendf(nil, `[%s]`, b)
	}
	if o.has(ClosesIdle) {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	}
	w.Write(b)
}

// encode writes a message, also one whose result is no JSON on purpose.
func (o Options) encode(m message) []byte {
	if len(m.verbatim) == 1 {
		return []byte(m.verbatim[0])
	}
	b, err := json.Marshal(m)
	if err != nil {
		b = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, m.Result)
	}
	if m.Method == "" {
		b = o.twist(b, m.ID)
	}
	return b
}

func (h *HTTP) event(w http.ResponseWriter, m message) {
	if len(m.verbatim) > 1 {
		for _, v := range m.verbatim {
			h.event(w, message{verbatim: []string{v}})
		}
		return
	}
	b := h.s.o.encode(m)
	if o := h.s.o; o.has(EventsCR) || o.has(EventsOdd) {
		oddEvent(w, o, b)
	} else {
		if o.has(TextEvent) {
			fmt.Fprint(w, "data: hello there\n\n")
		}
		if o.has(EventsTyped) {
			fmt.Fprint(w, "event: endpoint\ndata: /nowhere\n\nevent: heartbeat\ndata: {}\n\n")
		}
		fmt.Fprintf(w, "event: message\ndata: %s", b)
		if !o.has(EventsUnended) || m.Method != "" {
			fmt.Fprint(w, "\n\n")
		}
	}
	w.(http.Flusher).Flush()
}

// legacy speaks HTTP with SSE (MCP 2024-11-05, Transports).
func (h *HTTP) legacy(w http.ResponseWriter, r *http.Request) {
	o, id := h.s.o, r.URL.Query().Get("session")
	if r.Method == http.MethodGet {
		h.count("GET")
		id = strconv.FormatInt(h.session.Add(1), 10)
		ch := make(chan message, 64)
		h.mu.Lock()
		h.streams[id] = ch
		h.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		switch endpoint := o.Target + r.URL.Path + "?session=" + id; {
		case o.has(NoEndpoint):
			fmt.Fprint(w, ": hello\n\n")
		case o.has(JSONEndpoint):
			fmt.Fprintf(w, "event: endpoint\ndata: {\"uri\":%q}\n\n", endpoint)
		default:
			fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", endpoint)
		}
		w.(http.Flusher).Flush()
		for {
			select {
			case m := <-ch:
				h.event(w, m)
			case <-r.Context().Done():
				return
			case <-h.closing:
				return
			}
		}
	}
	h.mu.Lock()
	ch := h.streams[id]
	h.mu.Unlock()
	if r.Method != http.MethodPost || ch == nil {
		http.Error(w, "use GET first", http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var m message
	if json.Unmarshal(body, &m) != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	h.count(m.Method)
	if o.has(InBody) && m.ID != nil {
		w.Header().Set("Content-Type", "application/json")
		if a := h.s.handle(m, func(message) {}, h.closing); a != nil {
			w.Write(o.encode(*a))
		}
		return
	}
	w.WriteHeader(http.StatusAccepted)
	if m.ID == nil || strings.HasPrefix(m.Method, "notifications/") {
		return
	}
	go func() {
		if a := h.s.handle(m, func(n message) { ch <- n }, h.closing); a != nil {
			ch <- *a
		}
	}()
}
