package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
)

// stdioRPC sends requests straight to the wire.
type stdioRPC struct {
	conn    *stdioConn
	session *sdk.ClientSession
	meta    []byte // members of _meta for every request, "" in revisions with a handshake
}

func newStdioRPC(c *stdioConn, s *sdk.ClientSession, o Options, version string, roots bool) *stdioRPC {
	return &stdioRPC{conn: c, session: s, meta: modernMeta(o, version, roots)}
}

func (r *stdioRPC) callTool(ctx context.Context, name string, args json.RawMessage, callID string, s *sink) ([]byte, error) {
	p, err := callParams(name, args, callID, r.meta, s != nil)
	if err != nil {
		return nil, err
	}
	raw, err := r.conn.call(ctx, "tools/call", p, callID, s)
	if err != nil || len(r.meta) == 0 {
		return raw, err
	}
	switch t := resultType(raw); t {
	case "", "complete":
		return raw, nil
	case "input_required":
		// The SDK knows how to answer the server's questions. Asking anew is
		// legal: such a request has not been carried out (MCP 2026-07-28, MRTR).
		defer r.conn.listen(callID, s)()
		return sdkCall(withSink(ctx, s), r.session, name, args, callID)
	default:
		return nil, &rpcError{Code: codeBroken, Message: fmt.Sprintf("the server answered with a result of the unknown type %q", t)}
	}
}

func (r *stdioRPC) mirrors() bool { return false }

func (r *stdioRPC) listTools(ctx context.Context, cursor string) ([]byte, error) {
	p := []byte(`{`)
	if cursor != "" {
		c, err := json.Marshal(cursor)
		if err != nil {
			return nil, err
		}
		p = append(append(p, `"cursor":`...), c...)
	}
	if len(r.meta) > 0 {
		if len(p) > 1 {
			p = append(p, ',')
		}
		p = append(append(append(p, `"_meta":{`...), r.meta...), '}')
	}
	return r.conn.call(ctx, "tools/list", append(p, '}'), "", nil)
}

// httpRPC calls through the SDK and lifts the results off the answers.
type httpRPC struct {
	session *sdk.ClientSession
	rt      *roundTripper
	modern  bool
	ctx     context.Context // of the link: what is in flight ends with it
	direct  *direct         // nil over the older HTTP with SSE

	mu    sync.Mutex
	sinks map[string]*sink // by progress token, for what comes outside of the answer
}

func (r *httpRPC) progress(token string, c core.Chunk) {
	r.mu.Lock()
	s := r.sinks[token]
	r.mu.Unlock()
	if s != nil {
		s.send(c)
	}
}

// running returns who listens to the calls in flight.
func (r *httpRPC) running() []*sink {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.sinks))
}

func (r *httpRPC) logged(level, text string) {
	r.mu.Lock()
	var only *sink
	if len(r.sinks) == 1 {
		for _, only = range r.sinks {
		}
	}
	r.mu.Unlock()
	if only != nil {
		only.send(logChunk(level, text))
	}
}

func (r *httpRPC) callTool(ctx context.Context, name string, args json.RawMessage, callID string, s *sink) ([]byte, error) {
	l := &lift{method: "tools/call", token: callID, sink: s}
	if s != nil {
		r.mu.Lock()
		r.sinks[callID] = s
		r.mu.Unlock()
		defer func() {
			r.mu.Lock()
			delete(r.sinks, callID)
			r.mu.Unlock()
		}()
	}
	if r.direct != nil && !(r.modern && r.direct.bent(name)) {
		raw, done, err := r.direct.call(ctx, l, name, args, callID, s != nil)
		if done {
			var he *httpError
			// A request that never left says more than the end of the link does.
			if errors.As(err, &he) && he.status < 300 && !unsent(he) && r.ctx.Err() != nil && ctx.Err() == nil {
				return nil, errLost
			}
			return raw, err
		}
	}
	p := &sdk.CallToolParams{Meta: sdk.Meta{"progressToken": callID}, Name: name, Arguments: args}
	if r.modern && s != nil {
		p.Meta["io.modelcontextprotocol/logLevel"] = "info"
	}
	res, err := rounds(withLift(ctx, l), r.session, p)
	if err != nil {
		if r.ctx.Err() != nil && ctx.Err() == nil && l.status == 0 {
			return nil, errLost
		}
		return nil, r.explain(ctx, err, l)
	}
	if l.raw != nil {
		return l.raw, nil
	}
	return encodeResult(res)
}

func (r *httpRPC) mirrors() bool { return r.modern }

func (r *httpRPC) listTools(ctx context.Context, cursor string) ([]byte, error) {
	l := &lift{method: "tools/list"}
	res, err := r.session.ListTools(withLift(ctx, l), &sdk.ListToolsParams{Cursor: cursor})
	if err != nil {
		return nil, r.explain(ctx, err, l)
	}
	if l.raw != nil {
		return l.raw, nil
	}
	return json.Marshal(res)
}

// httpError is an HTTP request that got no answer to its message.
type httpError struct {
	status  int           // 0: no answer at all
	session bool          // the server no longer knows the session
	after   time.Duration // that the server wants us to wait; 0: it does not say
	err     error
}

func (e *httpError) Error() string { return e.err.Error() }
func (e *httpError) Unwrap() error { return e.err }

// explain sorts the errors of the SDK. Its own marker for a refused request
// looks like an answer of the server, so the status decides.
func (r *httpRPC) explain(ctx context.Context, err error, l *lift) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	status := l.status
	// MCP 2025-11-25, Transports, Session Management: 404 means that the session
	// is over. Some servers say 400, and then only the text tells.
	if errors.Is(err, sdk.ErrSessionMissing) || l.lost {
		return &httpError{status: max(status, 400), session: true, err: err}
	}
	var we *jsonrpc.Error
	if errors.As(err, &we) && status != 0 && status != 401 && status != 403 && we.Code != codeRejected {
		return &rpcError{Code: int(we.Code), Message: we.Message, Data: we.Data}
	}
	if errors.Is(err, sdk.ErrConnectionClosed) && status == 0 {
		return errLost
	}
	if status/100 == 2 {
		return errLost // the stream ended without the answer
	}
	return &httpError{status: status, after: l.after, err: err}
}

// codeRejected is the code of the SDK's marker for a request that was not sent
// or not accepted.
const codeRejected = -32005

// sdkCall makes the call through the SDK, which runs the rounds of questions.
func sdkCall(ctx context.Context, s *sdk.ClientSession, name string, args json.RawMessage, callID string) ([]byte, error) {
	res, err := rounds(ctx, s, &sdk.CallToolParams{Meta: sdk.Meta{"progressToken": callID}, Name: name, Arguments: args})
	if err != nil {
		var we *jsonrpc.Error
		if errors.As(err, &we) {
			return nil, &rpcError{Code: int(we.Code), Message: we.Message, Data: we.Data}
		}
		return nil, &rpcError{Code: codeBroken, Message: err.Error()}
	}
	return encodeResult(res)
}

func encodeResult(res *sdk.CallToolResult) ([]byte, error) {
	if res.NeedsInput() {
		return nil, &rpcError{Code: codeBroken, Message: "the server asks for something that Patchbay cannot give"}
	}
	return json.Marshal(res)
}
