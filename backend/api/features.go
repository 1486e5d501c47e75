package api

import (
	"context"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
)

// What a server offers beside tools. It is only listed here: reading a resource
// and getting a prompt are calls of the tools "resources" and "prompts" of kind
// feature, through the gate.

// GetResources asks a server for its resources and templates.
func (m *MCP) GetResources(ctx context.Context, in wire.NameInput) (core.Resources, error) {
	return m.manager.Resources(ctx, in.Name)
}

// GetPrompts asks a server for its prompts.
func (m *MCP) GetPrompts(ctx context.Context, in wire.NameInput) (core.Prompts, error) {
	return m.manager.Prompts(ctx, in.Name)
}

// Complete asks a server what the value of an argument could be.
func (m *MCP) Complete(ctx context.Context, in wire.CompleteInput) (core.Completed, error) {
	return m.manager.Complete(ctx, in.Name, in.Completion)
}

// SubscribeResource makes resources:changed tell when a resource changes.
func (m *MCP) SubscribeResource(ctx context.Context, in wire.ResourceInput) error {
	return m.manager.Subscribe(ctx, in.Name, in.URI)
}

// UnsubscribeResource ends that.
func (m *MCP) UnsubscribeResource(ctx context.Context, in wire.ResourceInput) error {
	return m.manager.Unsubscribe(ctx, in.Name, in.URI)
}

// GetActivity returns the timeline of a server after the entry In.After.
func (m *MCP) GetActivity(_ context.Context, in wire.ActivityInput) (wire.ActivityView, error) {
	entries, err := m.manager.Activity(in.Name, in.After)
	return wire.ActivityView{Entries: entries}, err
}

// GetLog returns the last lines of the file about a server, of this run and of
// those before. A server without a file has no lines.
func (m *MCP) GetLog(_ context.Context, in wire.LogInput) (wire.LogView, error) {
	if _, err := m.find(in.Name); err != nil {
		return wire.LogView{}, err
	}
	if m.log == nil {
		return wire.LogView{}, core.Errorf(core.CodeUnavailable, "No log is kept of the servers.")
	}
	n := in.Lines
	if n <= 0 || n > maxLogLines {
		n = maxLogLines
	}
	lines, err := m.log.Last(in.Name, n)
	if core.CodeOf(err) == core.CodeNotFound {
		err = nil
	}
	return wire.LogView{Path: m.log.Path(in.Name), Lines: lines}, err
}

const maxLogLines = 2000

// ClearActivity forgets the timeline of a server.
func (m *MCP) ClearActivity(_ context.Context, in wire.NameInput) error {
	return m.manager.ClearActivity(in.Name)
}
