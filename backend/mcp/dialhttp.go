package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
)

// checkURL parses the address of a server over HTTP.
func checkURL(raw string) (*url.URL, *dialError) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case strings.TrimSpace(raw) == "":
		return nil, failed(stepCheck, core.FixEdit, true, "No URL is configured. Give the address of the server, such as https://example.com/mcp.")
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, failed(stepCheck, core.FixEdit, true, "Not a usable URL: %s. It must start with http:// or https:// and name a host.", core.Clip(raw, 200))
	}
	return u, nil
}

func (d *dialer) dialHTTP(ctx context.Context, a *attempt) (*link, error) {
	u, bad := checkURL(a.spec.URL)
	if bad != nil {
		return nil, bad
	}
	for k, v := range a.spec.Headers {
		if strings.ContainsAny(v, "\r\n\x00") || k == "" || strings.ContainsAny(k, " \t\r\n:") {
			return nil, failed(stepCheck, core.FixEdit, true, "The header %q of %s cannot be sent. Remove line breaks and spaces from it.", k, a.spec.Name)
		}
	}
	auth, err := d.authorizer(a.spec, u, a.log, !a.trial)
	if err != nil {
		return nil, err
	}
	a.auth = auth
	a.to(core.StateNegotiating, "Waiting for an answer of "+u.Host+"…")
	a.log.add("· ", "connecting to "+u.Redacted())
	if a.spec.Transport == core.TransportSSE {
		l, _, err := d.tryHTTP(ctx, a, u, true)
		return l, err
	}
	if d.memory.get(a.key).Transport == core.TransportSSE {
		if l, _, err := d.tryHTTP(ctx, a, u, true); err == nil {
			l.why = "Remembered: it speaks the older HTTP with SSE, which has initialize only."
			return l, nil
		} else if ctx.Err() != nil {
			return nil, err
		}
		d.memory.change(a.key, func(r *record) { r.Transport = "" })
	}
	l, refused, err := d.tryHTTP(ctx, a, u, false)
	if err == nil || !refused || ctx.Err() != nil {
		return l, err
	}
	// MCP 2025-11-25, Transports, Backwards Compatibility: 400, 404 or 405 on
	// initialize may be a server of 2024-11-05.
	if l, _, err2 := d.tryHTTP(ctx, a, u, true); err2 == nil {
		a.log.add("· ", "the server speaks the older HTTP with SSE")
		d.memory.change(a.key, func(r *record) { r.Transport = core.TransportSSE })
		return l, nil
	}
	return nil, err
}

// tryHTTP connects once. refused says that initialize was answered with 400,
// 404 or 405.
func (d *dialer) tryHTTP(ctx context.Context, a *attempt, u *url.URL, sse bool) (_ *link, refused bool, _ error) {
	lim := d.o.Limits
	if own := time.Duration(a.spec.ConnectTimeoutMS) * time.Millisecond; own > 0 { // what is tried in vain must leave time for the rest
		lim.Connect, lim.Probe, lim.Stream = own, min(lim.Probe, own/2), min(lim.Stream, own/3)
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 16
	base.TLSHandshakeTimeout = 10 * time.Second
	base.IdleConnTimeout = 4 * time.Second // Node closes after 5 s, and a call would cross it
	conns := &connSet{dial: base.DialContext, open: map[net.Conn]struct{}{}}
	base.DialContext = conns.dialContext
	lctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := newLink(lctx, cancel)
	context.AfterFunc(lctx, conns.endCalls) // what is in flight ends with the link
	streams, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	rt := &roundTripper{base: &tapped{base, a.log}, ctx: streams, scheme: u.Scheme, host: u.Host, header: http.Header{}, probe: lim.Probe, stream: lim.Stream, maxBody: lim.MaxFrame, user: u.User}
	rt.jar, _ = cookiejar.New(nil) // fails for options only
	for k, v := range a.spec.Headers {
		rt.header.Set(k, v)
	}
	if rt.auth = a.auth; rt.auth != nil {
		l.auth = rt.auth
		a.log.secrets.also.Store(&rt.auth.hidden)
	}
	rt.onListen = func() { l.lose("The server ended its stream of changes.") }
	rt.onDenied = func() { l.denied.Store(true) }
	rt.logged = func(level, text string) { a.log.add(level+": ", text) }
	r := &httpRPC{rt: rt, ctx: lctx, sinks: map[string]*sink{}}
	l.asks = d.questions(lctx, a.spec.Name, r.running)
	l.client = sdk.NewClient(&sdk.Implementation{Name: d.o.ClientName, Version: d.o.ClientVersion},
		clientOptions(l.asks, l.touch, d.news(a), a.spec.Name, r.progress, func(level, text string) {
			rt.logged(level, text)
			r.logged(level, text)
		}, len(a.spec.Roots) > 0))
	l.roots = a.spec.Roots
	offerRoots(l.client, nil, l.roots)
	hc := &http.Client{Transport: rt}
	l.quiet = !sse && d.memory.get(a.key).quiet()
	var tr sdk.Transport = &sdk.StreamableClientTransport{Endpoint: u.String(), HTTPClient: hc, MaxEventSize: lim.MaxFrame, DisableStandaloneSSE: l.quiet}
	era, why := d.era(a)
	limit := func() time.Duration { return lim.Connect }
	if sse {
		why = "It speaks the older HTTP with SSE, which has initialize only."
		rt.older = &older{began: time.Now()}
		limit = func() time.Duration { return rt.older.limit(lim) }
		tr, era = &sdk.SSEClientTransport{Endpoint: u.String(), HTTPClient: hc, MaxEventSize: lim.MaxFrame}, versionLegacy
	}
	began := time.Now()
	session, end, err := connect(ctx, l.client, tr, limit, era)
	if err != nil {
		cancel()
		rt.closed.Store(true)
		endStreams() // Connect may wait for one, past its own context
		conns.end()
		end()
		base.CloseIdleConnections()
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		status, denied, body := rt.state()
		if era != "" && !sse && denied == 0 && status != 0 { // what we knew of it no longer holds
			d.memory.change(a.key, func(r *record) { r.Legacy = time.Time{} })
			return d.tryHTTP(ctx, a, u, false)
		}
		refused = status == 400 || status == 404 || status == 405
		return nil, refused && denied == 0, explainHTTP(a.spec, u, rt, err, status, denied, body, time.Since(began))
	}
	l.session, r.session = session, session
	l.denied.Store(false) // that was the probe
	l.version = session.InitializeResult().ProtocolVersion
	r.modern = l.version >= versionModern
	l.why = d.learned(a, why, l.version, rt.mute.Load(), rt.probe)
	if !sse {
		r.direct = newDirect(rt, u.String(), l.version, session.ID(), modernMeta(d.o, l.version, len(l.roots) > 0), d.work, l.repeats)
	}
	l.rpc = r
	gone := make(chan struct{})
	l.gone = gone
	l.shut = func() {
		rt.closed.Store(true)
		endStreams()
		conns.end() // a call that began too late to end with the link
		end()
		base.CloseIdleConnections()
		close(gone)
	}
	l.watch(func(err error) string {
		if rt.gets.Load() > streamEnds {
			d.memory.change(a.key, func(r *record) { r.Quiet = time.Now() })
			a.log.add("· ", "the server keeps ending its stream of news; going on without it")
		}
		if err != nil {
			return "The connection ended: " + sentence(err.Error())
		}
		return "The server closed the connection."
	})
	a.done(stepHandshake, began, "MCP %s", l.version)
	return l, false, nil
}

// explainHTTP makes a sentence of why the handshake failed.
func explainHTTP(spec core.ServerSpec, u *url.URL, rt *roundTripper, err error, status, denied int, body string, waited time.Duration) *dialError {
	var we *jsonrpc.Error
	var de *dialError
	var ae *authError
	var mv *moved
	switch {
	case errors.As(err, &ae):
		de = failed(stepHandshake, core.FixReconnect, false, "%s", ae.message)
		if ae.final {
			de.fix, de.final, de.code = core.FixEdit, true, core.CodeNeedsAuth
		}
	case denied != 0 && rt.away.Load() != nil:
		de = failed(stepHandshake, core.FixEdit, true, "%s redirects to %s, which wants to know who you are (HTTP %d). Neither the headers of %s nor its sign-in are sent there. If that is its new address, set its URL to it.", u.Host, rt.away.Load(), denied, spec.Name)
	case denied != 0:
		de = needsSignIn(spec, rt.auth, denied)
	case rt.older.why(err) != "":
		de = failed(stepHandshake, core.FixEdit, false, "%s does not speak MCP over HTTP with SSE: %s Check its URL and its transport.", u.Host, sentence(rt.older.why(err)))
	case errors.As(err, &mv):
		de = failed(stepHandshake, core.FixEdit, false, "%s redirects to %s (HTTP %d), where messages would not arrive. If that is the new address of %s, set its URL to it.", u.Host, core.Clip(mv.to, 200), mv.status, spec.Name)
	case errors.Is(err, context.DeadlineExceeded):
		de = failed(stepHandshake, core.FixReconnect, false, "%s did not answer within %s. If it only needs longer, raise the time limit for connecting in the settings of %s.", u.Host, seconds(waited), spec.Name)
	case status == http.StatusProxyAuthRequired:
		de = failed(stepHandshake, core.FixReconnect, false, "%s cannot be reached: %s", u.Host, sentence(proxyWants))
	case status >= 400 && status != 200:
		de = failed(stepHandshake, core.FixEdit, false, "%s answered HTTP %d (%s) instead of speaking MCP. Check the URL: many servers want /mcp at its end.", u.Host, status, http.StatusText(status))
		if status >= 500 || status == 429 {
			de.message, de.fix = fmt.Sprintf("%s has trouble: HTTP %d (%s).", u.Host, status, http.StatusText(status)), core.FixReconnect
		}
		de.detail = body
	case status == 0:
		de = failed(stepHandshake, core.FixReconnect, false, "%s cannot be reached: %s", u.Host, sentence(netCause(err)))
	case errors.As(err, &we) && we.Code != codeRejected:
		de = failed(stepHandshake, core.FixShowLog, false, "%s refused the handshake: %s", spec.Name, sentence(we.Message))
	case unknownVersion.MatchString(err.Error()), badField.MatchString(err.Error()):
		de = failed(stepHandshake, core.FixShowLog, false, "%s", explainHello(spec.Name, err))
	default:
		why, then := plain(err), "Check the URL."
		if why == noMessage {
			why, then = rt.oddity(), "Check the URL; if it is right, tell the author of the server."
		}
		de = failed(stepHandshake, core.FixEdit, false, "%s does not speak MCP at this URL: %s %s", u.Host, sentence(why), then)
	}
	de.err = err
	if de.detail == "" {
		de.detail = err.Error()
	}
	return de
}

// needsSignIn is the error of a server that refuses us. a may be nil.
func needsSignIn(spec core.ServerSpec, a *authorizer, status int) *dialError {
	de := &dialError{step: stepHandshake, state: core.StateNeedsSignIn, fix: core.FixSignIn, code: core.CodeNeedsAuth, final: true,
		message: fmt.Sprintf("%s wants you to sign in (HTTP %d). Sign in, or add the key it asks for to its headers.", spec.Name, status)}
	if g := a.held(); g != nil {
		de.message = fmt.Sprintf("%s refused the token that %s gave (HTTP %d). Sign in again; if that does not help, tell whoever runs the server.", spec.Name, hostOf(g.Issuer), status)
	} else if len(spec.Headers) > 0 {
		de.message = fmt.Sprintf("%s refused the credentials in its headers (HTTP %d). Correct them, or sign in.", spec.Name, status)
	}
	return de
}

// connSet knows the open connections of one link. Closing them ends the calls in
// flight without a price that every call would pay.
type connSet struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex
	open  map[net.Conn]struct{}
	over  bool // no calls any more
	ended bool // nothing any more
}

func (s *connSet) dialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := s.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t := &trackedConn{Conn: c, set: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.over && liftOf(ctx) != nil { // saying goodbye is still allowed
		c.Close()
		return nil, net.ErrClosed
	}
	s.open[t] = struct{}{}
	return t, nil
}

// endCalls closes what is open and lets no call open anything any more.
func (s *connSet) endCalls() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.closeAll()
}

// end closes what is open and lets nothing be opened any more.
func (s *connSet) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.closeAll()
}

func (s *connSet) closeAll() {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.open))
	s.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
}

type trackedConn struct {
	net.Conn
	set *connSet
}

func (c *trackedConn) Close() error {
	c.set.mu.Lock()
	delete(c.set.open, c)
	c.set.mu.Unlock()
	return c.Conn.Close()
}
