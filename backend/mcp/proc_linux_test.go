package mcp

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
