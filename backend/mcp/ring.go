package mcp

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

const (
	logLines  = 1000
	logWidth  = 4 << 10
	tailBytes = 64 << 10
)

// logRing keeps the last lines about one server: its stderr, what it printed on
// stdout by mistake, and what we did with it. The zero value is ready.
type logRing struct {
	secrets redactor

	mu    sync.Mutex
	lines []string
	next  int // where the oldest line is, once the ring is full
}

func (r *logRing) add(kind, text string) {
	text = r.secrets.hide(text)
	if len(text) > logWidth {
		text = text[:logWidth] + "…"
	}
	line := time.Now().Format("15:04:05.000 ") + kind + strings.ToValidUTF8(text, "\ufffd")
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) < logLines {
		r.lines = append(r.lines, line)
		return
	}
	r.lines[r.next] = line
	r.next = (r.next + 1) % logLines
}

func (r *logRing) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, 0, len(r.lines))
	return append(append(out, r.lines[r.next:]...), r.lines[:r.next]...)
}

// tail keeps the last bytes of a stream and hands its lines on. It is for one writer.
type tail struct {
	mu   sync.Mutex
	buf  []byte
	line func(string) // nil: nobody wants lines
	part []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	t.mu.Unlock()
	if t.line == nil {
		return len(p), nil
	}
	rest := p
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		t.emit(append(t.part, rest[:i]...))
		t.part, rest = t.part[:0], rest[i+1:]
	}
	if room := logWidth - len(t.part); room > 0 {
		t.part = append(t.part, rest[:min(room, len(rest))]...)
	}
	return len(p), nil
}

func (t *tail) flush() {
	if len(t.part) > 0 && t.line != nil {
		t.emit(t.part)
		t.part = nil
	}
}

func (t *tail) emit(b []byte) {
	if s := strings.TrimRight(string(b), "\r"); strings.TrimSpace(s) != "" {
		t.line(s)
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.buf), "\ufffd")
}
