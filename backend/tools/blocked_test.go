package tools_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/approval"
	"patchbay/backend/core"
	"patchbay/backend/policy"
	"patchbay/backend/store"
	"patchbay/backend/tools"
)

func blocking(t *testing.T, answer func(block func()) approval.Answerer) (*gate, func()) {
	t.Helper()
	var choices *approval.Choices
	block := func() {
		_, err := choices.Choose(context.Background(), []core.ToolApproval{{Choice: core.ChoiceBlock, Tool: core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: "fs", Name: "write_file"}}}})
		require.NoError(t, err)
	}
	s, err := store.Open(context.Background(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	choices, err = approval.NewChoices(t.Context(), s.App, nil)
	require.NoError(t, err)
	g := newGate(t, answer(block), func(o *tools.Options) {
		o.Policy, o.Catalog.Blocked = policy.Default().With(choices), choices.Blocked
	})
	return g, block
}

// A tool that a person blocks runs for nobody, and no agent hears of it.
func TestBlockedToolIsRefusedAndNotOffered(t *testing.T) {
	g, block := blocking(t, func(func()) approval.Answerer { return answering(core.AnswerAllowOnce) })
	everything := core.Agent{ToolChoice: core.ToolsAll}
	require.Len(t, g.catalog.Offer(everything), 2)
	require.Equal(t, core.CallDone, g.call(t, "fs__write_file", `{"path":"x"}`).Status)
	block()
	o := g.call(t, "fs__write_file", `{"path":"x"}`)
	require.Equal(t, core.CallDeniedRule, o.Status)
	require.ErrorContains(t, o.Err, "You blocked this tool.")
	require.ErrorContains(t, o.Err, "choose another approval", "the way out")
	require.Equal(t, policy.RuleChosen, g.record(t).Decision.Rule)
	require.Len(t, g.runner.calls, 1)
	offered := g.catalog.Offer(everything)
	require.Len(t, offered, 1)
	require.Equal(t, "fs__read", offered[0].Alias)
	require.Len(t, g.catalog.All(), 2, "it stays listed for people")
}

// A yes to one call that was asked before the tool was blocked counts no more.
func TestToolThatIsBlockedWhileAPersonThinksDoesNotRun(t *testing.T) {
	g, _ := blocking(t, func(block func()) approval.Answerer {
		return func(context.Context, core.Approval) (core.Answer, error) { block(); return core.AnswerAllowOnce, nil }
	})
	o := g.call(t, "fs__write_file", `{"path":"x"}`)
	require.Equal(t, core.CallDeniedRule, o.Status)
	require.Empty(t, g.runner.calls)
	r := g.record(t)
	require.Equal(t, core.CallDeniedRule, r.Status)
	require.Equal(t, core.Deny, r.Decision.Effect)
}
