package mcp

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lineage finds and ends all descendants of one child. On Linux they are known
// by a mark in their environment, which even those inherit that leave the
// process group.
type lineage struct {
	cmd   *exec.Cmd
	mark  string
	ended chan struct{} // nothing is left
}

func newLineage(cmd *exec.Cmd, mark string) *lineage {
	ownGroup(cmd)
	return &lineage{cmd: cmd, mark: mark, ended: make(chan struct{})}
}

func (l *lineage) started() error { return nil }
func (l *lineage) snapshot()      {}

func (l *lineage) terminate() {
	signalGroup(l.cmd, syscall.SIGTERM)
	for _, pid := range marked(l.mark) {
		syscall.Kill(pid, syscall.SIGTERM)
	}
}

func (l *lineage) kill() {
	killGroup(l.cmd)
	for _, pid := range marked(l.mark) {
		killPid(pid)
	}
}

func (l *lineage) alive() bool { return len(marked(l.mark)) > 0 }

// clan lists what lives of the process pid, which was given mark, and of all
// that it started.
func clan(_ context.Context, _ int, mark string) []int { return marked(mark) }

// marked lists the living processes that inherited mark.
func marked(mark string) (pids []int) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	want := append([]byte(mark), 0)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		// A zombie has an empty environment, so what is dead is not listed.
		if env, err := os.ReadFile("/proc/" + name + "/environ"); err == nil && bytes.Contains(env, want) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// startTime identifies a process beyond its number, which the system uses
// again; "" if there is no such process.
func startTime(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The program's name, in parentheses, may hold anything; the fields follow the last one.
	i := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[i+1:]))
	if i < 0 || len(f) < 20 || f[0] == "Z" {
		return ""
	}
	return f[19]
}

// killTree ends what a former run of the program left behind.
func killTree(pid int, mark string) {
	syscall.Kill(-pid, syscall.SIGKILL)
	for _, p := range marked(mark) {
		killPid(p)
	}
}

// closeLeaks marks every descriptor but the standard ones as not to be
// inherited. Libraries written in C open some without that mark, and a server
// that held one of them would keep, for instance, an asset's pipe of the web
// view open for ever.
func closeLeaks() {
	if unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil { // Linux 5.11 and later
		return
	}
	d, err := os.Open("/proc/self/fd")
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	d.Close()
	// Held for the calls alone: every other start waits for it. A number that
	// was used again since is no harm, for what Go opens has the mark anyway.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// killMarked ends what carries mark, when the process it was first given to is
// gone. The mark is random, so nobody else has it.
func killMarked(mark string) int {
	if len(mark) < len(markName)+16 {
		return 0
	}
	pids := marked(mark)
	for _, p := range pids {
		killPid(p)
	}
	return len(pids)
}
