package mcp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// BenchmarkFleet compares the time until 20 servers have listed their tools
// with that of bare sessions of the SDK, also with two that hang and two that
// exit.
func BenchmarkFleet(b *testing.B) {
	self, err := os.Executable()
	require.NoError(b, err)
	ctx := context.Background()
	for _, bad := range []int{0, 2} {
		b.Run(fmt.Sprintf("hang+exit=%d", bad), func(b *testing.B) {
			var ours, bare time.Duration
			engine := func() {
				var specs []core.ServerSpec
				for i := range 20 {
					specs = append(specs, core.ServerSpec{Name: fmt.Sprint("s", i), Transport: core.TransportStdio, Command: self, Env: testmcp.Env(testmcp.Options{Tools: 10})})
				}
				for i := range bad {
					specs = append(specs, core.ServerSpec{Name: fmt.Sprint("h", i), Transport: core.TransportStdio, Command: self, Env: testmcp.Env(testmcp.Options{Faults: []string{testmcp.Hang}})},
						core.ServerSpec{Name: fmt.Sprint("x", i), Transport: core.TransportStdio, Command: self, Env: testmcp.Env(testmcp.Options{Faults: []string{testmcp.Exit}})})
				}
				m := New(Options{Shell: "none"})
				began := time.Now()
				m.Apply(specs)
				require.Eventually(b, func() bool {
					n := 0
					for _, st := range m.Status() {
						if st.State == core.StateConnected {
							n++
						}
					}
					return n == 20
				}, time.Minute, time.Millisecond)
				ours += time.Since(began)
				c, cancel := context.WithTimeout(ctx, time.Millisecond)
				m.Close(c) // at once: what counts is the start
				cancel()
				m.Close(ctx)
			}
			plain := func() {
				began := time.Now()
				var wg sync.WaitGroup
				sessions := make([]*sdk.ClientSession, 20)
				for i := range sessions {
					wg.Go(func() {
						cmd := exec.Command(self)
						cmd.Env = append(os.Environ(), testmcp.Variable+`={"tools":10}`)
						s, err := sdk.NewClient(&sdk.Implementation{Name: "bare", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
						if err == nil {
							_, err = s.ListTools(ctx, nil)
							sessions[i] = s
						}
						if err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
				bare += time.Since(began)
				for _, s := range sessions {
					s.Close()
				}
			}
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					engine()
					plain()
				} else {
					plain()
					engine()
				}
			}
			b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms/engine")
			b.ReportMetric(float64(bare.Milliseconds())/float64(b.N), "ms/sdk")
			b.ReportMetric(float64(ours)/float64(bare), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
