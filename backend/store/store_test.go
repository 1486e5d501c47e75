package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

func opened(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Closing and reopening must lose nothing of a conversation, nor its order.
func TestConversationsSurviveReopening(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	now := time.Now().UTC().Format(time.RFC3339Nano)
	c := core.Conversation{ID: "c1", Title: "t", AgentID: "a", ProviderID: "p", Model: "m", CreatedAt: now, UpdatedAt: now}
	require.NoError(t, s.App.SaveConversation(t.Context(), c))
	require.NoError(t, s.App.AppendMessages(t.Context(), "c1",
		core.Message{ID: "1", Role: core.RoleUser, Parts: []core.Part{{Kind: core.PartText, Text: "one"}}},
		core.Message{ID: "2", Role: core.RoleAssistant, Parts: []core.Part{{Kind: core.PartToolCall, CallID: "x", Arguments: `{"broken`}}}))
	require.NoError(t, s.App.AppendMessages(t.Context(), "c1", core.Message{ID: "3", Role: core.RoleTool}))
	require.NoError(t, s.Close())

	s = opened(t, dir)
	got, err := s.App.Messages(t.Context(), "c1")
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, "one", got[0].Text())
	require.Equal(t, `{"broken`, got[1].Parts[0].Arguments)
	require.Equal(t, "3", got[2].ID)
	require.NoError(t, s.App.RemoveConversation(t.Context(), "c1"))
	got, err = s.App.Messages(t.Context(), "c1")
	require.NoError(t, err)
	require.Empty(t, got)
}

// A batch of messages must be saved as a whole: a reply without the results of
// its calls cannot be sent to any model again.
func TestAppendIsAllOrNothing(t *testing.T) {
	s := opened(t, t.TempDir())
	require.NoError(t, s.App.SaveConversation(t.Context(), core.Conversation{ID: "c"}))
	require.Error(t, s.App.AppendMessages(t.Context(), "c", core.Message{ID: "same"}, core.Message{ID: "same"}))
	got, err := s.App.Messages(t.Context(), "c")
	require.NoError(t, err)
	require.Empty(t, got)
}

// The log must refuse to be rewritten, also by our own code.
func TestAuditIsAppendOnly(t *testing.T) {
	s := opened(t, t.TempDir())
	r := core.AuditRecord{CallID: "c", BeganAt: time.Now().Format(time.RFC3339Nano), Ref: core.ToolRef{Kind: core.ToolMCP, Server: "s", Name: "n"}, Arguments: "{}"}
	seq, err := s.Audit.Begin(t.Context(), r)
	require.NoError(t, err)
	got, err := s.Audit.Records(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Equal(t, core.CallRunning, got[0].Status)
	r.Seq, r.EndedAt, r.Status, r.Answer = seq, r.BeganAt, core.CallDenied, core.AnswerDeny
	require.NoError(t, s.Audit.End(t.Context(), r))
	require.Error(t, s.Audit.End(t.Context(), r), "an end is written once")
	for _, q := range []string{`update audit_begin set tool = 'x'`, `delete from audit_end`, `delete from audit_begin`, `update audit_end set status = 'done'`} {
		_, err := s.Audit.db.write.ExecContext(t.Context(), q)
		require.ErrorContains(t, err, "append-only", q)
	}
	got, err = s.Audit.Records(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Equal(t, core.CallDenied, got[0].Status)
	require.Equal(t, "s", got[0].Ref.Server)
}

// A call that was running when the program died must not look as if it still ran.
func TestCallsOfADeadProcessAreLost(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	old := time.Now().Add(-2 * lostAfter).Format(time.RFC3339Nano)
	_, err := s.Audit.Begin(t.Context(), core.AuditRecord{CallID: "c", BeganAt: old})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	got, err := opened(t, dir).Audit.Records(t.Context(), 0, 1)
	require.NoError(t, err)
	require.Equal(t, core.CallLost, got[0].Status)
}

func BenchmarkAuditBeginEnd(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir())
	require.NoError(b, err)
	defer s.Close()
	r := core.AuditRecord{CallID: "c", BeganAt: time.Now().Format(time.RFC3339Nano), Arguments: "{}"}
	for b.Loop() {
		if r.Seq, err = s.Audit.Begin(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		r.EndedAt = r.BeganAt
		if err := s.Audit.End(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
