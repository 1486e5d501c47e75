package mcp

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// What a server started must be seen as well, and no secret in its command line.
func TestProcessesAreTheWholeTree(t *testing.T) {
	t.Parallel()
	linuxOnly(t) // elsewhere a helper whose parent died is not found
	dir := t.TempDir()
	w := newWorld(t, func(o *Options) {
		o.StateDir = dir
		o.Lookup = secretLookup(map[string]string{"s/KEY": "hush-hush"})
	})
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Fork}})
	spec.Args = []string{"--key", "${secret:s/KEY}"}
	other := stdioSpec(t, "other", testmcp.Options{})
	far, _ := httpSpec(t, "far", testmcp.Options{})
	w.Apply([]core.ServerSpec{spec, other, far})
	for _, name := range []string{"s", "other", "far"} {
		w.until(name, core.StateConnected)
	}
	list, err := w.Processes(t.Context(), "s")
	require.NoError(t, err)
	require.ElementsMatch(t, pids(t, spec), numbers(list))
	require.Equal(t, pids(t, spec)[0], list[0].PID, "the parent comes first")
	require.Contains(t, list[0].Command, "--key •••")
	for _, p := range list {
		require.NotContains(t, p.Command, "hush-hush")
		require.Positive(t, p.MemoryKB)
		at, err := time.Parse(time.RFC3339, p.StartedAt)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), at, time.Minute)
	}
	list, err = w.Processes(t.Context(), "far")
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = w.Processes(t.Context(), "nobody")
	require.Equal(t, core.CodeNotFound, core.CodeOf(err))

	// Another Patchbay of the same profile sees them too.
	m := New(Options{StateDir: dir, Shell: "none", Lookup: secretLookup(map[string]string{"s/KEY": "hush-hush"})})
	defer func() { require.NoError(t, m.Close(t.Context())) }()
	all, err := m.Running(t.Context(), []core.ServerSpec{spec, other, far})
	require.NoError(t, err)
	require.Equal(t, []string{"other", "s"}, []string{all[0].Server, all[1].Server})
	require.ElementsMatch(t, pids(t, spec), numbers(all[1].Processes))
	require.NotContains(t, all[1].Processes[0].Command, "hush-hush")

	require.NoError(t, w.Disconnect(t.Context(), "s"))
	w.until("s", core.StateOff)
	requireGone(t, spec, 2)
	list, err = w.Processes(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, list)
}

func numbers(list []core.Process) (out []int) {
	for _, p := range list {
		out = append(out, p.PID)
	}
	slices.Sort(out)
	return out
}
