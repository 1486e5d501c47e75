package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"patchbay/backend/api/wire"
	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
	"patchbay/backend/event"
	"patchbay/backend/mcp"
)

// NamedSecrets is a secret store that can say what it holds, without values.
type NamedSecrets interface {
	SecretStore
	Names(ctx context.Context) ([]string, error)
}

// Secrets is the facade of the secrets that servers and custom tools use. Values
// go in and never come out.
type Secrets struct {
	store   NamedSecrets
	config  *config.Store
	manager *mcp.Manager
	emit    func(event.Payload)
}

// NewSecrets makes the facade. emit may be nil.
func NewSecrets(s NamedSecrets, c *config.Store, m *mcp.Manager, emit func(event.Payload)) *Secrets {
	if emit == nil {
		emit = func(event.Payload) {}
	}
	return &Secrets{s, c, m, emit}
}

// The store holds the keys of providers and the tokens of sign-ins too; both
// have places of their own.
var ownPlaces = [...]struct{ prefix, place string }{
	{"provider/", "Keys of providers are kept under Models."},
	{"oauth/", "Sign-ins are kept with their servers."},
}

func ownPlace(name string) string {
	for _, o := range ownPlaces {
		if strings.HasPrefix(name, o.prefix) {
			return o.place
		}
	}
	return ""
}

// List returns the names of all secrets with who uses them, and those that are
// referred to and not kept.
func (s *Secrets) List(ctx context.Context) (wire.SecretsView, error) {
	names, err := s.store.Names(ctx)
	if err != nil {
		return wire.SecretsView{}, err
	}
	uses := s.uses()
	var out wire.SecretsView
	for _, name := range names {
		if ownPlace(name) == "" {
			out.Secrets = append(out.Secrets, wire.SecretView{Name: name, Kept: true, UsedBy: uses[name]})
		}
	}
	for name, by := range uses {
		if ownPlace(name) == "" && !slices.Contains(names, name) {
			out.Secrets = append(out.Secrets, wire.SecretView{Name: name, UsedBy: by})
		}
	}
	slices.SortFunc(out.Secrets, func(a, b wire.SecretView) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// uses says for each secret who refers to it.
func (s *Secrets) uses() map[string][]wire.SecretUse {
	file, _ := s.config.Current() // a broken file is told by settings:getInfo; the last good state counts
	out := map[string][]wire.SecretUse{}
	for _, spec := range file.Servers {
		for _, name := range doctor.References(spec) {
			out[name] = append(out[name], wire.SecretUse{Server: spec.Name})
		}
	}
	for _, t := range file.Tools {
		for _, name := range t.Secrets {
			out[name] = append(out[name], wire.SecretUse{Tool: t.Name})
		}
		if t.HTTP != nil && t.HTTP.Auth != nil {
			if name := t.HTTP.Auth.SecretName(); name != "" {
				out[name] = append(out[name], wire.SecretUse{Tool: t.Name})
			}
		}
	}
	return out
}

// Save keeps a value under a name, in the place of what was there. Servers that
// waited for it are connected; those that run with the old value are named.
func (s *Secrets) Save(ctx context.Context, in wire.SaveSecretInput) (wire.SavedSecret, error) {
	name := strings.TrimSpace(in.Name)
	switch place := ownPlace(name); {
	case place != "":
		return wire.SavedSecret{}, &core.Error{Code: core.CodeInvalid, Path: "name", Message: fmt.Sprintf("The name %q is taken. %s Choose another one.", name, place)}
	case name == "" || strings.ContainsAny(name, "${}\r\n"):
		return wire.SavedSecret{}, &core.Error{Code: core.CodeInvalid, Path: "name", Message: "A secret needs a name without $, braces and line breaks: ${secret:name} refers to it."}
	case in.Value == "":
		return wire.SavedSecret{}, &core.Error{Code: core.CodeNeedsValue, Path: "value", Message: fmt.Sprintf("The secret %s needs a value.", name)}
	}
	if err := s.store.Set(ctx, name, in.Value); err != nil {
		return wire.SavedSecret{}, err
	}
	states := map[string]core.ServerState{}
	for _, st := range s.manager.Status() {
		states[st.Name] = st.State
	}
	var out wire.SavedSecret
	for _, u := range s.uses()[name] {
		switch states[u.Server] {
		case "", core.StateOff, core.StateOnDemand:
		case core.StateNeedsValues:
			if err := s.manager.Reconnect(ctx, u.Server); err != nil && core.CodeOf(err) != core.CodeConflict && core.CodeOf(err) != core.CodeNotFound {
				return out, err
			}
		default:
			out.Restart = append(out.Restart, u.Server)
		}
	}
	s.emit(event.SettingsChanged{})
	return out, nil
}

// Remove forgets a secret. One that is used is forgotten only when EvenIfUsed
// says so. There is no way back.
func (s *Secrets) Remove(ctx context.Context, in wire.RemoveSecretInput) error {
	if place := ownPlace(in.Name); place != "" {
		return &core.Error{Code: core.CodeInvalid, Path: "name", Message: place + " Remove it there."}
	}
	names, err := s.store.Names(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(names, in.Name) {
		return core.Errorf(core.CodeNotFound, "There is no secret %q any more.", in.Name)
	}
	if by := s.uses()[in.Name]; len(by) > 0 && !in.EvenIfUsed {
		var who []string
		for _, u := range by {
			if u.Server != "" {
				who = append(who, "the server "+u.Server)
			} else {
				who = append(who, "the custom tool "+u.Tool)
			}
		}
		return core.Errorf(core.CodeConflict, "The secret %s was not removed: %s would stop working. Take it out there first, or confirm that it shall go all the same.", in.Name, strings.Join(who, " and "))
	}
	if err := s.store.Delete(ctx, in.Name); err != nil {
		return err
	}
	s.emit(event.SettingsChanged{})
	return nil
}
