package mcp

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

// guardArgument is the first argument of our own program when it runs as a guardian.
const guardArgument = "process-guardian"

const (
	guardLived    = 10 * time.Second // a guardian that lived this long is replaced at once
	guardPatience = time.Minute      // for a program that is dying
)

// Guard runs the guardian of another process of this program when args, which are
// os.Args, ask for it, and then never returns. Otherwise it returns the path of
// this program for Options.Guardian, "" if it cannot be found. A program that has
// a Manager calls it before anything else.
func Guard(args []string) (program string) {
	if len(args) == 3 && args[1] == guardArgument {
		guard(args[2], os.Stdin)
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return self
}

// guard waits for the end of in, which is that of the program whose ledger is in
// the file name, and then does what the next start would do.
func guard(name string, in io.Reader) {
	// Whoever asks all processes of a person to end asks the program too.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	debug.FreeOSMemory()
	_, _ = io.Copy(io.Discard, in)
	l := newLedger(filepath.Dir(name))
	pause := 2 * time.Millisecond
	for end := time.Now().Add(guardPatience); time.Now().Before(end); pause = min(2*pause, time.Second) {
		l.sweep()
		if _, err := os.Stat(name); err != nil {
			return
		}
		time.Sleep(pause) // its pipes end before it does
	}
}

// guardian is a small process beside ours that outlives a kill of it, to end the
// servers that would stay. On Windows the job objects do that.
type guardian struct {
	program string // "" means none
	ledger  *ledger
	calm    func(context.Context) // returns when it costs nobody anything to start one
	ctx     context.Context       // of the manager: without it none is started any more
	logger  *slog.Logger

	wg    sync.WaitGroup
	mu    sync.Mutex
	there bool        // or about to be
	over  bool        // by end
	proc  *os.Process // of the last one; nil if none was started
}

// watch starts a guardian if there is none. It waits for nothing. A process that
// it shall know of must be in the ledger.
func (g *guardian) watch() {
	if g.program == "" || g.ledger.dir == "" || runtime.GOOS == "windows" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.there && !g.over {
		g.there = true
		g.wg.Go(g.keep)
	}
}

// keep holds a guardian alive. One that ends at once is not started again before
// the next server is.
func (g *guardian) keep() {
	g.calm(g.ctx)
	for began := time.Now(); g.run() && time.Since(began) > guardLived; {
		began = time.Now()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.there = false
}

// run starts one and waits until it has ended; false means that it was not started.
func (g *guardian) run() bool {
	r, w, err := os.Pipe()
	if err != nil {
		return false
	}
	defer w.Close()
	name := g.ledger.path()
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	cmd := exec.Command(g.program, guardArgument, name)
	cmd.Stdin, cmd.Dir = r, "/"                   // no folder shall be in use for its sake
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=10"} // it never has anything to do but once
	if v := os.Getenv("LD_LIBRARY_PATH"); v != "" {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+v) // by which the window finds its libraries
	}
	ownSession(cmd) // what ends our group, as a terminal does, must leave it alone
	closeLeaks()
	g.mu.Lock()
	if g.over || g.ctx.Err() != nil {
		err = context.Canceled
	} else if err = cmd.Start(); err == nil {
		g.proc = cmd.Process
	} else {
		g.logger.Warn("no guardian of the servers could be started", "err", err)
	}
	g.mu.Unlock()
	r.Close()
	if err != nil {
		return false
	}
	_ = cmd.Wait() // it says nothing by how it ends
	return true
}

// end ends the guardian and waits for it. No process may be left that it would
// have to end.
func (g *guardian) end() {
	g.mu.Lock()
	g.over = true
	if g.proc != nil {
		_ = g.proc.Kill() // which says only that it has ended already
	}
	g.mu.Unlock()
	g.wg.Wait()
}
