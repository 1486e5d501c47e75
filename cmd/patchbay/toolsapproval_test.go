package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a person chose in one process must hold in the next.
func TestToolsAreAllowedAndBlockedFromTheCommandLine(t *testing.T) {
	h := newHome(t).demo()
	code, _, _ := h.run("", "call", "demo__write_note", `{"name":"n1","text":"b"}`)
	require.Equal(t, exitDenied, code, "nobody can be asked here")

	require.Contains(t, h.ok("tools", "allow", "demo__write_note"), "runs without asking")
	code, _, errs := h.run("", "call", "demo__write_note", `{"name":"n2","text":"b"}`)
	require.Equal(t, 0, code, errs)

	h.ok("tools", "block", "demo__write_note", "demo__current_time")
	for _, args := range [][]string{{"call", "demo__write_note", `{"name":"n3","text":"b"}`, "--yes"}, {"call", "demo__current_time"}} {
		code, _, errs = h.run("", args...)
		require.Equal(t, exitDenied, code)
		require.Contains(t, errs, "You blocked this tool.")
	}
	records := object(t, h.ok("--json", "audit"))["records"].([]any)
	require.Equal(t, "denied_rule", records[0].(map[string]any)["status"])

	h.ok("tools", "inherit", "demo__current_time")
	code, _, errs = h.run("", "call", "demo__current_time")
	require.Equal(t, 0, code, errs)
	h.ok("tools", "ask", "demo__current_time")
	code, _, _ = h.run("", "call", "demo__current_time")
	require.Equal(t, exitDenied, code)

	code, _, errs = h.run("", "tools", "allow", "demo__delete_note")
	require.Equal(t, exitDenied, code)
	require.Contains(t, errs, "--accept-risk")
	h.ok("tools", "allow", "--accept-risk", "demo__delete_note")
}
