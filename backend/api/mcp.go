package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"patchbay/backend/api/wire"
	"patchbay/backend/config"
	"patchbay/backend/config/paste"
	"patchbay/backend/core"
	"patchbay/backend/mcp"
)

// MCP is the facade of the servers. tools.json is where they are kept; the
// engine is told by apply after each change.
type MCP struct {
	config  *config.Store
	manager *mcp.Manager
	apply   func()
	demo    func() (core.ServerSpec, error)
	undo    undo[core.ServerSpec]
}

// NewMCP makes the facade. apply brings what tools.json says into effect; demo
// returns the configuration of the demo server.
func NewMCP(c *config.Store, m *mcp.Manager, apply func(), demo func() (core.ServerSpec, error)) *MCP {
	return &MCP{config: c, manager: m, apply: apply, demo: demo}
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

// ParseServers understands a text, runs nothing and saves nothing.
func (m *MCP) ParseServers(ctx context.Context, in wire.ParseServersInput) (wire.ParsedServers, error) {
	res, err := paste.Parse(in.Text)
	if err != nil {
		return wire.ParsedServers{}, err
	}
	file, _ := m.config.Current()
	out := wire.ParsedServers{Warnings: res.Warnings}
	for _, spec := range res.Servers {
		p := wire.ParsedServer{Spec: spec, Exists: slices.ContainsFunc(file.Servers, named(spec.Name))}
		for _, place := range res.Missing {
			if rest, ok := cutName(place, spec.Name); ok {
				p.Missing = append(p.Missing, rest)
			}
		}
		path, err := m.manager.Locate(ctx, spec)
		p.ResolvedCommand = path
		if err != nil && core.CodeOf(err) != core.CodeNeedsValue {
			p.Problem = err.Error()
		}
		out.Servers = append(out.Servers, p)
	}
	for _, r := range res.Rejected {
		out.Rejected = append(out.Rejected, wire.RejectedServer{Name: r.Name, Error: core.Error{
			Code: core.CodeInvalid, Message: r.Error.Message, Line: r.Error.Line, Column: r.Error.Column, Path: r.Error.Path}})
	}
	return out, nil
}

func cutName(place, name string) (string, bool) {
	if len(place) > len(name)+1 && place[:len(name)+1] == name+"." {
		return place[len(name)+1:], true
	}
	return "", false
}

// AddServer saves a server and connects it.
func (m *MCP) AddServer(ctx context.Context, in wire.AddServerInput) (wire.ServerView, error) {
	spec := in.Server
	if err := unmasked(spec); err != nil {
		return wire.ServerView{}, err
	}
	file, err := m.config.Current()
	if err != nil {
		return wire.ServerView{}, err
	}
	if slices.ContainsFunc(file.Servers, named(spec.Name)) {
		switch in.OnConflict {
		case wire.ConflictOverwrite:
			return m.saved(spec.Name, m.config.UpdateServer(ctx, spec.Name, spec))
		case wire.ConflictKeepBoth:
			base := spec.Name
			for n := 2; slices.ContainsFunc(file.Servers, named(spec.Name)); n++ {
				spec.Name = fmt.Sprintf("%s-%d", base, n)
			}
		}
	}
	return m.saved(spec.Name, m.config.AddServer(ctx, spec))
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

// UpdateServer replaces a configuration; the server reconnects if that matters to it.
func (m *MCP) UpdateServer(ctx context.Context, in wire.UpdateServerInput) (wire.ServerView, error) {
	spec, err := m.unmask(in.Server, in.Name)
	if err != nil {
		return wire.ServerView{}, err
	}
	return m.saved(spec.Name, m.config.UpdateServer(ctx, in.Name, spec))
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

// RemoveServer disconnects a server and takes it out of tools.json.
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

// TestServer tries a configuration without saving it. A failing server is a
// report, not an error.
func (m *MCP) TestServer(ctx context.Context, in wire.TestServerInput) (core.TestReport, error) {
	spec := in.Server
	if in.SavedAs != "" {
		var err error
		if spec, err = m.unmask(spec, in.SavedAs); err != nil {
			return core.TestReport{}, err
		}
	}
	if err := unmasked(spec); err != nil {
		return core.TestReport{}, err
	}
	return m.manager.Test(ctx, spec, nil), nil
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
		return core.ServerSpec{}, core.Errorf(core.CodeNotFound, "There is no server %q in tools.json any more.", name)
	}
	return file.Servers[i], nil
}

func named(name string) func(core.ServerSpec) bool {
	return func(s core.ServerSpec) bool { return s.Name == name }
}

// view masks the values that the page must not see. References to a secret or
// to the environment are no secrets and stay readable.
func view(spec core.ServerSpec, status core.ServerStatus) wire.ServerView {
	spec.Env, spec.Headers, spec.Auth = masked(spec.Env), masked(spec.Headers), maskedAuth(spec.Auth)
	if status.Name == "" {
		status.Name, status.State, status.Message = spec.Name, core.StateStarting, "Starting…"
	}
	if status.Transport == "" {
		status.Transport = spec.Transport
	}
	return wire.ServerView{Spec: spec, Status: status}
}

func masked(in map[string]string) map[string]string {
	out := maps.Clone(in)
	for k, v := range out {
		if v != "" && !isReference(v) {
			out[k] = wire.Mask
		}
	}
	return out
}

// isReference reports whether the whole value is one placeholder without a default.
func isReference(v string) bool {
	if len(v) < 4 || v[:2] != "${" || v[len(v)-1] != '}' {
		return false
	}
	for _, r := range v[2 : len(v)-1] {
		if r == '}' || r == '{' || r == '-' {
			return false
		}
	}
	return true
}

// unmask puts the saved values of the server savedAs where spec holds masks.
func (m *MCP) unmask(spec core.ServerSpec, savedAs string) (core.ServerSpec, error) {
	old, err := m.find(savedAs)
	if err != nil {
		return spec, err
	}
	spec.Env, spec.Headers, spec.Auth = maps.Clone(spec.Env), maps.Clone(spec.Headers), unmaskedAuth(spec.Auth, old.Auth)
	for _, pair := range []struct{ now, old map[string]string }{{spec.Env, old.Env}, {spec.Headers, old.Headers}} {
		for k, v := range pair.now {
			if saved, ok := pair.old[k]; v == wire.Mask && ok {
				pair.now[k] = saved
			}
		}
	}
	return spec, unmasked(spec)
}

// unmasked refuses a mask that stands for nothing: saved, it would be a wrong password.
func unmasked(spec core.ServerSpec) error {
	for at, s := range authSecrets(spec.Auth) {
		if *s == wire.Mask {
			return &core.Error{Code: core.CodeNeedsValue, Path: "auth." + at,
				Message: fmt.Sprintf("Enter the value of %s again: only its mask was given.", at)}
		}
	}
	for _, pair := range []struct {
		field  string
		values map[string]string
	}{{"env", spec.Env}, {"headers", spec.Headers}} {
		for k, v := range pair.values {
			if v == wire.Mask {
				return &core.Error{Code: core.CodeNeedsValue, Path: pair.field + "." + k,
					Message: fmt.Sprintf("Enter the value of %s again: only its mask was given.", k)}
			}
		}
	}
	return nil
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
