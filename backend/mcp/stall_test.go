package mcp

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// Half of an answer on stdio, and then nothing: the call ends at its limit, and
// the session goes on once the rest has come.
func TestStallInTheMiddleOfALine(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"", testmcp.Modern} {
		spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.StallsInLine, fault}})
		beside(t, spec, func(t *testing.T, w *world) {
			w.until("s", core.StateConnected)
			ctx, cancel := context.WithTimeout(context.Background(), testmcp.StallMS/3*time.Millisecond)
			defer cancel()
			_, err := w.Call(ctx, ref("s", "echo"), "c", []byte(`{"text":"lost"}`), nil)
			require.Equal(t, core.CodeTimeout, core.CodeOf(err), "%v", err)
			assert.ErrorContains(t, err, "ran out of time")
			for range 5 { // the first of them waits behind the rest of that line
				echoes(t, w, "s")
			}
			assert.Equal(t, core.StateConnected, w.status("s").State)
			assert.Len(t, pids(t, spec), 1, "it was never started again")
		})
	}
}

// An answer that comes a byte at a time is waited for as long as its call may take.
func TestAnswerThatDribbles(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"", testmcp.Modern} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Dribbles, fault}})
			beside(t, spec, func(t *testing.T, w *world) {
				w.until("s", core.StateConnected)
				ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
				defer cancel()
				_, err := w.Call(ctx, ref("s", "echo"), "c", []byte(`{"text":"lost"}`), nil)
				require.Equal(t, core.CodeTimeout, core.CodeOf(err), "%v", err)
				ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				res, err := w.Call(ctx, ref("s", "echo"), "d", []byte(`{"text":"slow"}`), nil)
				require.NoError(t, err)
				assert.Equal(t, "slow", res.Text())
				assert.Len(t, pids(t, spec), 1, "it was never started again")
			})
		})
	}
}
