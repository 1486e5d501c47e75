package approval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/approval"
	"patchbay/backend/core"
)

// A yes that counts once must not answer the next question, however it was given.
func TestAYesThatCountsOnceIsNotRemembered(t *testing.T) {
	asked := 0
	a := core.Approval{ID: "1", Principal: core.Principal{ConversationID: "c"}, Call: core.ToolCall{Ref: core.ToolRef{Name: "run_command"}}, Decision: core.Decision{Once: true}}
	d := approval.NewDesk(nil, func(context.Context, core.Approval) (core.Answer, error) {
		asked++
		return core.AnswerAllowChat, nil
	})
	for range 2 {
		_, err := d.Ask(t.Context(), a, nil)
		require.NoError(t, err)
	}
	require.Equal(t, 2, asked)

	d = approval.NewDesk(nil, nil)
	waiting, answer := make(chan struct{}), make(chan core.Answer, 1)
	go func() {
		got, _ := d.Ask(t.Context(), a, func() { close(waiting) })
		answer <- got
	}()
	<-waiting
	require.Equal(t, core.CodeInvalid, core.CodeOf(d.Resolve("1", core.AnswerAllowChat)))
	require.NoError(t, d.Resolve("1", core.AnswerAllowOnce))
	require.Equal(t, core.AnswerAllowOnce, <-answer)
}
