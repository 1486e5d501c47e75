package mcp

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// What a start found out the slow way must not be found out again by the next run.
func TestEraIsRememberedBetweenRuns(t *testing.T) {
	t.Parallel()
	silent := stdioSpec(t, "silent", testmcp.Options{Faults: []string{testmcp.SilentProbe}})
	dies := stdioSpec(t, "dies", testmcp.Options{Faults: []string{testmcp.ExitOnProbe}})
	sane := stdioSpec(t, "sane", testmcp.Options{})
	hangs, h := httpSpec(t, "hangs", testmcp.Options{Faults: []string{testmcp.DiscoverHangs}})
	modern, _ := httpSpec(t, "modern", testmcp.Options{Faults: []string{testmcp.Modern}})
	old, ho := httpSpec(t, "old", testmcp.Options{Faults: []string{testmcp.LegacySSE}})
	specs := []core.ServerSpec{silent, dies, sane, hangs, modern, old}
	dir := t.TempDir()
	run := func() map[string]core.ServerStatus {
		w := newWorld(t, caching(dir))
		w.Apply(specs)
		out := map[string]core.ServerStatus{}
		for _, s := range specs {
			out[s.Name] = w.until(s.Name, core.StateConnected)
		}
		stop(t, w)
		return out
	}
	first := run()
	for name, want := range map[string]string{
		"silent": "It did not answer server/discover within 400 ms, so initialize was used.",
		"dies":   "It ended when it was asked with server/discover, so initialize was used.",
		"sane":   "It does not know server/discover, so initialize was used.",
		"hangs":  "It did not answer server/discover within 400 ms, so initialize was used.",
		"modern": "It answered server/discover.",
		"old":    "It speaks the older HTTP with SSE, which has initialize only.",
	} {
		assert.Equal(t, want, first[name].EraReason, name)
	}
	assert.Equal(t, "2026-07-28", first["modern"].ProtocolVersion)
	require.Len(t, pids(t, dies), 2)
	posts := ho.Count("initialize")
	second := run()
	for _, name := range []string{"silent", "dies", "hangs"} {
		assert.Equal(t, "Remembered from "+time.Now().Format("2 Jan")+": it does not answer server/discover.", second[name].EraReason)
	}
	assert.Equal(t, first["sane"].EraReason, second["sane"].EraReason, "what costs nothing is asked each time")
	require.Len(t, pids(t, dies), 3, "it started at the first try")
	require.Equal(t, 1, h.Count("server/discover"))
	assert.True(t, strings.HasPrefix(second["old"].EraReason, "Remembered: "), second["old"].EraReason)
	assert.Equal(t, posts+1, ho.Count("initialize"))
}

// A server that has become a newer one must not stay locked out.
func TestRememberedEraThatIsWrongIsFoundOutAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Modern}})
	local := stdioSpec(t, "l", testmcp.Options{Faults: []string{testmcp.Modern, testmcp.Unsupported}})
	sse, _ := httpSpec(t, "o", testmcp.Options{})
	for _, s := range []core.ServerSpec{spec, local} {
		w.d.memory.change(keyOf(s), func(r *record) { r.Legacy = time.Now() })
	}
	w.d.memory.change(keyOf(sse), func(r *record) { r.Transport = core.TransportSSE })
	w.Apply([]core.ServerSpec{spec, local, sse})
	for _, name := range []string{"s", "l"} {
		st := w.until(name, core.StateConnected)
		assert.Equal(t, "2026-07-28", st.ProtocolVersion)
		assert.Equal(t, "It answered server/discover.", st.EraReason)
	}
	w.until("o", core.StateConnected)
	echoes(t, w, "o")
	assert.True(t, record{Legacy: time.Now()}.legacy())
	assert.False(t, record{Legacy: time.Now().Add(-8 * 24 * time.Hour)}.legacy(), "it may be a newer one by then")
}

func TestConnectTimeoutOfAServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Limits.Start, o.Limits.Connect = time.Minute, time.Minute
		o.Limits.Stream = time.Minute
		o.Limits.Probe = time.Minute
	})
	mute := stdioSpec(t, "mute", testmcp.Options{Faults: []string{testmcp.Mute}})
	get, _ := httpSpec(t, "web", testmcp.Options{Faults: []string{testmcp.DiscoverHangs}})
	silent := stdioSpec(t, "silent", testmcp.Options{Faults: []string{testmcp.SilentProbe}})
	mute.ConnectTimeoutMS, get.ConnectTimeoutMS, silent.ConnectTimeoutMS = 500, 3000, 3000
	w.Apply([]core.ServerSpec{mute, get, silent})
	st := w.until("mute", core.StateFailed)
	assert.Regexp(t, `^mute did not answer within [0-9.]+ m?s\.`, st.Message)
	assert.Contains(t, st.Message, "raise the time limit for connecting in its settings")
	w.until("web", core.StateConnected)
	w.until("silent", core.StateConnected)

	// And more time than the engine's own limit.
	w = newWorld(t, func(o *Options) { o.Limits.Start = 300 * time.Millisecond; o.Limits.Probe = time.Second })
	slow := stdioSpec(t, "slow", testmcp.Options{StartMS: 800})
	w.Apply([]core.ServerSpec{slow})
	w.until("slow", core.StateFailed)
	slow.ConnectTimeoutMS = 10_000
	w.Apply([]core.ServerSpec{slow})
	w.until("slow", core.StateConnected)
}
