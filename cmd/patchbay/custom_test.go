package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A tools.json written by hand: one tool that only computes, one that calls
// three tools of two servers at the same time.
func handwritten(t *testing.T, h *home) {
	t.Helper()
	server := func(name string) map[string]any {
		return map[string]any{"name": name, "command": program, "args": []string{"demo-server", "--scratch", filepath.Join(h.dir, name)}}
	}
	raw, err := json.Marshal(map[string]any{
		"tools": []any{
			map[string]any{"name": "word_count", "description": "Counts.", "timeout": 2000, "enabled": true,
				"parameters": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}, "required": []string{"text"}},
				"code":       "const words = args.text.split(/\\s+/).filter(Boolean);\nreturn { words: words.length };"},
			map[string]any{"name": "three", "code": `const rs = await Promise.all([tools.call("left__list_notes"), tools.call("right__list_notes"), tools.call("right__current_time", {})]);
return rs.map(r => r.isError)`},
			map[string]any{"name": "loop", "timeout": 200, "code": "for (;;) {}"},
		},
		"mcpServers": []any{server("left"), server("right")},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "tools.json"), raw, 0o600))
}

func TestCustomToolsFromTheCommandLine(t *testing.T) {
	h := newHome(t)
	handwritten(t, h)
	code, out, errs := h.run("", "call", "word_count", `{"text":"a b c"}`, "--yes")
	require.Equal(t, 0, code, errs)
	require.Equal(t, map[string]any{"words": 3.0}, object(t, out)["structuredContent"])

	code, out, errs = h.run("", "call", "three", "{}", "--yes")
	require.Equal(t, 0, code, "%s%s", out, errs)
	require.Equal(t, []any{false, false, false}, object(t, out)["structuredContent"])

	code, _, errs = h.run("", "call", "loop", "{}", "--yes")
	require.Equal(t, exitTimeout, code)
	require.Contains(t, errs, "loop ran longer than its limit of 200ms and was stopped")

	// Without a yes nothing runs.
	code, _, _ = h.run("", "call", "word_count", `{"text":"a"}`)
	require.Equal(t, exitDenied, code)

	records := object(t, h.ok("--json", "audit"))["records"].([]any)
	byID := map[string]map[string]any{}
	children := map[string]int{}
	for _, r := range records {
		m := r.(map[string]any)
		byID[m["callId"].(string)] = m
		if parent, ok := m["parentId"].(string); ok {
			children[parent]++
			require.Equal(t, "done", m["status"])
		}
	}
	require.Len(t, children, 1)
	for parent, n := range children {
		require.Equal(t, 3, n)
		require.Equal(t, "three", byID[parent]["ref"].(map[string]any)["name"])
		require.Contains(t, h.ok("audit"), fmt.Sprintf("cli, in %.0f", byID[parent]["seq"]))
	}
}
