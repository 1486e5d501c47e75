package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools"
)

// No agent may have a built-in tool that nobody gave to it.
func TestBuiltInToolsAreOffUntilNamed(t *testing.T) {
	read := core.ToolRef{Kind: core.ToolBuiltin, Name: "read_file"}
	for _, c := range []struct {
		choice core.ToolChoice
		named  []core.ToolRef
		want   bool
	}{
		{core.ToolsAll, nil, false}, {core.ToolsSome, nil, false}, {core.ToolsNone, []core.ToolRef{read}, false},
		{core.ToolsAll, []core.ToolRef{read}, true}, {core.ToolsSome, []core.ToolRef{read}, true},
		{core.ToolsAll, []core.ToolRef{{Kind: core.ToolCustom, Name: "read_file"}}, false},
	} {
		require.Equal(t, c.want, tools.Chosen(core.Agent{ToolChoice: c.choice, Tools: c.named, Servers: []string{"", "builtin"}}, read), c)
	}
}
