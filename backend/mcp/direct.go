package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"patchbay/backend/core"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// direct sends tool calls over streamable HTTP itself, past the SDK, whose way
// for a request costs as much as the network. What it does not understand of an
// answer it hands over to the SDK, with the rest of the stream, as the answer to
// the same call: questions of the server, further rounds, streams to resume,
// refusals.
type direct struct {
	rt      *roundTripper
	url     string
	version string
	session string // "" for none
	meta    []byte // as in stdioRPC
	work    *workers
	// bent reports whether a call of the tool repeats arguments in headers, which
	// is the SDK's affair.
	bent func(tool string) bool

	nextID atomic.Int64
}

func newDirect(rt *roundTripper, url, version, session string, meta []byte, work *workers, bent func(string) bool) *direct {
	d := &direct{rt: rt, url: url, version: version, session: session, meta: meta, work: work, bent: bent}
	d.nextID.Store(firstRawID)
	return d
}

// handed is an answer that is on its way to the SDK.
type handed struct {
	resp  *http.Response
	event []byte     // the first event that the SDK shall see; nil for an answer without events
	rest  *eventBody // what follows it
}

// call makes one call. done is false when the SDK must go on with it, by a
// request with l in its context. Errors are *rpcError, *httpError or that of ctx.
func (d *direct) call(ctx context.Context, l *lift, name string, args json.RawMessage, callID string, watched bool) (raw []byte, done bool, err error) {
	params, err := callParams(name, args, callID, d.meta, watched)
	if err != nil {
		return nil, true, err
	}
	id := strconv.FormatInt(d.nextID.Add(1), 10)
	frame := slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), []byte(id), []byte(`,"method":"tools/call","params":`), params, []byte("}"))
	req, err := d.request(withLift(ctx, l), frame)
	if err != nil {
		return nil, true, err
	}
	if d.version >= versionModern {
		req.Header["Mcp-Method"] = []string{"tools/call"}
		req.Header["Mcp-Name"] = []string{name}
	}
	resp, err := d.rt.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			d.cancel(id, context.Cause(ctx))
			return nil, true, ctx.Err()
		}
		return nil, true, &httpError{err: err}
	}
	over := false
	defer func() {
		if !over {
			resp.Body.Close()
		}
	}()
	switch body := resp.Body.(type) {
	case *eventBody:
		raw, done, err = d.events(resp, body, l)
	case *jsonBody:
		raw, done, err = d.json(resp, body, l)
	default:
		if resp.StatusCode >= 400 { // the SDK would end the session over it
			done, err = true, l.refused(resp)
		} else {
			l.handed = &handed{resp: resp}
		}
	}
	over = l.handed != nil
	if ctx.Err() != nil && raw == nil {
		if over {
			resp.Body.Close()
			l.handed = nil
		}
		d.cancel(id, context.Cause(ctx))
		return nil, true, ctx.Err()
	}
	return raw, done, err
}

// json reads an answer that is one message.
func (d *direct) json(resp *http.Response, body *jsonBody, l *lift) ([]byte, bool, error) {
	msg, err := io.ReadAll(body)
	switch {
	case err != nil:
		return nil, true, unread(l.status, err)
	case l.raw != nil:
		return l.raw, true, nil
	}
	if err := l.refusal(msg); err != nil {
		return nil, true, err
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(msg))
	l.handed = &handed{resp: resp}
	return nil, false, nil
}

// errCut says that an answer ended before it was whole.
var errCut = errors.New("the answer ended before it was whole")

// unread is the error of an answer that err kept from being read to its end.
func unread(status int, err error) *httpError {
	if hungUp(err) {
		err = errCut
	}
	return &httpError{status: status, err: err}
}

// events reads a stream until the answer, or until something that is not ours.
func (d *direct) events(resp *http.Response, body *eventBody, l *lift) ([]byte, bool, error) {
	var place []byte // the last event without data that says where the stream is
	for {
		body.next()
		out := body.out
		body.out = nil
		if l.raw != nil {
			return l.raw, true, nil
		}
		if hasData(out) {
			if err := l.refusal(dataOf(out)); err != nil {
				return nil, true, err
			}
		} else if body.err == nil {
			if bytes.Contains(out, []byte("id:")) || bytes.Contains(out, []byte("retry:")) {
				place = out
			}
			continue
		}
		if body.err != nil && !hasData(out) {
			if place == nil { // there is nowhere to go on from
				return nil, true, unread(l.status, body.err)
			}
			out = place
		} else if place != nil {
			out = append(place, out...)
		}
		l.handed = &handed{resp: resp, event: out, rest: body}
		return nil, false, nil
	}
}

// refused reads why a request was not accepted. A server may say it in a message
// (MCP 2026-07-28, Transports, errors), whose id need not be ours.
func (l *lift) refused(resp *http.Response) error {
	body, _ := readAll(resp.Body, -1, 64<<10)
	if l.lost {
		return &httpError{status: l.status, session: true, err: errors.New("it no longer knows the session")}
	}
	e, ok := outline(bytes.TrimSpace(body))
	if ok && e.method == nil && e.error != nil && string(e.error) != "null" && l.status != 401 && l.status != 403 {
		return decodeRPCError(e.error)
	}
	why := http.StatusText(l.status)
	if text := strings.TrimSpace(string(body)); text != "" && mediaType(resp) == "text/plain" {
		why = core.Clip(text, 200)
	}
	return &httpError{status: l.status, after: l.after, err: errors.New(why)}
}

// refusal is the error that msg answers with; nil if it is no such answer.
func (l *lift) refusal(msg []byte) error {
	e, ok := outline(msg)
	switch {
	case !ok || e.method != nil || !l.answers(e):
		return nil
	case e.error != nil && string(e.error) != "null":
		return decodeRPCError(e.error)
	case e.result == nil:
		return &rpcError{Code: codeBroken, Message: noOutcome}
	}
	return nil
}

// take makes the response for the SDK's own request, whose id is as.
func (h *handed) take(req *http.Request, l *lift, as string) (*http.Response, error) {
	resp := h.resp
	resp.Request = req
	l.as = as
	if h.rest == nil {
		msg, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		if e, ok := outline(msg); ok && e.method == nil && l.answers(e) {
			msg = renamed(as, e)
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(msg)), int64(len(msg))
		resp.Header.Del("Content-Length")
		return resp, nil
	}
	h.rest.out = l.renameEvents(h.event)
	resp.Body = h.rest
	return resp, nil
}

// hasData reports whether one of the events in out carries data.
func hasData(out []byte) bool {
	return bytes.HasPrefix(out, []byte("data:")) || bytes.Contains(out, []byte("\ndata:"))
}

// dataOf returns the data of the event out.
func dataOf(out []byte) []byte {
	var data []byte
	for line := range bytes.SplitSeq(out, []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
		}
	}
	return bytes.TrimSpace(data)
}

// renameEvents gives the answer in the event out the id that the SDK knows.
func (l *lift) renameEvents(out []byte) []byte {
	e, ok := outline(dataOf(out))
	if !ok || e.method != nil || !l.answers(e) {
		return out
	}
	var b []byte
	for line := range bytes.SplitSeq(bytes.TrimRight(out, "\n"), []byte("\n")) {
		if !bytes.HasPrefix(line, []byte("data:")) {
			b = append(append(b, line...), '\n')
		}
	}
	return append(append(append(b, "data: "...), renamed(l.sdkID(), e)...), "\n\n"...)
}

// cancel tells the server that nobody waits any more (MCP 2025-11-25,
// Cancellation). In the revisions without a session the end of the request says so.
func (d *direct) cancel(id string, why error) {
	if d.version >= versionModern {
		return
	}
	d.work.run(cancelLimit, func(ctx context.Context) {
		req, err := d.request(ctx, cancelled(id, why))
		if err != nil {
			return
		}
		if resp, err := d.rt.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
	})
}

// request makes a POST of one message, with the headers of every request (MCP
// 2025-11-25, Transports, Streamable HTTP).
func (d *direct) request(ctx context.Context, frame []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(frame))
	if err != nil {
		return nil, err
	}
	req.Header["Content-Type"] = []string{"application/json"}
	req.Header["Accept"] = []string{"application/json, text/event-stream"}
	req.Header["Mcp-Protocol-Version"] = []string{d.version}
	if d.session != "" {
		req.Header["Mcp-Session-Id"] = []string{d.session}
	}
	return req, nil
}

// cancelLimit bounds the telling; a server that does not listen need not hear it.
const cancelLimit = 2 * time.Second

// callParams writes the parameters of tools/call. watched says that somebody
// listens to the log of the call.
func callParams(name string, args json.RawMessage, callID string, meta []byte, watched bool) ([]byte, error) {
	n, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	token, err := json.Marshal(callID)
	if err != nil {
		return nil, err
	}
	p := make([]byte, 0, len(n)+len(args)+len(token)+len(meta)+120)
	p = append(append(p, `{"name":`...), n...)
	p = append(append(p, `,"arguments":`...), args...)
	p = append(append(p, `,"_meta":{"progressToken":`...), token...)
	if len(meta) > 0 {
		p = append(append(p, ','), meta...)
		if watched {
			p = append(p, `,"io.modelcontextprotocol/logLevel":"info"`...)
		}
	}
	return append(p, "}}"...), nil
}

// modernMeta is the members of _meta that every request carries, nil in the
// revisions with a handshake.
func modernMeta(o Options, version string, roots bool) []byte {
	if version < versionModern {
		return nil
	}
	b, _ := json.Marshal(metaModern(o, version, roots))
	return b[1 : len(b)-1]
}

// repeats reports whether a call of the tool repeats arguments in headers (MCP
// 2026-07-28, Transports, x-mcp-header), or is not known.
func (l *link) repeats(tool string) bool {
	t, ok := l.tools.Load().get(tool)
	return !ok || bytes.Contains(t.InputSchema, []byte("x-mcp-header"))
}
