package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/idna"
	"golang.org/x/time/rate"

	"patchbay/backend/core"
)

const (
	askTick  = 10 * time.Second // how often a call shows that it waits for a person
	askTries = 3                // to fill in a form rightly
	// visitLimit bounds the wait for the end of a visit (MCP 2025-11-25,
	// notifications/elicitation/complete), which a server need not announce.
	visitLimit = 10 * time.Minute
)

// questions puts the questions of one server to a person.
type questions struct {
	asker   Asker
	server  string
	ctx     context.Context // of the link: no question outlives it
	calls   func() []*sink  // the calls that run now
	asking  atomic.Int64
	samples *rate.Limiter

	mu    sync.Mutex
	ended map[string]chan struct{} // by elicitation id: visits that somebody waits for
}

// open reports whether a person is being asked. q may be nil.
func (q *questions) open() bool { return q != nil && q.asking.Load() > 0 }

type sinkKey struct{}

// withSink notes the call for which the SDK may ask a person.
func withSink(ctx context.Context, s *sink) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, sinkKey{}, s)
}

// during tells the calls concerned that a person is asked, until the returned
// function is called, so that nobody takes their silence for death. The id is
// that of the call, "" if it is not known which one it is.
func (q *questions) during(ctx context.Context, message string) (callID string, done func()) {
	var sinks []*sink
	if l := liftOf(ctx); l != nil && l.sink != nil {
		sinks = []*sink{l.sink}
	} else if s, ok := ctx.Value(sinkKey{}).(*sink); ok {
		sinks = []*sink{s}
	} else {
		sinks = q.calls() // the older revisions do not say for which call a server asks
	}
	if len(sinks) == 1 {
		callID = sinks[0].callID
	}
	tell := func() {
		for _, s := range sinks {
			s.send(core.Chunk{Kind: core.ChunkInput, Message: message})
		}
	}
	tell()
	q.asking.Add(1)
	stop, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		t := time.NewTicker(askTick)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				tell()
			case <-stop:
				return
			}
		}
	}()
	return callID, func() {
		close(stop)
		<-gone
		q.asking.Add(-1)
		tell() // the server's own time begins anew
	}
}

// elicit answers elicitation/create, whichever way it came. The SDK has checked
// that the question is a legal one.
func (q *questions) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(q.ctx, cancel)()
	p := r.Params
	callID, done := q.during(ctx, core.Clip(p.Message, 500))
	defer done()
	var action Action
	var content map[string]any
	var err error
	if p.Mode == "url" {
		action, err = q.visit(ctx, callID, p.Message, p.URL, false)
	} else {
		action, content, err = q.fill(ctx, callID, p)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return &sdk.ElicitResult{Action: string(action), Content: content}, nil
}

func (q *questions) fill(ctx context.Context, callID string, p *sdk.ElicitParams) (Action, map[string]any, error) {
	f := Form{Server: q.server, CallID: callID, Message: p.Message, Defaults: json.RawMessage("{}")}
	defaults := map[string]any{}
	var check *jsonschema.Resolved
	if p.RequestedSchema != nil {
		raw, err := json.Marshal(p.RequestedSchema)
		var schema jsonschema.Schema
		if err != nil || json.Unmarshal(raw, &schema) != nil {
			return "", nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the requested schema cannot be read"}
		}
		if check, err = schema.Resolve(nil); err != nil {
			return "", nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the requested schema cannot be used: " + err.Error()}
		}
		f.Schema = raw
		for name, prop := range schema.Properties {
			var v any
			if prop != nil && prop.Default != nil && json.Unmarshal(prop.Default, &v) == nil {
				defaults[name] = v
			}
		}
		f.Defaults, _ = json.Marshal(defaults)
	}
	for range askTries {
		a, err := q.asker.Fill(ctx, f)
		if err != nil {
			return Dismiss, nil, nil
		}
		switch a.Action {
		case Accept:
		case Decline:
			return Decline, nil, nil
		default:
			return Dismiss, nil, nil
		}
		content := maps.Clone(defaults)
		var given map[string]any
		if len(a.Content) > 0 && json.Unmarshal(a.Content, &given) != nil {
			f.Problem = "The answer is not a form."
			continue
		}
		maps.Copy(content, given)
		if check != nil {
			if err := check.Validate(content); err != nil {
				f.Problem = core.Clip(err.Error(), 500)
				continue
			}
		}
		return Accept, content, nil
	}
	return Dismiss, nil, nil
}

// visit asks whether to go to an address, and goes there.
func (q *questions) visit(ctx context.Context, callID, message, address string, wait bool) (Action, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the URL must be a plain http or https address"}
	}
	host, err := idna.ToASCII(u.Hostname())
	if err != nil {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the URL names an impossible host"}
	}
	action, err := q.asker.Visit(ctx, Visit{Server: q.server, CallID: callID, Message: message, URL: u.String(), Host: host, Wait: wait})
	if err != nil || action != Accept && action != Decline {
		return Dismiss, nil
	}
	return action, nil
}

// completed notes that the visit called id has ended.
func (q *questions) completed(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ch := q.ended[id]; ch != nil {
		close(ch)
		delete(q.ended, id)
	}
}

// codeVisitFirst is the error of a server of the older revisions that wants the
// person to go to an address first (MCP 2025-11-25, URL Elicitation Required Error).
const codeVisitFirst = -32042

// visitFirst reports whether err asked for visits and the person made them all,
// so that the call shall be made again.
func (q *questions) visitFirst(ctx context.Context, err *rpcError) bool {
	var data struct {
		Elicitations []struct {
			ID      string `json:"elicitationId"`
			Message string `json:"message"`
			URL     string `json:"url"`
		} `json:"elicitations"`
	}
	if q == nil || err.Code != codeVisitFirst || json.Unmarshal(err.Data, &data) != nil || len(data.Elicitations) == 0 || len(data.Elicitations) > 10 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, visitLimit)
	defer cancel()
	for _, e := range data.Elicitations {
		over := make(chan struct{})
		q.mu.Lock()
		if q.ended == nil {
			q.ended = map[string]chan struct{}{}
		}
		q.ended[e.ID] = over
		q.mu.Unlock()
		ok := func() bool {
			callID, done := q.during(ctx, core.Clip(e.Message, 500))
			defer done()
			vctx, stop := context.WithCancel(ctx)
			defer stop()
			finished := make(chan struct{})
			go func() {
				defer close(finished)
				select {
				case <-over: // the server knows before the person says so
					stop()
				case <-vctx.Done():
				}
			}()
			action, err := q.visit(vctx, callID, e.Message, e.URL, true)
			stop()
			<-finished
			select {
			case <-over:
				return true
			default:
				return err == nil && action == Accept
			}
		}()
		q.mu.Lock()
		if q.ended[e.ID] == over {
			delete(q.ended, e.ID)
		}
		q.mu.Unlock()
		if !ok {
			return false
		}
	}
	return ctx.Err() == nil
}

// maxRounds bounds how often a call goes back and forth because the server
// wants nothing but its own state back (MCP 2026-07-28, MRTR).
const maxRounds = 10

// rounds makes a call through the SDK, which asks the person, and goes on for as
// long as the server wants only its state returned, which the SDK leaves to us.
func rounds(ctx context.Context, s *sdk.ClientSession, p *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	for range maxRounds {
		res, err := s.CallTool(ctx, p)
		if err != nil || !res.NeedsInput() || len(res.InputRequests) > 0 || res.RequestState == "" {
			return res, err
		}
		next := *p
		next.RequestState, next.InputResponses = res.RequestState, nil
		p = &next
	}
	return nil, &jsonrpc.Error{Code: codeBroken, Message: fmt.Sprintf("the server still had no result after %d rounds", maxRounds)}
}
