package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

// within fails the test when f has not ended long after it must have.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}

// Would catch: a pattern whose matching takes longer than anybody lives.
func TestPatternsThatExplode(t *testing.T) {
	b := newBench(t)
	b.access.Folders = b.access.Folders[:1]
	b.file(filepath.Join(b.dir, strings.Repeat("a", 200)), strings.Repeat("a", 1<<20))
	for _, glob := range []string{strings.Repeat("{a,a,a}", 60) + "b", strings.Repeat("{a,{a,a}}", 30), strings.Repeat("**/", 60) + "b", strings.Repeat("{", 300_000)} {
		within(t, func() {
			require.Contains(t, b.no("list_files", m{"pattern": glob}), "simpler")
			require.Contains(t, b.no("search_files", m{"pattern": "a", "files": glob}), "simpler")
		})
	}
	require.Contains(t, b.ok("list_files", m{"pattern": "**/*{a,b}{a,b,c}"}), "aaa")

	within(t, func() { // a regular expression of 100,000 steps on a line of a million characters
		ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer stop()
		_, err := b.call(ctx, "search_files", m{"pattern": strings.Repeat("[a-z]{0,1000}", 70) + "0"}, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
	said := b.no("search_files", m{"pattern": strings.Repeat("(a{1000})", 100_000)})
	require.Less(t, len(said), 500, "the pattern was said back")
	b.file(filepath.Join(b.dir, "slow"), strings.Repeat("b", 3000)+"needle\nother\n")
	require.Contains(t, b.ok("search_files", m{"pattern": strings.Repeat("b{0,100}", 20) + "needle$", "files": "slow"}), "slow:1:", "the way that can be stopped finds the same")
}

// Would catch: an edit that fills the memory, or compares for minutes.
func TestEditsThatExplode(t *testing.T) {
	b := newBench(t)
	b.access.Folders = b.access.Folders[:1]
	path := b.file(filepath.Join(b.dir, "a"), strings.Repeat("a", 1<<20))
	within(t, func() {
		require.Contains(t, b.no("edit_file", m{"path": path, "old": "a", "new": strings.Repeat("b", 1<<20), "all": true}), "at most 10 MiB")
	})
	var lines strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&lines, "%d x\n", i%150)
	}
	b.file(path, lines.String())
	within(t, func() {
		require.Contains(t, b.ok("edit_file", m{"path": path, "old": "7 x", "new": "7 y", "all": true}), "times")
	})
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(raw), "147 y\n148 x\n")

	// In a long file the numbers of the lines must still be right.
	b.file(path, strings.Repeat("same\n", 50_000)+"here\n"+strings.Repeat("same\n", 50_000))
	require.Equal(t, "--- "+path+"\n+++ "+path+"\n@@ -49998,7 +49998,8 @@\n same\n same\n same\n-here\n+there\n+too\n same\n same\n same\n",
		b.ok("edit_file", m{"path": path, "old": "here", "new": "there\ntoo"}))
}

// Would catch: a write that fails half-way and leaves neither the old nor the new.
func TestAFileIsReplacedAsAWhole(t *testing.T) {
	b := newBench(t)
	b.access.Folders = b.access.Folders[:1]
	path := b.file(filepath.Join(b.dir, "a"), "before")
	require.NoError(t, os.Chmod(path, 0o754))
	require.NoError(t, os.Symlink("a", filepath.Join(b.dir, "link")))
	old, err := os.Open(path)
	require.NoError(t, err)
	defer old.Close()
	b.ok("write_file", m{"path": "link", "content": "after"})
	was, err := io.ReadAll(old)
	require.NoError(t, err)
	require.Equal(t, "before", string(was), "it was written over")
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "after", string(now))
	st, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o754), st.Mode())
	to, err := os.Readlink(filepath.Join(b.dir, "link"))
	require.NoError(t, err)
	require.Equal(t, "a", to)
	left, err := filepath.Glob(filepath.Join(b.dir, ".patchbay-*"))
	require.NoError(t, err)
	require.Empty(t, left)

	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("no folder is closed to this user")
	}
	require.NoError(t, os.Chmod(b.dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(b.dir, 0o755) })
	b.ok("write_file", m{"path": path, "content": "in its place"})
	require.Equal(t, "in its place", b.ok("read_file", m{"path": path}))
}

// Would catch: our own file reached by a name that the system takes for the same.
func TestOurOwnFilesByAnotherName(t *testing.T) {
	dir, ours := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(ours, "tools.json"), nil, 0o600))
	require.NoError(t, os.Link(filepath.Join(ours, "tools.json"), filepath.Join(dir, "mine")))
	require.True(t, reach.Touches([]string{filepath.Join(ours, "tools.json")}, dir, "mine"))
	require.False(t, reach.Touches([]string{filepath.Join(ours, "tools.json")}, dir, "other"))
}

// Would catch: a flood of what a command prints that drowns the page.
func TestACommandThatPrintsWithoutEnd(t *testing.T) {
	b := newBench(t)
	b.access.Folders = b.access.Folders[:1]
	var told []core.Chunk
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	_, err := b.call(ctx, "run_command", m{"command": []string{"yes"}}, func(c core.Chunk) { told = append(told, c) })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.LessOrEqual(t, len(told), 1000)
	if len(told) == 1000 {
		require.Contains(t, told[999].Message, "too much")
	}
}

// Would catch: a child in the background that outlives the call, or that it waits for.
func TestABackgroundChildEndsWithItsCommand(t *testing.T) {
	b := newBench(t)
	b.access.Folders = b.access.Folders[:1]
	if runtime.GOOS != "linux" {
		t.Skip("it looks into /proc")
	}
	within(t, func() {
		out := b.ok("run_command", m{"command": []string{"sh", "-c", "sleep 300 & echo $!"}})
		pid, err := strconv.Atoi(strings.TrimSpace(strings.Split(out, "\n")[0]))
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return errors.Is(err, os.ErrNotExist) || err == nil && strings.Contains(string(stat), ") Z ")
		}, 10*time.Second, 10*time.Millisecond)
	})
	within(t, func() { // one that left the group and holds the pipe
		require.Contains(t, b.ok("run_command", m{"command": []string{"setsid", "--fork", "sh", "-c", "sleep 40"}}), "exit code 0")
	})
}

// Would catch: a page that takes minutes to become Markdown, which nothing can stop.
func TestPagesThatExplode(t *testing.T) {
	b := newBench(t)
	b.access.Folders = b.access.Folders[:1]
	b.access.AllowPrivate = true
	body := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, body)
	}))
	defer s.Close()
	body = strings.Repeat("*_`[", 500_000)
	within(t, func() { require.Equal(t, body, b.ok("fetch_url", m{"url": s.URL})) })
	body = strings.Repeat("<div>", 400_000)
	within(t, func() { require.Contains(t, b.no("fetch_url", m{"url": s.URL}), "cannot be read as HTML") })
	body = strings.Repeat("<p>x</p>", 1<<19)
	within(t, func() { require.Contains(t, b.no("fetch_url", m{"url": s.URL}), "Ask for it raw") })
}
