package mcp

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// A server that works must connect and answer, whatever it does beside.
func TestStdioFaultsThatMustNotMatter(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"", testmcp.Junk, testmcp.BOM, testmcp.SilentProbe, testmcp.ExitOnProbe, testmcp.IDNull, testmcp.NoVersion,
		testmcp.StringID, testmcp.Double, testmcp.FloodStderr, testmcp.ChangeFlood, testmcp.IgnoreEOF, testmcp.IgnoreTerm, testmcp.BadTool, testmcp.Modern} {
		t.Run("fault="+fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{fault}})
			st := w.start(spec)
			assert.Equal(t, core.FixNone, st.Fix)
			assert.NotZero(t, st.ToolCount)
			if fault == testmcp.Junk {
				assert.Contains(t, st.Detail, "on stdout that are not MCP")
				assert.Contains(t, strings.Join(w.Log("s"), "\n"), "stdout: Server starting on stdio")
			}
			echoes(t, w, "s")
			assert.Eventually(t, func() bool { return w.status("s").State == core.StateConnected }, time.Second, time.Millisecond)
			w.Apply(nil)
			requireGone(t, spec, 1)
		})
	}
}

func TestStdioServerThatExitsTellsWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := stdioSpec(t, "fs", testmcp.Options{Faults: []string{testmcp.Exit}})
	w.Apply([]core.ServerSpec{spec})
	require.NoError(t, w.WaitSettled(context.Background()))
	st := w.status("fs")
	require.Equal(t, core.StateFailed, st.State)
	assert.Contains(t, st.Message, "exited with code 3")
	assert.Contains(t, st.Message, "ENOENT: no such file or directory, stat '/nowhere'", "the telling line of stderr")
	assert.Contains(t, st.Detail, "npm warn deprecated")
	assert.Equal(t, core.FixShowLog, st.Fix)
	assert.Empty(t, st.RetryAt)
	_, err := w.call("fs", "echo", "{}")
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	assert.Contains(t, err.Error(), "exited with code 3")
}

func TestStdioServersThatNeverAnswer(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{testmcp.Hang, testmcp.Mute} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Limits.Start = time.Second })
			spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{fault}})
			began := time.Now()
			w.Apply([]core.ServerSpec{spec})
			st := w.until("s", core.StateFailed)
			assert.Contains(t, st.Message, "did not answer within")
			assert.Less(t, time.Since(began), 5*time.Second)
			requireGone(t, spec, 1)
		})
	}
}

func TestCommandNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Apply([]core.ServerSpec{
		{Name: "a", Transport: core.TransportStdio, Command: "no-such-program-here"},
		{Name: "b", Transport: core.TransportStdio, Command: "npx-not-here/npx"},
		{Name: "c", Transport: core.TransportStdio, Command: "true", Cwd: "/no/such/folder"},
		{Name: "d", Transport: core.TransportStdio},
		{Name: "e", Transport: core.TransportHTTP, URL: "localhost:1"},
	})
	require.NoError(t, w.WaitSettled(context.Background()))
	st := w.status("a")
	assert.Equal(t, core.StateFailed, st.State)
	assert.Equal(t, "Command not found: no-such-program-here. Install the program, or give the full path to the program.", st.Message)
	assert.Equal(t, core.FixInstall, st.Fix)
	assert.Equal(t, core.FixEdit, w.status("b").Fix)
	assert.Contains(t, w.status("c").Message, "/no/such/folder does not exist")
	assert.Contains(t, w.status("d").Message, "No command is configured")
	assert.Contains(t, w.status("e").Message, "Not a usable URL")
	for _, st := range w.Status() {
		assert.Empty(t, st.RetryAt, "%s cannot heal by itself", st.Name)
	}
	assert.Equal(t, "Command not found: uvx. Install uv, or give the full path to the program.", notFound("uvx").message)
}

func TestStdioProcessDiesDuringCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(stdioSpec(t, "s", testmcp.Options{}))
	_, err := w.call("s", "crash", "{}")
	require.Error(t, err)
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	assert.Contains(t, err.Error(), "server s was lost while crash ran")
	assert.Contains(t, err.Error(), "exited with code 7")
	w.until("s", core.StateConnected)
	echoes(t, w, "s") // it came back by itself
	assert.Contains(t, strings.Join(w.Log("s"), "\n"), "Error: the tool crashed the server")
}

// The direct child dies but a grandchild in a group of its own holds stdout:
// the loss must be noticed, and the grandchild must go too.
func TestStdioGrandchildHoldsStdout(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	w := newWorld(t)
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Fork}})
	w.start(spec)
	began := time.Now()
	_, err := w.call("s", "crash", "{}")
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	assert.Less(t, time.Since(began), 2*time.Second)
	w.Apply(nil)
	requireGone(t, spec, 2)
}

func TestCloseLeavesNoProcess(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	w := newWorld(t)
	var specs []core.ServerSpec
	for name, faults := range map[string][]string{"eof": {testmcp.IgnoreEOF}, "term": {testmcp.IgnoreTerm}, "fork": {testmcp.Fork, testmcp.IgnoreTerm}, "ok": nil} {
		specs = append(specs, stdioSpec(t, name, testmcp.Options{Faults: faults}))
	}
	w.Apply(specs)
	for _, s := range specs {
		w.until(s.Name, core.StateConnected)
	}
	// A call without an end must not hold up the end.
	lost := make(chan error, 1)
	go func() {
		_, err := w.Call(context.Background(), ref("ok", "hang"), "h", nil, nil)
		lost <- err
	}()
	require.Eventually(t, func() bool { return len(lost) == 0 }, time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	require.NoError(t, w.Close(ctx))
	require.Equal(t, core.CodeUnavailable, core.CodeOf(<-lost))
	for _, s := range specs {
		requireGone(t, s, 1)
	}
}

func TestCrashLoopIsBroken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.CrashAfterList}})
	w.Apply([]core.ServerSpec{spec})
	st := w.until("s", core.StateCrashLoop)
	assert.Contains(t, st.Message, "s crashed 5 times")
	assert.Contains(t, st.Message, "exited with code 9")
	assert.Contains(t, st.Detail, "out of luck")
	require.Len(t, pids(t, spec), 5)
	require.NoError(t, w.Reconnect(context.Background(), "s"))
	require.Eventually(t, func() bool { return len(pids(t, spec)) > 5 }, 5*time.Second, 10*time.Millisecond)
}

func TestServerThatRecovers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := stdioSpec(t, "s", testmcp.Options{Lives: 2, LivesFile: filepath.Join(t.TempDir(), "lives")})
	w.Apply([]core.ServerSpec{spec})
	require.Eventually(t, func() bool { return len(pids(t, spec)) == 3 && w.status("s").State == core.StateConnected }, 10*time.Second, 5*time.Millisecond)
	echoes(t, w, "s")
}

// A frame beyond the limit fails its own call and nothing else.
func TestStdioBigFrames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Limits.MaxFrame = 4 << 20 })
	w.start(stdioSpec(t, "s", testmcp.Options{}))
	res, err := w.call("s", "big", `{"bytes":3000000}`)
	require.NoError(t, err)
	require.Len(t, res.Text(), 3000000)
	_, err = w.call("s", "big", `{"bytes":9000000}`)
	require.Equal(t, core.CodeTooLarge, core.CodeOf(err), "%v", err)
	_, err = w.call("s", "nan", `{}`)
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err), "%v", err)
	echoes(t, w, "s")
	require.Equal(t, core.StateConnected, w.status("s").State)
}

// A hanging server must not delay the others, however many there are.
func TestHangingServersDelayNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Limits.Start = 8 * time.Second })
	var specs []core.ServerSpec
	for _, n := range []string{"h1", "h2", "h3", "h4", "h5", "h6"} {
		specs = append(specs, stdioSpec(t, n, testmcp.Options{Faults: []string{testmcp.Hang}}))
	}
	specs = append(specs, stdioSpec(t, "good", testmcp.Options{}))
	began := time.Now()
	w.Apply(specs)
	assert.Less(t, time.Since(began), 500*time.Millisecond, "Apply returns at once")
	w.until("good", core.StateConnected)
	assert.Less(t, time.Since(began), 4*time.Second)
	assert.False(t, w.status("h1").State.Settled())
}

func TestProcessEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Lookup = func(_ context.Context, kind, name string) (string, bool) {
			v, ok := map[string]string{"env/REGION": "north", "secret/fs/KEY": "s3cret"}[kind+"/"+name]
			return v, ok
		}
	})
	spec := stdioSpec(t, "s", testmcp.Options{})
	spec.Env["KEY"] = "${secret:fs/KEY}"
	spec.Env["WHERE"] = "${REGION}-${env:REGION}-${NONE:-default}"
	require.NoError(t, os.Setenv("PATCHBAY_TEST_PRIVATE", "mine"))
	w.start(spec)
	for name, want := range map[string]string{"KEY": "s3cret", "WHERE": "north-north-default", "PATCHBAY_TEST_PRIVATE": "", "HOME": os.Getenv("HOME")} {
		res, err := w.call("s", "env", `{"text":"`+name+`"}`)
		require.NoError(t, err)
		assert.Equal(t, want, res.Text(), name)
	}
}

func TestMissingValues(t *testing.T) {
	t.Parallel()
	have := make(chan struct{})
	w := newWorld(t, func(o *Options) {
		o.Lookup = func(_ context.Context, kind, name string) (string, bool) {
			select {
			case <-have:
				return "x", true
			default:
				return "", false
			}
		}
	})
	spec := stdioSpec(t, "s", testmcp.Options{})
	spec.Args = []string{"${TOKEN}"}
	spec.Env["KEY"] = "${secret:fs/KEY}"
	w.Apply([]core.ServerSpec{spec})
	st := w.until("s", core.StateNeedsValues)
	assert.Equal(t, []string{"TOKEN", "secret:fs/KEY"}, st.MissingValues)
	assert.Equal(t, core.FixValues, st.Fix)
	assert.Empty(t, pids(t, spec))
	close(have)
	w.Apply([]core.ServerSpec{spec})
	st = w.until("s", core.StateConnected)
	assert.Empty(t, st.MissingValues)
}

// What a killed program left behind is ended at the next start, and only that.
func TestLedgerSweepsOrphans(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	dir := t.TempDir()
	pidFile := filepath.Join(t.TempDir(), "pids")
	env := childEnv(os.Environ(), os.Getenv("PATH"), testmcp.Env(testmcp.Options{Faults: []string{testmcp.Hang}, PIDFile: pidFile}))
	self, err := os.Executable()
	require.NoError(t, err)
	p, err := startProcess(self, nil, env, t.TempDir(), time.Second, &tail{})
	require.NoError(t, err)
	pid := p.cmd.Process.Pid
	l := newLedger(dir)
	l.add(pid, p.mark, "s")
	// As if another program had written it, which no longer runs.
	b, err := os.ReadFile(l.path())
	require.NoError(t, err)
	b = []byte(strings.Replace(string(b), `"start":"`+startTime(os.Getpid())+`"`, `"start":"1"`, 1))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "servers-1.json"), b, 0o600))
	// A number that was used again has another start time and must be spared.
	other := `{"pid":2,"start":"1"}` + "\n" + `{"pid":` + strconv.Itoa(os.Getpid()) + `,"start":"1","mark":"PATCHBAY_TREE=AAAAAAAAAAAAAAAAAAAAAAAAAA"}` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "servers-2.json"), []byte(other), 0o600))
	m := New(Options{StateDir: dir, Shell: "none"})
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
		require.Fail(t, "the orphan still runs")
	}
	p.stop()
	<-p.gone
	require.NoError(t, m.Close(context.Background()))
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{l.path()}, left)
}

func TestLedgerIsEmptyAfterClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, func(o *Options) { o.StateDir = dir })
	w.start(stdioSpec(t, "s", testmcp.Options{}))
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	require.Len(t, left, 1)
	require.NoError(t, w.Close(context.Background()))
	left, _ = filepath.Glob(filepath.Join(dir, "*"))
	require.Empty(t, left)
}

// Thousands of restarts must neither lose a process from the ledger nor make it
// grow without end, and a line that a crash left half written costs no other.
func TestLedgerOfManyStarts(t *testing.T) {
	t.Parallel()
	l := newLedger(t.TempDir())
	stays := l.add(os.Getpid(), "PATCHBAY_TREE=stays", "s")
	for i := range 2*ledgerSlack + 10 {
		l.add(1_000_000_000+i, "PATCHBAY_TREE=passes"+strconv.Itoa(i), "s")()
	}
	f, err := os.OpenFile(l.path(), os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(`{"pid":1,"star`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	program, left, err := readLedger(l.path())
	require.NoError(t, err)
	assert.Equal(t, os.Getpid(), program.PID)
	assert.Equal(t, startTime(os.Getpid()), program.Start)
	require.Len(t, left, 1)
	assert.Equal(t, os.Getpid(), left["PATCHBAY_TREE=stays"].PID)
	b, err := os.ReadFile(l.path())
	require.NoError(t, err)
	assert.Less(t, strings.Count(string(b), "\n"), ledgerSlack+10)
	stays()
	assert.NoFileExists(t, l.path())
}

// Whatever a server does, Close ends within its limit, and nothing is left.
func TestCloseKillsWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	m := New(Options{Limits: Limits{Grace: time.Minute}, Shell: "none"})
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.IgnoreTerm}})
	m.Apply([]core.ServerSpec{spec})
	require.Eventually(t, func() bool { return m.Status()[0].State == core.StateConnected }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, m.Close(ctx), context.DeadlineExceeded)
	requireGone(t, spec, 1)
	require.NoError(t, m.Close(context.Background()))
}

// A server may print what it was given. The value of a secret must not reach a
// message, a detail, or the log.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Lookup = func(_ context.Context, kind, _ string) (string, bool) { return "s3cret value", kind == "secret" }
	})
	spec := core.ServerSpec{Name: "s", Transport: core.TransportStdio, Command: "sh", Args: []string{"-c", `echo "Error: bad key $0" >&2; exit 4`, "${secret:k}"}}
	web := core.ServerSpec{Name: "w", Transport: core.TransportHTTP, URL: "http://127.0.0.1:1/mcp?key=${secret:k}"}
	w.Apply([]core.ServerSpec{spec, web})
	st := w.until("s", core.StateFailed)
	assert.Contains(t, st.Message, "Error: bad key •••")
	for _, st := range append(w.Status(), w.until("w", core.StateFailed)) {
		assert.NotContains(t, st.Message+st.Detail+strings.Join(w.Log(st.Name), "\n"), "s3cret")
	}
	rep := w.Test(context.Background(), spec, nil)
	assert.NotContains(t, rep.Message+rep.Detail, "s3cret")
	path, err := w.Locate(context.Background(), spec)
	require.NoError(t, err)
	assert.True(t, filepath.IsAbs(path))
	_, err = w.Locate(context.Background(), core.ServerSpec{Transport: core.TransportStdio, Command: "no-such-thing"})
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
}

// A package runner may be downloading: that is a state of its own, with more time.
func TestRunnerShowsThatItInstalls(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	w := newWorld(t, func(o *Options) { o.Limits.Start, o.Limits.Probe = time.Second, 500*time.Millisecond })
	spec := stdioSpec(t, "s", testmcp.Options{StartMS: 3000})
	npx := filepath.Join(t.TempDir(), "npx")
	require.NoError(t, os.Symlink(spec.Command, npx))
	spec.Command = npx
	w.Apply([]core.ServerSpec{spec})
	st := w.until("s", core.StateInstalling)
	assert.Contains(t, st.Message, "Installing the package with npx (first run), 2 s")
	st = w.until("s", core.StateConnected)
	assert.Contains(t, st.EraReason, "It did not answer server/discover within 500 ms")
	require.NoError(t, w.Reconnect(context.Background(), "s"))
	require.Eventually(t, func() bool { return len(pids(t, spec)) == 2 }, 10*time.Second, time.Millisecond)
	w.until("s", core.StateConnected)
	assert.NotContains(t, strings.Join(w.Log("s")[len(w.Log("s"))-4:], "\n"), "nstalling", "there is nothing left to install")
}
