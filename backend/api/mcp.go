package api

import (
	"context"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
)

// MCP is the facade of the MCP servers.
type MCP struct{}

func (m *MCP) GetServers(ctx context.Context) (wire.ServersView, error) { panic(0) }
func (m *MCP) ParseServers(ctx context.Context, in wire.ParseServersInput) (wire.ParsedServers, error) {
	panic(0)
}
func (m *MCP) AddServer(ctx context.Context, in wire.AddServerInput) (wire.ServerView, error) {
	panic(0)
}
func (m *MCP) AddDemoServer(ctx context.Context) (wire.ServerView, error) { panic(0) }
func (m *MCP) UpdateServer(ctx context.Context, in wire.UpdateServerInput) (wire.ServerView, error) {
	panic(0)
}
func (m *MCP) RemoveServer(ctx context.Context, in wire.NameInput) (wire.RemoveServerOutput, error) {
	panic(0)
}
func (m *MCP) RestoreServer(ctx context.Context, in wire.UndoInput) error { panic(0) }
func (m *MCP) SetServerEnabled(ctx context.Context, in wire.SetServerEnabledInput) (wire.ServerView, error) {
	panic(0)
}
func (m *MCP) TestServer(ctx context.Context, in wire.TestServerInput) (core.TestReport, error) {
	panic(0)
}
func (m *MCP) ReconnectServer(ctx context.Context, in wire.NameInput) error        { panic(0) }
func (m *MCP) DisconnectServer(ctx context.Context, in wire.NameInput) error       { panic(0) }
func (m *MCP) GetLog(ctx context.Context, in wire.NameInput) (wire.LogView, error) { panic(0) }

type Tools struct{}

func (m *Tools) Get(ctx context.Context) (wire.ToolsView, error)             { panic(0) }
func (m *Tools) GetCustom(ctx context.Context) (wire.CustomToolsView, error) { panic(0) }
func (m *Tools) Add(ctx context.Context, in wire.CustomTool) error           { panic(0) }
func (m *Tools) Update(ctx context.Context, in wire.UpdateToolInput) error   { panic(0) }
func (m *Tools) Remove(ctx context.Context, in wire.NameInput) (wire.RemoveServerOutput, error) {
	panic(0)
}
func (m *Tools) Restore(ctx context.Context, in wire.UndoInput) error { panic(0) }
func (m *Tools) Execute(ctx context.Context, in wire.ExecuteInput) (wire.ExecuteOutput, error) {
	panic(0)
}
func (m *Tools) Cancel(ctx context.Context, in wire.CancelInput) error { panic(0) }

type Chat struct{}

func (m *Chat) GetConversations(ctx context.Context) (wire.ConversationsView, error) { panic(0) }
func (m *Chat) Create(ctx context.Context, in wire.CreateConversationInput) (core.Conversation, error) {
	panic(0)
}
func (m *Chat) Get(ctx context.Context, in wire.IDInput) (wire.ConversationDetail, error) { panic(0) }
func (m *Chat) Update(ctx context.Context, in wire.UpdateConversationInput) (core.Conversation, error) {
	panic(0)
}
func (m *Chat) Remove(ctx context.Context, in wire.IDInput) error                    { panic(0) }
func (m *Chat) Send(ctx context.Context, in wire.SendInput) (wire.SendOutput, error) { panic(0) }
func (m *Chat) Stop(ctx context.Context, in wire.StopInput) error                    { panic(0) }

type Agents struct{}

func (m *Agents) Get(ctx context.Context) (wire.AgentsView, error)            { panic(0) }
func (m *Agents) Save(ctx context.Context, in core.Agent) (core.Agent, error) { panic(0) }
func (m *Agents) Remove(ctx context.Context, in wire.IDInput) error           { panic(0) }

type Approvals struct{}

func (m *Approvals) Get(ctx context.Context) (wire.ApprovalsView, error)     { panic(0) }
func (m *Approvals) Resolve(ctx context.Context, in wire.ResolveInput) error { panic(0) }

type Audit struct{}

func (m *Audit) Get(ctx context.Context, in wire.AuditInput) (wire.AuditView, error) { panic(0) }

type Models struct{}

func (m *Models) GetProviders(ctx context.Context) (wire.ProvidersView, error) { panic(0) }
func (m *Models) SaveProvider(ctx context.Context, in wire.SaveProviderInput) (core.Provider, error) {
	panic(0)
}
func (m *Models) RemoveProvider(ctx context.Context, in wire.IDInput) error             { panic(0) }
func (m *Models) Get(ctx context.Context, in wire.ModelsInput) (wire.ModelsView, error) { panic(0) }

type Settings struct{}

func (m *Settings) Get(ctx context.Context) (wire.SettingsView, error)     { panic(0) }
func (m *Settings) Update(ctx context.Context, in wire.SettingsView) error { panic(0) }
func (m *Settings) GetInfo(ctx context.Context) (wire.Info, error)         { panic(0) }
