package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"patchbay/backend/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, text string) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.json")
	if text != "" {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	}
	s, err := Open(path)
	require.NoError(t, err)
	return s, path
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestOpenMakesFolderAndFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "tools.json")
	s, err := Open(path)
	require.NoError(t, err)
	f, err := s.Current()
	require.NoError(t, err)
	assert.Empty(t, f.Servers)
	assert.NotEmpty(t, f.Revision)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

const commented = `// my servers
{
  // the tools
  "tools": [
    { "name": "t", "code": "x", "mine": 1 }, // tee
  ],
  "future": {"a": [1, 2]},
  "mcpServers": [
    // files
    {
      "name": "fs", // the name
      "command": "npx",
      "args": ["-y", "fs"], // how
      "env": {
        // secret
        "A": "1",
        "B": "2"
      },
      "notes": "keep me"
    },
    {"name": "web", "url": "https://x.dev/mcp"} // last
  ]
}
`

func TestUpdateKeepsCommentsOrderAndUnknownFields(t *testing.T) {
	s, path := open(t, commented)
	ctx := context.Background()
	f, err := s.Current()
	require.NoError(t, err)
	spec := f.Servers[0]
	spec.Command = "bunx"
	spec.Env = map[string]string{"A": "1", "B": "3", "C": "4"}
	spec.Disabled = true
	require.NoError(t, s.UpdateServer(ctx, "fs", spec))
	want := strings.NewReplacer(`"npx"`, `"bunx"`, `"B": "2"`, `"B": "3",`+"\n        \"C\": \"4\"", `"notes": "keep me"`, `"notes": "keep me",`+"\n      \"disabled\": true").Replace(commented)
	assert.Equal(t, want, text(t, path))
	assert.Equal(t, commented, text(t, path+".bak"))
	f, err = s.Current()
	require.NoError(t, err)
	assert.Equal(t, spec, f.Servers[0])
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "the person's mode stays")
}

func TestUnchangedUpdateWritesNothing(t *testing.T) {
	s, path := open(t, commented)
	f, _ := s.Current()
	require.NoError(t, s.UpdateServer(context.Background(), "fs", f.Servers[0]))
	require.NoError(t, s.UpdateTool(context.Background(), "t", f.Tools[0]))
	assert.Equal(t, commented, text(t, path))
	assert.NoFileExists(t, path+".bak")
}

func TestAddAndRemoveServers(t *testing.T) {
	s, path := open(t, commented)
	ctx := context.Background()
	require.NoError(t, s.AddServer(ctx, core.ServerSpec{Name: "new", Command: "uvx", Args: []string{"a<b"}}))
	f, err := s.Current()
	require.NoError(t, err)
	assert.Equal(t, core.TransportStdio, f.Servers[2].Transport)
	assert.Contains(t, text(t, path), "{\"name\": \"web\", \"url\": \"https://x.dev/mcp\"}, // last\n    {\n      \"name\": \"new\",\n      \"transport\": \"stdio\",\n      \"command\": \"uvx\",\n      \"args\": [\n        \"a<b\"\n      ]\n    }\n  ]")

	assert.Equal(t, core.CodeConflict, core.CodeOf(s.AddServer(ctx, core.ServerSpec{Name: "new", Command: "x"})))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(s.AddServer(ctx, core.ServerSpec{Name: "none"})))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(s.AddServer(ctx, core.ServerSpec{Command: "x"})))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(s.AddServer(ctx, core.ServerSpec{Name: "u", URL: "ftp://x"})))
	assert.Equal(t, core.CodeNotFound, core.CodeOf(s.RemoveServer(ctx, "nobody")))
	assert.Equal(t, core.CodeNotFound, core.CodeOf(s.UpdateServer(ctx, "nobody", core.ServerSpec{Name: "x", Command: "x"})))
	assert.Equal(t, core.CodeConflict, core.CodeOf(s.UpdateServer(ctx, "new", core.ServerSpec{Name: "web", Command: "x"})))

	require.NoError(t, s.RemoveServer(ctx, "new"))
	require.NoError(t, s.RemoveServer(ctx, "web"))
	require.NoError(t, s.RemoveServer(ctx, "fs"))
	f, err = s.Current()
	require.NoError(t, err)
	assert.Empty(t, f.Servers)
	assert.Contains(t, text(t, path), `"future": {"a": [1, 2]}`)
}

func TestRemovedServerComesBackWithItsFields(t *testing.T) {
	s, path := open(t, commented)
	ctx := context.Background()
	f, _ := s.Current()
	require.NoError(t, s.RemoveServer(ctx, "fs"))
	require.NoError(t, s.AddServerAt(ctx, 0, f.Servers[0]))
	now, err := s.Current()
	require.NoError(t, err)
	assert.Equal(t, f.Servers, now.Servers)
	assert.Contains(t, text(t, path), `"notes": "keep me"`)
	assert.Contains(t, text(t, path), `// secret`)
}

func TestServersByName(t *testing.T) {
	s, path := open(t, `{"mcpServers": {"a": {"type": "http", "url": "https://a.dev", "enabled": false}, "b": {"command": "x"}}}`)
	ctx := context.Background()
	f, err := s.Current()
	require.NoError(t, err)
	require.Len(t, f.Servers, 2)
	assert.True(t, f.Servers[0].Disabled)
	spec := f.Servers[0]
	spec.Name, spec.Disabled, spec.Transport = "c", false, core.TransportSSE
	require.NoError(t, s.UpdateServer(ctx, "a", spec))
	require.NoError(t, s.RemoveServer(ctx, "b"))
	require.NoError(t, s.AddServer(ctx, core.ServerSpec{Name: "d", Command: "y"}))
	assert.Equal(t, "{\"mcpServers\": {\"c\": {\"type\": \"sse\", \"url\": \"https://a.dev\", \"enabled\": true},\n    \"d\": {\n      \"transport\": \"stdio\",\n      \"command\": \"y\"\n    }\n  }}", text(t, path))
}

func TestBrokenFileKeepsLastGoodStateAndIsNeverWritten(t *testing.T) {
	s, path := open(t, commented)
	ctx := context.Background()
	broken := strings.Replace(commented, `"npx",`, `"npx"`, 1)
	require.NoError(t, os.WriteFile(path, []byte(broken), 0o600))
	err := s.RemoveServer(ctx, "web")
	var e *core.Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, 13, e.Line)
	assert.Equal(t, 7, e.Column)
	assert.Contains(t, e.Message, "comma")
	assert.Equal(t, broken, text(t, path))
	f, err := s.Current()
	assert.Error(t, err)
	assert.Len(t, f.Servers, 2)
	assert.NotEmpty(t, f.Revision)

	require.NoError(t, os.WriteFile(path, []byte(commented), 0o600))
	require.NoError(t, s.RemoveServer(ctx, "web"))
	f, err = s.Current()
	require.NoError(t, err)
	assert.Len(t, f.Servers, 1)
}

func TestWriteEditsTheNewestText(t *testing.T) {
	s, path := open(t, commented)
	require.NoError(t, os.WriteFile(path, []byte(`{"mcpServers": [{"name": "hand", "command": "x"}]}`), 0o600))
	require.NoError(t, s.AddServer(context.Background(), core.ServerSpec{Name: "new", Command: "y"}))
	f, err := s.Current()
	require.NoError(t, err)
	assert.Equal(t, []string{"hand", "new"}, []string{f.Servers[0].Name, f.Servers[1].Name})
}

func TestWrongEntriesAreSkippedAndKept(t *testing.T) {
	s, path := open(t, "\ufeff"+`{
 "mcpServers": [
  {"name": "good", "command": "x", "env": {"P": 1}, "connected": true},
  {"name": "none"},
  {"name": "ws", "transport": "ws", "url": "https://x.dev"},
  {"command": "x"},
  7
 ],
 "tools": [{"name": "t", "code": 5}, {"name": "u", "code": "x", "enabled": false, "timeout": 5, "parameters": {"type": "object", /* c */ }}]
}`)
	f, err := s.Current()
	require.NoError(t, err)
	require.Len(t, f.Servers, 1)
	assert.Equal(t, "1", f.Servers[0].Env["P"])
	require.Len(t, f.Tools, 1)
	assert.Equal(t, CustomTool{Name: "u", Code: "x", TimeoutMS: 5, Parameters: json.RawMessage(`{"type":"object"}`)}, f.Tools[0])
	require.Len(t, f.Skipped, 5)
	assert.Equal(t, "none", f.Skipped[0].Name)
	assert.Equal(t, 4, f.Skipped[0].Error.Line)
	assert.Contains(t, strings.Join(f.Warnings, "\n"), "line 5, column 31: ws: the transport")

	ctx := context.Background()
	require.NoError(t, s.AddServer(ctx, core.ServerSpec{Name: "z", Command: "z"}))
	assert.Contains(t, text(t, path), `{"name": "none"}`)
	assert.Contains(t, text(t, path), "\n  7,\n")
	assert.True(t, strings.HasPrefix(text(t, path), "\ufeff"))
	assert.Equal(t, core.CodeConflict, core.CodeOf(s.AddServer(ctx, core.ServerSpec{Name: "none", Command: "z"})), "a skipped entry owns its name")
	require.NoError(t, s.UpdateServer(ctx, "ws", core.ServerSpec{Name: "ws", URL: "https://x.dev"}), "a skipped entry can be mended")
	require.NoError(t, s.RemoveServer(ctx, "none"))
	f, err = s.Current()
	require.NoError(t, err)
	assert.Len(t, f.Servers, 3)
}

func TestRefusedFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		text      string
		line, col int
	}{
		"duplicate key":     {"{\"mcpServers\": [],\n\"mcpServers\": []}", 2, 1},
		"duplicate server":  {"{\"mcpServers\": [{\"name\": \"a\", \"command\": \"x\"},\n {\"name\": \"a\", \"command\": \"y\"}]}", 2, 2},
		"duplicate by name": {`{"mcpServers": {"a": {}, "a": {}}}`, 1, 26},
		"duplicate tool":    {`{"tools": [{"name":"a","code":"1"},{"name":"a","code":"2"}]}`, 1, 36},
		"not an object":     {`[]`, 1, 1},
		"servers":           {`{"mcpServers": 5}`, 1, 16},
		"tools":             {`{"tools": {}}`, 1, 11},
		"truncated":         {`{"tools": [`, 1, 12},
		"empty":             {" ", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t, tc.text)
			f, err := s.Current()
			var e *core.Error
			require.True(t, errors.As(err, &e))
			assert.Equal(t, core.CodeInvalid, e.Code)
			assert.Equal(t, [2]int{tc.line, tc.col}, [2]int{e.Line, e.Column}, e.Message)
			assert.Empty(t, f.Servers)
		})
	}
}

func TestEmptyAndMissingFilesCanBeWritten(t *testing.T) {
	s, path := open(t, " \n")
	require.NoError(t, s.AddServer(context.Background(), core.ServerSpec{Name: "a", Command: "x"}))
	require.NoError(t, os.Remove(path))
	changed, err := s.Reload()
	require.NoError(t, err)
	assert.True(t, changed)
	f, err := s.Current()
	assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
	assert.Len(t, f.Servers, 1)
	require.NoError(t, s.AddServer(context.Background(), core.ServerSpec{Name: "b", Command: "x"}))
	f, err = s.Current()
	require.NoError(t, err)
	assert.Len(t, f.Servers, 2, "the last content is written again")
}

func TestLinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles", "tools.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(real), 0o700))
	require.NoError(t, os.WriteFile(real, []byte(commented), 0o600))
	link := filepath.Join(dir, "tools.json")
	require.NoError(t, os.Symlink(filepath.Join("dotfiles", "tools.json"), link))
	s, err := Open(link)
	require.NoError(t, err)
	require.NoError(t, s.RemoveServer(context.Background(), "web"))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
	assert.NotContains(t, text(t, real), `"web"`)
}

func TestTools(t *testing.T) {
	s, path := open(t, commented)
	ctx := context.Background()
	tool := CustomTool{Name: "new", Description: "d", Code: "return 1 < 2", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`), TimeoutMS: 10, Enabled: true}
	require.NoError(t, s.AddTool(ctx, tool))
	f, err := s.Current()
	require.NoError(t, err)
	assert.Equal(t, tool, f.Tools[1])
	assert.Contains(t, text(t, path), "return 1 < 2")
	f.Tools[0].Enabled = false
	f.Tools[0].Code = "y"
	require.NoError(t, s.UpdateTool(ctx, "t", f.Tools[0]))
	assert.Contains(t, text(t, path), `"code": "y", "mine": 1, "enabled": false }, // tee`)
	assert.Equal(t, core.CodeConflict, core.CodeOf(s.AddTool(ctx, tool)))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(s.AddTool(ctx, CustomTool{Name: "x"})))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(s.AddTool(ctx, CustomTool{Name: "x", Code: "y", Parameters: json.RawMessage("[")})))
	require.NoError(t, s.RemoveTool(ctx, "t"))
	require.NoError(t, s.RemoveTool(ctx, "new"))
	assert.Equal(t, core.CodeNotFound, core.CodeOf(s.RemoveTool(ctx, "new")))
}

func TestWritersDoNotLoseEachOther(t *testing.T) {
	s, path := open(t, "")
	other, err := Open(path) // as a second process would
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			st := s
			if i%2 == 1 {
				st = other
			}
			assert.NoError(t, st.AddServer(context.Background(), core.ServerSpec{Name: fmt.Sprint("s", i), Command: "x"}))
			_, _ = st.Current()
		})
	}
	wg.Wait()
	_, err = s.Reload()
	require.NoError(t, err)
	f, err := s.Current()
	require.NoError(t, err)
	assert.Len(t, f.Servers, 8)
}

func TestCanceledChangeWritesNothing(t *testing.T) {
	s, path := open(t, commented)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.writer <- struct{}{} // another change is under way
	err := s.RemoveServer(ctx, "web")
	<-s.writer
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, commented, text(t, path))
}

func TestWatchSeesHandEditsAndNotOurOwn(t *testing.T) {
	s, path := open(t, commented)
	ctx, cancel := context.WithCancel(context.Background())
	news := make(chan File, 10)
	done := make(chan error, 1)
	go func() {
		done <- s.Watch(ctx, func() {
			f, _ := s.Current()
			news <- f
		})
	}()
	next := func() File {
		select {
		case f := <-news:
			return f
		case <-time.After(10 * time.Second):
			t.Fatal("the change was not seen")
			return File{}
		}
	}
	for i := range 3 { // as editors do: write beside it and rename
		tmp := path + ".tmp"
		require.NoError(t, os.WriteFile(tmp, []byte(fmt.Sprintf(`{"mcpServers":[{"name":"h%d","command":"x"}]}`, i)), 0o600))
		require.NoError(t, os.Rename(tmp, path))
		assert.Equal(t, fmt.Sprint("h", i), next().Servers[0].Name)
	}
	require.NoError(t, s.AddServer(ctx, core.ServerSpec{Name: "own", Command: "x"}))
	require.NoError(t, os.WriteFile(path, []byte(`{`), 0o600))
	f := next() // the next news is the broken text, not our own write
	assert.Len(t, f.Servers, 2)
	_, err := s.Current()
	assert.Equal(t, core.CodeInvalid, core.CodeOf(err))
	cancel()
	require.NoError(t, <-done)
	assert.Empty(t, news)
}

func TestExampleIsValidAndLoads(t *testing.T) {
	raw, err := os.ReadFile("../../tools.json.example")
	require.NoError(t, err)
	var doc any
	doc, err = jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	sdoc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("tools.schema.json", sdoc))
	sch, err := c.Compile("tools.schema.json")
	require.NoError(t, err)
	require.NoError(t, sch.Validate(doc))
	p, err := decode(raw)
	require.NoError(t, err)
	assert.Empty(t, p.file.Warnings)
	assert.Len(t, p.file.Servers, 3)
	assert.Len(t, p.file.Tools, 2)

	byName, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"mcpServers":{"a":{"command":"x"}}}`))
	require.NoError(t, err)
	assert.NoError(t, sch.Validate(byName))
	bad, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"mcpServers":[{"name":"a"}]}`))
	require.NoError(t, err)
	assert.Error(t, sch.Validate(bad))
}

func FuzzEdit(f *testing.F) {
	f.Add(commented)
	f.Add(skeleton)
	f.Add(`{"mcpServers": {"fs": {"cmd": ["x", "y"], "environment": {"A": 1}, "isActive": true}}, "tools": null}`)
	f.Add(`{"mcpServers": [{"name":"fs","url":"https://x","uri":"https://x"},5,{"name":"ws"}] /* x */, "tools": [{"name":"t"}]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := decode([]byte(raw))
		if err != nil {
			var e *core.Error
			if !errors.As(err, &e) || e.Line < 1 {
				t.Fatalf("no place: %v", err)
			}
			return
		}
		for _, spec := range []core.ServerSpec{
			{Name: "fuzz", Transport: core.TransportStdio, Command: "c", Args: []string{"a"}, Env: map[string]string{"A": "b"}},
			{Name: "fuzz", Transport: core.TransportHTTP, URL: "https://h.dev", Headers: map[string]string{"A": "b"}, Disabled: true, TimeoutMS: 9},
		} {
			for _, it := range p.servers {
				if it.name == "" || it.name == spec.Name || p.server(spec.Name) != nil {
					continue
				}
				q, err := decode([]byte(raw))
				if err != nil {
					t.Fatal(err)
				}
				if err := q.updateServer(q.server(it.name), spec); err != nil {
					t.Fatal(err)
				}
				r, err := decode(q.doc.Bytes())
				if err != nil {
					t.Fatalf("%v\n%s", err, q.doc.Bytes())
				}
				got := r.server(spec.Name)
				if got == nil || !got.ok || !sameServer(got.spec, spec) {
					t.Fatalf("wrote %+v, read %+v from\n%s\nskipped %v", spec, got, q.doc.Bytes(), r.file.Skipped)
				}
			}
		}
	})
}
