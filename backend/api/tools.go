package api

import (
	"context"
	"sync"

	"patchbay/backend/api/wire"
	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/tools"
	"patchbay/backend/tools/custom"
)

// ToolStore keeps former versions of custom tools, and saved requests.
type ToolStore interface {
	SettingsStore
	AddCustomVersion(ctx context.Context, name string, t core.CustomTool) error
	RenameCustomVersions(ctx context.Context, from, to string) error
	CustomVersions(ctx context.Context, name string) ([]core.CustomVersion, error)
}

// Tools is the facade of the tools: those of the catalog, and the person's own
// in tools.json.
type Tools struct {
	config  *config.Store
	catalog *tools.Catalog
	gate    *tools.Executor
	rules   Rules
	choices ToolChoices
	custom  *custom.Runner
	store   ToolStore
	saving  sync.Mutex // of saved requests
	apply   func()
	undo    undo[core.CustomTool]

	verdicts     verdicts
	undoApproval undo[[]core.ToolApproval]
}

// NewTools makes the facade. apply brings what tools.json says into effect.
func NewTools(c *config.Store, catalog *tools.Catalog, gate *tools.Executor, rules Rules, choices ToolChoices, runner *custom.Runner, store ToolStore, apply func()) *Tools {
	return &Tools{config: c, catalog: catalog, gate: gate, rules: rules, choices: choices, custom: runner, store: store, apply: apply}
}

// Get returns every tool from memory.
func (t *Tools) Get(_ context.Context) (wire.ToolsView, error) {
	var out wire.ToolsView
	all := t.catalog.All()
	t.verdicts.keep(all)
	for _, e := range all {
		view := t.view(e)
		switch e.Tool.Ref.Kind {
		case core.ToolFeature:
			out.Features = append(out.Features, view)
		case core.ToolBuiltin:
			out.Builtins = append(out.Builtins, view)
		default:
			out.Tools = append(out.Tools, view)
		}
	}
	return out, nil
}

// GetCustom returns the person's own tools.
func (t *Tools) GetCustom(_ context.Context) (wire.CustomToolsView, error) {
	file, _ := t.config.Current() // a broken file is told by settings:getInfo
	out := wire.CustomToolsView{}
	out.Tools = append(out.Tools, file.Tools...)
	return out, nil
}

// Execute makes one call for a person, through the gate. Whatever its end, the
// output says it; an error means that there was no call.
func (t *Tools) Execute(ctx context.Context, in wire.ExecuteInput) (wire.ExecuteOutput, error) {
	return executed(t.gate.Call(ctx, core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{ID: in.CallID, Ref: in.Ref, Arguments: in.Arguments}, core.Watch{})), nil
}

func executed(o core.Outcome) wire.ExecuteOutput {
	out := wire.ExecuteOutput{CallID: o.CallID, Status: o.Status, Result: o.Result, Millis: o.Millis, ModelText: o.ModelText}
	if o.Err != nil {
		out.Error, out.Code = o.Err.Error(), core.CodeOf(o.Err)
	}
	return out
}

// Cancel ends a running call, a person's or an agent's. One that has ended is no error.
func (t *Tools) Cancel(_ context.Context, in wire.CancelInput) error {
	t.gate.Cancel(in.CallID)
	return nil
}
