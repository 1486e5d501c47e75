package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/api"
	"patchbay/backend/api/wire"
	"patchbay/backend/approval"
	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/limit"
	"patchbay/backend/policy"
	"patchbay/backend/store"
	"patchbay/backend/tools"
	"patchbay/backend/tools/custom"
	"patchbay/backend/tools/custom/worker"
)

func TestMain(m *testing.M) {
	worker.Main(os.Args)
	os.Exit(m.Run())
}

// newTools joins the facade with a real file, database, gate and worker.
func newTools(t *testing.T) (*api.Tools, *config.Store, *store.Store) {
	t.Helper()
	s, err := store.Open(context.Background(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c, err := config.Open(filepath.Join(t.TempDir(), "tools.json"))
	require.NoError(t, err)
	catalog := tools.NewCatalog(nil)
	runner := custom.New(custom.Options{})
	t.Cleanup(runner.Close)
	yes := func(context.Context, core.Approval) (core.Answer, error) { return core.AnswerAllowOnce, nil }
	gate := tools.NewExecutor(tools.Options{Catalog: catalog, Log: s.Audit, Policy: policy.Default(), Limiter: limit.New(),
		Desk: approval.NewDesk(func(event.Payload) {}, yes), Runners: map[core.ToolKind]tools.Runner{core.ToolCustom: runner}})
	apply := func() {
		f, err := c.Current()
		require.NoError(t, err)
		catalog.Replace("custom", runner.Set(f.Tools))
	}
	choices, err := approval.NewChoices(t.Context(), s.App, nil)
	require.NoError(t, err)
	return api.NewTools(c, catalog, gate, policy.Default().With(choices), choices, runner, s.App, apply), c, s
}

func shout(code string) core.CustomTool {
	return core.CustomTool{Name: "shout", Description: "Shouts.", Parameters: json.RawMessage(`{"type":"object"}`), Code: code, Enabled: true}
}

func codes(t *testing.T, f *api.Tools, name string) (out []string) {
	t.Helper()
	v, err := f.GetVersions(t.Context(), wire.NameInput{Name: name})
	require.NoError(t, err)
	for _, v := range v.Versions {
		require.NotEmpty(t, v.SavedAt)
		out = append(out, v.Tool.Code)
	}
	return out
}

func TestEverySaveKeepsTheFormerVersion(t *testing.T) {
	f, c, _ := newTools(t)
	ctx := t.Context()
	require.NoError(t, f.Add(ctx, shout("return 1")))
	require.Empty(t, codes(t, f, "shout"))
	update := func(name string, tool core.CustomTool) {
		t.Helper()
		require.NoError(t, f.Update(ctx, wire.UpdateToolInput{Name: name, Tool: tool}))
	}
	update("shout", shout("return 2"))
	off := shout("return 2")
	off.Enabled = false
	update("shout", off) // switching is no new version
	update("shout", shout("return 3"))
	require.Equal(t, []string{"return 2", "return 1"}, codes(t, f, "shout"))

	renamed := shout("return 3")
	renamed.Name = "yell"
	update("shout", renamed)
	require.Equal(t, []string{"return 2", "return 1"}, codes(t, f, "yell"), "a new name lost the history")
	require.Empty(t, codes(t, f, "shout"))

	list, err := f.GetVersions(ctx, wire.NameInput{Name: "yell"})
	require.NoError(t, err)
	require.NoError(t, f.RestoreVersion(ctx, wire.RestoreVersionInput{Name: "yell", ID: list.Versions[1].ID}))
	file, err := c.Current()
	require.NoError(t, err)
	require.Equal(t, "return 1", file.Tools[0].Code)
	require.Equal(t, "yell", file.Tools[0].Name, "the name of then came back")
	require.Equal(t, []string{"return 3", "return 2", "return 1"}, codes(t, f, "yell"), "what was there before the restore is lost")
	require.Equal(t, core.CodeNotFound, core.CodeOf(f.RestoreVersion(ctx, wire.RestoreVersionInput{Name: "yell", ID: 999})))

	for i := range 60 {
		r := renamed
		r.Code = fmt.Sprintf("return %d", 100+i)
		update("yell", r)
	}
	kept := codes(t, f, "yell")
	require.Len(t, kept, 50)
	require.Equal(t, "return 158", kept[0])
}

func TestCodeThatIsNoJavaScriptIsNotSaved(t *testing.T) {
	f, c, _ := newTools(t)
	err := f.Add(t.Context(), shout("return (;"))
	var ce *core.Error
	require.ErrorAs(t, err, &ce)
	require.Equal(t, core.CodeInvalid, ce.Code)
	require.Equal(t, "code", ce.Path)
	require.Equal(t, 1, ce.Line)
	file, err := c.Current()
	require.NoError(t, err)
	require.Empty(t, file.Tools)
	out, err := f.Check(t.Context(), wire.CheckCodeInput{Code: "\nreturn ("})
	require.NoError(t, err)
	require.NotNil(t, out.Problem)
	out, err = f.Check(t.Context(), wire.CheckCodeInput{Code: "return 1"})
	require.NoError(t, err)
	require.Nil(t, out.Problem)
}

// A draft runs through the gate with its own code, is in the audit, and is
// neither saved nor listed.
func TestADraftIsTestedWithoutBeingSaved(t *testing.T) {
	f, c, s := newTools(t)
	require.NoError(t, f.Add(t.Context(), shout("return 'saved'")))
	out, err := f.TestCustom(t.Context(), wire.TestCustomInput{CallID: "mine", Tool: shout("return 'draft'"), Arguments: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Equal(t, core.CallDone, out.Status)
	require.Equal(t, "draft", out.ModelText)
	file, err := c.Current()
	require.NoError(t, err)
	require.Equal(t, "return 'saved'", file.Tools[0].Code)
	view, err := f.Get(t.Context())
	require.NoError(t, err)
	require.Len(t, view.Tools, 1)
	rs, err := s.Audit.Records(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Len(t, rs, 1)
	require.Equal(t, "mine", rs[0].CallID)
	_, err = f.TestCustom(t.Context(), wire.TestCustomInput{Tool: core.CustomTool{Name: "x", Code: "return 1", Capabilities: core.Capabilities{Hosts: []string{"http://x"}}}})
	require.Equal(t, core.CodeInvalid, core.CodeOf(err))
}

func TestConnectorsAreImportedAllOrNone(t *testing.T) {
	f, c, _ := newTools(t)
	doc := `{"openapi":"3.0.0","info":{"title":"x","version":"1"},"servers":[{"url":"https://a.example"}],"paths":{"/a":{"get":{"operationId":"a","responses":{}},"post":{"operationId":"b","responses":{}}}}}`
	v, err := f.ParseOpenAPI(t.Context(), wire.OpenAPIInput{Text: doc})
	require.NoError(t, err)
	file, err := c.Current()
	require.NoError(t, err)
	require.Empty(t, file.Tools, "reading saved something")
	list := []core.CustomTool{v.Proposals[0].Tool, v.Proposals[1].Tool}
	added, err := f.AddMany(t.Context(), wire.AddToolsInput{Tools: list})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, added.Names)
	added, err = f.AddMany(t.Context(), wire.AddToolsInput{Tools: list})
	require.NoError(t, err)
	require.Equal(t, []string{"a_2", "b_2"}, added.Names)
	bad := list[1]
	bad.HTTP = &core.Connector{Method: "GET", URL: "nowhere"}
	_, err = f.AddMany(t.Context(), wire.AddToolsInput{Tools: []core.CustomTool{list[0], bad}})
	require.Equal(t, core.CodeInvalid, core.CodeOf(err))
	file, err = c.Current()
	require.NoError(t, err)
	require.Len(t, file.Tools, 4)
}

// An allowed tool is allowed as the person saw it; what is dangerous needs a
// word more, a change asks anew, and a new name does not free a blocked tool.
func TestApprovalOfATool(t *testing.T) {
	f, _, _ := newTools(t)
	ctx := t.Context()
	risky := shout("return 1")
	risky.Name = "delete_all"
	require.NoError(t, f.Add(ctx, shout("return 1")))
	require.NoError(t, f.Add(ctx, risky))
	get := func(name string) wire.ToolView {
		t.Helper()
		all, err := f.Get(ctx)
		require.NoError(t, err)
		for _, v := range all.Tools {
			if v.Tool.Ref.Name == name {
				return v
			}
		}
		t.Fatalf("no tool %s", name)
		return wire.ToolView{}
	}
	set := func(name string, choice core.ApprovalChoice, accept bool) (wire.Removed, error) {
		t.Helper()
		return f.SetApproval(ctx, wire.SetApprovalInput{Refs: []core.ToolRef{get(name).Tool.Ref}, Choice: choice, AcceptRisk: accept})
	}
	_, err := set("delete_all", core.ChoiceAllow, false)
	require.Equal(t, core.CodeDenied, core.CodeOf(err))
	require.ErrorContains(t, err, "risk is high")
	require.Equal(t, core.Ask, get("delete_all").Decision.Effect)
	_, err = set("delete_all", core.ChoiceAllow, true)
	require.NoError(t, err)

	undo, err := set("shout", core.ChoiceAllow, false)
	require.NoError(t, err)
	v := get("shout")
	require.Equal(t, core.Allow, v.Decision.Effect)
	require.Equal(t, core.Ask, v.Inherited.Effect)
	require.NotEmpty(t, v.Approval.Since)
	old := v.Tool.Ref
	require.NoError(t, f.Update(ctx, wire.UpdateToolInput{Name: "shout", Tool: shout("return 2")}))
	v = get("shout")
	require.Equal(t, core.Ask, v.Decision.Effect, "other code, another tool")
	require.True(t, v.Approval.Changed)
	detail, err := f.GetApproval(ctx, wire.ToolInput{Ref: old})
	require.NoError(t, err)
	require.Equal(t, old, detail.Allowed.Ref)
	require.Equal(t, v.Tool.Ref, detail.Now.Ref)
	_, err = f.SetApproval(ctx, wire.SetApprovalInput{Refs: []core.ToolRef{old}, Choice: core.ChoiceAllow})
	require.Equal(t, core.CodeConflict, core.CodeOf(err), "what the person saw is not what would be allowed")
	require.NoError(t, f.RestoreApproval(ctx, wire.UndoInput(undo)))
	require.Empty(t, get("shout").Approval)

	_, err = set("shout", core.ChoiceBlock, false)
	require.NoError(t, err)
	renamed := shout("return 2")
	renamed.Name = "whisper"
	require.NoError(t, f.Update(ctx, wire.UpdateToolInput{Name: "shout", Tool: renamed}))
	require.Equal(t, core.Deny, get("whisper").Decision.Effect)
	require.False(t, get("whisper").Available)
}

// What no model would take must not be saved in silence; a tool that is there
// already can still be switched off.
func TestTooLongACustomToolIsNotSaved(t *testing.T) {
	f, c, _ := newTools(t)
	ctx := t.Context()
	long := shout("return 1")
	long.Description = strings.Repeat("x", 2001)
	err := f.Add(ctx, long)
	require.Equal(t, core.CodeTooLarge, core.CodeOf(err))
	require.ErrorContains(t, err, "2001 characters")
	require.NoError(t, c.AddTool(ctx, long)) // as if written by hand
	off := long
	off.Enabled = false
	require.NoError(t, f.Update(ctx, wire.UpdateToolInput{Name: "shout", Tool: off}))
	long.Description += "x"
	require.Equal(t, core.CodeTooLarge, core.CodeOf(f.Update(ctx, wire.UpdateToolInput{Name: "shout", Tool: long})))
}

// What is no JSON Schema is refused with its place, and a file that holds such a
// tool already can still be changed elsewhere.
func TestSchemaOfACustomToolIsOne(t *testing.T) {
	f, _, _ := newTools(t)
	bad := shout("return 1")
	bad.Parameters = json.RawMessage(`{"type":"object","properties":{"text":{"type":"strnig"}}}`)
	err := f.Add(t.Context(), bad)
	require.Equal(t, core.CodeInvalid, core.CodeOf(err))
	require.ErrorContains(t, err, "/properties/text/type")
	require.NotContains(t, err.Error(), "\n")
	good := shout("return 1")
	require.NoError(t, f.Add(t.Context(), good))
}
