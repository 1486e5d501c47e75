package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/host"
	"patchbay/backend/tools/custom/worker"
)

func TestMain(m *testing.M) {
	worker.Main(os.Args)
	os.Exit(m.Run())
}

// An agent must not reach through a script what it was not given itself; a
// person may.
func TestAnAgentsScriptReachesOnlyTheAgentsTools(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATCHBAY_HOME", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.json"), []byte(`{ "tools": [
		{ "name": "given", "code": "return 'given'" },
		{ "name": "kept", "code": "return 'kept'" },
		{ "name": "asks", "code": "try { return (await tools.call(args.name)).content[0].text } catch (e) { return e.code }" },
		{ "name": "nosy", "code": "try { return await files.read(args.path) } catch (e) { return e.message }", "folders": ["`+filepath.ToSlash(dir)+`"] }
	] }`), 0o600))
	yes := func(context.Context, core.Approval) (core.Answer, error) { return core.AnswerAllowOnce, nil }
	h, err := host.New(t.Context(), host.Options{Answer: yes})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(context.Background())) }()
	h.Start()
	ref := func(name string) core.ToolRef { return core.ToolRef{Kind: core.ToolCustom, Name: name} }
	agent, err := h.Agents.Save(t.Context(), core.Agent{Name: "Narrow", ToolChoice: core.ToolsSome, Tools: []core.ToolRef{ref("asks"), ref("given")}})
	require.NoError(t, err)
	call := func(p core.Principal, tool, args string) string {
		t.Helper()
		o := h.Gate.Call(t.Context(), p, core.ToolCall{Alias: tool, Arguments: json.RawMessage(args)}, core.Watch{})
		require.NoError(t, o.Err)
		return o.Result.Text()
	}
	narrow := core.Principal{Kind: core.PrincipalAgent, AgentID: agent.ID, RunID: "r"}
	require.Equal(t, "given", call(narrow, "asks", `{"name":"given"}`))
	require.Equal(t, "denied", call(narrow, "asks", `{"name":"kept"}`))
	require.Equal(t, "not_found", call(narrow, "asks", `{"name":"none"}`))
	require.Equal(t, "kept", call(core.Principal{Kind: core.PrincipalWindow}, "asks", `{"name":"kept"}`))
	require.Equal(t, "denied", call(core.Principal{Kind: core.PrincipalAgent, AgentID: "gone", RunID: "r"}, "asks", `{"name":"given"}`)[:6])

	// The product's own files are nobody's, whatever a tool declares.
	for _, name := range []string{"tools.json", "data/app.db", "data/secrets.age", "state/patchbay.log"} {
		require.Contains(t, call(core.Principal{Kind: core.PrincipalWindow}, "nosy", `{"path":"`+filepath.ToSlash(filepath.Join(dir, name))+`"}`), "files of Patchbay itself", name)
	}
}
