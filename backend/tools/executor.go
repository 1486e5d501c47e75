package tools

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// Log is the audit log.
type Log interface {
	// Begin durably appends a record of a call that is about to be judged and
	// returns its number.
	Begin(ctx context.Context, r core.AuditRecord) (int64, error)
	// End completes the record Begin made.
	End(ctx context.Context, r core.AuditRecord) error
}

// Policy decides without a person.
type Policy interface {
	Evaluate(core.PolicyRequest) core.Decision
}

// Desk brings a question to a person.
type Desk interface {
	// Ask returns the person's answer, or an error when ctx ends first. An
	// answer remembered from before returns at once; waiting, when not nil, is
	// called once a person must be asked.
	Ask(ctx context.Context, a core.Approval, waiting func()) (core.Answer, error)
}

// Limiter bounds how often tools are called.
type Limiter interface {
	// Take waits for its turn and returns what gives it back, or an error that
	// says which limit was hit. nested says that a call which has its turn
	// already makes this one and waits for it.
	Take(ctx context.Context, p core.Principal, ref core.ToolRef, nested bool) (release func(), err error)
}

// Runner runs the tools of one kind. It returns a result also for a tool that
// failed (IsError), and an error when the tool could not be run to its end.
type Runner interface {
	Call(ctx context.Context, ref core.ToolRef, callID string, args json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error)
}

// Nesting is a Runner whose tools call other tools. The gate tells it the whole
// call and on whose behalf it is made. Such a runner keeps the tool's time limit
// itself, for that does not run while a nested call waits for a person; the
// gate's absolute limit stands above it.
type Nesting interface {
	Runner
	CallFor(ctx context.Context, p core.Principal, call core.ToolCall, chunk core.ChunkFunc) (core.ToolResult, error)
}

// Limits of a call. Zero means the default.
type Limits struct {
	Idle     time.Duration // without news from the tool; 30 s
	Absolute time.Duration // in all, however much news; 10 min
}

// Options are what the gate stands on. All but Nested, Emit, Logger and Limits must be set.
type Options struct {
	Catalog *Catalog
	Log     Log
	Policy  Policy
	Desk    Desk
	Limiter Limiter
	Runners map[core.ToolKind]Runner
	// Nested judges, before the policy, a call that a tool makes for p; an error
	// says why it may not be made. nil lets none pass.
	Nested func(ctx context.Context, p core.Principal, call core.ToolCall, tool core.OfferedTool) error
	Emit   func(event.Payload)
	Logger *slog.Logger
	Limits Limits
}

// Executor is the gate. It is safe for concurrent use.
type Executor struct {
	o Options

	mu      sync.Mutex
	running map[string]context.CancelFunc // by call id
}

// NewExecutor makes the gate.
func NewExecutor(o Options) *Executor {
	if o.Emit == nil {
		o.Emit = func(event.Payload) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Limits.Idle == 0 {
		o.Limits.Idle = 30 * time.Second
	}
	if o.Limits.Absolute == 0 {
		o.Limits.Absolute = 10 * time.Minute
	}
	return &Executor{o: o, running: map[string]context.CancelFunc{}}
}

// Call makes one tool call for p, or refuses it. It never panics, and every
// end, also a refusal, is in the audit log before it returns.
func (x *Executor) Call(ctx context.Context, p core.Principal, call core.ToolCall, w core.Watch) core.Outcome {
	return x.call(ctx, p, call, w, x.resolve)
}

// Try is Call for t, a tool that is not in the catalog: the draft of one that a
// person writes. The way through the gate is the same.
func (x *Executor) Try(ctx context.Context, p core.Principal, t core.Tool, call core.ToolCall, w core.Watch) core.Outcome {
	call.Ref = t.Ref
	e := Entry{Tool: t, Alias: x.o.Catalog.AliasOf(t.Ref), schema: &schema{source: t.InputSchema}}
	return x.call(ctx, p, call, w, func(core.ToolCall) (Entry, error) { return e, nil })
}

func (x *Executor) call(ctx context.Context, p core.Principal, call core.ToolCall, w core.Watch, resolve func(core.ToolCall) (Entry, error)) core.Outcome {
	if call.ID == "" {
		call.ID = uuid.NewString()
	}
	ctx, cancelCall := context.WithCancel(ctx)
	defer cancelCall()
	if !x.register(call.ID, cancelCall) {
		err := core.Errorf(core.CodeConflict, "A call with the id %q is running already.", call.ID)
		return core.Outcome{CallID: call.ID, Status: core.CallInvalid, Err: err, ModelText: refusal(core.CallInvalid, err)}
	}
	defer x.unregister(call.ID)
	began := time.Now()
	entry, resolveErr := resolve(call)
	ref := entry.Tool.Ref
	if resolveErr != nil {
		ref = call.Ref
		if ref.Name == "" {
			ref.Name = call.Alias
		}
	}
	args, canonical, argsErr := parseArguments(call.Arguments)
	shown := string(canonical)
	if argsErr != nil {
		shown = string(call.Arguments)
	}
	rec := core.AuditRecord{
		CallID: call.ID, ParentID: call.ParentID, BeganAt: began.UTC().Format(time.RFC3339Nano),
		Principal: p, Ref: ref, Arguments: HeadTail(shown, 16<<10), Status: core.CallRunning,
	}
	seq, err := x.o.Log.Begin(context.WithoutCancel(ctx), rec)
	if err != nil {
		err = core.Errorf(core.CodeInternal, "%s was not called, because the audit log cannot be written: %w", ref, err)
		return core.Outcome{CallID: call.ID, Tool: entry.Tool, Status: core.CallFailed, Err: err, ModelText: refusal(core.CallFailed, err)}
	}
	rec.Seq = seq
	x.o.Emit(event.AuditAppended{Seq: seq})

	g := &passage{x: x, p: p, call: call, resolve: resolve, entry: entry, args: args, canonical: canonical, rec: &rec, watch: w}
	out := core.Outcome{CallID: call.ID, Tool: entry.Tool}
	if out.Err = errors.Join(resolveErr, argsErr); out.Err != nil {
		if resolveErr != nil {
			out.Err = resolveErr
		}
		out.Status = core.CallInvalid
	} else {
		out.Result, out.Status, out.Err = g.run(ctx)
	}
	out.Millis = time.Since(began).Milliseconds()
	if out.Err != nil {
		out.ModelText = refusal(out.Status, out.Err)
	} else {
		out.ModelText = ModelText(out.Result)
	}

	rec.EndedAt = time.Now().UTC().Format(time.RFC3339Nano)
	rec.Status, rec.Millis, rec.Bytes = out.Status, out.Millis, out.Result.Bytes
	if out.Err != nil {
		rec.Error = out.Err.Error()
	}
	// A caller who has gone must not take the end of the record along.
	endCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := x.o.Log.End(endCtx, rec); err != nil {
		x.o.Logger.Error("the end of a call could not be recorded", "call", call.ID, "tool", ref.String(), "status", out.Status, "err", err)
		if out.Err == nil {
			out.Result.Warning = "The end of this call could not be written to the audit log."
		}
	}
	x.o.Emit(event.AuditAppended{Seq: seq})
	x.o.Emit(event.ToolsStreamEnd{CallID: call.ID, LastSeq: g.chunks.last(), Status: out.Status})
	return out
}

// Cancel ends a running call, whoever made it, also one that waits for a
// person. An id that is not running is no error: the call may have just ended.
func (x *Executor) Cancel(callID string) {
	x.mu.Lock()
	cancel := x.running[callID]
	x.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func (x *Executor) register(callID string, cancel context.CancelFunc) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, taken := x.running[callID]; taken {
		return false
	}
	x.running[callID] = cancel
	return true
}

func (x *Executor) unregister(callID string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.running, callID)
}

func (x *Executor) resolve(call core.ToolCall) (Entry, error) {
	if call.Ref.Name != "" {
		return x.o.Catalog.ByRef(call.Ref)
	}
	if e, ok := x.o.Catalog.ByAlias(call.Alias); ok {
		return e, nil
	}
	return Entry{}, core.Errorf(core.CodeNotFound, "There is no tool named %q. Use one of the tools that were offered.", call.Alias)
}

// passage is one call on its way through the gate.
type passage struct {
	x         *Executor
	p         core.Principal
	call      core.ToolCall
	resolve   func(core.ToolCall) (Entry, error)
	entry     Entry
	args      map[string]any
	canonical json.RawMessage
	rec       *core.AuditRecord
	watch     core.Watch
	chunks    chunker
}

func (g *passage) run(ctx context.Context) (res core.ToolResult, status core.CallStatus, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.x.o.Logger.Error("panic in a tool call", "call", g.call.ID, "panic", p, "stack", string(debug.Stack()))
			res, status = core.ToolResult{}, core.CallFailed
			err = core.Errorf(core.CodeInternal, "%s failed inside Patchbay. The log has the details.", g.entry.Tool.Ref)
		}
	}()
	tool := g.entry.Tool
	if tool.Broken != "" {
		return res, core.CallInvalid, core.Errorf(core.CodeInvalid, "%s cannot be called: %s", tool.Ref, tool.Broken)
	}
	if err := off(tool); err != nil {
		return res, core.CallDeniedRule, err
	}
	if err := g.entry.schema.validate(g.entry.Alias, g.args); err != nil {
		return res, core.CallInvalid, err
	}
	if g.call.ParentID != "" {
		if err := g.nested(ctx); err != nil {
			return res, core.CallDeniedRule, err
		}
	}
	if status, err := g.permit(ctx); err != nil {
		return res, status, err
	}
	release, err := g.x.o.Limiter.Take(ctx, g.p, tool.Ref, g.call.ParentID != "")
	if err != nil {
		return res, ended(err, core.CallFailed), err
	}
	defer release()
	return g.dispatch(ctx)
}

// nested asks whether the call may be made by the tool that makes it.
func (g *passage) nested(ctx context.Context) error {
	var why error = core.Errorf(core.CodeDenied, "Tools cannot call other tools here.")
	if g.x.o.Nested != nil {
		why = g.x.o.Nested(ctx, g.p, g.call, core.OfferedTool{Alias: g.entry.Alias, Tool: g.entry.Tool})
	}
	if why == nil {
		return nil
	}
	g.rec.Decision = core.Decision{Effect: core.Deny, Rule: "nested-call", Why: why.Error(), Risk: core.RiskMedium}
	return core.Errorf(core.CodeDenied, "%s was not called: %w", g.entry.Tool.Ref, why)
}

// permit asks the policy and, where it says so, a person. Anything but a clear
// yes is a no.
func (g *passage) permit(ctx context.Context) (core.CallStatus, error) {
	tool := g.entry.Tool
	d := g.x.o.Policy.Evaluate(core.PolicyRequest{Principal: g.p, Tool: tool, Arguments: g.canonical})
	g.rec.Decision = d
	switch d.Effect {
	case core.Allow:
		return "", nil
	case core.Ask:
	default:
		return core.CallDeniedRule, core.Errorf(core.CodeDenied, "%s was not called: %s", tool.Ref, d.Why)
	}
	call := g.call
	call.Ref, call.Alias, call.Arguments = tool.Ref, g.entry.Alias, g.canonical
	answer, err := g.x.o.Desk.Ask(ctx, core.Approval{
		ID: uuid.NewString(), Call: call, Title: tool.Title, Principal: g.p, Decision: d,
		Annotations: tool.Annotations, RequestedAt: time.Now().UTC().Format(time.RFC3339Nano),
	}, func() { g.status(core.CallWaiting) })
	if err != nil {
		return ended(err, core.CallFailed), core.Errorf(core.CodeOf(err), "%s was not called: %w", tool.Ref, err)
	}
	g.rec.Answer = answer
	switch answer {
	case core.AnswerAllowOnce, core.AnswerAllowChat:
	case core.AnswerExpired:
		return core.CallExpired, core.Errorf(core.CodeDenied, "Nobody answered in time, so %s was not called.", tool.Ref)
	default:
		return core.CallDenied, core.Errorf(core.CodeDenied, "You declined, so %s was not called.", tool.Ref)
	}
	// While a person thought, the server may have changed what the tool is.
	again := g.call
	again.Ref = tool.Ref
	now, err := g.resolve(again)
	if err != nil {
		return core.CallInvalid, err
	}
	if err := off(now.Tool); err != nil {
		return core.CallDeniedRule, err
	}
	// A no for the tool that came meanwhile outlives the yes to the call.
	if d := g.x.o.Policy.Evaluate(core.PolicyRequest{Principal: g.p, Tool: now.Tool, Arguments: g.canonical}); d.Effect == core.Deny {
		g.rec.Decision = d
		return core.CallDeniedRule, core.Errorf(core.CodeDenied, "%s was not called: %s", tool.Ref, d.Why)
	}
	g.entry = now
	return "", nil
}

// off is the refusal of a tool that a person turned off; nil for another one.
func off(t core.Tool) error {
	if !t.Disabled {
		return nil
	}
	return core.Errorf(core.CodeDenied, "%s was not called: the tool is turned off. Turn it on in %s.", t.Ref, settingsOf(t))
}

// settingsOf names the place where a person changes what is ours of a tool.
func settingsOf(t core.Tool) string {
	if t.Ref.Server != "" {
		return "the settings of the server " + t.Ref.Server
	}
	return "its settings"
}

func (g *passage) dispatch(ctx context.Context) (core.ToolResult, core.CallStatus, error) {
	tool := g.entry.Tool
	runner := g.x.o.Runners[tool.Ref.Kind]
	if runner == nil {
		return core.ToolResult{}, core.CallFailed, core.Errorf(core.CodeUnavailable, "This version of Patchbay cannot run %s tools yet, so %s was not called.", tool.Ref.Kind, tool.Ref)
	}
	idle := g.x.o.Limits.Idle
	if tool.TimeoutMS > 0 {
		idle = time.Duration(tool.TimeoutMS) * time.Millisecond
	}
	absolute := max(idle, g.x.o.Limits.Absolute)
	if tool.MaxTotalMS > 0 {
		absolute = time.Duration(tool.MaxTotalMS) * time.Millisecond
	}
	idleErr := core.Errorf(core.CodeTimeout, "%s gave no sign of life for %s and was given up. If it needs longer, raise its time limit in %s.", tool.Ref, idle, settingsOf(tool))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, absolute, core.Errorf(core.CodeTimeout, "%s was given up after %s, the limit for one call. If it needs longer, raise its limit in all in %s.", tool.Ref, absolute, settingsOf(tool)))
	defer stop()
	timer := time.AfterFunc(idle, func() { cancel(idleErr) })
	defer timer.Stop()
	alive := func() { timer.Reset(idle) }
	nesting, nests := runner.(Nesting)
	if nests {
		timer.Stop()
		alive = func() {}
	}

	g.status(core.CallRunning)
	g.chunks.start(g.call.ID, func(c core.Chunk) {
		g.x.o.Emit(event.ToolsStreamChunk{Chunk: c})
		if g.watch.Chunk != nil {
			g.watch.Chunk(c)
		}
	})
	chunk := func(c core.Chunk) {
		alive()
		g.chunks.add(c)
	}
	var res core.ToolResult
	var err error
	if nests {
		call := g.call
		call.Ref, call.Alias, call.Arguments = tool.Ref, g.entry.Alias, g.canonical
		res, err = nesting.CallFor(ctx, g.p, call, chunk)
	} else {
		res, err = runner.Call(ctx, tool.Ref, g.call.ID, g.canonical, chunk)
	}
	g.chunks.flush()
	if err != nil {
		var limit *core.Error
		if cause := context.Cause(ctx); cause != nil && errors.As(cause, &limit) {
			return core.ToolResult{}, core.CallTimeout, limit
		}
		var ce *core.Error
		if !errors.As(err, &ce) {
			err = core.Errorf(core.CodeOf(err), "%s failed: %w", tool.Ref, err)
		}
		return core.ToolResult{}, ended(err, core.CallFailed), err
	}
	res = shape(res)
	if res.IsError {
		return res, core.CallToolError, nil
	}
	return res, core.CallDone, nil
}

func (g *passage) status(s core.CallStatus) {
	if g.watch.Status != nil {
		g.watch.Status(s)
	}
}

// ended names the end that an error stands for.
func ended(err error, otherwise core.CallStatus) core.CallStatus {
	switch core.CodeOf(err) {
	case core.CodeCanceled:
		return core.CallCanceled
	case core.CodeTimeout:
		return core.CallTimeout
	case core.CodeInvalid, core.CodeNotFound, core.CodeConflict:
		return core.CallInvalid
	}
	return otherwise
}
