package api

import (
	"context"
	"strings"

	"patchbay/backend/agent"
	"patchbay/backend/api/wire"
	"patchbay/backend/approval"
	"patchbay/backend/chat"
	"patchbay/backend/core"
	"patchbay/backend/question"
)

// Chat is the facade of conversations and their runs.
type Chat struct {
	chat   *chat.Service
	runner *agent.Runner
	desk   *approval.Desk
}

// NewChat makes the facade.
func NewChat(c *chat.Service, r *agent.Runner, d *approval.Desk) *Chat { return &Chat{c, r, d} }

// GetConversations returns all conversations, the latest first.
func (c *Chat) GetConversations(ctx context.Context) (wire.ConversationsView, error) {
	all, err := c.chat.List(ctx)
	if err != nil {
		return wire.ConversationsView{}, err
	}
	waiting := map[string]bool{}
	for _, a := range c.desk.Pending() {
		waiting[a.Principal.ConversationID] = true
	}
	var out wire.ConversationsView
	for _, conv := range all {
		out.Conversations = append(out.Conversations, wire.ConversationView{
			Conversation: conv, Running: c.runner.Running(conv.ID) != nil, Waiting: waiting[conv.ID]})
	}
	return out, nil
}

// Create begins a conversation.
func (c *Chat) Create(ctx context.Context, in wire.CreateConversationInput) (core.Conversation, error) {
	return c.chat.Create(ctx, in.AgentID, in.ProviderID, in.Model)
}

// Get returns a conversation with all that was said and what is running.
func (c *Chat) Get(ctx context.Context, in wire.IDInput) (wire.ConversationDetail, error) {
	// The run first: whatever it saves meanwhile is then in the messages, and
	// the page may see a reply twice (by its id) but never not at all.
	run := c.runner.Running(in.ID)
	conv, err := c.chat.Get(ctx, in.ID)
	if err != nil {
		return wire.ConversationDetail{}, err
	}
	messages, err := c.chat.Messages(ctx, in.ID)
	return wire.ConversationDetail{Conversation: conv, Messages: messages, Run: run}, err
}

// Update changes the title, agent or model of a conversation.
func (c *Chat) Update(ctx context.Context, in wire.UpdateConversationInput) (core.Conversation, error) {
	if in.Title != nil && strings.TrimSpace(*in.Title) == "" {
		return core.Conversation{}, &core.Error{Code: core.CodeInvalid, Path: "title", Message: "A conversation needs a title."}
	}
	return c.chat.Update(ctx, in.ID, func(conv *core.Conversation) {
		set(&conv.Title, in.Title)
		set(&conv.AgentID, in.AgentID)
		set(&conv.ProviderID, in.ProviderID)
		set(&conv.Model, in.Model)
	})
}

func set(field *string, value *string) {
	if value != nil {
		*field = strings.TrimSpace(*value)
	}
}

// Remove stops and removes a conversation with all that was said. The audit log keeps its calls.
func (c *Chat) Remove(ctx context.Context, in wire.IDInput) error {
	c.runner.Stop(in.ID)
	c.desk.Forget(in.ID)
	return c.chat.Remove(ctx, in.ID)
}

// Send saves what the person says and begins the run that answers it.
func (c *Chat) Send(ctx context.Context, in wire.SendInput) (wire.SendOutput, error) {
	id, err := c.runner.Start(ctx, core.Principal{Kind: core.PrincipalWindow}, in.ConversationID, in.Text)
	return wire.SendOutput{RunID: id}, err
}

// Stop ends the run of a conversation. It does not wait for the end.
func (c *Chat) Stop(_ context.Context, in wire.StopInput) error {
	c.runner.Stop(in.ConversationID)
	return nil
}

// Agents is the facade of the agents.
type Agents struct{ agents *agent.Agents }

// NewAgents makes the facade.
func NewAgents(a *agent.Agents) *Agents { return &Agents{a} }

// Get returns all agents; the one that the product brings comes first.
func (a *Agents) Get(ctx context.Context) (wire.AgentsView, error) {
	all, err := a.agents.List(ctx)
	return wire.AgentsView{Agents: all}, err
}

// Save adds (ID "") or changes an agent.
func (a *Agents) Save(ctx context.Context, in core.Agent) (core.Agent, error) {
	return a.agents.Save(ctx, in)
}

// Remove removes an agent.
func (a *Agents) Remove(ctx context.Context, in wire.IDInput) error {
	return a.agents.Remove(ctx, in.ID)
}

// Approvals is the facade of the calls that wait for a person.
type Approvals struct{ desk *approval.Desk }

// NewApprovals makes the facade.
func NewApprovals(d *approval.Desk) *Approvals { return &Approvals{d} }

// Get returns the open approvals, the oldest first.
func (a *Approvals) Get(_ context.Context) (wire.ApprovalsView, error) {
	return wire.ApprovalsView{Approvals: a.desk.Pending()}, nil
}

// Resolve answers one approval; the first answer wins.
func (a *Approvals) Resolve(_ context.Context, in wire.ResolveInput) error {
	return a.desk.Resolve(in.ID, in.Answer)
}

// Questions is the facade of what servers ask a person.
type Questions struct{ desk *question.Desk }

// NewQuestions makes the facade.
func NewQuestions(d *question.Desk) *Questions { return &Questions{d} }

// Get returns the open questions, the oldest first.
func (q *Questions) Get(_ context.Context) (wire.QuestionsView, error) {
	return wire.QuestionsView{Questions: q.desk.Pending()}, nil
}

// Answer answers one question; the first answer wins.
func (q *Questions) Answer(_ context.Context, in wire.AnswerInput) error {
	return q.desk.Answer(in.ID, question.Answer{Action: in.Action, Content: in.Content})
}
