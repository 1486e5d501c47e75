package approval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/approval"
	"patchbay/backend/core"
	"patchbay/backend/policy"
	"patchbay/backend/store"
)

func someTool(server, name, description string) core.Tool {
	t := core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: server, Name: name}, Title: name, Description: description, InputSchema: []byte(`{}`)}
	t.Ref.Digest = t.ComputeDigest()
	return t
}

func newChoices(t *testing.T, dir string) (*approval.Choices, *store.Store) {
	t.Helper()
	s, err := store.Open(context.Background(), dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c, err := approval.NewChoices(t.Context(), s.App, nil)
	require.NoError(t, err)
	return c, s
}

func choose(t *testing.T, c *approval.Choices, choice core.ApprovalChoice, tool core.Tool) []core.ToolApproval {
	t.Helper()
	before, err := c.Choose(t.Context(), []core.ToolApproval{{Choice: choice, Tool: tool}})
	require.NoError(t, err)
	return before
}

func effect(c *approval.Choices, tool core.Tool) core.Effect {
	return policy.Default().With(c).Evaluate(core.PolicyRequest{Tool: tool}).Effect
}

// An allowed tool whose definition changed must ask again; a blocked one stays
// blocked whatever it says of itself now.
func TestAllowIsBoundToTheDefinitionAndBlockIsNot(t *testing.T) {
	c, _ := newChoices(t, t.TempDir())
	tool, changed := someTool("fs", "move", "Moves."), someTool("fs", "move", "Moves and more.")
	yes := true
	harmless := someTool("fs", "move", "Moves.")
	harmless.Annotations.ReadOnlyHint = &yes
	harmless.Ref.Digest = harmless.ComputeDigest()

	require.Equal(t, core.Ask, effect(c, tool))
	choose(t, c, core.ChoiceAllow, tool)
	require.Equal(t, core.Allow, effect(c, tool))
	require.Equal(t, core.Ask, effect(c, changed))
	a, ok := c.Choice(changed.Ref)
	require.True(t, ok)
	require.True(t, a.Changed(changed.Ref.Digest))
	require.Equal(t, "Moves.", a.Tool.Description, "what was allowed is there to compare")
	bare := tool
	bare.Ref.Digest = ""
	require.Equal(t, core.Ask, effect(c, bare), "a tool without a digest is none that was allowed")
	require.Equal(t, core.Ask, effect(c, someTool("other", "move", "Moves.")), "another server's tool")

	choose(t, c, core.ChoiceBlock, core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: "fs", Name: "move"}})
	for _, tool := range []core.Tool{tool, changed, harmless} {
		require.Equal(t, core.Deny, effect(c, tool))
		require.True(t, c.Blocked(tool.Ref))
	}
	choose(t, c, core.ChoiceAsk, tool)
	require.Equal(t, core.Ask, effect(c, harmless))
	before := choose(t, c, core.ChoiceInherit, tool)
	require.Equal(t, core.Allow, effect(c, harmless))
	_, err := c.Choose(t.Context(), before)
	require.NoError(t, err)
	require.Equal(t, core.Ask, effect(c, harmless), "the way back")
}

// What cannot be understood or kept must change nothing.
func TestChoicesAreAllOrNone(t *testing.T) {
	c, s := newChoices(t, t.TempDir())
	good := core.ToolApproval{Choice: core.ChoiceBlock, Tool: someTool("fs", "a", "")}
	for _, bad := range []core.ToolApproval{
		{Choice: "maybe", Tool: someTool("fs", "b", "")},
		{Choice: core.ChoiceAllow, Tool: core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: "fs", Name: "b"}}},
	} {
		_, err := c.Choose(t.Context(), []core.ToolApproval{good, bad})
		require.Equal(t, core.CodeInvalid, core.CodeOf(err))
		require.False(t, c.Blocked(good.Tool.Ref))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Choose(ctx, []core.ToolApproval{good})
	require.Error(t, err)
	require.False(t, c.Blocked(good.Tool.Ref), "what was not saved does not hold")
	kept, err := s.App.ToolApprovals(t.Context())
	require.NoError(t, err)
	require.Empty(t, kept)
}

func TestChoicesOutliveTheProgramAndFollowANewName(t *testing.T) {
	dir := t.TempDir()
	c, _ := newChoices(t, dir)
	a, b := someTool("old", "a", "A."), someTool("old", "b", "B.")
	choose(t, c, core.ChoiceAllow, a)
	choose(t, c, core.ChoiceBlock, b)
	choose(t, c, core.ChoiceBlock, core.Tool{Ref: core.ToolRef{Kind: core.ToolCustom, Name: "mine"}})
	require.NoError(t, c.RenameServer(t.Context(), "old", "new"))
	require.NoError(t, c.RenameCustom(t.Context(), "mine", "yours"))
	again, _ := newChoices(t, dir)
	for _, c := range []*approval.Choices{c, again} {
		require.Equal(t, core.Allow, effect(c, someTool("new", "a", "A.")))
		require.Equal(t, core.Ask, effect(c, someTool("new", "a", "Another.")))
		require.True(t, c.Blocked(someTool("new", "b", "").Ref))
		require.False(t, c.Blocked(b.Ref))
		require.True(t, c.Blocked(core.ToolRef{Kind: core.ToolCustom, Name: "yours"}))
	}
}

// A block from the command line must reach the window that runs.
func TestChoicesOfAnotherProgramAreSeen(t *testing.T) {
	dir := t.TempDir()
	mine, _ := newChoices(t, dir)
	theirs, _ := newChoices(t, dir)
	tool := someTool("fs", "a", "")
	choose(t, theirs, core.ChoiceBlock, tool)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		mine.Follow(ctx, 1e6, func(err error) { t.Error(err) })
	}()
	require.Eventually(t, func() bool { return mine.Blocked(tool.Ref) }, 10e9, 1e6)
	cancel()
	<-done
}

func BenchmarkChoice(b *testing.B) {
	s, err := store.Open(b.Context(), b.TempDir())
	require.NoError(b, err)
	defer s.Close()
	c, err := approval.NewChoices(b.Context(), s.App, nil)
	require.NoError(b, err)
	tool := someTool("fs", "a", "")
	_, err = c.Choose(b.Context(), []core.ToolApproval{{Choice: core.ChoiceAllow, Tool: tool}})
	require.NoError(b, err)
	rules := policy.Default().With(c)
	for b.Loop() {
		rules.Evaluate(core.PolicyRequest{Tool: tool})
	}
}
