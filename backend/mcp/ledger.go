package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// ledger notes the running processes in a file, so that the next start of the
// program finds those that a crash left behind.
type ledger struct {
	dir string // "" keeps no ledger
	mu  sync.Mutex
	own map[int]entry
}

type entry struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // as the system counts; a number that was used again has another one
	Mark  string `json:"mark"`
}

type ledgerFile struct {
	PID     int     `json:"pid"` // of the program that wrote it
	Start   string  `json:"start"`
	Entries []entry `json:"entries"`
}

func newLedger(dir string) *ledger { return &ledger{dir: dir, own: map[int]entry{}} }

func (l *ledger) path() string {
	return filepath.Join(l.dir, "servers-"+strconv.Itoa(os.Getpid())+".json")
}

// add notes a process and returns what takes it out again.
func (l *ledger) add(pid int, mark string) func() {
	if l.dir == "" {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own[pid] = entry{pid, startTime(pid), mark}
	l.write()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.own[pid].Mark == mark {
			delete(l.own, pid)
			l.write()
		}
	}
}

// write saves the entries. A ledger that cannot be written costs the cleaning
// after a crash and nothing else, so errors are not reported.
func (l *ledger) write() {
	if len(l.own) == 0 {
		os.Remove(l.path())
		return
	}
	f := ledgerFile{PID: os.Getpid(), Start: startTime(os.Getpid())}
	for _, e := range l.own {
		f.Entries = append(f.Entries, e)
	}
	b, err := json.Marshal(f)
	if err != nil {
		return
	}
	if os.MkdirAll(l.dir, 0o700) != nil {
		return
	}
	tmp := l.path() + ".new"
	if os.WriteFile(tmp, b, 0o600) == nil {
		os.Rename(tmp, l.path())
	}
}

// sweep ends what programs that are no longer running have left behind.
func (l *ledger) sweep() (ended int) {
	if l.dir == "" {
		return 0
	}
	files, _ := filepath.Glob(filepath.Join(l.dir, "servers-*.json"))
	for _, name := range files {
		if name == l.path() {
			// Ours only if this very process wrote it; numbers are used again.
			if b, err := os.ReadFile(name); err != nil || ownFile(b) {
				continue
			}
		}
		b, err := os.ReadFile(name)
		var f ledgerFile
		if err != nil || json.Unmarshal(b, &f) != nil {
			os.Remove(name)
			continue
		}
		if f.Start != "" && startTime(f.PID) == f.Start {
			continue // that program still runs
		}
		for _, e := range f.Entries {
			if e.Start != "" && startTime(e.PID) == e.Start {
				killTree(e.PID, e.Mark)
				ended++
			} else if n := killMarked(e.Mark); n > 0 {
				ended += n
			}
		}
		os.Remove(name)
	}
	return ended
}

func ownFile(b []byte) bool {
	var f ledgerFile
	return json.Unmarshal(b, &f) == nil && f.PID == os.Getpid() && f.Start == startTime(os.Getpid())
}
