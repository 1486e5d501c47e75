package mcp

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// process is a child process with everything that it starts. Whoever called
// startProcess must call stop, and gone tells when nothing of it is left.
type process struct {
	cmd    *exec.Cmd
	mark   string // "PATCHBAY_TREE=…", inherited by every descendant
	tree   *lineage
	grace  time.Duration
	stdin  *os.File
	stdout *os.File
	stderr *tail

	exited  chan struct{} // the direct child was reaped
	gone    chan struct{} // the whole tree is gone and our ends of the pipes are closed
	closeIn func()        // closes stdin once; set by the owner of the writes
	stopped sync.Once
	done    func() // told when gone; may be nil
}

// lastWords is how long the rest of what a process printed is read once it is
// gone. It is there already; only a stranger who holds the pipe keeps it open.
const lastWords = 100 * time.Millisecond

// startProcess starts path with args in dir. env is complete but for the mark.
func startProcess(path string, args, env []string, dir string, grace time.Duration, stderr *tail) (*process, error) {
	p := &process{mark: markName + "=" + rand.Text(), grace: grace, stderr: stderr, exited: make(chan struct{}), gone: make(chan struct{})}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Env = dir, append(env, p.mark)
	p.tree = newLineage(p.cmd, p.mark)
	// Plain files instead of the pipes of os/exec: Wait must not wait for a
	// grandchild that holds the other end.
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	fail := func(err error) (*process, error) {
		for _, f := range files {
			f.Close()
		}
		return nil, err
	}
	inR, inW, err := pipe()
	if err != nil {
		return fail(err)
	}
	outR, outW, err := pipe()
	if err != nil {
		return fail(err)
	}
	errR, errW, err := pipe()
	if err != nil {
		return fail(err)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
	p.stdin, p.stdout = inW, outR
	p.closeIn = sync.OnceFunc(func() { inW.Close() })
	closeLeaks()
	if err := p.cmd.Start(); err != nil {
		return fail(err)
	}
	inR.Close()
	outW.Close()
	errW.Close()
	if err := p.tree.started(); err != nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		inW.Close()
		outR.Close()
		errR.Close()
		return nil, err
	}
	readers := make(chan struct{})
	go func() {
		defer close(readers)
		io.Copy(stderr, errR)
		stderr.flush()
	}()
	go func() {
		p.cmd.Wait()
		close(p.exited)
	}()
	go func() {
		<-p.gone0()
		outR.Close() // a stranger may still hold the other ends
		select {
		case <-readers: // what was printed last was still in the pipe
		case <-time.After(lastWords):
		}
		errR.Close()
		<-readers
		if p.done != nil {
			p.done()
		}
		close(p.gone)
	}()
	return p, nil
}

// gone0 starts nothing: it is the ladder's own end, before the pipes are closed.
func (p *process) gone0() <-chan struct{} { return p.tree.ended }

// stop begins the shutdown and returns at once (MCP 2025-11-25, Transports,
// stdio shutdown: close stdin, then ask, then kill).
func (p *process) stop() {
	p.stopped.Do(func() {
		go func() {
			defer close(p.tree.ended)
			p.tree.snapshot()
			p.closeIn()
			if p.leftWithin(p.grace) {
				return
			}
			p.tree.terminate()
			if p.leftWithin(p.grace) {
				return
			}
			for range 50 { // one that is being forked may escape the first round
				p.tree.kill()
				if p.leftWithin(20 * time.Millisecond) {
					return
				}
			}
		}()
	})
}

// kill skips the ladder's polite stages.
func (p *process) kill() {
	p.tree.kill()
	p.stop()
}

func (p *process) leftWithin(d time.Duration) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	select {
	case <-p.exited:
	case <-end.C:
		return false
	}
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		if !p.tree.alive() {
			return true
		}
		select {
		case <-time.After(pause):
		case <-end.C:
			return !p.tree.alive()
		}
	}
}

// fate says how the direct child ended; only valid after exited.
func (p *process) fate() string {
	st := p.cmd.ProcessState
	if st == nil {
		return "ended"
	}
	if code := st.ExitCode(); code >= 0 {
		return fmt.Sprintf("exited with code %d", code)
	}
	return "ended: " + st.String()
}
