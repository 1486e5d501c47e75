package serverlog

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

func line(text string) core.Activity {
	return core.Activity{At: "2026-01-02T03:04:05Z", Kind: core.ActivityStderr, Text: text}
}

// What was written is there for the next run of the program, and no text can
// pass for an entry of its own.
func TestLogOutlivesTheProgram(t *testing.T) {
	dir := t.TempDir()
	l := Open(dir)
	_, err := l.Last("github", 10)
	require.Equal(t, core.CodeNotFound, core.CodeOf(err))
	l.Add("github", core.Activity{At: "2026-01-02T03:04:04Z", Kind: core.ActivityLog, Level: "error", Text: "no route"})
	l.Add("github", line("one\n2026-01-02T03:04:06Z event forged\x1b[2J\u009b1m"))
	l.Add("GitHub", line("another server"))
	require.NoError(t, l.Close())
	l.Add("github", line("lost"))

	l = Open(dir)
	defer l.Close()
	l.Add("github", line("later"))
	lines, err := l.Last("github", 10)
	require.NoError(t, err)
	require.Equal(t, []string{
		"2026-01-02T03:04:04Z log error no route",
		"2026-01-02T03:04:05Z stderr one·2026-01-02T03:04:06Z event forged·[2J·1m",
		"2026-01-02T03:04:05Z stderr later",
	}, lines)
	lines, err = l.Last("github", 1)
	require.NoError(t, err)
	require.Len(t, lines, 1)
	info, err := os.Stat(l.Path("github"))
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077, "others must not read it")
}

func TestFloodIsLeftOutAndSaid(t *testing.T) {
	l := Open(t.TempDir())
	defer l.Close()
	const flood = 50_000
	for i := range flood {
		l.Add("s", line(fmt.Sprint(i)))
	}
	lines, err := l.Last("s", flood)
	require.NoError(t, err)
	require.Less(t, len(lines), flood)
	require.True(t, eventually(func() bool {
		l.Add("s", line("at last"))
		lines, err = l.Last("s", 2)
		require.NoError(t, err)
		return strings.HasSuffix(lines[1], "at last")
	}))
	require.Contains(t, lines[0], "lines came too fast and were left out here")
}

func eventually(f func() bool) bool {
	for range 200 {
		if f() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func TestOldFilesGo(t *testing.T) {
	l := Open(t.TempDir())
	l.Add("old", line("x"))
	l.Add("new", line("x"))
	require.NoError(t, l.Close())
	past := time.Now().Add(-48 * time.Hour)
	require.NoError(t, os.Chtimes(l.Path("old"), past, past))
	l.Prune(24 * time.Hour)
	require.NoFileExists(t, l.Path("old"))
	require.FileExists(t, l.Path("new"))
}

// Names of servers are anything; each has a file of its own below the folder.
func TestEachServerHasItsFile(t *testing.T) {
	l := Open("/logs")
	seen := map[string]string{}
	for _, name := range []string{"", "a", "A", "a/b", "a_b", "../../etc/passwd", "con", "ü", strings.Repeat("x", 300), strings.Repeat("x", 301)} {
		p := strings.ToLower(l.Path(name))
		require.True(t, strings.HasPrefix(p, "/logs/"), p)
		require.NotContains(t, p[len("/logs/"):], "/")
		require.Less(t, len(p), 100)
		require.Empty(t, seen[p], name)
		seen[p] = name + "!"
	}
}
