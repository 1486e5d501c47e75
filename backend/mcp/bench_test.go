package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// BenchmarkCall compares a call through the engine with one through a bare
// session of the SDK, on the same server, in turns, and reports the medians and
// their ratio.
func BenchmarkCall(b *testing.B) {
	self, err := os.Executable()
	require.NoError(b, err)
	for _, c := range []struct {
		name, tool, args string
	}{
		{"160B", "echo", `{"text":"` + string(slices.Repeat([]byte("x"), 100)) + `"}`},
		{"1MiB", "big", `{"bytes":1048576}`},
	} {
		b.Run("stdio/"+c.name, func(b *testing.B) {
			spec := core.ServerSpec{Name: "s", Transport: core.TransportStdio, Command: self, Env: testmcp.Env(testmcp.Options{})}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), testmcp.Variable+"={}")
			compare(b, spec, &sdk.CommandTransport{Command: cmd}, c.tool, c.args)
		})
		for _, kind := range []string{"", testmcp.EventAnswers} {
			b.Run("http"+kind+"/"+c.name, func(b *testing.B) {
				cmd := exec.Command(self)
				env, err := json.Marshal(testmcp.Options{HTTP: true, Faults: []string{kind}})
				require.NoError(b, err)
				cmd.Env = append(os.Environ(), testmcp.Variable+"="+string(env))
				in, err := cmd.StdinPipe()
				require.NoError(b, err)
				out, err := cmd.StdoutPipe()
				require.NoError(b, err)
				require.NoError(b, cmd.Start())
				defer cmd.Wait()
				defer in.Close()
				url, err := bufio.NewReader(out).ReadString('\n')
				require.NoError(b, err)
				url = strings.TrimSpace(url)
				compare(b, core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: url}, &sdk.StreamableClientTransport{Endpoint: url}, c.tool, c.args)
			})
		}
	}
}

func compare(b *testing.B, spec core.ServerSpec, tr sdk.Transport, tool, args string) {
	// Every real call can be canceled, and that has its price in net/http.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := New(Options{Shell: "none"})
	defer m.Close(context.Background())
	m.Apply([]core.ServerSpec{spec})
	require.NoError(b, m.WaitSettled(ctx))
	bare, err := sdk.NewClient(&sdk.Implementation{Name: "bare", Version: "1"}, nil).Connect(ctx, tr, &sdk.ClientSessionOptions{ProtocolVersion: versionLegacy})
	require.NoError(b, err)
	defer bare.Close()
	id := ref("s", tool)
	ours := func(i int) {
		if _, err := m.Call(ctx, id, fmt.Sprint("c", i), json.RawMessage(args), nil); err != nil {
			b.Fatal(err)
		}
	}
	theirs := func(i int) {
		p := &sdk.CallToolParams{Meta: sdk.Meta{"progressToken": fmt.Sprint("c", i)}, Name: tool, Arguments: json.RawMessage(args)}
		if _, err := bare.CallTool(ctx, p); err != nil {
			b.Fatal(err)
		}
	}
	var a, z []time.Duration
	took := func(f func(int), i int) time.Duration {
		began := time.Now()
		f(i)
		return time.Since(began)
	}
	for i := 0; b.Loop(); i++ {
		a = append(a, took(ours, i))
		z = append(z, took(theirs, i))
	}
	slices.Sort(a)
	slices.Sort(z)
	p50, p50sdk := a[len(a)/2], z[len(z)/2]
	b.ReportMetric(float64(p50.Microseconds()), "µs/engine")
	b.ReportMetric(float64(p50sdk.Microseconds()), "µs/sdk")
	b.ReportMetric(float64(p50)/float64(p50sdk), "ratio")
	b.ReportMetric(0, "ns/op")
}
