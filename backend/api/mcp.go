package api

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"patchbay/backend/api/wire"
	"patchbay/backend/config"
	"patchbay/backend/config/discover"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
	"patchbay/backend/mcp"
)

// SecretStore keeps what must not stand in tools.json.
type SecretStore interface {
	Get(ctx context.Context, name string) (string, bool, error)
	Set(ctx context.Context, name, value string) error
	Delete(ctx context.Context, name string) error
}

// ServerLog reads the files about the servers.
type ServerLog interface {
	Path(server string) string
	// Last returns the last n lines, the oldest first. The error is CodeNotFound
	// when nothing was written.
	Last(server string, n int) ([]string, error)
}

// MCPOptions are what the facade of the servers stands on. All must be set but Renamed, Links, Log and Apps.
type MCPOptions struct {
	Config  *config.Store
	Manager *mcp.Manager
	// Apply brings what tools.json says into effect.
	Apply func()
	// Demo returns the configuration of the demo server.
	Demo    func() (core.ServerSpec, error)
	Secrets SecretStore
	Doctor  *doctor.Doctor
	// Bundles is the folder into which bundles are unpacked.
	Bundles string
	// Renamed is told before a server gets another name; an error keeps the old one. nil for nobody.
	Renamed func(ctx context.Context, from, to string) error
	// Links are opened from outside; nil for none.
	Links *Links
	// Log keeps what happened with the servers; nil for none.
	Log ServerLog
	// Apps are the programs whose files mcp:findConfigs reads; nil for none.
	Apps []discover.App
}

// MCP is the facade of the servers. tools.json is where they are kept; the
// engine is told after each change.
type MCP struct {
	config  *config.Store
	manager *mcp.Manager
	apply   func()
	demo    func() (core.ServerSpec, error)
	secrets SecretStore
	doctor  *doctor.Doctor
	bundles shelf
	renamed func(ctx context.Context, from, to string) error
	links   *Links
	log     ServerLog
	apps    []discover.App
	undo    undo[core.ServerSpec]
}

// NewMCP makes the facade.
func NewMCP(o MCPOptions) *MCP {
	return &MCP{config: o.Config, manager: o.Manager, apply: o.Apply, demo: o.Demo, secrets: o.Secrets, doctor: o.Doctor,
		bundles: shelf{dir: o.Bundles}, renamed: o.Renamed, links: o.Links, log: o.Log, apps: o.Apps}
}

// GetServers returns all configured servers with their states. It waits for none of them.
func (m *MCP) GetServers(_ context.Context) (wire.ServersView, error) {
	file, _ := m.config.Current() // a broken file is told by settings:getInfo; the last good state goes on
	status := map[string]core.ServerStatus{}
	for _, s := range m.manager.Status() {
		status[s.Name] = s
	}
	var out wire.ServersView
	for _, spec := range file.Servers {
		out.Servers = append(out.Servers, view(spec, status[spec.Name]))
	}
	return out, nil
}

// AddDemoServer saves and connects the demo server that the product brings. One
// that is there already is left as it is.
func (m *MCP) AddDemoServer(ctx context.Context) (wire.ServerView, error) {
	spec, err := m.demo()
	if err != nil {
		return wire.ServerView{}, err
	}
	file, err := m.config.Current()
	if err != nil {
		return wire.ServerView{}, err
	}
	if slices.ContainsFunc(file.Servers, named(spec.Name)) {
		return m.saved(spec.Name, nil)
	}
	return m.saved(spec.Name, m.config.AddServer(ctx, spec))
}

// SetServerEnabled switches a server on or off for good.
func (m *MCP) SetServerEnabled(ctx context.Context, in wire.SetServerEnabledInput) (wire.ServerView, error) {
	spec, err := m.find(in.Name)
	if err != nil {
		return wire.ServerView{}, err
	}
	spec.Disabled = !in.Enabled
	return m.saved(in.Name, m.config.UpdateServer(ctx, in.Name, spec))
}

// RemoveServer disconnects a server and takes it out of tools.json. Its secrets
// stay in the secret store and its bundle stays unpacked, for the way back.
func (m *MCP) RemoveServer(ctx context.Context, in wire.NameInput) (wire.Removed, error) {
	spec, err := m.find(in.Name)
	if err != nil {
		return wire.Removed{}, err
	}
	if err := m.config.RemoveServer(ctx, in.Name); err != nil {
		return wire.Removed{}, err
	}
	m.apply()
	return wire.Removed{UndoID: m.undo.keep(spec)}, nil
}

// RestoreServer takes a removal back.
func (m *MCP) RestoreServer(ctx context.Context, in wire.UndoInput) error {
	spec, err := m.undo.take(in.UndoID)
	if err != nil {
		return err
	}
	if err := m.config.AddServer(ctx, spec); err != nil {
		return err
	}
	m.apply()
	return nil
}

// ReconnectServer closes the connection of a server, if there is one, and opens it anew.
func (m *MCP) ReconnectServer(ctx context.Context, in wire.NameInput) error {
	return m.manager.Reconnect(ctx, in.Name)
}

// DisconnectServer closes the connection of a server; its configuration stays.
func (m *MCP) DisconnectServer(ctx context.Context, in wire.NameInput) error {
	return m.manager.Disconnect(ctx, in.Name)
}

// RefreshTools lists the tools of a server anew and returns when the new list is
// in effect. A server that starts on demand is started for it.
func (m *MCP) RefreshTools(ctx context.Context, in wire.NameInput) error {
	return m.manager.Refresh(ctx, in.Name)
}

// SignIn lets the person sign in to a server with a browser, which the page is
// asked to open (browser:open). It returns when that is done, refused or given
// up, after five minutes at most; cancelling it gives up.
func (m *MCP) SignIn(ctx context.Context, in wire.NameInput) error {
	return m.manager.SignIn(ctx, in.Name)
}

// FinishSignIn hands over the address at which the browser ended up.
func (m *MCP) FinishSignIn(_ context.Context, in wire.FinishSignInInput) error {
	return m.manager.FinishSignIn(in.Name, in.CallbackURL)
}

// SignOut forgets the token of a server and how Patchbay introduced itself there.
func (m *MCP) SignOut(ctx context.Context, in wire.NameInput) error {
	return m.manager.ForgetSignIn(ctx, in.Name)
}

func (m *MCP) saved(name string, err error) (wire.ServerView, error) {
	if err != nil {
		return wire.ServerView{}, err
	}
	m.apply()
	spec, err := m.find(name)
	if err != nil {
		return wire.ServerView{}, err
	}
	for _, s := range m.manager.Status() {
		if s.Name == name {
			return view(spec, s), nil
		}
	}
	return view(spec, core.ServerStatus{Name: name}), nil
}

func (m *MCP) find(name string) (core.ServerSpec, error) {
	file, _ := m.config.Current()
	i := slices.IndexFunc(file.Servers, named(name))
	if i < 0 {
		return core.ServerSpec{}, core.Errorf(core.CodeNotFound, "There is no server %q in tools.json. It may have been renamed or removed.", name)
	}
	return file.Servers[i], nil
}

func named(name string) func(core.ServerSpec) bool {
	return func(s core.ServerSpec) bool { return s.Name == name }
}

// maxUndo is how many removals can be taken back.
const maxUndo = 20

// undo keeps the latest removals until the program ends.
type undo[T any] struct {
	mu   sync.Mutex
	ids  []string
	kept map[string]T
}

func (u *undo[T]) keep(v T) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept == nil {
		u.kept = map[string]T{}
	}
	id := uuid.NewString()
	u.ids, u.kept[id] = append(u.ids, id), v
	if len(u.ids) > maxUndo {
		delete(u.kept, u.ids[0])
		u.ids = u.ids[1:]
	}
	return id
}

func (u *undo[T]) take(id string) (T, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	v, ok := u.kept[id]
	if !ok {
		return v, core.Errorf(core.CodeNotFound, "This removal cannot be taken back any more. The copy beside tools.json, tools.json.bak, may still have it.")
	}
	delete(u.kept, id)
	return v, nil
}
