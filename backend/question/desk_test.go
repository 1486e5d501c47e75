package question_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/question"
)

// An answer must reach the one who asked, once, and close the question.
func TestTheFirstAnswerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := question.NewDesk(nil)
		got := make(chan question.Answer, 1)
		go func() {
			a, err := d.Ask(t.Context(), core.Question{Kind: core.QuestionForm, Server: "s"})
			require.NoError(t, err)
			got <- a
		}()
		synctest.Wait()
		id := d.Pending()[0].ID
		require.Equal(t, core.CodeInvalid, core.CodeOf(d.Answer(id, question.Answer{Action: "maybe"})))
		require.NoError(t, d.Answer(id, question.Answer{Action: core.QuestionAccept, Content: json.RawMessage(`{"a":1}`)}))
		require.JSONEq(t, `{"a":1}`, string((<-got).Content))
		require.Equal(t, core.CodeNotFound, core.CodeOf(d.Answer(id, question.Answer{Action: core.QuestionDecline})))
		require.Empty(t, d.Pending())
	})
}

// A call that ends must not leave its question on the person's screen.
func TestAnEndedCallTakesItsQuestionAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := question.NewDesk(nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		_, err := d.Ask(ctx, core.Question{})
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, d.Pending())
	})
}

// A server that forgets its question must not keep it on the screen after the call.
func TestEndCallClosesItsQuestionsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := question.NewDesk(nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := make(chan question.Answer, 1)
		go func() {
			a, err := d.Ask(ctx, core.Question{CallID: "a"})
			require.NoError(t, err)
			got <- a
		}()
		go func() { _, _ = d.Ask(ctx, core.Question{}) }()
		synctest.Wait()
		d.EndCall("")
		require.Len(t, d.Pending(), 2)
		d.EndCall("a")
		require.Equal(t, core.QuestionCancel, (<-got).Action)
		require.Len(t, d.Pending(), 1)
		cancel()
		synctest.Wait()
	})
}
