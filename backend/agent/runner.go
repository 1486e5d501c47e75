package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/llm"
)

const (
	maxTurns = 50 // of one run; then a person says whether to go on
	atOnce   = 8  // calls of one turn at the same time
)

// Conversations is where a run reads and writes what was said.
type Conversations interface {
	Get(ctx context.Context, id string) (core.Conversation, error)
	Messages(ctx context.Context, id string) ([]core.Message, error)
	// Append is durable when it returns, and all or nothing.
	Append(ctx context.Context, id string, messages ...core.Message) error
}

// Models finds a model.
type Models interface {
	// Resolve returns the provider and the model to use; empty arguments mean the
	// defaults. The origin names both.
	Resolve(ctx context.Context, providerID, model string) (llm.Provider, core.Origin, error)
}

// Catalog says which tools an agent may use.
type Catalog interface {
	Offer(a core.Agent) []core.OfferedTool
}

// Gate makes tool calls.
type Gate interface {
	Call(ctx context.Context, p core.Principal, call core.ToolCall, w core.Watch) core.Outcome
}

// Options are what a runner stands on. All but Emit and Logger must be set.
type Options struct {
	Conversations Conversations
	Agents        *Agents
	Models        Models
	Catalog       Catalog
	Gate          Gate
	Emit          func(event.Payload)
	Logger        *slog.Logger
}

// Runner starts and follows runs. It is safe for concurrent use. Close it.
type Runner struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	runs   map[string]*run // by conversation
}

// NewRunner makes a runner whose runs live until they are done, stopped, or
// the runner is closed.
func NewRunner(o Options) *Runner {
	if o.Emit == nil {
		o.Emit = func(event.Payload) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Runner{o: o, runs: map[string]*run{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Start saves what the person said and begins the run that answers it. It
// returns as soon as the run is under way. A conversation has one run at a time.
func (r *Runner) Start(ctx context.Context, p core.Principal, conversationID, text string) (runID string, err error) {
	if strings.TrimSpace(text) == "" {
		return "", core.Errorf(core.CodeInvalid, "The message is empty.")
	}
	c, err := r.o.Conversations.Get(ctx, conversationID)
	if err != nil {
		return "", err
	}
	agent, err := r.o.Agents.Get(ctx, c.AgentID)
	if core.CodeOf(err) == core.CodeNotFound { // it was removed; the conversation goes on with the default one
		agent, err = r.o.Agents.Get(ctx, "")
	}
	if err != nil {
		return "", err
	}
	providerID, model := c.ProviderID, c.Model
	if providerID == "" {
		providerID, model = agent.ProviderID, firstOf(model, agent.Model)
	}
	provider, origin, err := r.o.Models.Resolve(ctx, providerID, model)
	if err != nil {
		return "", err
	}
	u := &run{r: r, agent: agent, provider: provider, origin: origin,
		live: core.Run{ID: uuid.NewString(), ConversationID: conversationID, StartedAt: now()}}
	// Whoever began it, what an agent does is done by the agent.
	u.principal = core.Principal{Kind: core.PrincipalAgent, AgentID: agent.ID, ConversationID: conversationID, RunID: u.live.ID}
	if p.Kind == core.PrincipalCLI {
		u.principal.Kind = core.PrincipalCLI
	}
	if err := r.admit(u); err != nil {
		return "", err
	}
	history, err := u.begin(ctx, text)
	if err != nil {
		r.forget(u)
		r.wg.Done()
		return "", err
	}
	r.o.Emit(event.RunStarted{ConversationID: conversationID, RunID: u.live.ID})
	go func() {
		defer r.wg.Done()
		u.loop(history)
	}()
	return u.live.ID, nil
}

func (r *Runner) admit(u *run) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return core.Errorf(core.CodeUnavailable, "Patchbay is closing.")
	}
	if r.runs[u.live.ConversationID] != nil {
		return core.Errorf(core.CodeConflict, "The agent is still answering. Stop it first, or wait.")
	}
	u.ctx, u.cancel = context.WithCancel(r.ctx)
	r.runs[u.live.ConversationID] = u
	r.wg.Add(1)
	return nil
}

func (r *Runner) forget(u *run) {
	u.cancel()
	r.mu.Lock()
	delete(r.runs, u.live.ConversationID)
	r.mu.Unlock()
}

// Stop ends the run of a conversation: the model stops writing and running
// calls are cancelled. It does not wait. Without a run it does nothing.
func (r *Runner) Stop(conversationID string) {
	r.mu.Lock()
	u := r.runs[conversationID]
	r.mu.Unlock()
	if u != nil {
		u.cancel()
	}
}

// Running returns a copy of the run of a conversation, nil when nothing runs.
func (r *Runner) Running(conversationID string) *core.Run {
	r.mu.Lock()
	u := r.runs[conversationID]
	r.mu.Unlock()
	if u == nil {
		return nil
	}
	return u.snapshot()
}

// Close stops all runs and waits until what they did is saved, or ctx ends.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	done := make(chan struct{})
	go func() { r.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for runs to end: %w", ctx.Err())
	}
}

// run is one request on its way.
type run struct {
	r         *Runner
	agent     core.Agent
	provider  llm.Provider
	origin    core.Origin
	principal core.Principal
	ctx       context.Context
	cancel    context.CancelFunc

	mu     sync.Mutex
	live   core.Run
	usage  core.Usage
	length map[core.PartKind]int // of the reply's text so far, in UTF-16 code units
	calls  []preparing           // of the reply
}

// begin saves the message and returns the history with it.
func (u *run) begin(ctx context.Context, text string) ([]core.Message, error) {
	id := u.live.ConversationID
	history, err := u.r.o.Conversations.Messages(ctx, id)
	if err != nil {
		return nil, err
	}
	var add []core.Message
	if orphan := unanswered(history); orphan != nil {
		add = append(add, *orphan)
	}
	add = append(add, core.Message{ID: uuid.NewString(), Role: core.RoleUser, At: now(), Parts: []core.Part{{Kind: core.PartText, Text: text}}})
	if err := u.r.o.Conversations.Append(ctx, id, add...); err != nil {
		return nil, err
	}
	return append(history, add...), nil
}

// unanswered makes results for the calls of a turn that the program's end cut
// short: no model accepts a call without one.
func unanswered(history []core.Message) *core.Message {
	if len(history) == 0 || history[len(history)-1].Role != core.RoleAssistant {
		return nil
	}
	var parts []core.Part
	for _, p := range history[len(history)-1].Parts {
		if p.Kind == core.PartToolCall {
			parts = append(parts, core.Part{Kind: core.PartToolResult, CallID: p.CallID, WireID: p.WireID, Alias: p.Alias, Ref: p.Ref, Title: p.Title, Status: core.CallLost,
				Text: "Patchbay was closed while this call was running. Whether it had an effect is unknown.", Error: "Patchbay was closed while this call was running."})
		}
	}
	if parts == nil {
		return nil
	}
	return &core.Message{ID: uuid.NewString(), Role: core.RoleTool, At: now(), Parts: parts}
}

// loop asks the model and makes its calls until it has no more.
func (u *run) loop(history []core.Message) {
	status, err := event.RunDone, error(nil)
	for turn := 1; ; turn++ {
		if turn > maxTurns {
			status, err = event.RunFailed, core.Errorf(core.CodeTooLarge, "The agent took %d turns without coming to an end and was paused. Send a message to let it go on.", maxTurns)
			break
		}
		var reply core.Message
		if reply, err = u.ask(turn, history); err != nil {
			break
		}
		history = append(history, reply)
		results := u.callTools(reply)
		if len(results.Parts) == 0 {
			break
		}
		if err = u.save(results); err != nil {
			break
		}
		history = append(history, results)
		if err = u.ctx.Err(); err != nil {
			break
		}
	}
	out := event.RunFinished{ConversationID: u.live.ConversationID, RunID: u.live.ID, Status: status, Turns: u.live.Turn, Usage: u.usage}
	switch {
	case u.ctx.Err() != nil:
		out.Status = event.RunStopped
	case err != nil:
		out.Status, out.Error, out.Code = event.RunFailed, err.Error(), core.CodeOf(err)
		u.r.o.Logger.Warn("a run failed", "conversation", out.ConversationID, "run", out.RunID, "err", err)
	}
	u.r.forget(u)
	u.r.o.Emit(out)
}

// ask lets the model write one turn, saves it and returns it. What was written
// before a failure or a stop is saved too.
func (u *run) ask(turn int, history []core.Message) (core.Message, error) {
	u.startReply(turn)
	offered := u.r.o.Catalog.Offer(u.agent)
	req := &llm.Request{Model: u.origin.Model, System: u.agent.Instructions, Messages: forWire(history)}
	for _, t := range offered {
		req.Tools = append(req.Tools, llm.ToolDef{Name: t.Alias, Description: t.Tool.Description, Schema: t.Tool.InputSchema})
	}
	var end *llm.End
	for ev, err := range u.provider.Stream(u.ctx, req) {
		if err != nil {
			return core.Message{}, u.broken(err)
		}
		switch ev.Kind {
		case llm.EventText:
			u.delta(core.PartText, ev.Delta)
		case llm.EventReasoning:
			u.delta(core.PartReasoning, ev.Delta)
		case llm.EventCallStart:
			u.prepare(ev.Index, ev.Name, offered)
		case llm.EventCallArgs:
			u.arguments(ev.Index, ev.Delta)
		case llm.EventEnd:
			end = ev.End
		}
	}
	if err := u.ctx.Err(); err != nil {
		return core.Message{}, u.broken(err)
	}
	if end == nil {
		return core.Message{}, u.broken(&llm.Error{Kind: llm.ErrTruncated, Message: "The model's reply broke off. Try again."})
	}
	reply := end.Message
	u.mu.Lock()
	reply.ID, reply.At = u.live.Reply.ID, u.live.Reply.At
	u.usage.Input += end.Usage.Input
	u.usage.CacheRead += end.Usage.CacheRead
	u.usage.CacheWrite += end.Usage.CacheWrite
	u.usage.Output += end.Usage.Output
	u.usage.Reasoning += end.Usage.Reasoning
	u.mu.Unlock()
	reply.Role, reply.Origin, reply.Usage = core.RoleAssistant, u.origin, end.Usage
	name(reply.Parts, offered)
	if err := u.save(reply); err != nil {
		return reply, err
	}
	u.mu.Lock()
	u.live.Reply = nil
	u.mu.Unlock()
	return reply, nil
}

// forWire gives calls and results the ids by which the vendor knows them.
func forWire(history []core.Message) []core.Message {
	out := slices.Clone(history)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		for j := range out[i].Parts {
			if p := &out[i].Parts[j]; p.WireID != "" {
				p.CallID = p.WireID
			}
		}
	}
	return out
}

// name joins the calls of a reply with the tools that were offered, and gives
// them ids that are unique for ever: some vendors count theirs from 0 each turn.
func name(parts []core.Part, offered []core.OfferedTool) {
	for i := range parts {
		if parts[i].Kind != core.PartToolCall {
			continue
		}
		parts[i].WireID, parts[i].CallID = parts[i].CallID, uuid.NewString()
		for _, t := range offered {
			if t.Alias == parts[i].Alias {
				ref := t.Tool.Ref
				parts[i].Ref, parts[i].Title = &ref, t.Tool.Title
			}
		}
	}
}

// broken saves what was written of a turn that did not come to its end, and
// returns why it did not.
func (u *run) broken(cause error) error {
	u.mu.Lock()
	reply := *u.live.Reply
	u.live.Reply = nil
	u.mu.Unlock()
	reply.Stopped = u.ctx.Err() != nil
	if !reply.Stopped {
		reply.Error = cause.Error()
	}
	if err := u.save(reply); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// callTools makes the calls of a reply, several at a time, and returns their
// results in the model's order; without calls, a message without parts.
func (u *run) callTools(reply core.Message) core.Message {
	var calls []core.Part
	for _, p := range reply.Parts {
		if p.Kind == core.PartToolCall {
			calls = append(calls, p)
		}
	}
	results := make([]core.Part, len(calls))
	u.startCalls(calls)
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, p := range calls {
		g.Go(func() error {
			results[i] = u.callTool(i, p)
			return nil
		})
	}
	_ = g.Wait() // the functions above return no errors: a failure is a result
	return core.Message{ID: uuid.NewString(), Role: core.RoleTool, At: now(), Parts: results}
}

func (u *run) callTool(i int, p core.Part) core.Part {
	// The gate must not find a tool that this agent was not offered.
	ref := core.ToolRef{Kind: "unknown", Name: p.Alias}
	if p.Ref != nil {
		ref = *p.Ref
	}
	o := u.r.o.Gate.Call(u.ctx, u.principal, core.ToolCall{ID: p.CallID, Ref: ref, Alias: p.Alias, Arguments: []byte(p.Arguments)}, core.Watch{
		Status: func(s core.CallStatus) { u.callChanged(i, func(c *core.RunCall) { c.Status = s }) },
		Chunk:  func(ch core.Chunk) { u.addChunk(i, ch) },
	})
	out := core.Part{Kind: core.PartToolResult, CallID: p.CallID, WireID: p.WireID, Alias: p.Alias, Ref: p.Ref, Title: p.Title,
		Status: o.Status, Text: o.ModelText, Millis: o.Millis}
	if o.Err != nil {
		out.Error = o.Err.Error()
	} else {
		out.Result = &o.Result
	}
	u.callChanged(i, func(c *core.RunCall) {
		c.Status, c.Millis, c.Result, c.Error = o.Status, o.Millis, out.Result, out.Error
	})
	return out
}

// save outlives the stop of the run: what happened is kept.
func (u *run) save(m core.Message) error {
	if len(m.Parts) == 0 && m.Error == "" && !m.Stopped {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), 10*time.Second)
	defer cancel()
	return u.r.o.Conversations.Append(ctx, u.live.ConversationID, m)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }
