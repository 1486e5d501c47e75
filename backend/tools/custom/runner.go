package custom

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/tools"
	"patchbay/backend/tools/custom/frame"
)

const (
	maxDepth  = 3   // custom tools that call each other: the first, one of its calls, one of that one's
	maxNested = 100 // calls that one call makes, with those that they make
	atOnce    = 8   // of them at the same time
)

// Caller is the gate, as scripts need it.
type Caller interface {
	// Alias looks up what a script calls a tool, and returns text itself where
	// there is none, so that the gate refuses it by the name that was used. It
	// may wait for servers that are still starting.
	Alias(ctx context.Context, text string) string
	Call(ctx context.Context, p core.Principal, call core.ToolCall, w core.Watch) core.Outcome
}

// Requester makes the request of a tool that is declared without code.
type Requester func(ctx context.Context, t core.CustomTool, args json.RawMessage) (core.ToolResult, error)

// Options are what a Runner stands on.
type Options struct {
	// Command starts a worker: the program and its arguments. Empty means this
	// program. Env is its whole environment, normally none.
	Command, Env []string
	Caller       Caller
	Requester    Requester // nil: tools without code cannot be run
	// Secret returns a secret by its name, and false where there is none.
	Secret func(ctx context.Context, name string) (string, bool, error)
	// Private are folders of the product that no script may touch, whatever it declares.
	Private []string
	Logger  *slog.Logger // nil discards

	Timeout time.Duration // of a tool that names none; 0 means 30 s
	Memory  int64         // of one script, in bytes; 0 means 64 MiB
	AtOnce  int           // scripts at the same time; 0 means twice the cores, at least 4
	Uses    int           // calls of one worker; 0 means 200
	Idle    time.Duration // how long a worker waits for work; 0 means 2 min
}

// Runner runs custom tools. It is safe for concurrent use. Close it in the end.
type Runner struct {
	o    Options
	pool *pool
	wg   sync.WaitGroup // calls

	mu      sync.Mutex
	defs    map[string]core.CustomTool // by digest
	drafts  map[string]*draft          // by digest
	running map[string]*call           // by call id
	closed  bool
}

type draft struct {
	tool  core.CustomTool
	users int
}

var _ tools.Nesting = (*Runner)(nil)

// New makes a runner. No process is started before the first call.
func New(o Options) *Runner {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	if o.AtOnce == 0 {
		o.AtOnce = max(4, 2*runtime.NumCPU())
	}
	if o.Uses == 0 {
		o.Uses = 200
	}
	if o.Idle == 0 {
		o.Idle = 2 * time.Minute
	}
	r := &Runner{o: o, defs: map[string]core.CustomTool{}, drafts: map[string]*draft{}, running: map[string]*call{}}
	r.pool = newPool(r.start, o.AtOnce, o.Uses, o.Idle)
	return r
}

func (r *Runner) start() (*process, error) {
	command := r.o.Command
	if len(command) == 0 {
		self, err := executable()
		if err != nil {
			return nil, err
		}
		command = []string{self, frame.Argument}
	}
	return startWorker(command, r.o.Env)
}

// Set replaces the tools that can be called and returns them as the catalog
// shows them. Calls that run go on with the code they began with.
func (r *Runner) Set(list []core.CustomTool) []core.Tool {
	out := []core.Tool{}
	defs := map[string]core.CustomTool{}
	for _, t := range list {
		if t.Enabled {
			def := Define(t)
			defs[def.Ref.Digest] = t
			out = append(out, def)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.defs = defs
	return out
}

// Draft makes t callable without saving it, until release.
func (r *Runner) Draft(t core.CustomTool) (def core.Tool, release func()) {
	def = Define(t)
	key := def.Ref.Digest
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.drafts[key]
	if d == nil {
		d = &draft{tool: t}
		r.drafts[key] = d
	}
	d.users++
	return def, sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if d.users--; d.users == 0 {
			delete(r.drafts, key)
		}
	})
}

func (r *Runner) find(ref core.ToolRef) (core.CustomTool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := r.defs[ref.Digest]; ok {
		return t, nil
	}
	if d, ok := r.drafts[ref.Digest]; ok {
		return d.tool, nil
	}
	return core.CustomTool{}, core.Errorf(core.CodeConflict, "%s was changed or switched off meanwhile, so it was not run. Look at it again, then repeat the call.", ref)
}

// Check compiles code, the body of an async function, and runs nothing. The
// error of code that is no JavaScript has the code invalid, and a line and a
// column in it.
func (r *Runner) Check(ctx context.Context, code string) error {
	ctx, cancel := context.WithTimeout(ctx, readyIn)
	defer cancel()
	if err := r.enter(nil); err != nil {
		return err
	}
	defer r.wg.Done()
	w, err := r.pool.take(ctx, 0)
	if err != nil {
		return err
	}
	good := false
	defer func() { r.pool.give(w, 0, good) }()
	if err := w.out.Send(frame.Frame{Kind: frame.Check, Code: code}); err != nil {
		return core.Errorf(core.CodeUnavailable, "The code could not be checked: %w", err)
	}
	select {
	case f := <-w.frames:
		good = f.Problem == nil || f.Problem.Cause == frame.Syntax
		if f.Problem != nil {
			return &core.Error{Code: core.CodeInvalid, Path: "code", Line: f.Problem.Line, Column: f.Problem.Column, Message: problemText(f.Problem)}
		}
		return nil
	case <-w.gone:
		return core.Errorf(core.CodeUnavailable, "The code could not be checked, because the worker ended: %s.", w.death())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Permit says whether the running call parentID may call the tool with this
// alias. An error says why not.
func (r *Runner) Permit(parentID, alias string) error {
	r.mu.Lock()
	c := r.running[parentID]
	r.mu.Unlock()
	if c == nil {
		return core.Errorf(core.CodeDenied, "The call on whose behalf it would be made has ended.")
	}
	if list := c.tool.Tools; list != nil && !slices.Contains(*list, alias) {
		return core.Errorf(core.CodeDenied, "%s may call only the tools that it declares. Add %q to its tools if it shall.", c.tool.Name, alias)
	}
	return nil
}

// enter begins a call; c is nil for one that nothing can refer to.
func (r *Runner) enter(c *call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return core.Errorf(core.CodeUnavailable, "Patchbay is closing, so no tool is started any more.")
	}
	r.wg.Add(1)
	if c == nil {
		return nil
	}
	c.budget = &budget{left: maxNested}
	if c.parent = r.running[c.call.ParentID]; c.parent != nil {
		c.depth, c.budget = c.parent.depth+1, c.parent.budget
	}
	if c.depth >= maxDepth {
		r.wg.Done()
		return core.Errorf(core.CodeInvalid, "%s was not run: custom tools may call each other %d deep only.", c.tool.Name, maxDepth)
	}
	r.running[c.call.ID] = c
	return nil
}

func (r *Runner) leave(c *call) {
	r.mu.Lock()
	delete(r.running, c.call.ID)
	r.mu.Unlock()
	r.wg.Done()
}

// Close refuses new calls, waits for those that run (the caller ends them by
// their contexts) and ends all workers.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	for _, c := range r.running {
		c.cancel(nil)
	}
	r.mu.Unlock()
	r.wg.Wait()
	r.pool.close()
}
