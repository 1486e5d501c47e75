package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"patchbay/backend/core"
)

// lostAfter is when a call without an end, begun by another process, counts as lost.
const lostAfter = 15 * time.Minute

// Audit is the append-only log of tool calls.
type Audit struct {
	db db

	mu      sync.Mutex
	running map[int64]struct{} // begun by this process
}

func newAudit(d db) *Audit { return &Audit{db: d, running: map[int64]struct{}{}} }

// Begin durably appends the begin of a call and returns its number.
func (a *Audit) Begin(ctx context.Context, r core.AuditRecord) (int64, error) {
	res, err := a.db.write.ExecContext(ctx, `insert into audit_begin
		(call_id, parent_id, at, principal_kind, agent_id, conversation_id, run_id, tool_kind, server, tool, digest, arguments) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.CallID, r.ParentID, micros(r.BeganAt), r.Principal.Kind, r.Principal.AgentID, r.Principal.ConversationID, r.Principal.RunID,
		r.Ref.Kind, r.Ref.Server, r.Ref.Name, r.Ref.Digest, r.Arguments)
	if err != nil {
		return 0, fmt.Errorf("recording the begin of a call: %w", err)
	}
	seq, err := res.LastInsertId()
	if err != nil {
		return 0, fmt.Errorf("recording the begin of a call: %w", err)
	}
	a.mu.Lock()
	a.running[seq] = struct{}{}
	a.mu.Unlock()
	return seq, nil
}

// End durably appends the end of the call that Begin numbered r.Seq.
func (a *Audit) End(ctx context.Context, r core.AuditRecord) error {
	a.mu.Lock()
	delete(a.running, r.Seq)
	a.mu.Unlock()
	_, err := a.db.write.ExecContext(ctx, `insert into audit_end (seq, at, effect, rule, why, risk, answer, status, error, bytes, millis) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Seq, micros(r.EndedAt), r.Decision.Effect, r.Decision.Rule, r.Decision.Why, r.Decision.Risk, r.Answer, r.Status, r.Error, r.Bytes, r.Millis)
	return wrap(err, "recording the end of a call")
}

// Records returns at most limit records with a number below before (0: from
// the newest), the newest first. A call that has no end is running, or lost if
// the program that made it is gone.
func (a *Audit) Records(ctx context.Context, before int64, limit int) ([]core.AuditRecord, error) {
	rows, err := a.db.read.QueryContext(ctx, `select b.seq, b.call_id, b.parent_id, b.at, b.principal_kind, b.agent_id, b.conversation_id, b.run_id,
			b.tool_kind, b.server, b.tool, b.digest, b.arguments,
			e.at, coalesce(e.effect, ''), coalesce(e.rule, ''), coalesce(e.why, ''), coalesce(e.risk, ''), coalesce(e.answer, ''), coalesce(e.status, ''), coalesce(e.error, ''), coalesce(e.bytes, 0), coalesce(e.millis, 0)
		from audit_begin b left join audit_end e on e.seq = b.seq
		where ? = 0 or b.seq < ? order by b.seq desc limit ?`, before, before, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer rows.Close()
	var out []core.AuditRecord
	for rows.Next() {
		var r core.AuditRecord
		var began int64
		var ended sql.NullInt64
		if err := rows.Scan(&r.Seq, &r.CallID, &r.ParentID, &began, &r.Principal.Kind, &r.Principal.AgentID, &r.Principal.ConversationID, &r.Principal.RunID,
			&r.Ref.Kind, &r.Ref.Server, &r.Ref.Name, &r.Ref.Digest, &r.Arguments,
			&ended, &r.Decision.Effect, &r.Decision.Rule, &r.Decision.Why, &r.Decision.Risk, &r.Answer, &r.Status, &r.Error, &r.Bytes, &r.Millis); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		r.BeganAt = stamp(began)
		if ended.Valid {
			r.EndedAt = stamp(ended.Int64)
		} else {
			r.Status = a.unfinished(r.Seq, began)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

func (a *Audit) unfinished(seq, began int64) core.CallStatus {
	a.mu.Lock()
	_, ours := a.running[seq]
	a.mu.Unlock()
	if ours || time.Since(time.UnixMicro(began)) < lostAfter {
		return core.CallRunning
	}
	return core.CallLost
}
