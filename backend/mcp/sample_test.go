package mcp

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// A server may ask a model, through a person, in both revisions and over both
// transports; it gets what the person lets through and no more.
func TestSamplingGoesThroughAPerson(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, spec core.ServerSpec, _ bool) {
		answer := SampleAnswer{Action: Accept, Text: "hi", Model: "tiny", Cut: true}
		var seen []Sample
		h := &human{sample: func(_ context.Context, s Sample) (SampleAnswer, error) {
			seen = append(seen, s)
			return answer, nil
		}}
		w := newWorld(t, withPerson(h))
		w.Apply([]core.ServerSpec{spec})
		require.NoError(t, w.WaitSettled(t.Context()))
		res, err := w.asks("s", testmcp.AskSample, `{}`)
		require.NoError(t, err)
		assert.Contains(t, res.Text(), `"hi"`)
		assert.Contains(t, res.Text(), `"tiny"`)
		assert.Contains(t, res.Text(), `"maxTokens"`)
		require.Len(t, seen, 1)
		assert.Equal(t, Sample{Server: "s", CallID: "call-" + testmcp.AskSample, Sampling: core.Sampling{SystemPrompt: "Be short.", MaxTokens: 50,
			Hints: []string{"small"}, Messages: []core.SamplingMessage{{Role: "user", Text: "Say hi."}}}}, seen[0])

		res, err = w.asks("s", testmcp.ClientCaps, `{}`)
		require.NoError(t, err)
		assert.Contains(t, res.Text(), `"sampling"`, "a server may ask only what was declared")

		answer = SampleAnswer{Action: Decline, Text: "hi"}
		res, err = w.asks("s", testmcp.AskSample, `{}`)
		if err == nil { // in the older revision the server hears of the no, and makes of it what it wants
			assert.Contains(t, res.Text(), "rejected")
			assert.NotContains(t, res.Text(), "hi\"")
		} else {
			assert.ErrorContains(t, err, "rejected")
		}
	})
}

// A server in a loop must not bury a person under questions.
func TestSamplingIsLimited(t *testing.T) {
	t.Parallel()
	asked := 0
	h := &human{sample: func(context.Context, Sample) (SampleAnswer, error) {
		asked++
		return SampleAnswer{Action: Accept, Text: "hi", Model: "tiny"}, nil
	}}
	w := newWorld(t, withPerson(h))
	w.Apply([]core.ServerSpec{stdioSpec(t, "s", testmcp.Options{})})
	require.NoError(t, w.WaitSettled(t.Context()))
	refused := ""
	for range 30 {
		res, err := w.asks("s", testmcp.AskSample, `{}`)
		require.NoError(t, err)
		refused = res.Text()
	}
	assert.Less(t, asked, 20)
	assert.Contains(t, refused, "too many")
}
