package mcp

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// rpc is what a connection does for the rest of the engine. Results are as the
// server wrote them. Errors are *rpcError, errLost, *httpError or that of ctx.
type rpc interface {
	callTool(ctx context.Context, name string, args json.RawMessage, callID string, s *sink) ([]byte, error)
	listTools(ctx context.Context, cursor string) ([]byte, error)
	// mirrors reports whether calls repeat arguments in headers.
	mirrors() bool
}

// link is one live connection with a server. It ends by itself (lost) or by
// close; both end every call on it.
type link struct {
	rpc
	client  *sdk.Client
	session *sdk.ClientSession
	version string
	why     string                   // this version, in a sentence
	tools   atomic.Pointer[toolList] // of this session

	ctx    context.Context // of every call; ends with the link
	cancel context.CancelFunc

	once   sync.Once
	lost   chan struct{}
	reason string // why it was lost; valid after lost
	stale  chan struct{}
	noted  chan struct{} // flag() may have changed
	flags  linkFlags
	asked  chan chan error // to read the tool list again, and say so
	tried  time.Time       // when the list was last read, or could not be; the supervisor's
	denied atomic.Bool     // a request was refused for want of signing in
	auth   *authorizer     // nil where OAuth is not used
	asks   *questions      // nil where nobody can be asked
	quiet  bool            // the server tells no news by itself
	roots  []string        // that the server knows, expanded; the supervisor's

	shut func()          // ends the transport, without waiting
	gone <-chan struct{} // nothing is left of the transport
}

// newLink makes a link whose transport is still to come.
func newLink(ctx context.Context, cancel context.CancelFunc) *link {
	return &link{ctx: ctx, cancel: cancel, lost: make(chan struct{}), stale: make(chan struct{}, 1), noted: make(chan struct{}, 1), asked: make(chan chan error)}
}

// title returns what the server calls itself, and its version.
func (l *link) title() (title, version string) {
	info := l.session.InitializeResult().ServerInfo
	if info == nil {
		return "", ""
	}
	if info.Title != "" {
		return info.Title, info.Version
	}
	return info.Name, info.Version
}

// announces reports whether the server tells when its tools change.
func (l *link) announces() bool {
	caps := l.session.InitializeResult().Capabilities
	return !l.quiet && caps != nil && caps.Tools != nil && caps.Tools.ListChanged
}

// private reports whether the list is that of an account (MCP 2026-07-28,
// Caching: cacheScope). The older revisions do not say.
func (l *link) private(list *toolList) bool {
	return list.scope == "private" || list.scope != "public" && l.auth != nil && l.auth.tok.Load() != nil
}

// needs returns the permission that the last refused request lacked, "" if it
// lacked none.
func (l *link) needs() string {
	if l.auth == nil {
		return ""
	}
	if r := l.auth.refused.Load(); r != nil && r.status == 403 {
		return r.param("scope")
	}
	return ""
}

// lose ends the link. The first reason counts.
func (l *link) lose(reason string) {
	l.once.Do(func() {
		l.reason = reason
		close(l.lost)
		l.cancel()
	})
}

// touch says that the tool list must be read anew.
func (l *link) touch() {
	select {
	case l.stale <- struct{}{}:
	default:
	}
}

// close ends the link and waits until nothing is left of it. The calls go
// first: the SDK's Close waits for those in flight.
func (l *link) close() {
	l.lose("closed")
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.session.Close()
	}()
	select {
	case <-done:
	case <-time.After(6 * time.Second): // longer than the SDK's own limit for saying goodbye
	}
	l.shut()
	<-l.gone
	<-done
}

// watch loses the link when the SDK's session ends.
func (l *link) watch(reason func(error) string) {
	go func() {
		err := l.session.Wait()
		l.lose(reason(err))
	}()
}

// clientOptions declares nothing but what works (MCP 2025-11-25, Lifecycle,
// capability negotiation). touch, news and the two takers are for what arrives
// outside of an answer; q, which may be nil, is for questions; roots says that
// there are any to tell.
func clientOptions(q *questions, touch func(), news func(event.Payload), server string, progress func(token string, c core.Chunk), logged func(level, text string), roots bool) *sdk.ClientOptions {
	co := &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { touch() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
			news(event.ResourcesChanged{Server: server})
		},
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
			news(event.ResourcesChanged{Server: server, URI: r.Params.URI})
		},
		PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) {
			news(event.PromptsChanged{Server: server})
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			raw, err := json.Marshal(r.Params)
			if err != nil {
				return
			}
			if token, c, ok := decodeProgress(raw); ok {
				progress(token, c)
			}
		},
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) {
			raw, err := json.Marshal(r.Params)
			if err != nil {
				return
			}
			if level, text, ok := decodeLog(raw); ok {
				logged(level, text)
			}
		},
	}
	if roots {
		//lint:ignore SA1019 deprecated by 2026-07-28, and in use until then
		co.Capabilities.RootsV2 = &sdk.RootCapabilities{ListChanged: true}
	}
	if q != nil {
		co.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
		co.ElicitationHandler = q.elicit
		//lint:ignore SA1019 servers of the revisions that have sampling are the point
		co.CreateMessageHandler = q.sample
		co.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			q.completed(r.Params.ElicitationID)
		}
	}
	return co
}

// connect runs the SDK's handshake within limit. The context of the session
// must outlive it, since a legacy event stream ends with that context; so only
// a timer, or the end of ctx, cancels the attempt. The returned cancel ends the
// session's context.
func connect(ctx context.Context, c *sdk.Client, tr sdk.Transport, limit func() time.Duration, era string) (*sdk.ClientSession, context.CancelFunc, error) {
	sctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	type outcome struct {
		s   *sdk.ClientSession
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		s, err := c.Connect(sctx, tr, &sdk.ClientSessionOptions{ProtocolVersion: era})
		done <- outcome{s, err}
	}()
	giveUp := func(cause error) (*sdk.ClientSession, context.CancelFunc, error) {
		cancel(cause)
		return nil, func() {
			// Connect may block past its context. Once the transport is closed it returns.
			if o := <-done; o.s != nil {
				o.s.Close()
			}
		}, cause
	}
	for began := time.Now(); ; {
		rest := limit() - time.Since(began)
		if rest <= 0 {
			return giveUp(context.DeadlineExceeded)
		}
		t := time.NewTimer(min(rest, 100*time.Millisecond))
		select {
		case o := <-done:
			t.Stop()
			if o.err != nil {
				cancel(nil)
				return nil, func() {}, o.err
			}
			return o.s, func() { cancel(nil) }, nil
		case <-ctx.Done():
			t.Stop()
			return giveUp(ctx.Err())
		case <-t.C:
		}
	}
}

// metaModern is what every request carries in the revisions without a
// handshake (MCP 2026-07-28, Base Protocol, _meta).
func metaModern(o Options, version string, roots bool) map[string]any {
	caps := map[string]any{}
	if o.Asker != nil {
		caps["elicitation"] = map[string]any{"form": struct{}{}, "url": struct{}{}}
		caps["sampling"] = struct{}{}
	}
	if roots {
		caps["roots"] = struct{}{}
	}
	return map[string]any{
		"io.modelcontextprotocol/protocolVersion":    version,
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": o.ClientName, "version": o.ClientVersion},
		"io.modelcontextprotocol/clientCapabilities": caps,
	}
}
