// Package chat keeps conversations and what was said in them.
package chat

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// Store keeps conversations durably.
type Store interface {
	Conversations(ctx context.Context) ([]core.Conversation, error)
	Conversation(ctx context.Context, id string) (core.Conversation, error)
	SaveConversation(ctx context.Context, c core.Conversation) error
	RemoveConversation(ctx context.Context, id string) error
	Messages(ctx context.Context, conversationID string) ([]core.Message, error)
	AppendMessages(ctx context.Context, conversationID string, messages ...core.Message) error
}

// maxTitle is the length of a title made from a message, in characters.
const maxTitle = 60

// Service is all conversations. It is safe for concurrent use.
type Service struct {
	store Store
	emit  func(event.Payload)
}

// NewService makes the service. emit may be nil.
func NewService(store Store, emit func(event.Payload)) *Service {
	if emit == nil {
		emit = func(event.Payload) {}
	}
	return &Service{store, emit}
}

// List returns all conversations, the latest first.
func (s *Service) List(ctx context.Context) ([]core.Conversation, error) {
	return s.store.Conversations(ctx)
}

// Get returns one, or a not_found error.
func (s *Service) Get(ctx context.Context, id string) (core.Conversation, error) {
	return s.store.Conversation(ctx, id)
}

// Create begins a conversation with the given agent, provider and model.
func (s *Service) Create(ctx context.Context, agentID, providerID, model string) (core.Conversation, error) {
	at := now()
	c := core.Conversation{ID: uuid.NewString(), AgentID: agentID, ProviderID: providerID, Model: model, CreatedAt: at, UpdatedAt: at}
	if err := s.store.SaveConversation(ctx, c); err != nil {
		return core.Conversation{}, err
	}
	s.emit(event.ChatChanged{ConversationID: c.ID})
	return c, nil
}

// Update changes what change changes in the conversation.
func (s *Service) Update(ctx context.Context, id string, change func(*core.Conversation)) (core.Conversation, error) {
	c, err := s.store.Conversation(ctx, id)
	if err != nil {
		return c, err
	}
	change(&c)
	c.ID = id
	if err := s.store.SaveConversation(ctx, c); err != nil {
		return c, err
	}
	s.emit(event.ChatChanged{ConversationID: id})
	return c, nil
}

// Remove removes a conversation with its messages.
func (s *Service) Remove(ctx context.Context, id string) error {
	if err := s.store.RemoveConversation(ctx, id); err != nil {
		return err
	}
	s.emit(event.ChatChanged{ConversationID: id})
	return nil
}

// Messages returns what was said, in order.
func (s *Service) Messages(ctx context.Context, id string) ([]core.Message, error) {
	return s.store.Messages(ctx, id)
}

// Append adds messages at the end, all or none. A first message of a person
// gives the conversation its title.
func (s *Service) Append(ctx context.Context, id string, messages ...core.Message) error {
	if err := s.store.AppendMessages(ctx, id, messages...); err != nil {
		return err
	}
	_, err := s.Update(ctx, id, func(c *core.Conversation) {
		c.UpdatedAt = now()
		if c.Title == "" && len(messages) > 0 && messages[0].Role == core.RoleUser {
			c.Title = Title(messages[0].Text())
		}
	})
	return err
}

// Title makes a title from the first line of a message; never empty.
func Title(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	r := []rune(strings.TrimSpace(line))
	if len(r) > maxTitle {
		r = append(r[:maxTitle-1], '…')
	}
	if len(r) == 0 {
		return "New chat"
	}
	return string(r)
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }
