// Package secret keeps passwords, tokens and keys, so that the rest of the
// program and its files hold only their names.
//
// All secrets lie in one file, encrypted with age. The key of that file lies in
// the system's keychain; where there is none, in a file that only its owner may
// read. Values never appear in an error or a log.
package secret

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"filippo.io/age"
	"github.com/gofrs/flock"
	"github.com/google/uuid"
	"github.com/moby/sys/atomicwriter"

	"patchbay/backend/core"
	"patchbay/internal/syncdir"
)

// Limits of a single secret, in bytes.
const (
	MaxName  = 256
	MaxValue = 1 << 20
)

const (
	secretsFile  = "secrets.age"
	identityFile = "secrets.key"      // the key, where there is no keychain
	accountFile  = "secrets.keychain" // under which name the keychain has the key
	lockFile     = "secrets.lock"
	service      = "Patchbay"
	lockWait     = 10 * time.Second
)

// ErrNoKey is what a [Keychain] returns when it works and has no such entry.
var ErrNoKey = errors.New("not in the keychain")

// Keychain is the system's store of passwords. It may ask the person to unlock it.
type Keychain interface {
	// Get returns [ErrNoKey] when there is no entry; any other error means that
	// the keychain cannot be used now.
	Get(service, account string) (string, error)
	Set(service, account, value string) error
}

// Store keeps the secrets of one data folder. It is safe for concurrent use,
// also by several processes, and holds nothing open between calls.
type Store struct {
	dir      string
	keychain Keychain      // nil: there is none
	busy     chan struct{} // held by the one call that works on the files
	identity *age.X25519Identity
	where    place
}

type place int

const (
	undecided  place = iota // no secret was kept yet
	inKeychain              // the key is in the keychain
	inFile                  // the key is in a file
)

// Open prepares the store in the folder dir, which must exist. The keychain is
// not touched before the first secret is kept or read.
func Open(dir string) (*Store, error) { return OpenWith(dir, SystemKeychain()) }

// OpenWith is Open with a keychain of the caller's choice; nil means none.
func OpenWith(dir string, k Keychain) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, core.Errorf(core.CodeInvalid, "The folder %q for secrets cannot be used: %w", dir, err)
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return nil, core.Errorf(core.CodeUnavailable, "The folder %s for secrets is not there or cannot be read: %w", abs, err)
	}
	return &Store{dir: abs, keychain: k, busy: make(chan struct{}, 1)}, nil
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// place says where the key is, as far as the files tell.
func (s *Store) place() place {
	if s.exists(identityFile) {
		return inFile
	}
	if s.exists(accountFile) {
		return inKeychain
	}
	return undecided
}

func (s *Store) exists(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

// Where says in a sentence for a person how secrets are kept. Before the first
// secret is kept it says what is intended. It does not touch the keychain.
func (s *Store) Where() string {
	p := s.place()
	if p == inKeychain || p == undecided && s.keychain != nil {
		return fmt.Sprintf("Encrypted in %s; the key is in the system keychain.", s.path(secretsFile))
	}
	return fmt.Sprintf("Encrypted in %s; the key is in the file %s, because no system keychain can be used. Whoever can read your files can read both.", s.path(secretsFile), s.path(identityFile))
}

// Get returns the secret called name, "" and false where there is none.
func (s *Store) Get(ctx context.Context, name string) (string, bool, error) {
	all, err := s.all(ctx)
	if err != nil {
		return "", false, err
	}
	v, ok := all[name]
	return v, ok, nil
}

// Names returns the names of all secrets, sorted.
func (s *Store) Names(ctx context.Context) ([]string, error) {
	all, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// Set keeps value under name, in the place of what was there.
func (s *Store) Set(ctx context.Context, name, value string) error {
	switch {
	case strings.TrimSpace(name) == "" || len(name) > MaxName || strings.ContainsFunc(name, unicode.IsControl):
		return core.Errorf(core.CodeInvalid, "A secret needs a name of at most %d bytes without control characters.", MaxName)
	case len(value) > MaxValue:
		return core.Errorf(core.CodeTooLarge, "The secret %q has %d bytes; at most %d can be kept.", name, len(value), MaxValue)
	}
	return s.change(ctx, func(all map[string]string) bool {
		old, there := all[name]
		all[name] = value
		return !there || old != value
	})
}

// Delete forgets the secret called name. One that is not there is no error.
func (s *Store) Delete(ctx context.Context, name string) error {
	if !s.exists(secretsFile) {
		return nil
	}
	return s.change(ctx, func(all map[string]string) bool {
		_, there := all[name]
		delete(all, name)
		return there
	})
}

func (s *Store) acquire(ctx context.Context) error {
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) all(ctx context.Context) (map[string]string, error) {
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.busy }()
	return s.read()
}

func (s *Store) change(ctx context.Context, edit func(map[string]string) bool) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-s.busy }()
	l := flock.New(s.path(lockFile), flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if ok, err := l.TryLockContext(wait, 20*time.Millisecond); err != nil || !ok {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return core.Errorf(core.CodeUnavailable, "The secrets in %s are being written by another program, or the folder cannot be written. Try again: %w", s.dir, err)
	}
	defer func() { _ = l.Unlock() }()
	all, err := s.read()
	if err != nil || !edit(all) {
		return err
	}
	return s.write(all)
}

// content is what is encrypted.
type content struct {
	Version int               `json:"version"`
	Secrets map[string]string `json:"secrets"`
}

func (s *Store) read() (map[string]string, error) {
	f, err := os.Open(s.path(secretsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, core.Errorf(core.CodeUnavailable, "The secrets cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	id, err := s.key(false)
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(f, id)
	if err != nil {
		return nil, s.unreadable(err)
	}
	b, err := io.ReadAll(io.LimitReader(r, 64<<20))
	if err != nil {
		return nil, s.unreadable(err)
	}
	var c content
	if json.Unmarshal(b, &c) != nil { // its error could quote a value
		return nil, s.unreadable(errors.New("not the expected content"))
	}
	if c.Version != 1 {
		return nil, core.Errorf(core.CodeUnavailable, "%s was written by a newer version of Patchbay (%d). Update Patchbay.", s.path(secretsFile), c.Version)
	}
	if c.Secrets == nil {
		c.Secrets = map[string]string{}
	}
	return c.Secrets, nil
}

func (s *Store) unreadable(err error) error {
	return core.Errorf(core.CodeUnavailable, "%s cannot be decrypted: it is damaged, or its key is another one. Restore the file, or remove it and enter the secrets again: %w", s.path(secretsFile), err)
}

func (s *Store) write(all map[string]string) error {
	id, err := s.key(true)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(content{Version: 1, Secrets: all})
	if err != nil {
		return core.Errorf(core.CodeInternal, "The secrets cannot be encoded.")
	}
	var buf bytes.Buffer
	w, err := age.Encrypt(&buf, id.Recipient())
	if err == nil {
		if _, err = w.Write(plain); err == nil {
			err = w.Close()
		}
	}
	if err != nil {
		return core.Errorf(core.CodeInternal, "The secrets cannot be encrypted: %w", err)
	}
	if err := s.save(secretsFile, buf.Bytes()); err != nil {
		return err
	}
	return nil
}

func (s *Store) save(name string, b []byte) error {
	err := atomicwriter.WriteFile(s.path(name), b, 0o600)
	if err == nil {
		err = syncdir.Dir(s.dir)
	}
	if err != nil {
		return core.Errorf(core.CodeUnavailable, "%s cannot be written: %w", s.path(name), err)
	}
	return nil
}

// key returns the key of the file. Where there is none yet, it is made if
// create is true. A key that should be in the keychain is never replaced by a
// new one: that would lose every secret.
func (s *Store) key(create bool) (*age.X25519Identity, error) {
	p := s.place()
	if s.identity != nil && s.where == p {
		return s.identity, nil
	}
	var text string
	switch p {
	case inFile:
		b, err := os.ReadFile(s.path(identityFile))
		if err != nil {
			return nil, core.Errorf(core.CodeUnavailable, "The key of the secrets cannot be read: %w", err)
		}
		text = string(b)
	case inKeychain:
		account, err := os.ReadFile(s.path(accountFile))
		if err != nil {
			return nil, core.Errorf(core.CodeUnavailable, "The secrets cannot be read: %w", err)
		}
		if s.keychain == nil {
			return nil, core.Errorf(core.CodeUnavailable, "The secrets cannot be read: their key is in the system keychain, which cannot be reached from here.")
		}
		text, err = s.keychain.Get(service, strings.TrimSpace(string(account)))
		if errors.Is(err, ErrNoKey) {
			return nil, core.Errorf(core.CodeUnavailable, "The key of the secrets is gone from the system keychain (entry %q). Restore it, or remove %s and %s and enter the secrets again.", service, s.path(secretsFile), s.path(accountFile))
		}
		if err != nil {
			return nil, core.Errorf(core.CodeUnavailable, "The secrets cannot be read: the system keychain does not answer or is locked. Unlock it and try again: %w", err)
		}
	default:
		if !create || s.exists(secretsFile) {
			return nil, core.Errorf(core.CodeUnavailable, "The key of %s is gone. Restore %s, or remove the file and enter the secrets again.", s.path(secretsFile), identityFile)
		}
		return s.create()
	}
	id, err := age.ParseX25519Identity(lastLine(text))
	if err != nil {
		return nil, core.Errorf(core.CodeUnavailable, "The key of the secrets is damaged. Restore it, or remove %s and enter the secrets again.", s.path(secretsFile))
	}
	s.identity, s.where = id, p
	return id, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// create makes a key and keeps it in the keychain, or else in a file.
func (s *Store) create() (*age.X25519Identity, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, core.Errorf(core.CodeInternal, "A key for the secrets cannot be made: %w", err)
	}
	if s.keychain != nil {
		account := "secrets " + uuid.NewString()
		if err := s.keychain.Set(service, account, id.String()); err == nil {
			// Some keychains take a value and lose it with the session.
			if back, err := s.keychain.Get(service, account); err == nil && back == id.String() {
				if err := s.save(accountFile, []byte(account+"\n")); err != nil {
					return nil, err
				}
				s.identity, s.where = id, inKeychain
				return id, nil
			}
		}
	}
	text := "# The key of Patchbay's secrets. Whoever has it and " + secretsFile + " can read them.\n" + id.String() + "\n"
	if err := s.save(identityFile, []byte(text)); err != nil {
		return nil, err
	}
	s.identity, s.where = id, inFile
	return id, nil
}
