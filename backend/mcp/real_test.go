package mcp

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// A wrong folder is the most common fault of this server: the reason is on
// stderr only.
func TestRealServerWithWrongFolder(t *testing.T) {
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skip("npx is not installed")
	}
	w := newWorld(t, func(o *Options) { o.Limits = Limits{StartRunner: 3 * time.Minute} })
	var steps []string
	rep := w.Test(context.Background(), core.ServerSpec{Name: "fs", Transport: core.TransportStdio, Command: "npx",
		Args: []string{"-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/no/such/dir"}}, func(s core.TestStep) { steps = append(steps, s.Name+" "+string(s.Status)) })
	require.False(t, rep.OK)
	assert.Equal(t, []string{"Find command ok", "Start ok", "Handshake failed"}, steps)
	assert.Contains(t, rep.Message, "exited with code")
	assert.Contains(t, rep.Message, "It said: Error: ")
	assert.Contains(t, rep.Detail, "/no/such/dir")
}
