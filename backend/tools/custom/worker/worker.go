package worker

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"modernc.org/quickjs"

	"patchbay/backend/tools/custom/frame"
)

//go:embed prelude.js
var prelude string

// Main runs the worker when args, which are os.Args, ask for it, and then never
// returns. A program that has workers calls it before anything else.
func Main(args []string) {
	if len(args) < 2 || args[1] != frame.Argument {
		return
	}
	_ = time.Now().Local().String() // reads the time zone while files can still be opened
	// The process lives in small bursts; most of its memory is the VM's and not Go's.
	debug.SetGCPercent(200)
	mem := openMemory()
	confine()
	if err := serve(os.Stdin, os.Stdout, mem); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve answers requests until in ends. It ends the process where a script
// cannot be stopped in any other way.
func serve(in io.Reader, out io.Writer, mem *memory) error {
	frames := make(chan frame.Frame, 8192) // more than a script can have open, so that the reader is never held up
	go func() {
		for {
			f, err := frame.Read(in)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					slog.Error("reading", "err", err)
				}
				// Whoever started us is gone. A script may be busy for long, so do not wait for it.
				os.Exit(0)
			}
			frames <- f
		}
	}()
	code, err := compilePrelude()
	if err != nil {
		return err
	}
	w := frame.NewWriter(out)
	for {
		r, err := newRealm(code, frames, w, mem)
		if err != nil {
			return err
		}
		if err := w.Send(frame.Frame{Kind: frame.Ready}); err != nil {
			return err
		}
		f := <-frames
		for f.Kind == frame.Answer { // to a question of the script before
			f = <-frames
		}
		switch f.Kind {
		case frame.Run:
			err = w.Send(r.run(f))
		case frame.Check:
			err = w.Send(r.check(f.Code))
		default:
			err = fmt.Errorf("an unexpected %q frame", f.Kind)
		}
		if err != nil {
			return err
		}
		r.close()
	}
}

func compilePrelude() ([]byte, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("starting the engine: %w", err)
	}
	defer vm.Close()
	code, err := vm.Compile(prelude, quickjs.EvalGlobal)
	if err != nil {
		return nil, fmt.Errorf("compiling the prelude: %w", err)
	}
	return code, nil
}
