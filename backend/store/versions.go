package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/backend/core"
)

// keptVersions is how many former versions of one custom tool are kept.
const keptVersions = 50

// AddCustomVersion keeps a former version of the custom tool name. The oldest
// beyond fifty are forgotten.
func (a *App) AddCustomVersion(ctx context.Context, name string, t core.CustomTool) error {
	body, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encoding a version of %s: %w", name, err)
	}
	tx, err := a.db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("keeping a version of %s: %w", name, err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := tx.ExecContext(ctx, `insert into custom_tool_versions (name, saved_at, body) values (?, ?, ?)`, name, time.Now().UnixMicro(), string(body)); err != nil {
		return fmt.Errorf("keeping a version of %s: %w", name, err)
	}
	if _, err := tx.ExecContext(ctx, `delete from custom_tool_versions where name = ? and id not in (select id from custom_tool_versions where name = ? order by id desc limit ?)`, name, name, keptVersions); err != nil {
		return fmt.Errorf("forgetting old versions of %s: %w", name, err)
	}
	return wrap(tx.Commit(), "keeping a version of "+name)
}

// RenameCustomVersions gives the versions of one custom tool to its new name.
func (a *App) RenameCustomVersions(ctx context.Context, from, to string) error {
	_, err := a.db.write.ExecContext(ctx, `update custom_tool_versions set name = ? where name = ?`, to, from)
	return wrap(err, "renaming the versions of "+from)
}

// CustomVersions returns the former versions of a custom tool, the newest first.
func (a *App) CustomVersions(ctx context.Context, name string) ([]core.CustomVersion, error) {
	rows, err := a.db.read.QueryContext(ctx, `select id, saved_at, body from custom_tool_versions where name = ? order by id desc`, name)
	if err != nil {
		return nil, fmt.Errorf("reading the versions of %s: %w", name, err)
	}
	defer rows.Close()
	out := []core.CustomVersion{}
	for rows.Next() {
		var v core.CustomVersion
		var at int64
		var body string
		if err := rows.Scan(&v.ID, &at, &body); err != nil {
			return nil, fmt.Errorf("reading the versions of %s: %w", name, err)
		}
		if err := json.Unmarshal([]byte(body), &v.Tool); err != nil {
			return nil, fmt.Errorf("reading the versions of %s: %w", name, err)
		}
		v.SavedAt = stamp(at)
		out = append(out, v)
	}
	return out, rows.Err()
}
