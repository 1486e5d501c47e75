package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	values := map[string]string{"env/A": "a", "env/EMPTY": "", "secret/s/K": "k"}
	lookup := func(_ context.Context, kind, name string) (string, bool) {
		v, ok := values[kind+"/"+name]
		return v, ok
	}
	for in, want := range map[string]string{
		"":                    "",
		"plain":               "plain",
		"${A}":                "a",
		"x${env:A}y${A}":      "xaya",
		"${NO:-d}":            "d",
		"${NO:-}":             "",
		"${EMPTY}":            "",
		"${EMPTY:-d}":         "d",
		"${secret:s/K}":       "k",
		"$A ${ ${}":           "$A ${ ${}",
		"${A":                 "${A",
		"${OWN}":              "mine",
		"~":                   home,
		"~/x":                 filepath.Join(home, "x"),
		"a~":                  "a~",
		"${URL:-http://h:1/}": "http://h:1/",
	} {
		spec, missing := expand(context.Background(), core.ServerSpec{Args: []string{in}, Env: map[string]string{"OWN": "mine"}}, lookup, &redactor{})
		assert.Equal(t, want, spec.Args[0], in)
		assert.Empty(t, missing, in)
	}
	_, missing := expand(context.Background(), core.ServerSpec{Args: []string{"${X} ${X} ${secret:none}"}, URL: "${B}", Headers: map[string]string{"h": "${C}"}}, lookup, &redactor{})
	assert.Equal(t, []string{"B", "C", "X", "secret:none"}, missing)
}

func TestOutline(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]envelope{
		`{"jsonrpc":"2.0","id":1,"result":{"a":"}\"]","b":[1,{"c":"\\"}]}}`: {id: []byte("1"), result: []byte(`{"a":"}\"]","b":[1,{"c":"\\"}]}`), versioned: true},
		` { "result" : null , "jsonrpc" : "2.0" , "id" : "x" } `:            {id: []byte(`"x"`), result: []byte("null"), versioned: true},
		`{"method":"a/b","params":[]}`:                                      {method: []byte(`"a/b"`), params: []byte("[]")},
		`{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"id\":3"}}`:   {id: []byte("2"), error: []byte(`{"code":-1,"message":"id\":3"}`), versioned: true},
		`{"params":{"id":9,"method":"inner"},"jsonrpc":"2.0","method":"m"}`: {method: []byte(`"m"`), params: []byte(`{"id":9,"method":"inner"}`), versioned: true},
		`{}`: {},
	} {
		got, ok := outline([]byte(in))
		require.True(t, ok, in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "x", "[]", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1}x`, `{"a":"`, `{"a":{"b":1}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":}`} {
		_, ok := outline([]byte(in))
		assert.False(t, ok, in)
	}
}

// Whatever a server writes, the outline must agree with a real decoder on every
// valid message, and not crash on any other.
func FuzzOutline(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"result":{"a":"\\\""}}`, `{"method":"x","params":[{}]}`, `{"a":[1,2,{"b":"]"}],"id":null}`, `{"id":"a\u0062"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, ok := outline(b)
		var m map[string]json.RawMessage
		if json.Unmarshal(b, &m) != nil || m == nil {
			return
		}
		if !ok {
			t.Fatalf("not outlined: %q", b)
		}
		if want, plain := m["result"]; plain && strings.Count(string(b), `result"`) == 1 && !strings.Contains(string(b), `\`) && string(e.result) != string(want) {
			t.Fatalf("result %q, want %q", e.result, want)
		}
	})
}

func FuzzDecodeTool(f *testing.F) {
	f.Add([]byte(`{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`))
	f.Add([]byte(`{"name":5,"annotations":[],"execution":3,"outputSchema":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tool := decodeTool(b, "s", 1)
		if tool.Ref.Name == "" || tool.Title == "" || len(tool.InputSchema) == 0 || tool.InputSchema[0] != '{' || len(tool.Ref.Digest) != 64 {
			t.Fatalf("%+v", tool)
		}
	})
}

func FuzzDecodeResult(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","data":"!"}],"structuredContent":1,"isError":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		res, err := decodeResult(b)
		if err == nil && res.Content == nil {
			t.Fatal("content must not be nil")
		}
	})
}

func TestTellingLine(t *testing.T) {
	t.Parallel()
	for tail, want := range map[string]string{
		"": "",
		"npm warn x\nError: bad directory\n    at main (a.js)\n\nNode.js v20.1.0\n":                                 "Error: bad directory",
		"Traceback (most recent call last):\n  File \"a.py\", line 1\nModuleNotFoundError: No module named 'mcp'\n": "ModuleNotFoundError: No module named 'mcp'",
		"starting\nlistening\n": "listening",
		"npm error code E404\nnpm error 404 Not Found - GET https://r/x\nnpm error A complete log of this run can be found in: /x\n": "npm error 404 Not Found - GET https://r/x",
	} {
		assert.Equal(t, want, tellingLine(tail))
	}
}

func TestChildEnv(t *testing.T) {
	t.Parallel()
	got := childEnv([]string{"HOME=/h", "AWS_SECRET_ACCESS_KEY=x", "LC_ALL=C", "PATH=/old", "npm_config_registry=r", "https_proxy=p", "XDG_DATA_HOME=d"}, "/new", map[string]string{"HOME": "/mine", "K": "v"})
	assert.Equal(t, []string{"HOME=/mine", "K=v", "LC_ALL=C", "PATH=/new", "XDG_DATA_HOME=d", "https_proxy=p", "npm_config_registry=r"}, got)
}

func TestFindAsksTheLoginShell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no login shell")
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "only-in-login-path")
	require.NoError(t, os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o700))
	shell := filepath.Join(t.TempDir(), "sh")
	// A profile that prints noise before and after.
	require.NoError(t, os.WriteFile(shell, []byte("#!/bin/sh\necho Welcome\nPATH="+dir+":$PATH\nexport PATH\nwhile [ \"$1\" != -c ]; do shift; done\neval \"$2\"\necho bye\n"), 0o700))
	f := newPathFinder(context.Background(), shell)
	abs, path := f.find("only-in-login-path", os.Getenv("PATH"), "/")
	assert.Equal(t, tool, abs)
	assert.Contains(t, filepath.SplitList(path), dir)
	abs, _ = f.find("not-anywhere", os.Getenv("PATH"), "/")
	assert.Empty(t, abs)
	abs, _ = f.find("./only-in-login-path", "", dir)
	assert.Equal(t, tool, abs, "a relative path counts from the working folder")

	stuck := filepath.Join(t.TempDir(), "stuck")
	require.NoError(t, os.WriteFile(stuck, []byte("#!/bin/sh\nsleep 60 &\nwait\n"), 0o700))
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	f = newPathFinder(ctx, stuck)
	abs, _ = f.find("not-anywhere", os.Getenv("PATH"), "/")
	assert.Empty(t, abs)
	assert.Less(t, time.Since(began), 3*time.Second)
}

func TestVersionsOfNode(t *testing.T) {
	t.Parallel()
	assert.Positive(t, compareVersions("/v20.10.0/bin", "/v20.9.1/bin"))
	assert.Negative(t, compareVersions("/v8.1.0/bin", "/v18.0.0/bin"))
}

func TestLogRing(t *testing.T) {
	t.Parallel()
	var r logRing
	for i := range logLines + 10 {
		r.add("", strings.Repeat("x", i%5)+"|"+string(rune('a'+i%26)))
	}
	all := logLinesOf(r.activity(0))
	require.Len(t, all, logLines)
	assert.True(t, strings.HasSuffix(all[len(all)-1], "|"+string(rune('a'+(logLines+9)%26))))
	var lines []string
	tl := tail{line: func(s string) { lines = append(lines, s) }}
	tl.Write([]byte("a\nb"))
	tl.Write([]byte("c\r\n\n" + strings.Repeat("y", 3*tailBytes)))
	tl.flush()
	assert.Equal(t, []string{"a", "bc"}, lines[:2])
	assert.Len(t, tl.String(), tailBytes)
}

func TestNamesInHeaders(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"echo": false, "é": true, " a": true, "a\n": true, "=?base64?x?=": true, "a b": false} {
		assert.Equal(t, want, needsEncoding(name), name)
	}
}

// What a line holds beside a message must not cost the message, and what was
// only quoted must not count as said.
func TestSalvage(t *testing.T) {
	t.Parallel()
	const answer, news, request = `{"jsonrpc":"2.0","id":1,"result":{"a":"}{"}}`, `{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0","id":1,"method":"m"}`
	for line, want := range map[string][]string{
		answer + news:                                {answer, news},
		"{a} log {}: " + answer + " {done":           {answer},
		"received " + request:                        nil,
		`{"jsonrpc":"2.0","id":2,"result":` + answer: nil,
		`{"quoted":` + answer + `}`:                  nil,
		"no message at all {}":                       nil,
		strings.Repeat("{", 100) + answer:            nil,
	} {
		var got []string
		for _, m := range salvage([]byte(line)) {
			got = append(got, string(m))
		}
		assert.Equal(t, want, got, line)
	}
	for id, want := range map[string]int64{`7`: 7, `"7"`: 7, `7.0`: 7, `7e1`: 70, `1.5`: -1, `null`: -1, `"x"`: -1, `NaN`: -1, `1e300`: -1} {
		n, ok := number([]byte(id))
		if want < 0 {
			assert.False(t, ok, id)
		} else {
			assert.True(t, ok, id)
			assert.Equal(t, want, n, id)
		}
	}
}
