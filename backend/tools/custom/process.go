package custom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/tools/custom/frame"
)

// readyIn is how long a worker may take until it can run a script.
const readyIn = 20 * time.Second

// process is one worker. Whoever has it uses it alone.
type process struct {
	cmd    *exec.Cmd
	jail   jail
	stdin  *os.File
	out    *frame.Writer
	frames chan frame.Frame
	errs   *tail
	gone   chan struct{} // it has ended and nothing more is read

	calls int
	ready bool
	idle  time.Time // since when; set by the pool
}

// startWorker starts command as a worker, with nothing of our environment.
func startWorker(command, env []string) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), frames: make(chan frame.Frame), errs: &tail{}, gone: make(chan struct{})}
	p.cmd.Env = append(append([]string{}, systemEnv()...), env...) // never nil, which would mean all of ours
	p.cmd.Dir = emptyFolder()
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a worker: %w", err), inR.Close(), inW.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, p.errs
	p.cmd.WaitDelay = time.Second
	p.jail.prepare(p.cmd)
	err = p.cmd.Start()
	_ = inR.Close() // ours are the other ends
	_ = outW.Close()
	if err == nil {
		if err = p.jail.close(p.cmd); err != nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	}
	if err != nil {
		return nil, errors.Join(core.Errorf(core.CodeUnavailable, "The worker that runs JavaScript could not be started: %w", err), inW.Close(), outR.Close())
	}
	p.stdin, p.out = inW, frame.NewWriter(inW)
	stop := make(chan struct{})
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer outR.Close()
		for {
			f, err := frame.Read(outR)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					_ = p.cmd.Process.Kill() // what it says makes no sense
				}
				return
			}
			select {
			case p.frames <- f:
			case <-stop:
				return
			}
		}
	}()
	go func() {
		_ = p.cmd.Wait() // how it ended is in its ProcessState
		close(stop)
		<-read
		p.jail.release()
		close(p.gone)
	}()
	return p, nil
}

// end kills the worker and waits until it is gone.
func (p *process) end() {
	_ = p.cmd.Process.Kill() // fails when it has ended already
	_ = p.stdin.Close()
	<-p.gone
}

// dead reports whether the worker has ended by itself.
func (p *process) dead() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// await waits until the worker has a fresh VM.
func (p *process) await(ctx context.Context) error {
	if p.ready {
		return nil
	}
	late := time.NewTimer(readyIn)
	defer late.Stop()
	for {
		select {
		case f := <-p.frames:
			// What the script before still said on its way out is of no interest.
			if f.Kind == frame.Ready {
				p.ready = true
				return nil
			}
		case <-p.gone:
			return core.Errorf(core.CodeUnavailable, "The worker that runs JavaScript ended at once: %s. Start Patchbay again; if it stays so, the log has more.", p.death())
		case <-late.C:
			return core.Errorf(core.CodeUnavailable, "The worker that runs JavaScript was not ready within %s. Is the machine very busy? Try again.", readyIn)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// death says how a worker ended that is gone.
func (p *process) death() string {
	how := "it was killed"
	if s := p.cmd.ProcessState; s != nil {
		how = s.String()
	}
	if said := p.errs.String(); said != "" {
		how += ", " + said
	}
	return how
}

// tail keeps the last words of a worker, which speaks on stderr only when it breaks.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.buf) < 2048 { // of a crash the first lines say what it was
		t.buf = append(t.buf, b[:min(len(b), 2048-len(t.buf))]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
