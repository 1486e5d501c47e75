package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

const manifestJSON = `{
  "manifest_version": "0.2", "name": "notes", "version": "1.2.0", "description": "Keeps notes.",
  "server": {"type": "node", "entry_point": "server/index.js", "mcp_config": {
    "command": "node",
    "args": ["${__dirname}/server/index.js", "--dir", "${user_config.folder}", "--level", "${user_config.level}", "${user_config.more}"],
    "env": {"API_KEY": "${user_config.key}", "MODE": "${user_config.mode}", "PLAIN": "1"},
    "platform_overrides": {"win32": {"command": "node.exe", "env": {"PLAIN": "2"}}}}},
  "user_config": {
    "key": {"type": "string", "title": "API key", "description": "From your account.", "sensitive": true},
    "folder": {"type": "directory", "title": "Folder", "required": true},
    "level": {"type": "number", "title": "Level", "default": 3},
    "more": {"type": "string", "title": "More"},
    "mode": {"type": "string", "title": "Mode"}},
  "compatibility": {"platforms": ["darwin"], "runtimes": {"node": ">=18"}}
}`

type entry struct {
	name, body string
	mode       fs.FileMode
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		f, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = f.Write([]byte(e.body))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func manifestEntry() entry { return entry{name: "manifest.json", body: manifestJSON} }

func TestReadAndUnpack(t *testing.T) {
	data := archive(t, manifestEntry(), entry{name: "server/", mode: fs.ModeDir | 0o755},
		entry{name: "server/index.js", body: "console.log(1)"}, entry{name: "run.sh", body: "#!/bin/sh", mode: 0o755})
	b, err := Read(t.Context(), data, "linux")
	require.NoError(t, err)
	assert.Equal(t, "node", b.Server.Command)
	assert.Equal(t, []string{"${__dirname}/server/index.js", "--dir", "${user_config.folder}", "--level", "3"}, b.Server.Args)
	assert.Equal(t, map[string]string{"API_KEY": "${user_config.key}", "PLAIN": "1"}, b.Server.Env)
	assert.Equal(t, []Input{
		{Place: "args.2", Title: "Folder", Required: true},
		{Place: "env.API_KEY", Title: "API key", Description: "From your account.", Secret: true},
	}, b.Inputs)
	assert.Equal(t, []string{"notes says that it runs on darwin only.", "notes needs node >=18."}, b.Warnings)

	parent := filepath.Join(t.TempDir(), "bundles")
	one, err := b.Unpack(t.Context(), parent)
	require.NoError(t, err)
	two, err := b.Unpack(t.Context(), parent)
	require.NoError(t, err)
	assert.NotEqual(t, one, two, "a folder was used twice")
	got, err := os.ReadFile(filepath.Join(two, "server", "index.js"))
	require.NoError(t, err)
	assert.Equal(t, "console.log(1)", string(got))
	if runtime.GOOS != "windows" {
		st, err := os.Stat(filepath.Join(one, "run.sh"))
		require.NoError(t, err)
		assert.NotZero(t, st.Mode()&0o100)
	}
	left, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Len(t, left, 2, "something temporary was left")
	placed := Place(b.Server, one)
	assert.Equal(t, filepath.ToSlash(one)+"/server/index.js", placed.Args[0])
	assert.Equal(t, "${__dirname}/server/index.js", b.Server.Args[0], "the bundle itself was changed")

	win, err := Read(t.Context(), data, "windows")
	require.NoError(t, err)
	assert.Equal(t, "node.exe", win.Server.Command)
	assert.Equal(t, "2", win.Server.Env["PLAIN"])
}

func TestTypesWithoutCommand(t *testing.T) {
	for typ, want := range map[string][]string{
		"node":   {"node", "${__dirname}/main"},
		"python": {"python3", "${__dirname}/main"},
		"uv":     {"uv", "run", "--directory", "${__dirname}", "main"},
		"binary": {"${__dirname}/main"},
	} {
		b, err := Read(t.Context(), archive(t, entry{name: "main", body: "x"},
			entry{name: "manifest.json", body: fmt.Sprintf(`{"name":"a","server":{"type":%q,"entry_point":"./main"}}`, typ)}), "linux")
		require.NoError(t, err, typ)
		assert.Equal(t, want, append([]string{b.Server.Command}, b.Server.Args...))
		if typ == "binary" && runtime.GOOS != "windows" {
			dir, err := b.Unpack(t.Context(), t.TempDir())
			require.NoError(t, err)
			st, err := os.Stat(filepath.Join(dir, "main"))
			require.NoError(t, err)
			assert.NotZero(t, st.Mode()&0o100, "the program cannot be run")
		}
	}
}

func TestSigned(t *testing.T) {
	b, err := Read(t.Context(), append(archive(t, manifestEntry()), "MCPB_SIG_V1\x04\x00\x00\x00abcdMCPB_SIG_END"...), "linux")
	require.NoError(t, err)
	assert.Contains(t, strings.Join(b.Warnings, " "), "signature")
}

// Each row is an archive that would write where it must not, or fill a disk.
func TestHostileArchivesAreRefused(t *testing.T) {
	rows := map[string][]byte{
		"slip":             archive(t, manifestEntry(), entry{name: "../evil", body: "x"}),
		"slip inside":      archive(t, manifestEntry(), entry{name: "a/../../evil", body: "x"}),
		"absolute":         archive(t, manifestEntry(), entry{name: "/etc/passwd", body: "x"}),
		"drive":            archive(t, manifestEntry(), entry{name: "C:/evil", body: "x"}),
		"backslash":        archive(t, manifestEntry(), entry{name: `..\evil`, body: "x"}),
		"stream":           archive(t, manifestEntry(), entry{name: "a.txt:b", body: "x"}),
		"control":          archive(t, manifestEntry(), entry{name: "a\x01b", body: "x"}),
		"link":             archive(t, manifestEntry(), entry{name: "link", body: "/etc", mode: fs.ModeSymlink | 0o777}),
		"pipe":             archive(t, manifestEntry(), entry{name: "pipe", mode: fs.ModeNamedPipe | 0o600}),
		"case":             archive(t, manifestEntry(), entry{name: "Read.me", body: "a"}, entry{name: "READ.ME", body: "b"}),
		"normal form":      archive(t, manifestEntry(), entry{name: "caf\u00e9", body: "a"}, entry{name: "cafe\u0301", body: "b"}),
		"same":             archive(t, manifestEntry(), manifestEntry()),
		"file and folder":  archive(t, manifestEntry(), entry{name: "a", body: "x"}, entry{name: "a/b", body: "y"}),
		"folder and file":  archive(t, manifestEntry(), entry{name: "a/b", body: "y"}, entry{name: "A", body: "x"}),
		"device":           archive(t, manifestEntry(), entry{name: "sub/NUL.txt", body: "x"}),
		"device number":    archive(t, manifestEntry(), entry{name: "com1", body: "x"}),
		"trailing dot":     archive(t, manifestEntry(), entry{name: "a./b", body: "x"}),
		"bomb":             archive(t, manifestEntry(), entry{name: "zeros", body: strings.Repeat("\x00", 32<<20)}),
		"no manifest":      archive(t, entry{name: "a", body: "x"}),
		"nested manifest":  archive(t, entry{name: "x/manifest.json", body: manifestJSON}),
		"bad manifest":     archive(t, entry{name: "manifest.json", body: "{"}),
		"no way to start":  archive(t, entry{name: "manifest.json", body: `{"name":"a","server":{"type":"node"}}`}),
		"hidden command":   archive(t, entry{name: "manifest.json", body: `{"name":"a","server":{"mcp_config":{"command":"no\u202ede"}}}`}),
		"data behind":      append(archive(t, manifestEntry()), "more"...),
		"behind signature": append(archive(t, manifestEntry()), "MCPB_SIG_V1abcdMCPB_SIG_ENDmore"...),
		"data before":      append([]byte("#!/bin/sh\n"), archive(t, manifestEntry())...),
		"cut off":          archive(t, manifestEntry(), entry{name: "a", body: "x"})[:60],
		"wrong checksum":   damaged(t),
		"wrong count":      miscounted(t),
		"empty":            nil,
	}
	for name, data := range rows {
		t.Run(name, func(t *testing.T) {
			_, err := Read(t.Context(), data, "linux")
			require.Error(t, err)
			assert.NotEqual(t, core.CodeInternal, core.CodeOf(err), "%v", err)
			t.Log(err)
		})
	}
}

func damaged(t *testing.T) []byte {
	data := archive(t, manifestEntry(), entry{name: "a.js", body: strings.Repeat("hello ", 40)})
	at := bytes.Index(data, []byte("a.js")) + len("a.js") + 3
	data[at] ^= 0x40
	return data
}

func miscounted(t *testing.T) []byte {
	data := archive(t, manifestEntry(), entry{name: "a.js", body: "x"})
	end := bytes.LastIndex(data, []byte(endMark))
	binary.LittleEndian.PutUint16(data[end+10:], 1)
	return data
}

func TestTooManyEntries(t *testing.T) {
	var entries []entry
	for i := range MaxEntries + 10 {
		entries = append(entries, entry{name: fmt.Sprintf("f%d", i)})
	}
	_, err := Read(t.Context(), archive(t, entries...), "linux")
	assert.Equal(t, core.CodeTooLarge, core.CodeOf(err))
}

func FuzzRead(f *testing.F) {
	f.Add(archive(f, manifestEntry(), entry{name: "a/b", body: "x"}))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Read(t.Context(), data, "linux")
		if err == nil {
			require.NotEmpty(t, b.Server.Name)
			require.NotEmpty(t, b.Server.Command)
		}
	})
}
