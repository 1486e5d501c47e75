package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/tools/custom/frame"
)

// grace is how long a worker may take to report by itself that the limit is over.
const grace = 50 * time.Millisecond

// call is one run of one script.
type call struct {
	r      *Runner
	tool   core.CustomTool
	p      core.Principal
	call   core.ToolCall
	parent *call // nil unless a script made it
	depth  int
	budget *budget

	limit  time.Duration
	clock  *clock
	ctx    context.Context // of its questions
	cancel context.CancelCauseFunc
	worker *process
	asks   sync.WaitGroup
	slots  chan struct{}
	chunk  core.ChunkFunc

	waiting atomic.Int64 // bytes of questions that wait for their answers
	sending sync.Mutex   // held while an answer is encoded and sent

	mu      sync.Mutex
	secrets []string            // values it was given; they must not be shown
	masked  func(string) string // hides them; nil while there are none
}

// budget is how many calls a call may still make, with all below it.
type budget struct {
	mu   sync.Mutex
	left int
}

func (b *budget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	return b.left >= 0
}

// Call implements tools.Runner for a call on nobody's behalf.
func (r *Runner) Call(ctx context.Context, ref core.ToolRef, callID string, args json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error) {
	return r.CallFor(ctx, core.Principal{}, core.ToolCall{ID: callID, Ref: ref, Arguments: args}, chunk)
}

// CallFor runs a tool once. A script that throws is a result with IsError; one
// that hits a limit is an error with the code timeout or too_large.
func (r *Runner) CallFor(ctx context.Context, p core.Principal, tc core.ToolCall, chunk core.ChunkFunc) (core.ToolResult, error) {
	t, err := r.find(tc.Ref)
	if err != nil {
		return core.ToolResult{}, err
	}
	if chunk == nil {
		chunk = func(core.Chunk) {}
	}
	c := &call{r: r, tool: t, p: p, call: tc, limit: r.limitOf(t), slots: make(chan struct{}, atOnce), chunk: chunk}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	defer c.cancel(nil)
	if err := r.enter(c); err != nil {
		return core.ToolResult{}, err
	}
	defer r.leave(c)
	if t.HTTP != nil {
		return c.request()
	}
	// Waiting for a worker is not running, but it has an end as well.
	wait, stop := context.WithTimeout(c.ctx, max(c.limit, readyIn))
	c.worker, err = r.pool.take(wait, c.depth)
	stop()
	if err != nil {
		if c.ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = core.Errorf(core.CodeTimeout, "%s was not run: too many custom tools were running already. Try again.", t.Name)
		}
		return core.ToolResult{}, err
	}
	f, err := c.drive()
	good := err == nil && (f.Problem == nil || f.Problem.Cause == frame.Threw || f.Problem.Cause == frame.Syntax || f.Problem.Cause == frame.Stalled)
	if !good {
		_ = c.worker.cmd.Process.Kill() // at once: the limit is a promise
	}
	var cause error
	if err == nil && f.Problem != nil && f.Problem.Cause == frame.Time {
		cause = c.tooLong()
	}
	c.cancel(cause)
	c.asks.Wait()
	r.pool.give(c.worker, c.depth, good)
	if err != nil {
		return core.ToolResult{}, err
	}
	return c.result(f)
}

// request runs a tool that is declared without code.
func (c *call) request() (core.ToolResult, error) {
	if c.r.o.Requester == nil {
		return core.ToolResult{}, core.Errorf(core.CodeUnavailable, "%s cannot be run: there are no connectors here.", c.tool.Name)
	}
	ctx, stop := context.WithTimeoutCause(c.ctx, c.limit, core.Errorf(core.CodeTimeout, "%s got no whole answer within its limit of %s and was given up. Raise its timeout if it needs longer.", c.tool.Name, c.limit))
	defer stop()
	res, err := c.r.o.Requester(ctx, c.tool, c.call.Arguments)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return res, err
}

// drive carries the script's questions and news until it ends, and returns the
// frame with which it did.
func (c *call) drive() (frame.Frame, error) {
	w := c.worker
	w.ready = false
	args := c.call.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	c.clock = startClock(c.limit + grace)
	defer c.clock.stop()
	send := make(chan error, 1)
	// A worker that hangs must not hang us.
	c.asks.Go(func() {
		send <- w.out.Send(frame.Frame{Kind: frame.Run, Code: c.tool.Code, Body: args, LimitMS: max(c.limit.Milliseconds(), 1), Memory: c.r.o.Memory})
	})
	for {
		select {
		case err := <-send:
			if err != nil && !w.dead() {
				return frame.Frame{}, core.Errorf(core.CodeUnavailable, "%s could not be run: %w", c.tool.Name, err)
			}
		case f := <-w.frames:
			switch f.Kind {
			case frame.Log:
				c.chunk(core.Chunk{Kind: core.ChunkLog, Level: f.Level, Message: c.mask(f.Text)})
			case frame.Progress:
				var s frame.Step
				if err := json.Unmarshal(f.Body, &s); err != nil {
					return frame.Frame{}, core.Errorf(core.CodeInternal, "%s sent progress that makes no sense: %w", c.tool.Name, err)
				}
				c.chunk(core.Chunk{Kind: core.ChunkProgress, Progress: s.Progress, Total: s.Total, Message: c.mask(s.Message)})
			case frame.Ask:
				if !c.ask(f) {
					return frame.Frame{Kind: frame.Fail, Problem: &frame.Problem{Cause: frame.Memory}}, nil
				}
			case frame.Done, frame.Fail:
				return f, nil
			}
		case <-w.gone:
			return c.died()
		case <-c.clock.out:
			return frame.Frame{Kind: frame.Fail, Problem: &frame.Problem{Cause: frame.Time}}, nil
		case <-c.ctx.Done():
			return frame.Frame{}, context.Cause(c.ctx)
		}
	}
}

// died tells what the end of a worker means for the call that it ran.
func (c *call) died() (frame.Frame, error) {
	if c.ctx.Err() != nil {
		return frame.Frame{}, context.Cause(c.ctx)
	}
	code := -1
	if s := c.worker.cmd.ProcessState; s != nil {
		code = s.ExitCode()
	}
	how := c.worker.death()
	switch {
	case code == frame.ExitTime:
		return frame.Frame{Kind: frame.Fail, Problem: &frame.Problem{Cause: frame.Time}}, nil
	case code == frame.ExitMemory, strings.Contains(how, "out of memory"), strings.Contains(how, "cannot allocate memory"):
		return frame.Frame{Kind: frame.Fail, Problem: &frame.Problem{Cause: frame.Memory}}, nil
	}
	c.r.o.Logger.Error("a worker ended in the middle of a call", "tool", c.tool.Name, "call", c.call.ID, "how", how)
	return frame.Frame{}, core.Errorf(core.CodeUnavailable, "The worker that ran %s ended in the middle of it (%s). Nothing else was touched; the next call gets a new worker.", c.tool.Name, c.worker.cmd.ProcessState)
}

func (c *call) tooLong() error {
	return core.Errorf(core.CodeTimeout, "%s ran longer than its limit of %s and was stopped. Raise its timeout, or let it do less at a time.", c.tool.Name, c.limit)
}

// result makes the end of a script what the gate expects.
func (c *call) result(f frame.Frame) (core.ToolResult, error) {
	p := f.Problem
	switch {
	case f.Kind == frame.Done && len(f.Body) == 0: // undefined
		return core.ToolResult{Content: []core.Content{}}, nil
	case f.Kind == frame.Done:
		var s string
		if json.Unmarshal(f.Body, &s) == nil && f.Body[0] == '"' {
			return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: c.mask(s)}}}, nil
		}
		s = c.mask(string(f.Body))
		res := core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: s}}}
		if json.Valid([]byte(s)) { // a secret that is a number leaves no JSON
			res.StructuredContent = json.RawMessage(s)
		}
		return res, nil
	case p == nil:
		return core.ToolResult{}, core.Errorf(core.CodeInternal, "%s ended without saying how.", c.tool.Name)
	case p.Cause == frame.Time:
		return core.ToolResult{}, c.tooLong()
	case p.Cause == frame.Memory:
		return core.ToolResult{}, core.Errorf(core.CodeTooLarge, "%s needed more than the %d MiB of memory that a tool may have and was stopped. Let it work on less at a time.", c.tool.Name, c.r.o.Memory>>20)
	}
	return core.ToolResult{IsError: true, Content: []core.Content{{Type: core.ContentText, Text: c.mask(problemText(p))}}}, nil
}

// problemText is an exception as a person reads it.
func problemText(p *frame.Problem) string {
	out := p.Message
	if p.Name == "InternalError" && p.Message == "stack overflow" {
		out = "stack overflow: it called itself too deeply"
	}
	if p.Name != "" {
		out = p.Name + ": " + out
	}
	if p.Line > 0 {
		out += fmt.Sprintf(" (line %d, column %d)", p.Line, p.Column)
	}
	if p.Stack != "" && strings.Contains(p.Stack, "\n") {
		out += "\n" + p.Stack
	}
	return out
}

// mask hides the secrets that the script was given from what is shown and kept.
func (c *call) mask(s string) string {
	c.mu.Lock()
	masked := c.masked
	c.mu.Unlock()
	if masked == nil {
		return s
	}
	return masked(s)
}

// hold stops the clock of this call and of those that wait for it.
func (c *call) hold() {
	for ; c != nil; c = c.parent {
		c.clock.hold()
	}
}

func (c *call) release() {
	for ; c != nil; c = c.parent {
		c.clock.release()
	}
}

// nested makes a call of another tool, through the gate.
func (c *call) nested(name string, args json.RawMessage) (any, error) {
	if !c.budget.take() {
		return nil, core.Errorf(core.CodeTooLarge, "%s has made the %d calls of other tools that one call may make.", c.tool.Name, maxNested)
	}
	waiting := false
	wait := func(on bool) {
		if on == waiting {
			return
		}
		if waiting = on; on {
			c.hold()
		} else {
			c.release()
		}
	}
	o := c.r.o.Caller.Call(c.ctx, c.p, core.ToolCall{ID: uuid.NewString(), ParentID: c.call.ID, Alias: c.r.o.Caller.Alias(c.ctx, name), Arguments: args},
		core.Watch{Status: func(s core.CallStatus) { wait(s == core.CallWaiting) }})
	wait(false)
	if o.Err != nil {
		return nil, o.Err
	}
	return o.Result.MCP(), nil
}
