package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"patchbay/backend/core"
)

// Test tries a configuration on a connection of its own: nothing is saved, no
// status changes, and when it returns no process is left. step, which may be
// nil, is told of each step as it ends, from this goroutine or another, one at
// a time. A test that ctx cuts short is a report too.
func (m *Manager) Test(ctx context.Context, spec core.ServerSpec, step func(core.TestStep)) core.TestReport {
	rep := core.TestReport{Steps: []core.TestStep{}, Tools: []core.Tool{}}
	if step == nil {
		step = func(core.TestStep) {}
	}
	add := func(name string, status core.StepStatus, msg string, took time.Duration) {
		s := core.TestStep{Name: name, Status: status, Message: msg, Millis: took.Milliseconds()}
		rep.Steps = append(rep.Steps, s)
		step(s)
	}
	if spec.Name == "" {
		spec.Name = "the server"
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	began := time.Now()
	fail := func(err error) core.TestReport {
		var de *dialError
		if !errors.As(err, &de) {
			de = failed(stepHandshake, core.FixReconnect, false, "The test of %s failed: %s", spec.Name, sentence(err.Error()))
			if ctx.Err() != nil {
				de = failed(stepHandshake, core.FixReconnect, false, "The test of %s was stopped.", spec.Name)
			}
		}
		rep.Message, rep.Detail, rep.Fix = de.message, de.detail, de.fix
		add(de.step, core.StepFailed, de.message, time.Since(began))
		return rep
	}
	ring := &logRing{}
	expanded, err := m.d.expandSpec(ctx, spec, &ring.secrets)
	if err != nil {
		return fail(err)
	}
	a := &attempt{spec: expanded, key: keyOf(spec), log: ring, trial: true, step: func(name string, status core.StepStatus, msg string, took time.Duration) {
		add(name, status, msg, took)
		began = time.Now()
	}}
	l, err := m.d.dial(ctx, a)
	if err != nil {
		return fail(err)
	}
	defer l.close()
	rep.ProtocolVersion = l.version
	rep.ServerTitle, rep.ServerVersion = l.title()
	began = time.Now()
	list, err := m.d.firstList(ctx, l, expanded)
	if err != nil && l.denied.Load() {
		return fail(needsSignIn(spec, l.auth, 401))
	}
	if err != nil {
		de := failed(stepList, core.FixShowLog, false, "%s connected, but its tools cannot be listed: %s", spec.Name, sentence(reason(err)))
		if errors.Is(err, errLost) {
			de.message = l.lostListing(ctx, spec.Name)
		}
		de.detail = l.tail(&ring.secrets)
		return fail(de)
	}
	took := time.Since(began)
	rep.OK = true
	rep.Detail = l.tail(&ring.secrets)
	status := core.StepOK
	msg := countMessage(0, took)
	if list != nil {
		if list.tools != nil {
			rep.Tools = list.tools
		}
		msg = countMessage(len(list.tools), took)
		if notes := append(l.notes(), list.notes...); len(notes) > 0 {
			status, msg = core.StepWarning, msg+". "+strings.Join(notes, " ")
		}
	}
	add(stepList, status, msg, took)
	rep.Message = fmt.Sprintf("It works: %d %s.", len(rep.Tools), plural(len(rep.Tools), "tool", "tools"))
	if len(rep.Tools) == 0 {
		rep.Message = "It works, but it offers no tools."
	}
	return rep
}
