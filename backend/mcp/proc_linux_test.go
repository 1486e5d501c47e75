package mcp

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// Descriptors that C code left inheritable must not reach a server.
func TestNoDescriptorLeaks(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	fd, err := syscall.Dup(int(w.Fd())) // without close-on-exec, as C does it
	require.NoError(t, err)
	w.Close()
	wd := newWorld(t)
	wd.start(stdioSpec(t, "s", testmcp.Options{}))
	require.NoError(t, syscall.Close(fd))
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Read(make([]byte, 1))
	}()
	select {
	case <-done: // the other end is closed everywhere
	case <-time.After(3 * time.Second):
		require.Fail(t, "the server holds our pipe")
	}
}

// The program is killed without a chance to clean up. Its next start must end
// the servers that stayed, with their helpers.
func TestNextStartEndsWhatAKillLeft(t *testing.T) {
	t.Parallel()
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.IgnoreEOF, testmcp.IgnoreTerm, testmcp.Fork}})
	host, dir := startHost(t, hostJob{Specs: []core.ServerSpec{spec}}, 20*time.Second)
	require.NoError(t, host.Process.Kill())
	_ = host.Wait()
	list := pids(t, spec)
	require.Len(t, list, 2)
	for _, pid := range list {
		require.NotEmpty(t, startTime(pid), "they outlive the program")
	}
	m := New(Options{StateDir: dir, Shell: "none"})
	defer func() { require.NoError(t, m.Close(context.Background())) }()
	requireGone(t, spec, 2)
	left, err := filepath.Glob(filepath.Join(dir, "servers-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
