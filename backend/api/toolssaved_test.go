package api_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
)

func TestSavedRequests(t *testing.T) {
	tools, _, _ := newTools(t)
	ref := core.ToolRef{Kind: core.ToolMCP, Server: "s", Name: "t", Digest: "one"}
	save := func(name, args string) error {
		_, err := tools.SaveRequest(t.Context(), wire.SaveRequestInput{Ref: ref, Request: wire.SavedRequest{Name: name, Arguments: json.RawMessage(args)}})
		return err
	}
	require.NoError(t, save("b", `{"n":1}`))
	require.NoError(t, save(" A ", `{"n":2}`))
	require.NoError(t, save("b", `{"n":3}`), "the same name replaces")
	ref.Digest = "two"
	got, err := tools.GetSavedRequests(t.Context(), wire.SavedRequestsInput{Ref: ref})
	require.NoError(t, err)
	assert.Equal(t, []wire.SavedRequest{{Name: "A", Arguments: json.RawMessage(`{"n":2}`)}, {Name: "b", Arguments: json.RawMessage(`{"n":3}`)}}, got.Requests, "a new definition keeps them")
	other, err := tools.GetSavedRequests(t.Context(), wire.SavedRequestsInput{Ref: core.ToolRef{Kind: core.ToolMCP, Server: "s", Name: "u"}})
	require.NoError(t, err)
	assert.Empty(t, other.Requests)

	assert.Equal(t, core.CodeInvalid, core.CodeOf(save("", `{}`)))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(save("x", `{`)))
	for i := range 48 {
		require.NoError(t, save(fmt.Sprint(i), `{}`))
	}
	assert.Equal(t, core.CodeConflict, core.CodeOf(save("one too many", `{}`)))
	got, err = tools.RemoveSavedRequest(t.Context(), wire.RemoveSavedInput{Ref: ref, Name: "b"})
	require.NoError(t, err)
	assert.Len(t, got.Requests, 49)
	require.NoError(t, save("now it fits", `{}`))
}

// The tests of a custom tool are its saved requests that know their result; they
// follow the tool when it gets another name.
func TestTestsOfACustomToolFollowItsName(t *testing.T) {
	tools, _, _ := newTools(t)
	ref := func(name string) core.ToolRef { return core.ToolRef{Kind: core.ToolCustom, Name: name} }
	tool := shout("return args.text")
	require.NoError(t, tools.Add(t.Context(), tool))
	request := wire.SavedRequest{Name: "quiet", Arguments: json.RawMessage(`{"text":"a"}`), Expected: json.RawMessage(`"a"`)}
	_, err := tools.SaveRequest(t.Context(), wire.SaveRequestInput{Ref: ref(tool.Name), Request: request})
	require.NoError(t, err)
	bad := request
	bad.Expected = json.RawMessage(`{`)
	_, err = tools.SaveRequest(t.Context(), wire.SaveRequestInput{Ref: ref(tool.Name), Request: bad})
	require.Equal(t, core.CodeInvalid, core.CodeOf(err))

	old := tool.Name
	tool.Name = "renamed"
	require.NoError(t, tools.Update(t.Context(), wire.UpdateToolInput{Name: old, Tool: tool}))
	got, err := tools.GetSavedRequests(t.Context(), wire.SavedRequestsInput{Ref: ref("renamed")})
	require.NoError(t, err)
	require.Equal(t, []wire.SavedRequest{request}, got.Requests)
	got, err = tools.GetSavedRequests(t.Context(), wire.SavedRequestsInput{Ref: ref(old)})
	require.NoError(t, err)
	require.Empty(t, got.Requests)
}
