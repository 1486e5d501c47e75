package mcp

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/backend/core"
)

const (
	logLines   = 1000
	logWidth   = 4 << 10
	tailBytes  = 64 << 10
	frames     = 500       // messages kept of one server …
	frameBytes = 256 << 10 // … and what they may take together
	frameHead  = 3 << 10   // of a long message, this much of its begin
	frameEnd   = 256       // and of its end
	newsPause  = 300 * time.Millisecond
)

// logRing keeps what happened last with one server: its stderr, what it printed
// on stdout by mistake, the messages both ways, and what we did with it. The
// zero value is ready.
type logRing struct {
	secrets redactor
	// news, which may be nil, hears that there is something new, not too often.
	// It must not block.
	news func()
	// line, which may be nil, gets each line. It must be quick.
	line func(core.Activity)

	told atomic.Bool // news is on its way

	mu     sync.Mutex
	seq    int64
	lines  queue
	frames queue
	kept   int // bytes of the frames
}

// note is one line or one message.
type note struct {
	seq   int64
	at    time.Time
	kind  core.ActivityKind
	level string
	text  string
	head  []byte // of a message
	end   []byte // nil when head is all of it
	size  int
}

// queue is a list that grows at its end and shrinks at its begin.
type queue struct {
	items []note
	from  int
}

func (q *queue) all() []note { return q.items[q.from:] }

func (q *queue) push(r note) { q.items = append(q.items, r) }

func (q *queue) pop() note {
	r := q.items[q.from]
	q.items[q.from] = note{}
	if q.from++; q.from > 64 && q.from > len(q.items)/2 {
		q.items = append(q.items[:0], q.items[q.from:]...)
		clear(q.items[len(q.items):cap(q.items)])
		q.from = 0
	}
	return r
}

// add notes a line. what says of which sort: "" is stderr, "· " an event of
// ours, "stdout: " a stray line, and anything else the level of a log message.
func (r *logRing) add(what, text string) {
	text = r.secrets.hide(text)
	if len(text) > logWidth {
		text = text[:logWidth] + "…"
	}
	rec := note{at: time.Now(), text: strings.ToValidUTF8(text, "\ufffd")}
	switch what {
	case "":
		rec.kind = core.ActivityStderr
	case "· ":
		rec.kind = core.ActivityEvent
	case "stdout: ":
		rec.kind = core.ActivityStdout
	default:
		rec.kind, rec.level = core.ActivityLog, strings.TrimSuffix(what, ": ")
	}
	r.mu.Lock()
	r.seq++
	rec.seq = r.seq
	r.lines.push(rec)
	if len(r.lines.all()) > logLines {
		r.lines.pop()
	}
	r.mu.Unlock()
	if r.line != nil {
		r.line(rec.entry())
	}
	r.tell()
}

// entry is a line as others see it.
func (n note) entry() core.Activity {
	return core.Activity{Seq: n.seq, At: n.at.UTC().Format(time.RFC3339Nano), Kind: n.kind, Level: n.level, Text: n.text}
}

// frame notes a message. It is on the path of every call, so it only copies;
// what the message means is found out when somebody looks.
func (r *logRing) frame(kind core.ActivityKind, msg []byte) { r.sized(kind, msg, nil, len(msg)) }

// sized is frame for a message of which only the begin and the end are at hand.
func (r *logRing) sized(kind core.ActivityKind, msg, end []byte, size int) {
	rec := note{at: time.Now(), kind: kind, size: size}
	if end == nil && len(msg) > frameHead+frameEnd {
		msg, end = msg[:frameHead], msg[len(msg)-frameEnd:]
	}
	rec.head, rec.end = bytes.Clone(msg), bytes.Clone(end)
	r.mu.Lock()
	r.seq++
	rec.seq = r.seq
	r.frames.push(rec)
	r.kept += len(rec.head) + len(rec.end)
	for all := r.frames.all(); len(all) > frames || r.kept > frameBytes; all = r.frames.all() {
		old := r.frames.pop()
		r.kept -= len(old.head) + len(old.end)
	}
	r.mu.Unlock()
	r.tell()
}

// tell lets the news out, unless it is under way already.
func (r *logRing) tell() {
	if r.news != nil && r.told.CompareAndSwap(false, true) {
		time.AfterFunc(newsPause, func() {
			r.told.Store(false)
			r.news()
		})
	}
}

// activity returns lines and messages after seq, the oldest first.
func (r *logRing) activity(after int64) []core.Activity {
	r.mu.Lock()
	lines, messages := slices.Clone(r.lines.all()), slices.Clone(r.frames.all())
	r.mu.Unlock()
	out := []core.Activity{}
	type asked struct {
		at     time.Time
		method string
	}
	requests := map[string]asked{} // by the way they went and their id
	for _, m := range messages {
		a := core.Activity{Seq: m.seq, At: m.at.UTC().Format(time.RFC3339Nano), Kind: m.kind, Bytes: int64(m.size), Cut: m.end != nil}
		e, _ := outline(m.head) // of a cut message, the members before the cut
		a.ID, a.Method = strings.Trim(string(e.id), `"`), strings.Trim(string(e.method), `"`)
		if a.ID == "" && a.Method == "" && m.end != nil {
			a.ID = strayID(slices.Concat(m.head, m.end))
		}
		back := core.ActivitySent
		if m.kind == core.ActivitySent {
			back = core.ActivityReceived
		}
		switch {
		case a.Method != "" && a.ID != "":
			requests[string(m.kind)+a.ID] = asked{m.at, a.Method}
		case a.Method == "" && a.ID != "":
			a.Answer, a.Failed = true, e.error != nil
			if q, ok := requests[string(back)+a.ID]; ok {
				took := float64(m.at.Sub(q.at).Microseconds()) / 1000
				a.Millis, a.Method = &took, q.method
				delete(requests, string(back)+a.ID)
			}
		}
		if m.seq > after {
			a.Text = string(m.head)
			if m.end != nil {
				a.Text += " … " + string(m.end)
			}
			a.Text = r.secrets.hide(strings.ToValidUTF8(a.Text, "\ufffd"))
			out = append(out, a)
		}
	}
	for _, l := range lines {
		if l.seq > after {
			out = append(out, l.entry())
		}
	}
	slices.SortFunc(out, func(a, b core.Activity) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// clear forgets what was kept.
func (r *logRing) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.frames, r.kept = queue{}, queue{}, 0
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
