// Package store keeps the product's data in SQLite. It implements the
// interfaces that its users declare; only the composition root imports it.
//
// There are two files: app.db may lose its last moments to a power cut,
// audit.db may not.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // registers the driver

	"patchbay/backend/core"
)

//go:embed migrations
var migrations embed.FS

// Store is both databases. It is safe for concurrent use.
type Store struct {
	App   *App
	Audit *Audit
}

// Open opens, and where needed creates and migrates, the databases in dir.
func Open(ctx context.Context, dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	app, err := open(ctx, filepath.Join(dir, "app.db"), "app", "NORMAL")
	if err != nil {
		return nil, err
	}
	audit, err := open(ctx, filepath.Join(dir, "audit.db"), "audit", "FULL")
	if err != nil {
		return nil, errors.Join(err, app.close())
	}
	return &Store{App: &App{app}, Audit: newAudit(audit)}, nil
}

// Close closes both databases.
func (s *Store) Close() error { return errors.Join(s.App.db.close(), s.Audit.db.close()) }

// db is one file: one connection that writes, a few that read.
type db struct {
	write, read *sql.DB
}

func open(ctx context.Context, path, name, synchronous string) (db, error) {
	q := url.Values{"_pragma": {"journal_mode(WAL)", "busy_timeout(5000)", "foreign_keys(1)", "synchronous(" + synchronous + ")"}}
	dsn := "file:" + filepath.ToSlash(path) + "?" + q.Encode()
	write, err := sql.Open("sqlite", dsn+"&_txlock=immediate")
	if err != nil {
		return db{}, fmt.Errorf("opening %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	if err := migrate(ctx, write, name); err != nil {
		return db{}, errors.Join(fmt.Errorf("preparing %s: %w", path, err), write.Close())
	}
	read, err := sql.Open("sqlite", dsn)
	if err != nil {
		return db{}, errors.Join(fmt.Errorf("opening %s: %w", path, err), write.Close())
	}
	read.SetMaxOpenConns(4)
	return db{write, read}, os.Chmod(path, 0o600)
}

func migrate(ctx context.Context, conn *sql.DB, name string) error {
	dir, err := fs.Sub(migrations, "migrations/"+name)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, conn, dir)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

func (d db) close() error { return errors.Join(d.read.Close(), d.write.Close()) }

func micros(rfc3339 string) int64 {
	t, err := time.Parse(time.RFC3339Nano, rfc3339)
	if err != nil {
		t = time.Now()
	}
	return t.UnixMicro()
}

func stamp(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339Nano) }

func missing(err error, what, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return core.Errorf(core.CodeNotFound, "There is no %s %q any more.", what, id)
	}
	return err
}
