//go:build !linux

package mcp

import (
	"context"

	psutil "github.com/shirou/gopsutil/v4/process"
)

// clan lists what lives of the process pid and of all that it started, as far
// as their parents live.
func clan(ctx context.Context, pid int, _ string) []int {
	all, err := psutil.PidsWithContext(ctx)
	if err != nil {
		return []int{pid}
	}
	kids := map[int][]int{}
	for _, one := range all {
		p := &psutil.Process{Pid: one}
		if parent, err := p.PpidWithContext(ctx); err == nil && parent != one {
			kids[int(parent)] = append(kids[int(parent)], int(one))
		}
	}
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		out = append(out, kids[out[i]]...)
	}
	return out
}
