package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"patchbay/backend/core"
)

// App is everything but the audit log.
type App struct{ db db }

// Conversations returns all, the latest first.
func (a *App) Conversations(ctx context.Context) ([]core.Conversation, error) {
	rows, err := a.db.read.QueryContext(ctx, `select id, title, agent_id, provider_id, model, created_at, updated_at from conversations order by updated_at desc, id`)
	if err != nil {
		return nil, fmt.Errorf("reading conversations: %w", err)
	}
	defer rows.Close()
	var out []core.Conversation
	for rows.Next() {
		c, err := conversation(rows)
		if err != nil {
			return nil, fmt.Errorf("reading conversations: %w", err)
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// Conversation returns one, or a not_found error.
func (a *App) Conversation(ctx context.Context, id string) (core.Conversation, error) {
	c, err := conversation(a.db.read.QueryRowContext(ctx, `select id, title, agent_id, provider_id, model, created_at, updated_at from conversations where id = ?`, id))
	return c, missing(err, "conversation", id)
}

func conversation(row interface{ Scan(...any) error }) (core.Conversation, error) {
	var c core.Conversation
	var created, updated int64
	err := row.Scan(&c.ID, &c.Title, &c.AgentID, &c.ProviderID, &c.Model, &created, &updated)
	c.CreatedAt, c.UpdatedAt = stamp(created), stamp(updated)
	return c, err
}

// SaveConversation adds or replaces one; its messages stay.
func (a *App) SaveConversation(ctx context.Context, c core.Conversation) error {
	_, err := a.db.write.ExecContext(ctx, `insert into conversations (id, title, agent_id, provider_id, model, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?)
		on conflict (id) do update set title = excluded.title, agent_id = excluded.agent_id, provider_id = excluded.provider_id, model = excluded.model, updated_at = excluded.updated_at`,
		c.ID, c.Title, c.AgentID, c.ProviderID, c.Model, micros(c.CreatedAt), micros(c.UpdatedAt))
	return wrap(err, "saving the conversation")
}

// RemoveConversation removes one with its messages; an unknown id is no error.
func (a *App) RemoveConversation(ctx context.Context, id string) error {
	_, err := a.db.write.ExecContext(ctx, `delete from conversations where id = ?`, id)
	return wrap(err, "removing the conversation")
}

// Messages returns a conversation's messages in order.
func (a *App) Messages(ctx context.Context, conversationID string) ([]core.Message, error) {
	return bodies[core.Message](ctx, a.db.read, "messages", `select body from messages where conversation_id = ? order by position`, conversationID)
}

// AppendMessages adds messages at the end, all or none.
func (a *App) AppendMessages(ctx context.Context, conversationID string, messages ...core.Message) error {
	tx, err := a.db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("saving messages: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	for _, m := range messages {
		body, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("encoding a message: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `insert into messages (id, conversation_id, position, body)
			values (?, ?, (select coalesce(max(position), 0) + 1 from messages where conversation_id = ?), ?)`, m.ID, conversationID, conversationID, string(body)); err != nil {
			return fmt.Errorf("saving a message: %w", err)
		}
	}
	return wrap(tx.Commit(), "saving messages")
}

// Agents returns all agents in the order in which they were made.
func (a *App) Agents(ctx context.Context) ([]core.Agent, error) {
	return bodies[core.Agent](ctx, a.db.read, "agents", `select body from agents order by position`)
}

// SaveAgent adds or replaces one.
func (a *App) SaveAgent(ctx context.Context, agent core.Agent) error {
	return a.save(ctx, "agents", agent.ID, agent)
}

// RemoveAgent removes one; an unknown id is no error.
func (a *App) RemoveAgent(ctx context.Context, id string) error {
	_, err := a.db.write.ExecContext(ctx, `delete from agents where id = ?`, id)
	return wrap(err, "removing the agent")
}

// Providers returns the providers that the person configured.
func (a *App) Providers(ctx context.Context) ([]core.Provider, error) {
	return bodies[core.Provider](ctx, a.db.read, "providers", `select body from providers order by position`)
}

// SaveProvider adds or replaces one.
func (a *App) SaveProvider(ctx context.Context, p core.Provider) error {
	return a.save(ctx, "providers", p.ID, p)
}

// RemoveProvider removes one; an unknown id is no error.
func (a *App) RemoveProvider(ctx context.Context, id string) error {
	_, err := a.db.write.ExecContext(ctx, `delete from providers where id = ?`, id)
	return wrap(err, "removing the provider")
}

// Setting decodes the named setting into v and leaves v as it is when there is none.
func (a *App) Setting(ctx context.Context, name string, v any) error {
	var value string
	err := a.db.read.QueryRowContext(ctx, `select value from settings where name = ?`, name).Scan(&value)
	if err == sql.ErrNoRows {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the setting %s: %w", name, err)
	}
	return wrap(json.Unmarshal([]byte(value), v), "reading the setting "+name)
}

// SaveSetting stores the named setting.
func (a *App) SaveSetting(ctx context.Context, name string, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the setting %s: %w", name, err)
	}
	_, err = a.db.write.ExecContext(ctx, `insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value`, name, string(value))
	return wrap(err, "saving the setting "+name)
}

// save upserts into one of our two tables of that shape; table is never input.
func (a *App) save(ctx context.Context, table, id string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding for %s: %w", table, err)
	}
	_, err = a.db.write.ExecContext(ctx, `insert into `+table+` (id, position, body) values (?, (select coalesce(max(position), 0) + 1 from `+table+`), ?)
		on conflict (id) do update set body = excluded.body`, id, string(body))
	return wrap(err, "saving into "+table)
}

func bodies[T any](ctx context.Context, conn *sql.DB, what, query string, args ...any) ([]T, error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("reading %s: %w", what, err)
		}
		var v T
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			return nil, fmt.Errorf("reading %s: %w", what, err)
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

func wrap(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
