// Package rpc serves the page to a browser: its files, the calls of the
// contract (POST /rpc/<channel>) and the events (a WebSocket at /events).
//
// It is meant for a loopback address. Every request but those for the page's
// own files needs the token; Host and Origin are checked on all of them, so
// that no website can reach it through the person's browser.
package rpc

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"patchbay/backend/api"
	"patchbay/backend/core"
	"patchbay/backend/event"
)

const (
	maxBody = 16 << 20 // bytes of one call's input
	// CSP is the policy under which the page runs, here and in the window.
	CSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// Server serves one backend. Make it with [New].
type Server struct {
	dispatcher *api.Dispatcher
	bus        *event.Bus
	token      string
	page       fs.FS
	mux        *http.ServeMux
}

// New makes a handler for the dispatcher's channels, the bus's events and the
// page's files. token must not be empty. A nil page serves no files.
func New(d *api.Dispatcher, bus *event.Bus, token string, page fs.FS) *Server {
	s := &Server{dispatcher: d, bus: bus, token: token, page: page, mux: http.NewServeMux()}
	s.mux.Handle("POST /rpc/rpc:cancel", s.authorized(s.cancel))
	s.mux.Handle("POST /rpc/{channel}", s.authorized(s.call))
	s.mux.HandleFunc("GET /events", s.events)
	if page != nil {
		s.mux.Handle("GET /", http.FileServerFS(page))
	}
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", CSP)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	if err := sameSite(r); err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// sameSite refuses requests for another host (DNS rebinding) and requests that
// another site's page makes.
func sameSite(r *http.Request) error {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	_, port, _ := net.SplitHostPort(r.Host)
	host := r.Host
	if port != "" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	if host != "localhost" && (ip == nil || !ip.IsLoopback()) && !sameAddress(local, ip) {
		return core.Errorf(core.CodeDenied, "The host %q is not this server's own.", r.Host)
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		u, err := url.Parse(origins[0])
		if len(origins) != 1 || err != nil || u.Scheme != "http" || u.Host != r.Host {
			return core.Errorf(core.CodeDenied, "Requests from other sites are refused.")
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return core.Errorf(core.CodeDenied, "Requests from other sites are refused.")
	}
	return nil
}

func sameAddress(local net.Addr, ip net.IP) bool {
	t, ok := local.(*net.TCPAddr)
	return ok && ip != nil && t.IP.Equal(ip)
}

func (s *Server) authorized(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || !s.valid(token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, core.Errorf(core.CodeNeedsAuth, "The token is missing or wrong. Open the link that Patchbay printed when it started."))
			return
		}
		if ct := r.Header.Get("Content-Type"); !strings.HasPrefix(ct, "application/json") {
			refuse(w, http.StatusUnsupportedMediaType, core.Errorf(core.CodeInvalid, "Send the input as application/json."))
			return
		}
		next(w, r)
	})
}

func (s *Server) valid(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	input, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, core.Errorf(core.CodeTooLarge, "The input is larger than %d MiB.", maxBody>>20))
		return
	}
	out, err := s.dispatcher.Call(r.Context(), r.PathValue("channel"), r.Header.Get("X-Call-Id"), input)
	if err != nil {
		refuse(w, statusOf(core.CodeOf(err)), err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out) // a page that went away needs no answer
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	var in struct {
		CallID string `json:"callId"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, core.Errorf(core.CodeInvalid, "rpc:cancel needs a callId."))
		return
	}
	s.dispatcher.Cancel(in.CallID)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "null")
}

// events carries the bus to the page until it leaves. A WebSocket cannot send
// an Authorization header from a browser, so the token comes as a subprotocol.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	var token string
	for _, p := range strings.Split(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), ",") {
		if t, ok := strings.CutPrefix(strings.TrimSpace(p), "token."); ok {
			token = t
		}
	}
	if !s.valid(token) {
		refuse(w, http.StatusUnauthorized, core.Errorf(core.CodeNeedsAuth, "The token is missing or wrong."))
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"patchbay"}})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	ctx := conn.CloseRead(r.Context())
	// Its end, whatever the reason, is the end of this page's connection.
	_ = s.bus.Pump(ctx, func(batch []byte) error {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		return conn.Write(ctx, websocket.MessageText, batch)
	})
}

func refuse(w http.ResponseWriter, status int, err error) {
	var ce *core.Error
	if !errors.As(err, &ce) {
		ce = &core.Error{Code: core.CodeInternal, Message: err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]*core.Error{"error": ce}) // a page that went away needs no answer
}

func statusOf(c core.Code) int {
	switch c {
	case core.CodeInvalid, core.CodeNeedsValue:
		return http.StatusBadRequest
	case core.CodeNotFound:
		return http.StatusNotFound
	case core.CodeConflict:
		return http.StatusConflict
	case core.CodeDenied, core.CodeNeedsAuth:
		return http.StatusForbidden
	case core.CodeUnavailable:
		return http.StatusServiceUnavailable
	case core.CodeTimeout:
		return http.StatusGatewayTimeout
	case core.CodeCanceled:
		return 499 // client closed request, as nginx names it
	case core.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusInternalServerError
}
