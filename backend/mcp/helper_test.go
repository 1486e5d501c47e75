package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/internal/testmcp"
)

func TestMain(m *testing.M) {
	Guard(os.Args)
	if job := os.Getenv(hostVariable); job != "" {
		hostMain(job)
	}
	testmcp.Main() // this binary is also the server that the tests start
	goleak.VerifyTestMain(m)
}

// quick are limits under which faults show within a test's patience.
func quick() Limits {
	return Limits{Start: 3 * time.Second, StartRunner: 60 * time.Second, Connect: 5 * time.Second, Probe: 400 * time.Millisecond, Stream: 400 * time.Millisecond,
		ListPage: 3 * time.Second, ListGap: 20 * time.Millisecond, Grace: 300 * time.Millisecond, BackoffMin: 20 * time.Millisecond, BackoffMax: 200 * time.Millisecond}
}

// world is a manager with what it told the outside.
type world struct {
	*Manager
	t *testing.T

	mu        sync.Mutex
	published map[string][][]core.Tool
	events    []event.Payload
}

func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, published: map[string][][]core.Tool{}}
	o := Options{Limits: quick(), Shell: "none",
		Emit: func(p event.Payload) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, p)
		},
		Publish: func(s string, tools []core.Tool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.published[s] = append(w.published[s], tools)
		}}
	for _, f := range change {
		f(&o)
	}
	w.Manager = New(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, w.Close(ctx))
	})
	return w
}

// stdioSpec is a test server as a process. It notes its numbers in a file.
func stdioSpec(t *testing.T, name string, o testmcp.Options) core.ServerSpec {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	if o.PIDFile == "" {
		o.PIDFile = filepath.Join(t.TempDir(), "pids")
	}
	env := testmcp.Env(o)
	env["PIDFILE"] = o.PIDFile
	return core.ServerSpec{Name: name, Transport: core.TransportStdio, Command: self, Env: env}
}

// pids are the numbers that a server of stdioSpec noted.
func pids(t *testing.T, spec core.ServerSpec) (out []int) {
	t.Helper()
	b, _ := os.ReadFile(spec.Env["PIDFILE"])
	for _, f := range strings.Fields(string(b)) {
		n, err := strconv.Atoi(f)
		require.NoError(t, err)
		out = append(out, n)
	}
	return out
}

// requireGone checks that none of the processes of spec is left. One that was
// killed needs a moment to vanish, but no more.
func requireGone(t *testing.T, spec core.ServerSpec, atLeast int) {
	t.Helper()
	list := pids(t, spec)
	require.GreaterOrEqual(t, len(list), atLeast, "processes that were started")
	for _, pid := range list {
		require.Eventually(t, func() bool { return startTime(pid) == "" }, 3*time.Second, time.Millisecond, "process %d is left", pid)
	}
}

func httpSpec(t *testing.T, name string, o testmcp.Options) (core.ServerSpec, *testmcp.HTTP) {
	t.Helper()
	h := testmcp.Handler(o)
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		srv.Close()
	})
	return core.ServerSpec{Name: name, Transport: core.TransportHTTP, URL: srv.URL + "/mcp"}, h
}

func (w *world) status(name string) core.ServerStatus {
	for _, s := range w.Status() {
		if s.Name == name {
			return s
		}
	}
	return core.ServerStatus{}
}

// until waits for a state and returns the status.
func (w *world) until(name string, state core.ServerState) core.ServerStatus {
	w.t.Helper()
	var st core.ServerStatus
	if !eventually(patience, func() bool {
		st = w.status(name)
		return st.State == state
	}) {
		require.Failf(w.t, "state never came", "want %s, have %+v\nlog:\n%s", state, st, strings.Join(w.Log(name), "\n"))
	}
	return st
}

func eventually(d time.Duration, f func() bool) bool {
	for end := time.Now().Add(d); ; {
		if f() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		<-time.After(5 * time.Millisecond)
	}
}

// start applies one spec and waits until it is connected.
func (w *world) start(spec core.ServerSpec) core.ServerStatus {
	w.t.Helper()
	w.Apply([]core.ServerSpec{spec})
	return w.until(spec.Name, core.StateConnected)
}

func (w *world) call(server, tool, args string) (core.ToolResult, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return w.Call(ctx, ref(server, tool), "call-"+tool, []byte(args), nil)
}

func ref(server, tool string) core.ToolRef {
	return core.ToolRef{Kind: core.ToolMCP, Server: server, Name: tool}
}

func echoes(t *testing.T, w *world, server string) {
	t.Helper()
	res, err := w.call(server, "echo", `{"text":"hello"}`)
	require.NoError(t, err)
	require.Equal(t, "hello", res.Text())
}

func linuxOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
}

// listenAgain starts srv at an address that was closed.
func listenAgain(srv *httptest.Server, addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	srv.Listener = l
	srv.Start()
	return nil
}

const hostVariable = "TESTHOST"

// hostJob is what a program does that runs a manager until it is killed.
type hostJob struct {
	Dir      string // its ledger, and the file "ready" once all is done
	Guardian string
	Limits   Limits
	Specs    []core.ServerSpec
	Calls    []hostCall
}

type hostCall struct {
	Server, Tool string
	Args         json.RawMessage
}

// hostMain is that program.
func hostMain(text string) {
	var job hostJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m := New(Options{StateDir: job.Dir, Guardian: job.Guardian, Shell: "none", Limits: job.Limits})
	m.Apply(job.Specs)
	_ = m.WaitSettled(context.Background())
	for i, c := range job.Calls {
		if _, err := m.Call(context.Background(), ref(c.Server, c.Tool), fmt.Sprint(i), c.Args, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	_ = os.WriteFile(filepath.Join(job.Dir, "ready"), nil, 0o600)
	select {}
}

// startHost runs job in a process of its own and waits until it is ready. It
// returns the process, which the caller must kill and wait for, and job.Dir.
func startHost(t *testing.T, job hostJob, patience time.Duration) (*exec.Cmd, string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	job.Dir = t.TempDir()
	text, err := json.Marshal(job)
	require.NoError(t, err)
	host := exec.Command(self)
	host.Env = append(os.Environ(), hostVariable+"="+string(text))
	host.Stderr = os.Stderr
	require.NoError(t, host.Start())
	ready := eventually(patience, func() bool {
		_, err := os.Stat(filepath.Join(job.Dir, "ready"))
		return err == nil
	})
	if !ready {
		_ = host.Process.Kill()
		_ = host.Wait()
		require.Fail(t, "the program never was ready")
	}
	return host, job.Dir
}

// Log returns the lines of a server's timeline that are no messages, the oldest
// first, each with a mark of its kind.
func (w *world) Log(name string) []string {
	all, err := w.Activity(name, 0)
	if err != nil {
		return nil
	}
	return logLinesOf(all)
}

func logLinesOf(all []core.Activity) []string {
	var out []string
	for _, a := range all {
		switch a.Kind {
		case core.ActivityEvent:
			out = append(out, "· "+a.Text)
		case core.ActivityStdout:
			out = append(out, "stdout: "+a.Text)
		case core.ActivityLog:
			out = append(out, a.Level+": "+a.Text)
		case core.ActivityStderr:
			out = append(out, a.Text)
		}
	}
	return out
}
