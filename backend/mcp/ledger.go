package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// ledger notes the running processes in a file, so that the next start of the
// program finds those that a crash left behind. The file has one line for the
// program and then one for each process that was started or is gone: a fleet
// that starts must not wait for a file that is written anew each time.
type ledger struct {
	dir string // "" keeps no ledger

	mu    sync.Mutex
	own   map[string]entry // by mark
	file  *os.File         // nil while nothing runs
	lines int              // in file
}

// entry is one line.
type entry struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // as the system counts; a number that was used again has another one
	Mark  string `json:"mark,omitempty"`
	// Server is the name of the server that the process is, "" for the program.
	Server string `json:"server,omitempty"`
	Gone   bool   `json:"gone,omitempty"`
}

// ledgerSlack is how many lines about processes that are gone a ledger may have.
const ledgerSlack = 1000

func newLedger(dir string) *ledger { return &ledger{dir: dir, own: map[string]entry{}} }

func (l *ledger) path() string {
	return filepath.Join(l.dir, "servers-"+strconv.Itoa(os.Getpid())+".json")
}

// add notes a process and returns what takes it out again.
func (l *ledger) add(pid int, mark, server string) func() {
	if l.dir == "" {
		return func() {}
	}
	e := entry{PID: pid, Start: startTime(pid), Mark: mark, Server: server}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own[mark] = e
	l.note(e)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.own, mark)
		e.Gone = true
		l.note(e)
	}
}

// note adds a line. A ledger that cannot be written costs the cleaning after a
// crash and nothing else, so errors are not reported.
func (l *ledger) note(e entry) {
	switch {
	case len(l.own) == 0:
		l.file.Close() // which may be nil
		l.file, l.lines = nil, 0
		os.Remove(l.path())
	case l.file == nil, l.lines > ledgerSlack+2*len(l.own):
		l.rewrite()
	default:
		b, err := json.Marshal(e)
		if err == nil {
			_, err = l.file.Write(append(b, '\n'))
		}
		if l.lines++; err != nil {
			l.rewrite()
		}
	}
}

// rewrite begins the file anew with what runs.
func (l *ledger) rewrite() {
	l.file.Close() // which may be nil
	l.file, l.lines = nil, 0
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if enc.Encode(entry{PID: os.Getpid(), Start: startTime(os.Getpid())}) != nil {
		return
	}
	for _, e := range l.own {
		if enc.Encode(e) != nil {
			return
		}
	}
	if os.MkdirAll(l.dir, 0o700) != nil {
		return
	}
	tmp := l.path() + ".new"
	if os.WriteFile(tmp, b.Bytes(), 0o600) != nil || os.Rename(tmp, l.path()) != nil {
		return
	}
	if f, err := os.OpenFile(l.path(), os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		l.file = f
	}
}

// readLedger returns the program that wrote a ledger and the processes that it
// left, as far as the ledger can be read: its last line may be half written.
func readLedger(name string) (program entry, left map[string]entry, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return program, nil, err
	}
	left = map[string]entry{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for first := true; lines.Scan(); first = false {
		var e entry
		switch {
		case json.Unmarshal(lines.Bytes(), &e) != nil:
		case first:
			program = e
		case e.Gone:
			delete(left, e.Mark)
		default:
			left[e.Mark] = e
		}
	}
	return program, left, nil
}

// files are the ledgers of all programs.
func (l *ledger) files() []string {
	if l.dir == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(l.dir, "servers-*.json"))
	return files
}

// sweep ends what programs that are no longer running have left behind.
func (l *ledger) sweep() (ended int) {
	for _, name := range l.files() {
		program, left, err := readLedger(name)
		if err != nil || program.Start != "" && startTime(program.PID) == program.Start {
			continue // that program still runs; it may be this one
		}
		for _, e := range left {
			if e.Start != "" && startTime(e.PID) == e.Start {
				killTree(e.PID, e.Mark)
				ended++
			} else if n := killMarked(e.Mark); n > 0 {
				ended += n
			}
			for range 20 { // one that is being forked may escape the first round
				if killMarked(e.Mark) == 0 {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
		os.Remove(name)
	}
	return ended
}
