package api

import (
	"context"
	"encoding/json"

	"patchbay/backend/api/wire"
	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/tools"
)

// Tools is the facade of the tools: those of the catalog, and the person's own
// in tools.json.
type Tools struct {
	config   *config.Store
	catalog  *tools.Catalog
	gate     *tools.Executor
	policy   tools.Policy
	apply    func()
	runnable bool
	undo     undo[config.CustomTool]
}

// NewTools makes the facade. apply brings what tools.json says into effect;
// runnable says whether custom tools can be run.
func NewTools(c *config.Store, catalog *tools.Catalog, gate *tools.Executor, policy tools.Policy, apply func(), runnable bool) *Tools {
	return &Tools{config: c, catalog: catalog, gate: gate, policy: policy, apply: apply, runnable: runnable}
}

// Get returns every tool from memory.
func (t *Tools) Get(_ context.Context) (wire.ToolsView, error) {
	var out wire.ToolsView
	for _, e := range t.catalog.All() {
		out.Tools = append(out.Tools, wire.ToolView{
			Tool: e.Tool, Alias: e.Alias, Available: e.Tool.Broken == "" && !e.Tool.Disabled,
			Decision: t.policy.Evaluate(core.PolicyRequest{Principal: core.Principal{Kind: core.PrincipalWindow}, Tool: e.Tool}),
		})
	}
	return out, nil
}

// GetCustom returns the person's own tools.
func (t *Tools) GetCustom(_ context.Context) (wire.CustomToolsView, error) {
	file, _ := t.config.Current() // a broken file is told by settings:getInfo
	out := wire.CustomToolsView{Runnable: t.runnable}
	for _, c := range file.Tools {
		out.Tools = append(out.Tools, wire.CustomTool(c))
	}
	return out, nil
}

// Add saves a new custom tool.
func (t *Tools) Add(ctx context.Context, in wire.CustomTool) error {
	return t.saved(t.config.AddTool(ctx, config.CustomTool(in)))
}

// Update replaces a custom tool.
func (t *Tools) Update(ctx context.Context, in wire.UpdateToolInput) error {
	return t.saved(t.config.UpdateTool(ctx, in.Name, config.CustomTool(in.Tool)))
}

// Remove takes a custom tool out of tools.json.
func (t *Tools) Remove(ctx context.Context, in wire.NameInput) (wire.Removed, error) {
	file, _ := t.config.Current()
	for _, c := range file.Tools {
		if c.Name == in.Name {
			if err := t.saved(t.config.RemoveTool(ctx, in.Name)); err != nil {
				return wire.Removed{}, err
			}
			return wire.Removed{UndoID: t.undo.keep(c)}, nil
		}
	}
	return wire.Removed{}, core.Errorf(core.CodeNotFound, "There is no custom tool %q in tools.json any more.", in.Name)
}

// Restore takes a removal back.
func (t *Tools) Restore(ctx context.Context, in wire.UndoInput) error {
	c, err := t.undo.take(in.UndoID)
	if err != nil {
		return err
	}
	return t.saved(t.config.AddTool(ctx, c))
}

func (t *Tools) saved(err error) error {
	if err == nil {
		t.apply()
	}
	return err
}

// Execute makes one call for a person, through the gate. Whatever its end, the
// output says it; an error means that there was no call.
func (t *Tools) Execute(ctx context.Context, in wire.ExecuteInput) (wire.ExecuteOutput, error) {
	o := t.gate.Call(ctx, core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{ID: in.CallID, Ref: in.Ref, Arguments: json.RawMessage(in.Arguments)}, core.Watch{})
	out := wire.ExecuteOutput{CallID: o.CallID, Status: o.Status, Result: o.Result, Millis: o.Millis, ModelText: o.ModelText}
	if o.Err != nil {
		out.Error, out.Code = o.Err.Error(), core.CodeOf(o.Err)
	}
	return out, nil
}

// Cancel ends a running call, a person's or an agent's. One that has ended is no error.
func (t *Tools) Cancel(_ context.Context, in wire.CancelInput) error {
	t.gate.Cancel(in.CallID)
	return nil
}
