// Package serverlog keeps what happens with each MCP server in a file of its
// own, so that it can be read when the program, or the server, is long gone.
package serverlog

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/DeRuina/timberjack"
	"golang.org/x/time/rate"

	"patchbay/backend/core"
)

const (
	megabytes = 2 // of a file, before the next one is begun
	olds      = 1 // full files that are kept of a server
	// A server that floods its stderr must not wear out the disk: so many lines
	// a second are written, and as many at once as a stack trace may have.
	perSecond, atOnce = 100, 2000
)

// Log is the folder of these files. It is safe for concurrent use.
type Log struct {
	dir string

	mu     sync.Mutex
	files  map[string]*file
	closed bool
}

type file struct {
	out   *timberjack.Logger
	limit *rate.Limiter
	left  int // lines that were not written since the last one
}

// Open returns the log in the folder dir, which is made when something is
// written. Close it.
func Open(dir string) *Log { return &Log{dir: dir, files: map[string]*file{}} }

// Path returns the file of a server, whether it exists or not.
func (l *Log) Path(server string) string { return filepath.Join(l.dir, fileName(server)) }

// Add writes one entry. Secrets must have been blanked out of it. A file that
// cannot be written costs the line and nothing else.
func (l *Log) Add(server string, a core.Activity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	f := l.files[server]
	if f == nil {
		f = &file{
			out:   &timberjack.Logger{Filename: l.Path(server), MaxSize: megabytes, MaxBackups: olds, FileMode: 0o600},
			limit: rate.NewLimiter(perSecond, atOnce),
		}
		l.files[server] = f
	}
	if !f.limit.Allow() {
		f.left++
		return
	}
	var b strings.Builder
	if f.left > 0 {
		fmt.Fprintf(&b, "%s event %d lines came too fast and were left out here\n", a.At, f.left)
		f.left = 0
	}
	kind := string(a.Kind)
	if a.Kind == core.ActivityLog {
		kind += " " + a.Level
	}
	fmt.Fprintf(&b, "%s %s %s\n", a.At, oneLine(kind), oneLine(a.Text))
	_, _ = f.out.Write([]byte(b.String()))
}

// oneLine keeps a text from forging an entry or speaking to a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '·'
		}
		return r
	}, s)
}

// Last returns the last n entries of a server's file, or fewer, the oldest
// first. The error is CodeNotFound when there is none.
func (l *Log) Last(server string, n int) ([]string, error) {
	f, err := os.Open(l.Path(server))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, core.Errorf(core.CodeNotFound, "Nothing was written about the server %s yet. Its log begins when it is started.", server)
	case err != nil:
		return nil, core.Errorf(core.CodeUnavailable, "The log of the server %s cannot be read: %w", server, err)
	}
	defer f.Close()
	var lines []string
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if lines = append(lines, in.Text()); len(lines) > 2*n {
			lines = append(lines[:0], lines[len(lines)-n:]...)
		}
	}
	if err := in.Err(); err != nil {
		return nil, core.Errorf(core.CodeUnavailable, "The log of the server %s cannot be read: %w", server, err)
	}
	return lines[max(0, len(lines)-n):], nil
}

// Prune removes the files that nobody wrote to for as long as age.
func (l *Log) Prune(age time.Duration) {
	entries, _ := os.ReadDir(l.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".log") && time.Since(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(l.dir, e.Name()))
		}
	}
}

// Close ends the log; what is added later is lost.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	var errs []error
	for _, f := range l.files {
		errs = append(errs, f.out.Close())
	}
	return errors.Join(errs...)
}

// fileName is another one for each server, also where the file system does not
// tell cases apart or keeps some names for itself.
func fileName(server string) string {
	h := fnv.New64a()
	h.Write([]byte(server))
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, server)
	return fmt.Sprintf("%.40s-%016x.log", word, h.Sum64())
}
