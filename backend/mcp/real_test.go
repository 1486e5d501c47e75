package mcp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// The servers that people really use, through npx, as a person would configure
// them.
func TestRealServers(t *testing.T) {
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("npx is not installed")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hi there"), 0o600))
	w := newWorld(t, func(o *Options) {
		o.Limits = Limits{StartRunner: 3 * time.Minute}
		o.StateDir = t.TempDir()
	})
	pkg := func(name string, args ...string) core.ServerSpec {
		return core.ServerSpec{Name: name, Transport: core.TransportStdio, Command: "npx", Args: append([]string{"-y", "@modelcontextprotocol/server-" + name}, args...)}
	}
	memory := pkg("memory")
	memory.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")}
	began := time.Now()
	w.Apply([]core.ServerSpec{pkg("everything"), pkg("filesystem", dir), memory})
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	for _, name := range []string{"everything", "filesystem", "memory"} {
		require.Eventually(t, func() bool { return w.status(name).State.Settled() }, 4*time.Minute, 20*time.Millisecond)
		st := w.status(name)
		require.Equal(t, core.StateConnected, st.State, "%s: %s\n%s", name, st.Message, st.Detail)
		assert.NotZero(t, st.ToolCount)
		t.Logf("%s after %s: %s, MCP %s", name, time.Since(began).Round(time.Millisecond), st.Message, st.ProtocolVersion)
		for _, tool := range w.Tools(name) {
			assert.NotEmpty(t, tool.Title)
			assert.Len(t, tool.Ref.Digest, 64)
		}
	}
	assert.Contains(t, strings.Join(w.Log("everything"), "\n"), "starting "+npx)

	res, err := w.Call(ctx, ref("everything", "echo"), "e", []byte(`{"message":"hey"}`), nil)
	require.NoError(t, err)
	assert.Contains(t, res.Text(), "hey")
	var chunks []core.Chunk
	_, err = w.Call(ctx, ref("everything", "trigger-long-running-operation"), "long", []byte(`{"duration":1,"steps":4}`), func(c core.Chunk) { chunks = append(chunks, c) })
	require.NoError(t, err)
	assert.NotEmpty(t, chunks)

	res, err = w.Call(ctx, ref("filesystem", "read_text_file"), "r", fmt.Appendf(nil, `{"path":%q}`, filepath.Join(dir, "hello.txt")), nil)
	require.NoError(t, err)
	assert.Equal(t, "hi there", res.Text())
	assert.Empty(t, res.Warning)
	res, err = w.Call(ctx, ref("filesystem", "read_text_file"), "r2", []byte(`{"path":"/etc/passwd"}`), nil)
	require.NoError(t, err)
	assert.True(t, res.IsError)

	res, err = w.Call(ctx, ref("memory", "create_entities"), "m", []byte(`{"entities":[{"name":"Ada","entityType":"person","observations":["wrote programs"]}]}`), nil)
	require.NoError(t, err)
	assert.Contains(t, res.Text(), "Ada")

	began = time.Now()
	require.NoError(t, w.Close(context.Background()))
	t.Logf("closed in %s", time.Since(began).Round(time.Millisecond))
	assert.Less(t, time.Since(began), 5*time.Second)
}

// A wrong folder is the most common fault of this server: the reason is on
// stderr only.
func TestRealServerWithWrongFolder(t *testing.T) {
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skip("npx is not installed")
	}
	w := newWorld(t, func(o *Options) { o.Limits = Limits{StartRunner: 3 * time.Minute} })
	var steps []string
	rep := w.Test(context.Background(), core.ServerSpec{Name: "fs", Transport: core.TransportStdio, Command: "npx",
		Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/no/such/dir"}}, func(s core.TestStep) { steps = append(steps, s.Name+" "+string(s.Status)) })
	require.False(t, rep.OK)
	assert.Equal(t, []string{"Find command ok", "Start ok", "Handshake failed"}, steps)
	assert.Contains(t, rep.Message, "exited with code")
	assert.Contains(t, rep.Message, "It said: Error: ")
	assert.Contains(t, rep.Detail, "/no/such/dir")
}
