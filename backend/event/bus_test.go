package event

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func types(es []Event) (out []string) {
	for _, e := range es {
		out = append(out, e.Type)
	}
	return out
}

// A page that connects late must learn that it knows nothing yet.
func TestFirstEventIsResync(t *testing.T) {
	var b Bus
	s := b.Subscribe()
	defer s.Close()
	es, err := s.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"resync"}, types(es))
	require.EqualValues(t, 1, es[0].Seq)
}

// A thousand small deltas must not become a thousand events, nor lose a letter.
func TestDeltasMergeAndKeepTheirText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Bus
		s := b.Subscribe()
		defer s.Close()
		_, _ = s.Next(t.Context())
		for range 1000 {
			b.Publish(ChatDelta{MessageID: "m", Kind: "text", Text: "ab"})
		}
		began := time.Now()
		es, err := s.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, frame, time.Since(began), "deltas wait one frame")
		require.Len(t, es, 1)
		require.Equal(t, strings.Repeat("ab", 1000), es[0].Data.(ChatDelta).Text)
	})
}

// A state change must not wait behind the frame of the deltas, nor overtake them.
func TestStateChangeGoesAtOnceInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Bus
		s := b.Subscribe()
		defer s.Close()
		_, _ = s.Next(t.Context())
		b.Publish(ChatDelta{MessageID: "m", Text: "x"})
		b.Publish(RunFinished{RunID: "r"})
		began := time.Now()
		es, err := s.Next(t.Context())
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		require.Equal(t, []string{"chat:delta", "run:finished"}, types(es))
	})
}

// A subscriber that sleeps must be told to resync and not silently miss events.
func TestOverflowBecomesResync(t *testing.T) {
	var b Bus
	s := b.Subscribe()
	defer s.Close()
	_, _ = s.Next(t.Context())
	for i := range maxQueue + 10 {
		b.Publish(AuditAppended{Seq: int64(i)})
	}
	es, err := s.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "resync", es[0].Type)
	require.EqualValues(t, 2, es[0].Seq)
}

// Web views keep large events for ever, so a batch must stay small.
func TestBatchesStaySmall(t *testing.T) {
	var b Bus
	s := b.Subscribe()
	defer s.Close()
	for range 20 {
		b.Publish(ChatDelta{MessageID: "m", Text: strings.Repeat("x", 1000)})
		b.Publish(RunStarted{})
	}
	var n int
	for n < 41 {
		es, err := s.Next(t.Context())
		require.NoError(t, err)
		size := 0
		for _, e := range es {
			size += weight(e.Data)
		}
		require.LessOrEqual(t, size, maxBatch)
		n += len(es)
	}
}

func TestNextEndsWithItsContext(t *testing.T) {
	var b Bus
	s := b.Subscribe()
	defer s.Close()
	_, _ = s.Next(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
