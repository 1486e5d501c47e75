package approval

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/backend/core"
)

// ChoiceStore keeps choices durably.
type ChoiceStore interface {
	ToolApprovals(ctx context.Context) ([]core.ToolApproval, error)
	// SetToolApprovals removes the first and saves the second, all or none.
	SetToolApprovals(ctx context.Context, remove []core.ToolRef, save []core.ToolApproval) error
	// Version changes when another program writes the store.
	Version(ctx context.Context) (int64, error)
}

// Choices are what a person chose for single tools. Reading is one look into a
// map in memory; it is safe for concurrent use.
type Choices struct {
	store   ChoiceStore
	changed func()
	snap    atomic.Pointer[map[core.ToolRef]core.ToolApproval] // by reference without digest

	writing sync.Mutex
	version int64 // of the store as it was read; guarded by writing
}

// NewChoices reads the choices. changed, when not nil, is called after each
// change, with no lock held.
func NewChoices(ctx context.Context, s ChoiceStore, changed func()) (*Choices, error) {
	c := &Choices{store: s, changed: changed}
	if changed == nil {
		c.changed = func() {}
	}
	var err error
	if c.version, err = s.Version(ctx); err != nil {
		return nil, err
	}
	return c, c.read(ctx)
}

func (c *Choices) read(ctx context.Context) error {
	all, err := c.store.ToolApprovals(ctx)
	if err != nil {
		return err
	}
	next := make(map[core.ToolRef]core.ToolApproval, len(all))
	for _, a := range all {
		next[bare(a.Tool.Ref)] = a
	}
	c.snap.Store(&next)
	return nil
}

// bare is a reference without its digest: a choice is found by name.
func bare(ref core.ToolRef) core.ToolRef {
	ref.Digest = ""
	return ref
}

// Choice returns what was chosen for ref, and false where the rules decide.
func (c *Choices) Choice(ref core.ToolRef) (core.ToolApproval, bool) {
	a, ok := (*c.snap.Load())[bare(ref)]
	return a, ok
}

// Blocked reports whether nobody may call ref.
func (c *Choices) Blocked(ref core.ToolRef) bool {
	a, _ := c.Choice(ref)
	return a.Choice == core.ChoiceBlock
}

// Choose sets the choices of tools, all or none, and returns what they were
// before, for the way back. ChoiceInherit takes a choice away. An empty Since
// means now.
func (c *Choices) Choose(ctx context.Context, list []core.ToolApproval) ([]core.ToolApproval, error) {
	c.writing.Lock()
	before, err := c.choose(ctx, list)
	c.writing.Unlock()
	if err == nil {
		c.changed()
	}
	return before, err
}

func (c *Choices) choose(ctx context.Context, list []core.ToolApproval) (before []core.ToolApproval, err error) {
	next := maps.Clone(*c.snap.Load())
	var remove []core.ToolRef
	var save []core.ToolApproval
	for _, a := range list {
		key := bare(a.Tool.Ref)
		was, there := next[key]
		if !there {
			was = core.ToolApproval{Tool: core.Tool{Ref: key}}
		}
		before = append(before, was)
		switch a.Choice {
		case core.ChoiceInherit:
			remove = append(remove, key)
			delete(next, key)
		case core.ChoiceAsk, core.ChoiceAllow, core.ChoiceBlock:
			if a.Since == "" {
				a.Since = time.Now().UTC().Format(time.RFC3339Nano)
			}
			save = append(save, a)
			next[key] = a
		default:
			return nil, core.Errorf(core.CodeInvalid, "%q is no choice for %s. Use ask, allow or block, or nothing to let the rules decide.", a.Choice, a.Tool.Ref)
		}
		if a.Choice == core.ChoiceAllow && a.Tool.Ref.Digest == "" {
			return nil, core.Errorf(core.CodeInvalid, "%s can be allowed only with its definition at hand.", a.Tool.Ref)
		}
	}
	if err := c.store.SetToolApprovals(ctx, remove, save); err != nil {
		return nil, err
	}
	c.snap.Store(&next)
	return before, nil
}

// RenameServer gives the choices for the tools of one server to its new name. An
// allowed tool stays allowed as long as nothing but that name is different.
func (c *Choices) RenameServer(ctx context.Context, from, to string) error {
	return c.rename(ctx, func(t core.Tool) (core.Tool, bool) {
		if from == "" || t.Ref.Server != from {
			return t, false
		}
		same := t.Ref.Digest == t.ComputeDigest()
		t.Ref.Server = to
		if same {
			t.Ref.Digest = t.ComputeDigest()
		}
		return t, true
	})
}

// RenameCustom gives the choice for a custom tool to its new name. One that was
// allowed has to be allowed anew: its name is part of what it is.
func (c *Choices) RenameCustom(ctx context.Context, from, to string) error {
	return c.rename(ctx, func(t core.Tool) (core.Tool, bool) {
		if t.Ref.Kind != core.ToolCustom || t.Ref.Name != from {
			return t, false
		}
		t.Ref.Name = to
		return t, true
	})
}

func (c *Choices) rename(ctx context.Context, name func(core.Tool) (core.Tool, bool)) error {
	c.writing.Lock()
	var list []core.ToolApproval
	for ref, a := range *c.snap.Load() {
		if t, is := name(a.Tool); is {
			list = append(list, core.ToolApproval{Tool: core.Tool{Ref: ref}})
			a.Tool = t
			list = append(list, a)
		}
	}
	_, err := c.choose(ctx, list)
	c.writing.Unlock()
	if err == nil && len(list) > 0 {
		c.changed()
	}
	return err
}

// Follow reads the choices anew when another program, such as the command line,
// has changed them. It looks every so often and returns when ctx ends; an error
// of the store is given to fault, and looking goes on.
func (c *Choices) Follow(ctx context.Context, every time.Duration, fault func(error)) {
	look := time.NewTicker(every)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if err := c.refresh(ctx); err != nil && ctx.Err() == nil {
			fault(err)
		}
	}
}

func (c *Choices) refresh(ctx context.Context) error {
	c.writing.Lock()
	v, err := c.store.Version(ctx)
	stale := err == nil && v != c.version
	if stale {
		if err = c.read(ctx); err == nil {
			c.version = v
		}
	}
	c.writing.Unlock()
	if err == nil && stale {
		c.changed()
	}
	return err
}
