//go:build unix && !linux

package mcp

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lineage finds and ends all descendants of one child: its process group, and
// those that ps showed below it before the first signal was sent. The latter
// matter when a server puts its helpers into groups of their own.
type lineage struct {
	cmd   *exec.Cmd
	ended chan struct{} // nothing is left

	mu   sync.Mutex
	seen map[int]string // pid → start time
}

func newLineage(cmd *exec.Cmd, _ string) *lineage {
	ownGroup(cmd)
	return &lineage{cmd: cmd, ended: make(chan struct{}), seen: map[int]string{}}
}

func (l *lineage) started() error { return nil }

func (l *lineage) snapshot() {
	kids := map[int][]int{}
	for line := range strings.Lines(ps("-axo", "pid=,ppid=")) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		pid, _ := strconv.Atoi(f[0])
		ppid, _ := strconv.Atoi(f[1])
		kids[ppid] = append(kids[ppid], pid)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for queue := kids[l.cmd.Process.Pid]; len(queue) > 0; queue = queue[1:] {
		pid := queue[0]
		if _, ok := l.seen[pid]; ok {
			continue
		}
		if at := startTime(pid); at != "" {
			l.seen[pid] = at
		}
		queue = append(queue, kids[pid]...)
	}
}

// others lists the seen descendants that are still the same processes.
func (l *lineage) others() (pids []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for pid, at := range l.seen {
		if syscall.Kill(pid, 0) != nil || startTime(pid) != at {
			delete(l.seen, pid)
			continue
		}
		pids = append(pids, pid)
	}
	return pids
}

func (l *lineage) terminate() {
	signalGroup(l.cmd, syscall.SIGTERM)
	for _, pid := range l.others() {
		syscall.Kill(pid, syscall.SIGTERM)
	}
}

func (l *lineage) kill() {
	killGroup(l.cmd)
	for _, pid := range l.others() {
		killPid(pid)
	}
}

func (l *lineage) alive() bool { return groupAlive(l.cmd) || len(l.others()) > 0 }

// groupAlive reports whether the child's process group has a member.
func groupAlive(cmd *exec.Cmd) bool {
	return !errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH)
}

func ps(args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "/bin/ps", args...).Output()
	return string(out)
}

// startTime identifies a process beyond its number, which the system uses
// again; "" if there is no such process.
func startTime(pid int) string {
	out := strings.TrimSpace(ps("-o", "state=,lstart=", "-p", strconv.Itoa(pid)))
	state, at, _ := strings.Cut(out, " ")
	if strings.HasPrefix(state, "Z") {
		return ""
	}
	return strings.TrimSpace(at)
}

// killTree ends what a former run of the program left behind.
func killTree(pid int, _ string) {
	l := &lineage{cmd: &exec.Cmd{}, seen: map[int]string{}}
	l.seen[pid] = startTime(pid)
	syscall.Kill(-pid, syscall.SIGKILL)
	for _, p := range l.others() {
		killPid(p)
	}
}

// closeLeaks has nothing to do where the system's libraries mark their
// descriptors themselves.
func closeLeaks() {}

// killMarked has no way to find processes by their environment here.
func killMarked(string) int { return 0 }
