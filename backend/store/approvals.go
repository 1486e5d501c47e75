package store

import (
	"context"
	"encoding/json"
	"fmt"

	"patchbay/backend/core"
)

// ToolApprovals returns what a person chose for single tools.
func (a *App) ToolApprovals(ctx context.Context) ([]core.ToolApproval, error) {
	return bodies[core.ToolApproval](ctx, a.db.read, "approvals of tools", `select body from tool_approvals order by kind, server, name`)
}

// SetToolApprovals replaces the choices for the tools in remove and save, all or
// none: those in remove have none any more.
func (a *App) SetToolApprovals(ctx context.Context, remove []core.ToolRef, save []core.ToolApproval) error {
	tx, err := a.db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("saving approvals of tools: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	for _, r := range remove {
		if _, err := tx.ExecContext(ctx, `delete from tool_approvals where kind = ? and server = ? and name = ?`, r.Kind, r.Server, r.Name); err != nil {
			return fmt.Errorf("removing the approval of %s: %w", r, err)
		}
	}
	for _, s := range save {
		body, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encoding the approval of %s: %w", s.Tool.Ref, err)
		}
		r := s.Tool.Ref
		if _, err := tx.ExecContext(ctx, `insert into tool_approvals (kind, server, name, body) values (?, ?, ?, ?)
			on conflict (kind, server, name) do update set body = excluded.body`, r.Kind, r.Server, r.Name, string(body)); err != nil {
			return fmt.Errorf("saving the approval of %s: %w", r, err)
		}
	}
	return wrap(tx.Commit(), "saving approvals of tools")
}

// Version is a number that changes when another program writes app.db.
func (a *App) Version(ctx context.Context) (int64, error) {
	var v int64
	err := a.db.write.QueryRowContext(ctx, `pragma data_version`).Scan(&v)
	return v, wrap(err, "asking whether app.db changed")
}
