package waiting_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/waiting"
)

// However an answer and the end of the context race, each question gets exactly
// one end, and the room is empty afterwards.
func TestEveryQuestionEndsOnce(t *testing.T) {
	var room waiting.Room[int, string]
	var answered, ended atomic.Int64
	var wg sync.WaitGroup
	ids := []string{"a", "b", "c", "d"}
	for range 500 {
		for i, id := range ids {
			seat := room.Enter(id, i)
			ctx, cancel := context.WithCancel(t.Context())
			wg.Go(func() {
				if a, err := seat.Wait(ctx); err == nil && a == id {
					answered.Add(1)
				} else if err != nil && a == "" {
					ended.Add(1)
				}
			})
			wg.Go(cancel)
			wg.Go(func() { room.Answer(id, id) })
		}
		wg.Wait()
		require.Empty(t, room.All())
	}
	require.EqualValues(t, 2000, answered.Load()+ended.Load())
	require.False(t, room.Answer("a", "late"))
}

func TestTheFirstAnswerWins(t *testing.T) {
	var room waiting.Room[string, int]
	seat := room.Enter("1", "why?")
	room.Enter("2", "how?")
	q, ok := room.Get("1")
	require.True(t, ok)
	require.Equal(t, "why?", q)
	require.Equal(t, []string{"why?", "how?"}, room.All())
	require.True(t, room.Answer("1", 7))
	require.False(t, room.Answer("1", 8))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	a, err := seat.Wait(ended)
	require.NoError(t, err)
	require.Equal(t, 7, a)
	_, ok = room.Get("1")
	require.False(t, ok)
}
