package testllm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// Request is one request as it came.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
	// Refused is why the request is wrong; "" when it is right.
	Refused string
}

// Server is the scripted server, an http.Handler. It is safe for concurrent use.
type Server struct {
	mux    *http.ServeMux
	mu     sync.Mutex
	script Script
	used   []int
	seen   []Request
}

// New makes a server for a script.
func New(s Script) *Server {
	srv := &Server{mux: http.NewServeMux()}
	srv.SetScript(s)
	srv.mux.HandleFunc("POST /api/chat", srv.ollamaChat)
	srv.mux.HandleFunc("GET /api/tags", srv.ollamaTags)
	srv.mux.HandleFunc("POST /api/show", srv.ollamaShow)
	srv.mux.HandleFunc("POST /v1/chat/completions", srv.openaiChat)
	srv.mux.HandleFunc("GET /v1/models", srv.openaiModels)
	return srv
}

// Start serves a script on a loopback port. Close the second result when done.
func Start(s Script) (*Server, *httptest.Server) {
	srv := New(s)
	return srv, httptest.NewServer(srv)
}

// SetScript replaces the script and forgets which rules were used.
func (s *Server) SetScript(script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(script.Models) == 0 {
		script.Models = []string{"test-model"}
	}
	s.script, s.used = script, make([]int, len(script.Rules))
}

// Requests returns what came in so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// ServeHTTP serves both wires.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// fault is a request that is wrong, or an error that the script wants.
type fault struct {
	status int
	text   string
	after  int
}

// accept records a request and checks its key.
func (s *Server) accept(r *http.Request) ([]byte, *fault) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return nil, &fault{status: 400, text: err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	if s.script.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.script.Key {
		return nil, &fault{status: 401, text: "Incorrect API key provided"}
	}
	if v, ok := r.Header["Authorization"]; ok && (len(v) != 1 || len(v[0]) < len("Bearer x")) {
		return nil, s.refuse("the Authorization header is empty")
	}
	return body, nil
}

// refuse notes why the newest request is wrong. s.mu must be held.
func (s *Server) refuse(reason string) *fault {
	s.seen[len(s.seen)-1].Refused = reason
	return &fault{status: 400, text: reason}
}

// begin checks a chat request and finds its rule.
func (s *Server) begin(r *http.Request, check func(map[string]any) (asked, error)) (*Rule, map[string]any, *fault) {
	body, f := s.accept(r)
	if f != nil {
		return nil, nil, f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var req map[string]any
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, nil, s.refuse("the body is not a JSON object: " + err.Error())
	}
	a, err := check(req)
	if err != nil {
		return nil, nil, s.refuse(err.Error())
	}
	model, _ := req["model"].(string)
	found := false
	for _, m := range s.script.Models {
		found = found || m == model
	}
	if !found {
		return nil, nil, &fault{status: 404, text: fmt.Sprintf("model %q not found", model)}
	}
	if _, ok := req["stream_options"]; ok && s.script.NoStreamOptions {
		return nil, nil, &fault{status: 400, text: "Unrecognized request argument supplied: stream_options"}
	}
	for i := range s.script.Rules {
		rule := s.script.Rules[i]
		if rule.matches(a) && (rule.Times == 0 || s.used[i] < rule.Times) {
			s.used[i]++
			if rule.Status != 0 {
				return nil, nil, &fault{status: rule.Status, text: rule.Error, after: rule.RetryAfter}
			}
			return &rule, req, nil
		}
	}
	return nil, nil, &fault{status: 500, text: fmt.Sprintf("the script has no answer to %q", a.user)}
}

// wire is how one of the two APIs says things.
type wire interface {
	piece(p piece, r *Rule) []byte
	failure(text string) []byte
	end(r *Rule) []byte
}

// play sends the answer of a rule.
func (s *Server) play(w http.ResponseWriter, r *http.Request, rule *Rule, as wire, contentType string) {
	pause := func(ms int) bool {
		if ms == 0 {
			return r.Context().Err() == nil
		}
		t := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-r.Context().Done():
			return false
		}
	}
	if !pause(rule.FirstDelayMS) {
		return
	}
	w.Header().Set("Content-Type", contentType)
	if rule.Raw != "" {
		_, _ = io.WriteString(w, rule.Raw) // a client that is gone is no concern of the server
		return
	}
	flush := func(b []byte) {
		_, _ = w.Write(b)
		_ = http.NewResponseController(w).Flush()
	}
	for i, p := range rule.pieces() {
		switch {
		case rule.CutAfter > 0 && i == rule.CutAfter:
			panic(http.ErrAbortHandler)
		case rule.EndAfter > 0 && i == rule.EndAfter:
			return
		case rule.HangAfter > 0 && i == rule.HangAfter:
			<-r.Context().Done()
			return
		case rule.FailAfter > 0 && i == rule.FailAfter:
			flush(as.failure(rule.Error))
			return
		}
		if i > 0 && !pause(rule.DelayMS) {
			return
		}
		flush(as.piece(p, rule))
	}
	flush(as.end(rule))
}

func (f *fault) header(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if f.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.after))
	}
	w.WriteHeader(f.status)
}

func writeJSON(w io.Writer, v any) {
	_ = json.NewEncoder(w).Encode(v) // a client that is gone is no concern of the server
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only for values that this package made itself
	}
	return b
}
