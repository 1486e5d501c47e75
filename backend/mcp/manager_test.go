package mcp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

func TestApplyTouchesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := stdioSpec(t, "a", testmcp.Options{}), stdioSpec(t, "b", testmcp.Options{})
	w.Apply([]core.ServerSpec{b, a})
	w.until("a", core.StateConnected)
	w.until("b", core.StateConnected)
	assert.Equal(t, "b", w.Status()[0].Name, "in the order of Apply")
	w.Apply([]core.ServerSpec{a, b, a})
	require.Len(t, w.Status(), 2, "the first of equal names counts")
	assert.Equal(t, core.StateConnected, w.status("a").State)
	require.Len(t, pids(t, a), 1)

	b2 := b
	b2.Args = []string{"another"}
	w.Apply([]core.ServerSpec{a, b2})
	assert.NotEqual(t, core.StateConnected, w.status("b").State)
	w.until("b", core.StateConnected)
	require.Len(t, pids(t, a), 1, "a was left alone")
	require.Len(t, pids(t, b), 2)

	a.Disabled = true
	w.Apply([]core.ServerSpec{a})
	w.until("a", core.StateOff)
	requireGone(t, a, 1)
	requireGone(t, b, 2)
	assert.Nil(t, w.Tools("a"))
	assert.Nil(t, w.Tools("b"))
	require.Equal(t, core.CodeConflict, core.CodeOf(w.Reconnect(context.Background(), "a")))
	require.Equal(t, core.CodeNotFound, core.CodeOf(w.Reconnect(context.Background(), "b")))
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		pa, pb := w.published["a"], w.published["b"]
		return len(pa) > 0 && len(pb) > 0 && pa[len(pa)-1] == nil && pb[len(pb)-1] == nil
	}, 2*time.Second, time.Millisecond, "the end of both is published last")
}

func TestDisconnectStaysOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := stdioSpec(t, "s", testmcp.Options{})
	w.start(spec)
	require.NoError(t, w.Disconnect(context.Background(), "s"))
	st := w.until("s", core.StateOff)
	assert.Equal(t, core.FixReconnect, st.Fix)
	assert.Zero(t, st.ToolCount)
	requireGone(t, spec, 1)
	w.Apply([]core.ServerSpec{spec})
	assert.Equal(t, core.StateOff, w.status("s").State)
	_, err := w.call("s", "echo", "{}")
	require.ErrorContains(t, err, "the server s is off. Turn it on.")
	require.NoError(t, w.Reconnect(context.Background(), "s"))
	w.until("s", core.StateConnected)
	echoes(t, w, "s")
	require.NoError(t, w.Reconnect(context.Background(), "s"))
	require.Eventually(t, func() bool { return len(pids(t, spec)) == 3 }, 5*time.Second, time.Millisecond)
}

func TestToolListFollowsTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(stdioSpec(t, "s", testmcp.Options{}))
	n := len(w.Tools("s"))
	for range 5 {
		_, err := w.call("s", "grow", "{}")
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(w.Tools("s")) == n+5 && w.status("s").ToolCount == n+5 }, 5*time.Second, time.Millisecond)
}

func TestToolListBounds(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]int{testmcp.EndlessPages: 100, testmcp.RepeatedCursor: 2} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			st := w.start(stdioSpec(t, "s", testmcp.Options{Faults: []string{fault}}))
			assert.Equal(t, want, st.ToolCount)
			assert.NotEmpty(t, st.Detail)
		})
	}
	w := newWorld(t, func(o *Options) { o.Limits.Tools = 50 })
	st := w.start(stdioSpec(t, "s", testmcp.Options{Tools: 1000}))
	assert.Equal(t, 50, st.ToolCount)
	w = newWorld(t)
	st = w.start(stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.NoTools}}))
	assert.Equal(t, core.StateConnected, st.State)
	assert.NotNil(t, w.Tools("s"))
	assert.Empty(t, w.Tools("s"))
	assert.Equal(t, "Be gentle.", st.Instructions)
	assert.Equal(t, "Test server", st.ServerTitle)
	assert.Equal(t, "1.2.3", st.ServerVersion)
}

func TestIllegalToolsDoNotCostTheOthers(t *testing.T) {
	t.Parallel()
	for _, transport := range []core.Transport{core.TransportStdio, core.TransportHTTP} {
		w := newWorld(t)
		o := testmcp.Options{Faults: []string{testmcp.BadTool, testmcp.OddTools}}
		spec, _ := httpSpec(t, "s", o)
		if transport == core.TransportStdio {
			spec = stdioSpec(t, "s", o)
		}
		w.start(spec)
		tools := map[string]core.Tool{}
		for _, tool := range w.Tools("s") {
			tools[tool.Ref.Name] = tool
			assert.NotEmpty(t, tool.Title)
			assert.Equal(t, byte('{'), tool.InputSchema[0], tool.Ref.Name)
			assert.Len(t, tool.Ref.Digest, 64)
			assert.Equal(t, core.ToolMCP, tool.Ref.Kind)
			assert.Equal(t, "s", tool.Ref.Server)
		}
		assert.NotEmpty(t, tools["(unnamed tool 1)"].Broken)
		assert.Nil(t, tools["odd_hint"].Annotations.ReadOnlyHint, "a hint that cannot be read says nothing")
		assert.True(t, *tools["odd_hint"].Annotations.DestructiveHint)
		assert.Empty(t, tools["odd_hint"].Broken)
		assert.Equal(t, "Returns its text.", tools["echo"].Description, "the first of equal names counts")
		assert.NotEmpty(t, tools["task_only"].Broken)
		for _, name := range []string{"no_schema", "null_schema", "text_schema"} {
			assert.JSONEq(t, `{"type":"object"}`, string(tools[name].InputSchema))
			assert.Empty(t, tools[name].Broken)
		}
		assert.NotNil(t, tools["add"].OutputSchema)
	}
}

func TestTestLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Fork}})
	var steps []core.TestStep
	rep := w.Test(context.Background(), spec, func(s core.TestStep) { steps = append(steps, s) })
	require.True(t, rep.OK, "%+v", rep)
	requireGone(t, spec, 2)
	assert.Equal(t, rep.Steps, steps)
	require.Len(t, steps, 4)
	assert.Equal(t, []string{stepFind, stepStart, stepHandshake, stepList}, []string{steps[0].Name, steps[1].Name, steps[2].Name, steps[3].Name})
	assert.Equal(t, fmt.Sprintf("It works: %d tools.", len(rep.Tools)), rep.Message)
	assert.Equal(t, "2025-11-25", rep.ProtocolVersion)
	assert.Empty(t, w.Status())

	rep = w.Test(context.Background(), core.ServerSpec{Transport: core.TransportStdio, Command: "uvx-nope"}, nil)
	assert.False(t, rep.OK)
	assert.Equal(t, core.FixInstall, rep.Fix)
	assert.Equal(t, core.StepFailed, rep.Steps[0].Status)

	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	hung := stdioSpec(t, "h", testmcp.Options{Faults: []string{testmcp.Hang}})
	rep = w.Test(ctx, hung, nil)
	assert.False(t, rep.OK)
	assert.Equal(t, "The test of h was stopped.", rep.Message)
	requireGone(t, hung, 0)
	web, _ := httpSpec(t, "web", testmcp.Options{Faults: []string{testmcp.Unauthorized}})
	rep = w.Test(context.Background(), web, nil)
	assert.Equal(t, core.FixSignIn, rep.Fix)
	web, _ = httpSpec(t, "web", testmcp.Options{})
	rep = w.Test(context.Background(), web, nil)
	assert.True(t, rep.OK, "%+v", rep)
}

func TestCloseWhileStarting(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{testmcp.Hang, testmcp.Mute, testmcp.Exit, ""} {
		w := newWorld(t, func(o *Options) { o.Limits.Stream, o.Limits.Probe = time.Minute, time.Minute })
		spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{fault}})
		web, _ := httpSpec(t, "w", testmcp.Options{Faults: []string{testmcp.DiscoverHangs}})
		get, h := httpSpec(t, "g", testmcp.Options{Faults: []string{testmcp.GetHangs}})
		listen, h2 := httpSpec(t, "l", testmcp.Options{Faults: []string{testmcp.Modern, testmcp.ListenHangs}})
		w.Apply([]core.ServerSpec{spec, web, get, listen})
		require.Eventually(t, func() bool { return h.Count("GET") > 0 && h2.Count("subscriptions/listen") > 0 }, 5*time.Second, time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		require.NoError(t, w.Close(ctx), fault)
		cancel()
		requireGone(t, spec, 0)
		w.Apply([]core.ServerSpec{spec})
		assert.Equal(t, core.StateOff, w.status("s").State, "a closed manager starts nothing")
	}
}

func TestStatusIsASnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Apply([]core.ServerSpec{stdioSpec(t, "s", testmcp.Options{})})
	first := w.Status()
	w.until("s", core.StateConnected)
	assert.NotEqual(t, core.StateConnected, first[0].State)
	st := w.status("s")
	assert.NotEmpty(t, st.VerifiedAt)
	assert.NotEmpty(t, st.Since)
	w.mu.Lock()
	defer w.mu.Unlock()
	assert.NotEmpty(t, w.events)
}
