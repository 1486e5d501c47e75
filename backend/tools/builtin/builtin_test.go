package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools/builtin"
)

type bench struct {
	t      *testing.T
	runner *builtin.Runner
	access core.BuiltinAccess
	dir    string // may be written
	ro     string // may be read
	out    string // was not chosen
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, dir: t.TempDir(), ro: t.TempDir(), out: t.TempDir()}
	b.access.Folders = []core.ToolFolder{{Path: b.dir, Write: true}, {Path: b.ro}}
	b.runner = &builtin.Runner{Access: func(context.Context) (core.BuiltinAccess, error) { return b.access, nil }, Private: []string{filepath.Join(b.dir, "ours")}}
	return b
}

func (b *bench) file(path, content string) string {
	b.t.Helper()
	require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(b.t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (b *bench) call(ctx context.Context, name string, args map[string]any, chunk core.ChunkFunc) (core.ToolResult, error) {
	raw, err := json.Marshal(args)
	require.NoError(b.t, err)
	return b.runner.Call(ctx, core.ToolRef{Kind: core.ToolBuiltin, Name: name}, "id", raw, chunk)
}

func (b *bench) ok(name string, args map[string]any) string {
	b.t.Helper()
	r, err := b.call(b.t.Context(), name, args, nil)
	require.NoError(b.t, err)
	require.False(b.t, r.IsError, r.Text())
	return r.Text()
}

func (b *bench) no(name string, args map[string]any) string {
	b.t.Helper()
	r, err := b.call(b.t.Context(), name, args, nil)
	require.NoError(b.t, err)
	require.True(b.t, r.IsError, r.Text())
	return r.Text()
}

type m = map[string]any

func TestReadWriteEdit(t *testing.T) {
	b := newBench(t)
	p := filepath.Join(b.dir, "new", "a.txt")
	require.Contains(t, b.ok("write_file", m{"path": p, "content": "one\ntwo\nthree\ntwo\n"}), "Created")
	require.Equal(t, "two\nthree\n", b.ok("read_file", m{"path": p, "from": 2, "lines": 2}))
	require.Contains(t, b.no("edit_file", m{"path": p, "old": "two", "new": "2"}), "2 times")
	require.Contains(t, b.no("edit_file", m{"path": p, "old": "four", "new": "4"}), "does not hold")
	diff := b.ok("edit_file", m{"path": p, "old": "one\ntwo", "new": "1"})
	require.Contains(t, diff, "-one\n-two\n+1\n")
	b.ok("edit_file", m{"path": p, "old": "t", "new": "T", "all": true})
	require.Equal(t, "1\nThree\nTwo\n", b.ok("read_file", m{"path": p}))
	b.ok("write_file", m{"path": p, "content": "x"})
	require.Equal(t, "x", b.ok("read_file", m{"path": p}), "a shorter text left the end of the longer one")
	require.Contains(t, b.no("write_file", m{"path": filepath.Join(b.ro, "x"), "content": ""}), "may only be read")
	require.Contains(t, b.no("read_file", m{"path": filepath.Join(b.dir, "none")}), "does not exist")
}

// Nothing may lead out of the folders that were chosen.
func TestNoWayOut(t *testing.T) {
	b := newBench(t)
	secret := b.file(filepath.Join(b.out, "secret.txt"), "hush")
	b.file(filepath.Join(b.dir, "in.txt"), "in")
	b.file(filepath.Join(b.dir, "ours", "keys"), "hush")
	require.NoError(t, os.Symlink(secret, filepath.Join(b.dir, "link")))
	require.NoError(t, os.Symlink(b.out, filepath.Join(b.dir, "folder")))
	require.NoError(t, os.Symlink(filepath.Join(b.dir, "ours"), filepath.Join(b.dir, "innocent")))
	for _, p := range []string{secret, "/etc/passwd", b.dir + "/../" + filepath.Base(b.out) + "/secret.txt", b.dir + "/link", b.dir + "/folder/secret.txt",
		b.dir + "/ours/keys", b.dir + "/innocent/keys", "~/x", b.dir + "x/y", b.dir + "\x00"} {
		require.NotContains(t, b.no("read_file", m{"path": p}), "hush", p)
		b.no("write_file", m{"path": p, "content": "evil"})
		b.no("edit_file", m{"path": p, "old": "hush", "new": "evil"})
	}
	raw, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "hush", string(raw))
	_, err = os.Stat(filepath.Join(b.out, "x"))
	require.Error(t, err)
	b.no("run_command", m{"command": []string{"pwd"}, "folder": b.dir + "/folder"})
	b.no("run_command", m{"command": []string{"pwd"}, "folder": b.ro})
	b.no("list_files", m{"path": b.dir + "/folder"})
	require.Equal(t, "in.txt:1: in", b.ok("search_files", m{"path": b.dir, "pattern": "in|hush"}))
	require.NotContains(t, b.ok("list_files", m{"path": b.dir, "pattern": "**"}), "keys")
	// One folder: relative paths are meant in it, and lead out of it as little.
	b.access.Folders = b.access.Folders[:1]
	require.Equal(t, "in", b.ok("read_file", m{"path": "in.txt"}))
	b.no("read_file", m{"path": "../" + filepath.Base(b.out) + "/secret.txt"})
	b.access.Folders = nil
	require.Contains(t, b.no("list_files", m{}), "Settings")
}

func TestHugeAndBinaryFilesAreRefused(t *testing.T) {
	b := newBench(t)
	b.file(filepath.Join(b.dir, "huge"), strings.Repeat("0123456789\n", 1<<20))
	require.Contains(t, b.no("read_file", m{"path": filepath.Join(b.dir, "huge")}), "larger than")
	b.file(filepath.Join(b.dir, "large"), strings.Repeat("0123456789\n", 1<<17))
	require.Contains(t, b.no("read_file", m{"path": filepath.Join(b.dir, "large")}), "Ask for some of its lines")
	require.Equal(t, "0123456789\n", b.ok("read_file", m{"path": filepath.Join(b.dir, "large"), "from": 70000, "lines": 1}))
	b.file(filepath.Join(b.dir, "bin"), "a\x00b")
	require.Contains(t, b.no("read_file", m{"path": filepath.Join(b.dir, "bin")}), "no text")
	require.Contains(t, b.no("read_file", m{"path": b.dir}), "is no file")
}

func TestListAndSearch(t *testing.T) {
	b := newBench(t)
	b.file(filepath.Join(b.dir, "a.go"), "package A\nfunc Hit() {}\n")
	b.file(filepath.Join(b.dir, "x", "b.go"), "package B\n// hit\n")
	b.file(filepath.Join(b.dir, "x", "c.md"), "hit\n")
	require.Equal(t, "a.go (24 bytes)\nx/", b.ok("list_files", m{"path": b.dir}))
	require.Equal(t, "a.go (24 bytes)\nx/b.go (17 bytes)", b.ok("list_files", m{"path": b.dir, "pattern": "**/*.go"}))
	require.Contains(t, b.ok("list_files", m{}), b.ro+" (read)")
	require.Equal(t, "a.go:2: func Hit() {}\nx/b.go:2: // hit", b.ok("search_files", m{"path": b.dir, "pattern": "hit", "ignoreCase": true, "files": "*.go"}))
	require.Equal(t, "b.go:2: // hit\nc.md:1: hit", b.ok("search_files", m{"path": b.dir + "/x", "pattern": "hit$"}))
	require.Contains(t, b.no("search_files", m{"path": b.dir, "pattern": "("}), "no regular expression")
	for i := range 300 {
		b.file(filepath.Join(b.dir, "many", fmt.Sprint(i)), "again\n")
	}
	require.Contains(t, b.ok("search_files", m{"path": b.dir, "pattern": "again"}), "more than these 200")
}

func TestCommands(t *testing.T) {
	b := newBench(t)
	t.Setenv("MY_API_KEY", "hush")
	var said []string
	r, err := b.call(t.Context(), "run_command", m{"command": []string{"sh", "-c", "pwd; env; echo $0 '*'; exit 3"}, "folder": b.dir},
		func(c core.Chunk) { said = append(said, c.Message) })
	require.NoError(t, err)
	require.True(t, r.IsError)
	require.Contains(t, r.Text(), b.dir)
	require.Contains(t, r.Text(), "[exit code 3]")
	require.NotContains(t, r.Text(), "hush")
	require.Contains(t, strings.Join(said, "\n"), "sh *")
	// No shell: what means something to one is an argument here.
	require.Equal(t, "; rm *\n[exit code 0]", b.ok("run_command", m{"command": []string{"echo", "; rm *"}, "folder": b.dir}))
	require.Contains(t, b.no("run_command", m{"command": []string{"no-such-program"}, "folder": b.dir}), "could not be started")
	long := b.ok("run_command", m{"command": []string{"sh", "-c", "yes | head -c 3000000"}, "folder": b.dir})
	require.Less(t, len(long), 2<<20)
	require.Contains(t, long, "left out here")
}

// A command that is stopped, or that ends, leaves none of its processes behind.
func TestACommandTakesItsProcessesAlong(t *testing.T) {
	b := newBench(t)
	pid := filepath.Join(b.dir, "pid")
	gone := func() {
		t.Helper()
		raw, err := os.ReadFile(pid)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			st, err := os.ReadFile("/proc/" + strings.TrimSpace(string(raw)) + "/stat")
			return err != nil || strings.Contains(string(st), ") Z ")
		}, 20*time.Second, 10*time.Millisecond, "it still runs")
		require.NoError(t, os.Remove(pid))
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("processes cannot be looked up here")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.call(ctx, "run_command", m{"command": []string{"sh", "-c", "sleep 1000 & echo $! > pid; echo ready; wait"}, "folder": b.dir}, func(core.Chunk) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	gone()
	b.ok("run_command", m{"command": []string{"sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! > pid"}, "folder": b.dir})
	gone()
	_, err = b.call(t.Context(), "run_command", m{"command": []string{"sh", "-c", "echo $$ > pid; sleep 1000"}, "folder": b.dir, "timeout": 1}, nil)
	require.Equal(t, core.CodeTimeout, core.CodeOf(err))
	gone()
}

func TestFetch(t *testing.T) {
	b := newBench(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, `<html><head><script>evil()</script></head><body><h1>Hi</h1><p>See <a href="/x">this</a>.</p></body></html>`)
		case "/bin":
			_, _ = w.Write([]byte{0x00, 0xff, 0x01, 0x9c, 0xff})
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	require.Contains(t, b.no("fetch_url", m{"url": s.URL + "/html"}), "private network", "the person's network was reached")
	b.access.AllowPrivate = true
	require.Equal(t, "# Hi\n\nSee [this]("+s.URL+"/x).", b.ok("fetch_url", m{"url": s.URL + "/html"}))
	require.Contains(t, b.ok("fetch_url", m{"url": s.URL + "/html", "raw": true}), "<h1>")
	require.Contains(t, b.no("fetch_url", m{"url": s.URL + "/bin"}), "no text")
	require.Contains(t, b.no("fetch_url", m{"url": s.URL + "/none"}), "404")
	require.Contains(t, b.no("fetch_url", m{"url": "file:///etc/passwd"}), "no http")
}
