package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// caching makes the manager remember in dir.
func caching(dir string) func(*Options) {
	return func(o *Options) { o.CacheDir = dir }
}

func stop(t *testing.T, w *world) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	require.NoError(t, w.Close(ctx))
}

// named returns the tool of that name as it is published.
func (w *world) tool(server, name string) core.Tool {
	for _, tool := range w.Tools(server) {
		if tool.Ref.Name == name {
			return tool
		}
	}
	return core.Tool{}
}

// A setting of a tool must not cost the connection, and must not stay behind.
func TestSettingsOfToolsApplyLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := stdioSpec(t, "s", testmcp.Options{})
	w.start(spec)
	before := w.tool("s", "echo")
	changed := spec
	changed.TimeoutMS, changed.MaxTotalTimeoutMS = 1234, 99_000
	changed.ToolTimeouts, changed.DisabledTools = map[string]int64{"slow": 777}, []string{"crash"}
	w.Apply([]core.ServerSpec{changed})
	after := w.tool("s", "echo")
	assert.EqualValues(t, 1234, after.TimeoutMS)
	assert.EqualValues(t, 99_000, after.MaxTotalMS)
	assert.EqualValues(t, 777, w.tool("s", "slow").TimeoutMS)
	assert.True(t, w.tool("s", "crash").Disabled)
	assert.False(t, after.Disabled)
	assert.Equal(t, before.Ref.Digest, after.Ref.Digest, "our own settings are no part of the definition")
	w.mu.Lock()
	last := w.published["s"][len(w.published["s"])-1]
	w.mu.Unlock()
	assert.Equal(t, w.Tools("s"), last, "the catalog hears of it")
	_, err := w.call("s", "grow", "{}")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return w.tool("s", "tool_0").TimeoutMS == 1234 }, 5*time.Second, time.Millisecond, "a new list gets the settings too")
	w.Apply([]core.ServerSpec{spec})
	assert.Equal(t, before, w.tool("s", "echo"))
	assert.Equal(t, core.StateConnected, w.status("s").State)
	require.Len(t, pids(t, spec), 1, "it was not restarted")
}

func TestToolsAreKnownBeforeTheServerRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	w := newWorld(t, caching(dir))
	spec := stdioSpec(t, "odd/ name", testmcp.Options{})
	st := w.start(spec)
	require.Empty(t, st.ToolsCachedAt)
	want := w.Tools(spec.Name)
	stop(t, w)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := files[0].Info()
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())

	// The next run finds the server gone, and its tools all the same.
	gone := spec
	gone.Command = filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(spec.Command, gone.Command))
	w = newWorld(t, caching(dir))
	w.Apply([]core.ServerSpec{gone})
	w.until(spec.Name, core.StateConnected)
	stop(t, w)
	require.NoError(t, os.Remove(gone.Command))
	w = newWorld(t, caching(dir))
	w.Apply([]core.ServerSpec{gone})
	st = w.until(spec.Name, core.StateFailed)
	assert.Equal(t, want, w.Tools(spec.Name), "the same definitions with the same digests")
	assert.Equal(t, len(want), st.ToolCount)
	at, err := time.Parse(time.RFC3339Nano, st.ToolsCachedAt)
	require.NoError(t, err)
	assert.Less(t, time.Since(at), time.Minute)
	_, err = w.call(spec.Name, "echo", "{}")
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err))

	// Another configuration is another server, and a removed one is forgotten.
	other := gone
	other.Args = []string{"x"}
	other.Start = core.StartManual
	w.Apply([]core.ServerSpec{other})
	w.until(spec.Name, core.StateOff)
	assert.Nil(t, w.Tools(spec.Name))
	w.Apply(nil)
	files, err = os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, files)
}

func TestDamagedMemoryCountsAsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := stdioSpec(t, "s", testmcp.Options{})
	m := newMemory(dir)
	key := keyOf(spec)
	for _, text := range []string{"", "{", `{"key":"other","tools":[]}`, `{"key":"` + key + `","tools":5}`} {
		require.NoError(t, os.WriteFile(m.path("s"), []byte(text), 0o600))
		assert.Empty(t, m.load("s", key).Key, text)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "server-0000.json"), []byte("{}"), 0o600))
	w := newWorld(t, caching(dir))
	w.start(spec)
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "server-0000.json"))
		return os.IsNotExist(err)
	}, 5*time.Second, time.Millisecond, "what belongs to no server is removed")
	require.Eventually(t, func() bool { return len(newMemory(dir).load("s", key).Tools) > 0 }, 5*time.Second, time.Millisecond)
}

// A definition that changed while it was only remembered must not run.
func TestRememberedToolThatChangedDoesNotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := stdioSpec(t, "s", testmcp.Options{Tools: 1, StartMS: 300})
	w := newWorld(t, caching(dir))
	w.start(spec)
	stop(t, w)

	// What the file says differs from what the server is going to say.
	m := newMemory(dir)
	b, err := os.ReadFile(m.path("s"))
	require.NoError(t, err)
	require.Contains(t, string(b), `"Returns its text."`)
	b = []byte(strings.ReplaceAll(strings.ReplaceAll(string(b), `"Returns its text."`, `"Harmless."`), `"tool_0"`, `"tool_gone"`))
	require.NoError(t, os.WriteFile(m.path("s"), b, 0o600))

	w = newWorld(t, caching(dir))
	w.Apply([]core.ServerSpec{spec})
	require.Eventually(t, func() bool { return w.status("s").ToolsCachedAt != "" }, 5*time.Second, time.Millisecond)
	require.NotEqual(t, core.StateConnected, w.status("s").State)
	call := func(tool core.Tool) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := w.Call(ctx, tool.Ref, "c-"+tool.Ref.Name, json.RawMessage("{}"), nil)
		return err
	}
	echo, gone, cancels := w.tool("s", "echo"), w.tool("s", "tool_gone"), w.tool("s", "cancels")
	require.Equal(t, "Harmless.", echo.Description)
	require.NoError(t, call(cancels), "a tool that is still the same waits for the start and runs")
	err = call(echo)
	require.Equal(t, core.CodeConflict, core.CodeOf(err))
	require.ErrorContains(t, err, "changed")
	require.Equal(t, core.CodeNotFound, core.CodeOf(call(gone)))
	require.NoError(t, call(w.tool("s", "echo")), "with the new definition it runs")
	assert.Empty(t, w.status("s").ToolsCachedAt)
}

// A server whose list fails must not lose the tools that are known of it, nor
// run them unchecked.
func TestListThatFailsKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.ListHangs}})
	m := newMemory(dir)
	known := core.Tool{Ref: ref("s", "echo"), Title: "Echo", InputSchema: json.RawMessage(`{"type":"object"}`)}
	m.change(keyOf(spec), func(r *record) { r.Tools, r.FetchedAt = []core.Tool{known}, time.Now().Add(-3*time.Hour) })
	require.NoError(t, m.save("s", keyOf(spec)))
	w := newWorld(t, caching(dir), func(o *Options) { o.Limits.ListPage = 200 * time.Millisecond })
	w.Apply([]core.ServerSpec{spec})
	st := w.until("s", core.StateConnected)
	assert.Equal(t, 1, st.ToolCount)
	assert.NotEmpty(t, st.ToolsCachedAt)
	_, err := w.Call(context.Background(), w.tool("s", "echo").Ref, "c", nil, nil)
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	require.ErrorContains(t, err, "cannot be checked")
	assert.Contains(t, strings.Join(w.Log("s"), "\n"), "1 tool (cached 3 h ago)")
}

func TestRefreshAndTimeToLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, h := httpSpec(t, "s", testmcp.Options{})
	w.start(spec)
	lists := h.Count("tools/list")
	published := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.published["s"])
	}
	was := published()
	require.NoError(t, w.Refresh(context.Background(), "s"))
	require.Equal(t, lists+1, h.Count("tools/list"))
	require.Equal(t, was, published(), "nobody need hear that nothing changed")
	<-time.After(50 * time.Millisecond)
	require.Equal(t, lists+1, h.Count("tools/list"), "without a limit nobody asks")

	short := spec
	short.ToolListTTLMS = 30
	w.Apply([]core.ServerSpec{short})
	require.Eventually(t, func() bool { return h.Count("tools/list") >= lists+4 }, 5*time.Second, time.Millisecond)
	require.Equal(t, 1, h.Count("initialize"), "on the same connection")
	w.Apply([]core.ServerSpec{spec})

	require.NoError(t, w.Disconnect(context.Background(), "s"))
	w.until("s", core.StateOff)
	err := w.Refresh(context.Background(), "s")
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	require.ErrorContains(t, err, "The tools of s cannot be listed: the server s is off.")
	require.Equal(t, core.CodeNotFound, core.CodeOf(w.Refresh(context.Background(), "nobody")))
}

// The server's own word for how long its list is good counts when a tool is called.
func TestOldListIsReadAgainWhenNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, h := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Modern}, ListTTLMS: 20})
	w.start(spec)
	lists := h.Count("tools/list")
	<-time.After(60 * time.Millisecond)
	require.Equal(t, lists, h.Count("tools/list"), "it is a limit, not a timer")
	echoes(t, w, "s")
	require.Eventually(t, func() bool { return h.Count("tools/list") > lists }, 5*time.Second, time.Millisecond)
}
