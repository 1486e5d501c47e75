package mcp

import (
	"cmp"
	"context"
	"slices"
	"time"

	psutil "github.com/shirou/gopsutil/v4/process"

	"patchbay/backend/core"
)

// Processes returns the processes of a server with all that they started, also
// of one that is still starting or being tested, parents first. It is empty for
// a server that is off or runs elsewhere. A process that ends meanwhile is left
// out. The error is CodeNotFound, or that of ctx.
func (m *Manager) Processes(ctx context.Context, name string) ([]core.Process, error) {
	s, err := m.find(name)
	if err != nil {
		return nil, err
	}
	var out []core.Process
	m.d.procs.Range(func(p, of any) bool {
		if of.(string) == name {
			proc := p.(*process)
			out = append(out, tree(ctx, proc.cmd.Process.Pid, proc.mark, &s.log.secrets)...)
		}
		return ctx.Err() == nil
	})
	return out, ctx.Err()
}

// ServerProcesses are the processes of a server that some Patchbay runs.
type ServerProcesses struct {
	Server    string         `json:"server"`
	Owner     int            `json:"owner"` // the process number of that Patchbay
	Processes []core.Process `json:"processes"`
}

// Running returns what every Patchbay with the same Options.StateDir runs now,
// this one too. specs say which values are secrets and are masked.
func (m *Manager) Running(ctx context.Context, specs []core.ServerSpec) ([]ServerProcesses, error) {
	hide := map[string]*redactor{}
	for _, spec := range specs {
		hide[spec.Name] = &redactor{}
		expand(ctx, spec, m.o.Lookup, hide[spec.Name])
	}
	var out []ServerProcesses
	for _, name := range m.d.ledger.files() {
		program, left, err := readLedger(name)
		if err != nil || program.Start == "" || startTime(program.PID) != program.Start {
			continue // that program is gone
		}
		for _, e := range left {
			if startTime(e.PID) != e.Start { // it ended just now, and its number may be another's
				continue
			}
			h := hide[e.Server]
			if h == nil {
				h = &redactor{}
			}
			if list := tree(ctx, e.PID, e.Mark, h); len(list) > 0 {
				out = append(out, ServerProcesses{Server: e.Server, Owner: program.PID, Processes: list})
			}
		}
	}
	slices.SortFunc(out, func(a, b ServerProcesses) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), a.Owner-b.Owner, a.Processes[0].PID-b.Processes[0].PID)
	})
	return out, ctx.Err()
}

// tree describes a process and its descendants, parents first.
func tree(ctx context.Context, pid int, mark string, hide *redactor) []core.Process {
	var all []core.Process
	for _, pid := range clan(ctx, pid, mark) {
		if one, ok := describe(ctx, pid, hide); ok {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b core.Process) int { return a.PID - b.PID })
	known := make(map[int]bool, len(all))
	kids := map[int][]core.Process{}
	for _, one := range all {
		known[one.PID] = true
	}
	for _, one := range all {
		parent := one.ParentPID
		if !known[parent] {
			parent = 0 // the first, or one that outlived its parent
		}
		kids[parent] = append(kids[parent], one)
	}
	out := make([]core.Process, 0, len(all))
	var walk func(parent int)
	walk = func(parent int) {
		for _, one := range kids[parent] {
			out = append(out, one)
			walk(one.PID)
		}
	}
	walk(0)
	return out
}

// describe asks the system about a process; false if there is none any more.
func describe(ctx context.Context, pid int, hide *redactor) (core.Process, bool) {
	p, err := psutil.NewProcessWithContext(ctx, int32(pid))
	if err != nil {
		return core.Process{}, false
	}
	parent, err := p.PpidWithContext(ctx)
	if err != nil {
		return core.Process{}, false
	}
	out := core.Process{PID: pid, ParentPID: int(parent)}
	if line, err := p.CmdlineWithContext(ctx); err == nil {
		out.Command = hide.hide(line)
	}
	if mem, err := p.MemoryInfoWithContext(ctx); err == nil && mem != nil {
		out.MemoryKB = int64(mem.RSS / 1024)
	}
	if cpu, err := p.TimesWithContext(ctx); err == nil && cpu != nil {
		out.CPUMillis = int64((cpu.User + cpu.System) * 1000)
	}
	if ms, err := p.CreateTimeWithContext(ctx); err == nil && ms > 0 {
		out.StartedAt = time.UnixMilli(ms).UTC().Format(time.RFC3339)
	}
	return out, true
}
