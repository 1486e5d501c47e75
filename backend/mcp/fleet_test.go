package mcp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// fleetCase is a number of servers on stdio of which some never answer and some exit at once.
type fleetCase struct{ good, hang, crash int }

// options are those of the servers, the bad ones among the good ones.
func (c fleetCase) options() (all []testmcp.Options) {
	bad := slices.Concat(slices.Repeat([]testmcp.Options{{Faults: []string{testmcp.Hang}}}, c.hang),
		slices.Repeat([]testmcp.Options{{Faults: []string{testmcp.Exit}}}, c.crash))
	for i := range c.good {
		all = append(all, testmcp.Options{Tools: 10})
		if i%3 == 1 && len(bad) > 0 {
			all, bad = append(all, bad[0]), bad[1:]
		}
	}
	return append(all, bad...)
}

// BenchmarkFleet compares the time until the good servers of a fleet have listed
// their tools with that of bare sessions of the SDK, which start the very same
// fleet, in turns, and reports the medians and their ratio.
func BenchmarkFleet(b *testing.B) {
	self, err := os.Executable()
	require.NoError(b, err)
	for _, c := range []fleetCase{{good: 20}, {good: 16, hang: 2, crash: 2}} {
		b.Run(fmt.Sprintf("good=%d,hang=%d,crash=%d", c.good, c.hang, c.crash), func(b *testing.B) {
			var ours, bare []time.Duration
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					ours = append(ours, fleetOfEngine(b, self, c))
					bare = append(bare, fleetOfSDK(b, self, c))
				} else {
					bare = append(bare, fleetOfSDK(b, self, c))
					ours = append(ours, fleetOfEngine(b, self, c))
				}
			}
			slices.Sort(ours)
			slices.Sort(bare)
			a, z := ours[len(ours)/2], bare[len(bare)/2]
			b.ReportMetric(float64(a.Microseconds())/1000, "ms/engine")
			b.ReportMetric(float64(z.Microseconds())/1000, "ms/sdk")
			b.ReportMetric(float64(a)/float64(z), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// fleetOfEngine returns how long a manager takes, which keeps its ledger and
// what it learns on disk, as in the product.
func fleetOfEngine(b *testing.B, self string, c fleetCase) time.Duration {
	dir, err := os.MkdirTemp("", "fleet")
	require.NoError(b, err)
	defer os.RemoveAll(dir)
	var specs []core.ServerSpec
	for i, o := range c.options() {
		specs = append(specs, core.ServerSpec{Name: fmt.Sprint("s", i), Transport: core.TransportStdio, Command: self, Env: testmcp.Env(o)})
	}
	began := time.Now()
	m := New(Options{Shell: "none", StateDir: dir, CacheDir: dir, Guardian: self})
	m.Apply(specs)
	for {
		m.changeMu.Lock()
		change := m.change
		m.changeMu.Unlock()
		n := 0
		for _, st := range m.Status() {
			if st.State == core.StateConnected {
				n++
			}
		}
		if n == c.good {
			break
		}
		select {
		case <-change:
		case <-time.After(time.Minute):
			b.Fatalf("%d of %d servers are connected", n, c.good)
		}
	}
	took := time.Since(began)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	m.Close(ctx) // at once: what counts is the start
	require.NoError(b, m.Close(context.Background()))
	return took
}

// fleetOfSDK returns how long bare sessions take, each started by a goroutine of
// its own, until the good ones have listed their tools.
func fleetOfSDK(b *testing.B, self string, c fleetCase) time.Duration {
	ctx, cancel := context.WithCancel(context.Background())
	var listed, all sync.WaitGroup
	listed.Add(c.good)
	began := time.Now()
	for _, o := range c.options() {
		cmd := exec.CommandContext(ctx, self)
		cmd.Env = append(os.Environ(), testmcp.Variable+"="+testmcp.Env(o)[testmcp.Variable])
		all.Go(func() {
			s, err := sdk.NewClient(&sdk.Implementation{Name: "bare", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
			if err == nil {
				defer s.Close()
				_, err = s.ListTools(ctx, nil)
			}
			if len(o.Faults) > 0 {
				return
			}
			if err != nil {
				b.Error(err)
			}
			listed.Done()
			<-ctx.Done()
		})
	}
	listed.Wait()
	took := time.Since(began)
	cancel()
	all.Wait()
	return took
}
