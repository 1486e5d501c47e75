package mcp

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// BenchmarkIdle reports how much of a core a manager with ten connected servers
// takes while nobody uses it, in percent.
func BenchmarkIdle(b *testing.B) {
	self, err := os.Executable()
	require.NoError(b, err)
	m := New(Options{Shell: "none", StateDir: b.TempDir(), CacheDir: b.TempDir(), Guardian: self})
	defer m.Close(context.Background())
	var specs []core.ServerSpec
	for i := range 10 {
		specs = append(specs, core.ServerSpec{Name: fmt.Sprint("s", i), Transport: core.TransportStdio, Command: self, Env: testmcp.Env(testmcp.Options{Tools: 10})})
	}
	m.Apply(specs)
	require.NoError(b, m.WaitSettled(context.Background()))
	time.Sleep(time.Second) // what follows a start passes
	spent := func() time.Duration {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began, before := time.Now(), spent()
	for b.Loop() {
		time.Sleep(100 * time.Millisecond)
	}
	b.ReportMetric(100*float64(spent()-before)/float64(time.Since(began)), "%core")
	b.ReportMetric(0, "ns/op")
}
