package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"modernc.org/quickjs"

	"patchbay/backend/tools/custom/frame"
)

const (
	// firstLine is the line on which the person's code begins. All lines before
	// are ours, so that a stack tells by its numbers whose frames are whose.
	firstLine = 10_000
	maxLogs   = 1000     // lines of one script
	maxLog    = 4 << 10  // bytes of one line
	maxResult = 16 << 20 // bytes of what a script returns
	maxSaid   = 64 << 10 // bytes of the message of an exception
	stepGap   = 20 * time.Millisecond
)

// realm is one VM with what a script finds in it. It runs one script.
type realm struct {
	vm     *quickjs.VM
	frames <-chan frame.Frame
	out    *frame.Writer
	mem    *memory

	entry  quickjs.Value // the object that the prelude returns
	run_   quickjs.Value
	settle quickjs.Value
	fire   quickjs.Value

	limit  time.Duration // of JavaScript's own running time
	busy   time.Duration
	guard  *guard
	timers timers
	asked  int // questions without an answer
	logs   int
	step   *frame.Frame // progress that came faster than anyone can read
	sent   time.Time
	end    *frame.Frame // nil until the script settled
	broken error        // writing failed: nobody listens
}

func newRealm(code []byte, frames <-chan frame.Frame, out *frame.Writer, mem *memory) (*realm, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("starting the engine: %w", err)
	}
	r := &realm{vm: vm, frames: frames, out: out, mem: mem}
	vm.SetCanBlock(false)
	vm.SetModuleLoader(func(*quickjs.VM, string) (string, error) {
		return "", errors.New("there are no modules here")
	}, nil)
	if err := vm.RegisterHostFunc("__host", r.host); err != nil {
		return nil, fmt.Errorf("preparing the engine: %w", err)
	}
	if r.entry, err = vm.EvalBytecodeValue(code); err != nil {
		return nil, fmt.Errorf("running the prelude: %w", err)
	}
	for name, dst := range map[string]*quickjs.Value{"run": &r.run_, "settle": &r.settle, "fire": &r.fire} {
		atom, err := vm.NewAtom(name)
		if err == nil {
			*dst, err = r.entry.GetPropertyValue(atom)
		}
		if err != nil {
			return nil, fmt.Errorf("preparing the engine: %w", err)
		}
	}
	return r, nil
}

func (r *realm) close() {
	for _, v := range []*quickjs.Value{&r.run_, &r.settle, &r.fire, &r.entry} {
		v.Free()
	}
	_ = r.vm.Close() // what it held is gone either way
}

func wrap(code string) string {
	return strings.Repeat("\n", firstLine-2) + "(async function (args) {\n" + code + "\n})"
}

// check compiles code and runs nothing.
func (r *realm) check(code string) frame.Frame {
	r.limit = 5 * time.Second
	var err error
	r.enter(func() { _, err = r.vm.Compile(wrap(code), quickjs.EvalGlobal) })
	if err != nil {
		return r.failed(err, frame.Syntax)
	}
	return frame.Frame{Kind: frame.Done}
}

// run runs one script to its end.
func (r *realm) run(f frame.Frame) frame.Frame {
	r.limit = time.Duration(f.LimitMS) * time.Millisecond
	r.vm.SetMemoryLimit(uintptr(f.Memory))
	r.guard = newGuard(r.mem)
	defer r.guard.stop()
	var fn quickjs.Value
	var err error
	r.enter(func() { fn, err = r.vm.EvalValue(wrap(f.Code), quickjs.EvalGlobal) })
	if err != nil {
		return r.failed(err, frame.Syntax)
	}
	r.enter(func() { _, err = r.run_.Call(quickjs.UndefinedValue, fn, string(f.Body)) })
	fn.Free()
	for err == nil {
		n := 0
		r.enter(func() { n, err = r.vm.ExecutePendingJobs() })
		if err != nil || r.end != nil || r.broken != nil {
			break
		}
		if r.busy >= r.limit { // many short stretches, none of which was interrupted
			return frame.Frame{Kind: frame.Fail, Problem: &frame.Problem{Cause: frame.Time}}
		}
		if n > 0 { // the drain is bounded and may have left some
			continue
		}
		if err = r.wait(); errors.Is(err, errStalled) {
			return frame.Frame{Kind: frame.Fail, Problem: &frame.Problem{Cause: frame.Stalled,
				Message: "It waits for a promise that nothing will ever settle."}}
		}
	}
	r.flushStep()
	if r.end != nil {
		return *r.end
	}
	if err == nil {
		err = r.broken
	}
	return r.failed(err, frame.Threw)
}

var errStalled = errors.New("stalled")

// wait lets time pass until there is something for the script to do, and does it.
func (r *realm) wait() error {
	next, any := r.timers.next()
	if !any && r.asked == 0 {
		return errStalled
	}
	var due <-chan time.Time
	if any {
		t := time.NewTimer(time.Until(next))
		defer t.Stop()
		due = t.C
	}
	var err error
	select {
	case <-due:
		id := r.timers.pop()
		r.enter(func() { _, err = r.fire.Call(quickjs.UndefinedValue, id) })
	case f := <-r.frames:
		if f.Kind != frame.Answer {
			return fmt.Errorf("an unexpected %q frame", f.Kind)
		}
		r.asked--
		problem := ""
		if f.Problem != nil {
			raw, jerr := json.Marshal(f.Problem)
			if jerr != nil {
				return jerr
			}
			problem = string(raw)
		}
		r.enter(func() { _, err = r.settle.Call(quickjs.UndefinedValue, f.ID, string(f.Body), problem) })
	}
	return err
}

// enter runs JavaScript for as long as the script may still run.
func (r *realm) enter(js func()) {
	left := max(r.limit-r.busy, time.Millisecond)
	_ = r.vm.SetEvalTimeout(left) // fails for negative durations only
	if r.guard != nil {
		r.guard.begin(left)
		defer r.guard.end()
	}
	began := time.Now()
	js()
	r.busy += time.Since(began)
}

// host is the one door out of the VM.
func (r *realm) host(args []any) (any, error) {
	what, _ := at(args, 0).(string)
	switch what {
	case "ask":
		id, _ := at(args, 1).(int)
		op, _ := at(args, 2).(string)
		body, _ := at(args, 3).(string)
		if body == "" {
			return nil, errors.New("this cannot be written as JSON")
		}
		r.asked++
		return nil, r.send(frame.Frame{Kind: frame.Ask, ID: id, Op: op, Body: json.RawMessage(body)})
	case "timer":
		id, _ := at(args, 1).(int)
		r.timers.add(id, number(at(args, 2)))
	case "log":
		level, _ := at(args, 1).(string)
		text, _ := at(args, 2).(string)
		return nil, r.log(level, text)
	case "progress":
		body, _ := at(args, 1).(string)
		return nil, r.progress(frame.Frame{Kind: frame.Progress, Body: json.RawMessage(body)})
	case "done":
		body, _ := at(args, 1).(string)
		f := frame.Frame{Kind: frame.Done, Body: json.RawMessage(body)}
		if len(body) > maxResult {
			f = frame.Frame{Kind: frame.Fail, Problem: &frame.Problem{Cause: frame.Threw,
				Message: fmt.Sprintf("What the tool returned has %d bytes; at most %d can be returned. Return a part of it.", len(body), maxResult)}}
		}
		r.settled(f)
	case "fail":
		body, _ := at(args, 1).(string)
		p := &frame.Problem{Cause: frame.Threw}
		if err := json.Unmarshal([]byte(body), p); err != nil {
			p.Message = "It threw something that cannot be shown."
		}
		p.Name, p.Message = clip(p.Name, maxSaid), clip(p.Message, maxSaid)
		p = placed(p)
		if p.Cause == frame.Time && r.busy < r.limit { // the script's own words
			p.Cause = frame.Threw
		}
		r.settled(frame.Frame{Kind: frame.Fail, Problem: p})
	}
	return nil, nil
}

func (r *realm) settled(f frame.Frame) {
	if r.end == nil {
		r.end = &f
	}
}

func at(args []any, i int) any {
	if i < len(args) {
		return args[i]
	}
	return nil
}

func number(v any) time.Duration {
	switch n := v.(type) {
	case int:
		return time.Duration(n) * time.Millisecond
	case float64:
		return time.Duration(n * float64(time.Millisecond))
	}
	return 0
}

func (r *realm) log(level, text string) error {
	if r.logs++; r.logs > maxLogs {
		return nil
	}
	if r.logs == maxLogs {
		level, text = "warning", fmt.Sprintf("After %d lines the rest of the console is left out.", maxLogs)
	}
	return r.send(frame.Frame{Kind: frame.Log, Level: level, Text: clip(text, maxLog)})
}

// clip keeps at most limit bytes of s.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// progress sends the first news at once and then the latest, a few times a second.
func (r *realm) progress(f frame.Frame) error {
	if time.Since(r.sent) < stepGap {
		r.step = &f
		return nil
	}
	r.step, r.sent = nil, time.Now()
	return r.send(f)
}

func (r *realm) flushStep() {
	if r.step != nil {
		_ = r.send(*r.step) // kept in broken
		r.step = nil
	}
}

func (r *realm) send(f frame.Frame) error {
	if err := r.out.Send(f); err != nil {
		r.broken = err
		return errors.New("this is too large")
	}
	return nil
}

// failed tells why the engine gave up on a script.
func (r *realm) failed(err error, otherwise frame.Cause) frame.Frame {
	p := &frame.Problem{Cause: otherwise, Message: err.Error()}
	var e *quickjs.Error
	if errors.As(err, &e) {
		p.Name, p.Message, p.Stack = e.Name, e.Message, e.Stack
		p.Line, p.Column = e.LineNumber, e.ColumnNumber
		if p.Message == "" {
			p.Message = e.Error()
		}
		if otherwise == frame.Syntax && e.Name != "SyntaxError" {
			p.Cause = frame.Threw
		}
	}
	return frame.Frame{Kind: frame.Fail, Problem: placed(p)}
}

var framePlace = regexp.MustCompile(`^\s*at (.*?) ?\(?<eval>:(\d+)(?::(\d+))?\)?\s*$`)

// placed says where in the person's code the problem lies, keeps of the stack
// what lies there, and names the limits of the engine.
func placed(p *frame.Problem) *frame.Problem {
	if p.Name == "InternalError" {
		switch p.Message {
		case "interrupted":
			p.Cause = frame.Time
		case "out of memory", "": // there was none left for the words
			p.Cause = frame.Memory
		}
	}
	if p.Name == "" && p.Message == "null" {
		p.Message = "It threw null, which is also what is left when the memory runs out."
	}
	if p.Line >= firstLine {
		p.Line -= firstLine - 1
	} else {
		p.Line, p.Column = 0, 0
	}
	var kept []string
	for line := range strings.Lines(p.Stack) {
		m := framePlace.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		if n < firstLine {
			continue
		}
		n -= firstLine - 1
		if p.Line == 0 {
			p.Line, p.Column = n, col
		}
		if len(kept) < 10 {
			name := m[1]
			if name == "" || name == "<anonymous>" {
				name = "the tool"
			}
			kept = append(kept, fmt.Sprintf("at %s, line %d, column %d", name, n, col))
		}
	}
	p.Stack = strings.Join(kept, "\n")
	return p
}
