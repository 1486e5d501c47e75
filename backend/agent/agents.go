package agent

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// DefaultID is the agent that the product brings.
const DefaultID = "assistant"

// AgentStore keeps agents durably.
type AgentStore interface {
	Agents(ctx context.Context) ([]core.Agent, error)
	SaveAgent(ctx context.Context, a core.Agent) error
	RemoveAgent(ctx context.Context, id string) error
}

// Agents is all agents. It is safe for concurrent use.
type Agents struct {
	store AgentStore
	emit  func(event.Payload)
}

// NewAgents makes the collection. emit may be nil.
func NewAgents(store AgentStore, emit func(event.Payload)) *Agents {
	if emit == nil {
		emit = func(event.Payload) {}
	}
	return &Agents{store, emit}
}

// List returns all agents; the one that the product brings comes first.
func (a *Agents) List(ctx context.Context) ([]core.Agent, error) {
	saved, err := a.store.Agents(ctx)
	if err != nil {
		return nil, err
	}
	first := core.Agent{ID: DefaultID, Name: "Assistant", ToolChoice: core.ToolsAll, BuiltIn: true,
		Instructions: "You are a helpful assistant. Use the tools that you are given when they help, and say plainly what you did and what you could not do."}
	out := []core.Agent{first}
	for _, s := range saved {
		if s.ID == DefaultID {
			s.BuiltIn = true
			out[0] = s
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// Get returns the agent of that id or name; "" is the default one. It fails
// with a not_found error.
func (a *Agents) Get(ctx context.Context, idOrName string) (core.Agent, error) {
	all, err := a.List(ctx)
	if err != nil {
		return core.Agent{}, err
	}
	if idOrName == "" {
		return all[0], nil
	}
	var names []string
	for _, g := range all {
		if g.ID == idOrName || strings.EqualFold(g.Name, idOrName) {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return core.Agent{}, core.Errorf(core.CodeNotFound, "There is no agent %q. There are: %s.", idOrName, strings.Join(names, ", "))
}

// Save adds (ID "") or changes an agent and returns it as saved.
func (a *Agents) Save(ctx context.Context, g core.Agent) (core.Agent, error) {
	g.Name = strings.TrimSpace(g.Name)
	if g.Name == "" {
		return g, &core.Error{Code: core.CodeInvalid, Path: "name", Message: "An agent needs a name."}
	}
	switch g.ToolChoice {
	case "":
		g.ToolChoice = core.ToolsAll
	case core.ToolsAll, core.ToolsNone, core.ToolsSome:
	default:
		return g, &core.Error{Code: core.CodeInvalid, Path: "toolChoice", Message: "toolChoice must be all, none or some."}
	}
	all, err := a.List(ctx)
	if err != nil {
		return g, err
	}
	known := false
	for _, o := range all {
		known = known || o.ID == g.ID
		if o.ID != g.ID && strings.EqualFold(o.Name, g.Name) {
			return g, &core.Error{Code: core.CodeConflict, Path: "name", Message: "There is an agent named " + o.Name + " already. Choose another name."}
		}
	}
	if g.ID == "" {
		g.ID = uuid.NewString()
	} else if !known {
		return g, core.Errorf(core.CodeNotFound, "This agent was removed meanwhile.")
	}
	g.BuiltIn = g.ID == DefaultID
	if err := a.store.SaveAgent(ctx, g); err != nil {
		return g, err
	}
	a.emit(event.AgentsChanged{})
	return g, nil
}

// Remove removes an agent. Its conversations stay and go on with the default one.
func (a *Agents) Remove(ctx context.Context, id string) error {
	if id == DefaultID {
		return core.Errorf(core.CodeInvalid, "This agent belongs to Patchbay and cannot be removed. It can be edited.")
	}
	if err := a.store.RemoveAgent(ctx, id); err != nil {
		return err
	}
	a.emit(event.AgentsChanged{})
	return nil
}
