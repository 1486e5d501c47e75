package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
)

// The codes by which servers refuse a call (MCP 2025-11-25, Tools, Error Handling).
const (
	codeInvalidParams  = -32602
	codeMethodNotFound = -32601
)

// Call runs a tool once. args is a JSON object; empty means {}. callID is sent
// as the progress token and must be unique among the calls that are running.
// chunk, which may be nil, receives the news of the call in order, one at a
// time, and never after Call returned.
//
// When ctx ends, Call returns within 100 ms with CodeTimeout or CodeCanceled;
// the server is told, and keeps running. A server that is still starting, or
// starts on demand, is waited for. A digest in ref must be that of the tool as
// the server lists it now. Other errors: CodeNotFound (no such server or tool),
// CodeConflict (the tool's definition changed), CodeInvalid (the server refuses
// the arguments), CodeNeedsAuth, CodeTooLarge, and CodeUnavailable (off, failed,
// lost, or refused by the server). A tool that
// fails is a result with IsError and no error.
func (m *Manager) Call(ctx context.Context, ref core.ToolRef, callID string, args json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error) {
	if ref.Kind == core.ToolFeature {
		return m.callFeature(ctx, ref, args)
	}
	s := m.fleet.Load().named[ref.Server]
	if s == nil {
		return core.ToolResult{}, core.Errorf(core.CodeNotFound, "There is no server named %q. Check the name, or add the server.", ref.Server)
	}
	if args = bytes.TrimSpace(args); len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if args[0] != '{' || !json.Valid(args) {
		return core.ToolResult{}, core.Errorf(core.CodeInvalid, "The arguments for %s are not a JSON object. Correct them.", ref)
	}
	if bytes.IndexByte(args, '\n') >= 0 { // a message on stdio is one line
		var b bytes.Buffer
		if json.Compact(&b, args) == nil {
			args = b.Bytes()
		}
	}
	k := newSink(callID, chunk)
	defer k.shut()
	defer s.use()()
	visited, relisted, waits := false, false, 0
	var until time.Time // that a server which cannot be reached has to come back; zero for none
	for again := false; ; again = true {
		l, err := s.ready(ctx, "The tool "+ref.String()+" cannot be called", "the call of "+ref.Name, k, until)
		if err != nil {
			return core.ToolResult{}, err
		}
		t, err := l.confirm(ref)
		if err != nil {
			return core.ToolResult{}, err
		}
		s.freshen(l)
		raw, err := l.callTool(ctx, ref.Name, args, callID, k)
		if err == nil {
			k.shut()
			res, derr := decodeResult(raw)
			if derr != nil {
				return core.ToolResult{}, core.Errorf(core.CodeUnavailable, "The tool %s ran, but %w. Tell the author of the server.", ref, derr)
			}
			if w := l.tools.Load().check(t, res); w != "" {
				res.Warning = strings.TrimSpace(res.Warning + " " + w)
			}
			return res, nil
		}
		var re *rpcError
		if errors.As(err, &re) && !visited && l.asks.visitFirst(withSink(ctx, k), re) {
			visited = true
			continue
		}
		if re != nil && re.Code == codeHeaderMismatch && l.mirrors() && !relisted && ctx.Err() == nil {
			relisted = true
			if l.relist(ctx) == nil {
				continue // with what the server wants to see now, if the tool is still the same
			}
		}
		if re != nil && re.Code == sdk.CodeUnsupportedProtocolVersion && !again && ctx.Err() == nil {
			s.forgetEra(l) // and it has not run the tool
			continue
		}
		var he *httpError
		if errors.As(err, &he) && ctx.Err() == nil {
			s.suspect(l, he)
			// A server that no longer knows the session has not run the tool.
			if he.session && !again {
				continue
			}
			// Nor has one that could not be reached, as while it is started anew.
			if unsent(he) && !again {
				k.send(core.Chunk{Kind: core.ChunkStatus, Message: s.spec.Name + " cannot be reached. Trying again."})
				until = time.Now().Add(comeback)
				continue
			}
			if wait, ok := pauseOf(he, t, waits); ok && l.pause(ctx, s.spec.Name, he, wait, k) {
				waits++
				continue
			}
		}
		if (errors.Is(err, errLost) || broke(he)) && !again && ctx.Err() == nil && harmless(t) {
			k.send(core.Chunk{Kind: core.ChunkStatus, Message: "The connection with " + s.spec.Name + " was lost. Calling again."})
			if he == nil || he.status == 0 {
				select { // the end of the link follows that of its transport
				case <-l.lost:
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
			}
			continue
		}
		return core.ToolResult{}, s.explainCall(ctx, l, ref, err)
	}
}

// unsent reports whether a request never left this computer.
func unsent(he *httpError) bool {
	var op *net.OpError
	return he.status == 0 && errors.As(he.err, &op) && op.Op == "dial"
}

// comeback is how long a call waits for a server that could be reached before.
const comeback = 5 * time.Second

// broke reports whether an HTTP connection ended under a request, as those do
// that a server closes when they were idle for it too long.
func broke(he *httpError) bool {
	return he != nil && (he.status == 0 && hungUp(he.err) || errors.Is(he.err, errCut))
}

// hungUp reports whether err is that of a connection which the other side ended.
func hungUp(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// waitTick is how often a call that waits for its server says so.
const waitTick = 10 * time.Second

// ready returns the live link, waiting for a server that is on its way to one.
// what and call begin the sentences about a server that is not; k, which may be
// nil, is told of the waiting. One that failed is waited for until then, while it
// is tried again; until may be zero.
func (s *server) ready(ctx context.Context, what, call string, k *sink, until time.Time) (*link, error) {
	if l := s.link.Load(); l != nil && l.ctx.Err() == nil {
		return l, nil
	}
	var limit, tick <-chan time.Time
	for {
		change := s.wait()
		if l := s.link.Load(); l != nil && l.ctx.Err() == nil {
			return l, nil
		}
		st := s.status.Load()
		if st.State == core.StateReconnecting && until.IsZero() { // it was there before, and may be back soon
			until = time.Now().Add(comeback)
		}
		switch {
		case !st.State.Settled(), st.State == core.StateReconnecting && st.RetryAt == "", st.State == core.StateConnected:
		case st.State == core.StateReconnecting && soon(st.RetryAt):
		case st.State == core.StateFailed && st.RetryAt != "" && before(st.RetryAt, until):
		case st.State == core.StateOnDemand:
			s.demand()
		case st.State == core.StateSigningIn:
			return nil, core.Errorf(core.CodeNeedsAuth, "%s yet: the sign-in to %s is under way. Finish it first.", what, s.spec.Name)
		case st.State == core.StateNeedsSignIn:
			return nil, core.Errorf(core.CodeNeedsAuth, "%s: %s", what, st.Message)
		case st.State == core.StateNeedsValues:
			return nil, core.Errorf(core.CodeNeedsValue, "%s: %s", what, st.Message)
		case st.State == core.StateOff:
			return nil, core.Errorf(core.CodeUnavailable, "%s: the server %s is off. Turn it on.", what, s.spec.Name)
		default:
			return nil, core.Errorf(core.CodeUnavailable, "%s: %s", what, st.Message)
		}
		if limit == nil {
			lim := s.m.o.Limits
			t := time.NewTimer(max(lim.StartRunner, time.Duration(s.spec.ConnectTimeoutMS)*time.Millisecond) + lim.List)
			defer t.Stop()
			limit = t.C
			again := time.NewTicker(waitTick)
			defer again.Stop()
			tick = again.C
			k.send(core.Chunk{Kind: core.ChunkStatus, Message: "Waiting for " + s.spec.Name + " to start…"})
		}
		select {
		case <-change:
		case <-tick: // lest the gate takes the silence for death
			k.send(core.Chunk{Kind: core.ChunkStatus, Message: "Still waiting for " + s.spec.Name + " to start…"})
		case <-limit:
			return nil, core.Errorf(core.CodeUnavailable, "%s: the server %s is still starting. Try again later.", what, s.spec.Name)
		case <-s.done:
			return nil, core.Errorf(core.CodeUnavailable, "%s: the server %s was stopped.", what, s.spec.Name)
		case <-ctx.Done():
			return nil, ended(ctx, fmt.Sprintf("The server %s was still starting when %s", s.spec.Name, call))
		}
	}
}

// soon reports whether an attempt is close enough to wait for it.
func soon(retryAt string) bool {
	t, err := time.Parse(time.RFC3339Nano, retryAt)
	return err == nil && time.Until(t) < 2*time.Second
}

// before reports whether an attempt comes before until.
func before(retryAt string, until time.Time) bool {
	t, err := time.Parse(time.RFC3339Nano, retryAt)
	return err == nil && t.Before(until)
}

// forgetEra ends a link whose server no longer speaks its revision, and what was
// known of that.
func (s *server) forgetEra(l *link) {
	s.m.d.memory.change(s.key, func(r *record) { r.Legacy, r.Transport = time.Time{}, "" })
	l.lose("The server no longer speaks MCP " + l.version + ".")
}

// suspect ends a link that a request showed to be dead, so that the supervisor
// dials anew.
func (s *server) suspect(l *link, he *httpError) {
	var ae *authError
	switch {
	case he.session:
		l.lose("The server no longer knows the session.")
	case he.status == 401:
		l.lose("The server wants you to sign in.")
	case errors.As(he.err, &ae):
		l.lose(ae.message)
	case he.status == 0:
		l.lose("The server cannot be reached: " + sentence(netCause(he.err)))
	}
}

// ended is the error of a call whose context ended. what names the call, up to
// the verb.
func ended(ctx context.Context, what string) *core.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e := core.Errorf(core.CodeTimeout, "%s ran out of time. Raise its time limit, or try again.", what)
		e.Err = ctx.Err()
		return e
	}
	e := core.Errorf(core.CodeCanceled, "%s was canceled.", what)
	e.Err = ctx.Err()
	return e
}

func (s *server) explainCall(ctx context.Context, l *link, ref core.ToolRef, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, "The call of "+ref.String())
	}
	var re *rpcError
	var he *httpError
	var ae *authError
	switch {
	case errors.As(err, &re):
		return explainRPC(ref, re)
	case errors.As(err, &ae):
		if ae.final {
			return core.Errorf(core.CodeNeedsAuth, "The tool %s cannot be called: %s", ref, ae.message)
		}
		return core.Errorf(core.CodeUnavailable, "The tool %s cannot be called: %s Try again later.", ref, ae.message)
	case l.denied.Load():
		return core.Errorf(core.CodeNeedsAuth, "The server %s wants you to sign in before it runs %s (HTTP 401). Sign in, then try again.", s.spec.Name, ref.Name)
	case errors.As(err, &he) && he.status == 403 && l.needs() != "" && l.auth.has(l.needs()):
		return core.Errorf(core.CodeDenied, "The server %s refuses %s for want of a permission (%s) that the sign-in gave already. Tell whoever runs it.", s.spec.Name, ref.Name, l.needs())
	case errors.As(err, &he) && he.status == 403 && l.needs() != "":
		return core.Errorf(core.CodeNeedsAuth, "The server %s wants more permission for %s (%s). Sign in again to give it.", s.spec.Name, ref.Name, l.needs())
	case errors.As(err, &he) && (he.status == 401 || he.status == 403):
		return core.Errorf(core.CodeNeedsAuth, "The server %s refused the call of %s (HTTP %d). Sign in, or correct the credentials in its headers.", s.spec.Name, ref.Name, he.status)
	case errors.As(err, &he) && (he.status == 429 || he.status == 503):
		return busy(s.spec.Name, ref, he)
	case errors.As(err, &he) && he.status == 0:
		return core.Errorf(core.CodeUnavailable, "The server %s cannot be reached to call %s: %s", s.spec.Name, ref.Name, sentence(netCause(he.err)))
	case errors.Is(err, errCut):
		return core.Errorf(core.CodeUnavailable, "The answer of the server %s to the call of %s ended before it was whole. Whether the tool finished is unknown.", s.spec.Name, ref.Name)
	case errors.As(err, &he) && he.status/100 == 2:
		return core.Errorf(core.CodeUnavailable, "The answer of the server %s to the call of %s cannot be read: %s Whether the tool finished is unknown.", s.spec.Name, ref.Name, sentence(he.err.Error()))
	case errors.As(err, &he):
		return core.Errorf(core.CodeUnavailable, "The server %s answered the call of %s with HTTP %d: %s", s.spec.Name, ref.Name, he.status, sentence(he.err.Error()))
	case errors.Is(err, errLost), l.ctx.Err() != nil:
		reason := ""
		select {
		case <-l.lost:
			if reason = " " + l.reason; l.reason == "closed" {
				reason = " It was stopped."
			}
		case <-time.After(500 * time.Millisecond): // the process's end follows that of its output
		case <-ctx.Done():
		}
		e := core.Errorf(core.CodeUnavailable, "The connection with the server %s was lost while %s ran.%s Whether the tool finished is unknown.", s.spec.Name, ref.Name, reason)
		e.Err = err
		return e
	}
	e := core.Errorf(core.CodeInternal, "The call of %s failed: %s", ref, sentence(err.Error()))
	e.Err = err
	return e
}

// explainRPC sorts the error answers of servers.
func explainRPC(ref core.ToolRef, re *rpcError) error {
	text, low := sentence(re.Message), strings.ToLower(re.Message)
	if text == "" {
		text = "the server answered with an error it did not describe."
	}
	var e *core.Error
	switch {
	case re.Code == codeTooLarge:
		e = core.Errorf(core.CodeTooLarge, "The result of %s is too large: %s Ask for less.", ref, text)
	case re.Code == codeWithdrawn:
		e = core.Errorf(core.CodeUnavailable, "The server %s canceled the call of %s by itself: %s Whether the tool finished is unknown.", ref.Server, ref.Name, text)
	case re.Code == codeBroken:
		e = core.Errorf(core.CodeUnavailable, "The result of %s cannot be used: %s Tell the author of the server.", ref, text)
	case strings.Contains(low, "tool") && (strings.Contains(low, "unknown") || strings.Contains(low, "not found")):
		e = core.Errorf(core.CodeNotFound, "The server %s does not know the tool %s: %s", ref.Server, ref.Name, text)
	case re.Code == codeInvalidParams:
		e = core.Errorf(core.CodeInvalid, "The server %s refused the arguments for %s: %s", ref.Server, ref.Name, text)
	case re.Code == codeMethodNotFound:
		e = core.Errorf(core.CodeUnavailable, "The server %s does not run tools: %s", ref.Server, text)
	default:
		e = core.Errorf(core.CodeUnavailable, "The server %s could not run %s: %s (error %d)", ref.Server, ref.Name, text, re.Code)
	}
	e.Err = re
	return e
}
