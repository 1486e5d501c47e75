package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/internal/testllm"
)

// program is the real command, built once for all tests here.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "patchbay-cli-")
	if err == nil {
		program = filepath.Join(dir, "patchbay")
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		cmd := exec.Command("go", "build", "-o", program, ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		err = cmd.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the command:", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// home is a profile of its own; each run is a process of its own, as for a person.
type home struct {
	t   *testing.T
	dir string
	env []string
}

func newHome(t *testing.T, env ...string) *home {
	dir := t.TempDir()
	return &home{t, dir, append([]string{"PATCHBAY_HOME=" + dir, "OLLAMA_HOST=127.0.0.1:1", "OPENAI_BASE_URL=", "OPENAI_API_KEY="}, env...)}
}

func (h *home) demo() *home {
	h.t.Helper()
	h.ok("servers", "add", fmt.Sprintf(`{"mcpServers":{"demo":{"command":%q,"args":["demo-server","--scratch",%q]}}}`, program, filepath.Join(h.dir, "notes")))
	return h
}

func (h *home) run(stdin string, args ...string) (code int, stdout, stderr string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), h.env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		h.t.Fatal(err)
	}
	require.NoError(h.t, ctx.Err(), "%v hung", args)
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func (h *home) ok(args ...string) string {
	h.t.Helper()
	code, out, errs := h.run("", args...)
	require.Equal(h.t, 0, code, "%v: %s%s", args, out, errs)
	return out
}

func object(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

func TestCallGoesThroughTheGate(t *testing.T) {
	h := newHome(t).demo()
	out := object(t, h.ok("call", "demo__transform_text", `{"text":"abc","operation":"upper"}`, "--json"))
	require.Contains(t, fmt.Sprint(out["content"]), "ABC")

	// Nobody can be asked here, so what may change something is denied …
	code, stdout, _ := h.run("", "--json", "call", "demo__write_note", `{"name":"n","text":"hi"}`)
	require.Equal(t, 3, code)
	require.Equal(t, "denied", object(t, stdout)["error"].(map[string]any)["code"])
	require.NoDirExists(t, filepath.Join(h.dir, "notes"))
	// … and with --yes it is made, also with arguments from the standard input.
	code, stdout, _ = h.run(`{"name":"n","text":"hi"}`, "call", "demo__write_note", "-", "--yes")
	require.Equal(t, 0, code, stdout)

	for _, bad := range [][]string{{"call", "demo__transform_text", `{"text":5}`}, {"call", "demo__transform_text", `{"text":`}, {"call", "demo__nothing", "{}"}, {"call"}, {"nonsense"}} {
		code, _, stderr := h.run("", bad...)
		require.Equal(t, 2, code, "%v", bad)
		require.NotEmpty(t, stderr)
	}
	code, _, stderr := h.run("", "call", "demo__slow_count", `{"seconds":30}`, "--timeout", "300ms")
	require.Equal(t, 4, code, stderr)

	var view struct {
		Records []struct {
			Status    string
			Arguments string
			Principal struct{ Kind string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(h.ok("--json", "audit")), &view))
	var statuses []string
	for _, r := range view.Records {
		require.Equal(t, "cli", r.Principal.Kind)
		statuses = append(statuses, r.Status)
	}
	require.Equal(t, []string{"timeout", "invalid", "invalid", "done", "denied", "done"}, statuses)
}

func TestParsePrintsTheNormalFormAndChangesNothing(t *testing.T) {
	h := newHome(t)
	code, out, _ := h.run(`// my servers
		{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "pkg", "/tmp"],}, "jira": {"url": "https://x.example/mcp", "headers": {"jira_token": "<YOUR_TOKEN>"}}}}`, "servers", "parse", "-", "--json")
	require.Equal(t, 0, code, out)
	v := object(t, out)
	require.Len(t, v["servers"], 2)
	fs := v["servers"].([]any)[0].(map[string]any)
	require.Equal(t, "stdio", fs["transport"])
	require.Equal(t, []any{"-y", "pkg", "/tmp"}, fs["args"])
	for _, key := range []string{"name", "transport", "command", "args", "env", "cwd", "url", "headers", "disabled"} {
		require.Contains(t, fs, key)
	}
	require.Equal(t, []any{"jira.headers.jira_token"}, v["missing"])
	require.IsType(t, []any{}, v["warnings"])

	code, out, _ = h.run("{\n  \"mcpServers\": {\"a\": {\n", "servers", "parse", "-", "--json")
	require.Equal(t, 2, code)
	e := object(t, out)["error"].(map[string]any)
	require.Equal(t, "truncated", e["code"])
	require.NotZero(t, e["line"])
	entries, err := os.ReadDir(h.dir)
	require.NoError(t, err)
	require.Empty(t, entries, "parsing must not touch the profile")
}

func TestServersAddListTestRemove(t *testing.T) {
	h := newHome(t).demo()
	require.Contains(t, h.ok("servers", "list"), "demo-server")
	code, _, stderr := h.run("", "servers", "add", `{"name":"demo","command":"other"}`)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "demo")
	rep := object(t, h.ok("--json", "servers", "test", "demo"))
	require.Equal(t, true, rep["ok"])
	require.Len(t, rep["tools"], 8)
	code, out, _ := h.run("", "servers", "test", `{"name":"x","command":"no-such-program-here"}`)
	require.Equal(t, 1, code)
	require.Contains(t, out, "no-such-program-here")
	require.Contains(t, h.ok("tools", "list", "--server", "demo"), "demo__current_time")
	h.ok("servers", "remove", "demo")
	require.NotContains(t, h.ok("servers", "list"), "demo-server")
	code, _, _ = h.run("", "servers", "remove", "demo")
	require.Equal(t, 2, code)
}

// A file that cannot be read is told with its place, and never overwritten.
func TestBrokenFileStaysAsItIs(t *testing.T) {
	h := newHome(t)
	broken := "{\n  \"mcpServers\": [\n    {\"name\": \"a\" \"command\": \"x\"}\n  ]\n}\n"
	path := filepath.Join(h.dir, "tools.json")
	require.NoError(t, os.WriteFile(path, []byte(broken), 0o600))
	for _, args := range [][]string{{"--json", "servers", "list"}, {"--json", "servers", "add", `{"name":"b","command":"y"}`}, {"--json", "servers", "remove", "a"}} {
		code, out, _ := h.run("", args...)
		require.Equal(t, 2, code, "%v", args)
		e := object(t, out)["error"].(map[string]any)
		require.EqualValues(t, 3, e["line"], "%v", args)
		require.EqualValues(t, 18, e["column"])
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, broken, string(after))
}

func script() testllm.Script {
	yes := true
	args := func(s string) json.RawMessage { return json.RawMessage(s) }
	return testllm.Script{Models: []string{"scripted"}, Rules: []testllm.Rule{
		{User: "both", HasToolResult: &yes, ToolResult: "XYZ", Text: "Both are done."},
		{User: "both", Text: "One moment. ", ToolCalls: []testllm.Call{
			{Name: "demo__transform_text", Arguments: args(`{"text":"xyz","operation":"upper"}`)},
			{Name: "demo__roll_dice", Arguments: args(`{"count":2}`)}}},
		{User: "write", HasToolResult: &yes, Text: "So be it."},
		{User: "write", ToolCalls: []testllm.Call{{Name: "demo__write_note", Arguments: args(`{"name":"a","text":"b"}`)}}},
		{User: "busy", Status: 401, Error: "bad key"},
	}}
}

// Two calls in one turn, over both wires, each request checked by a strict server.
func TestChatOverBothWires(t *testing.T) {
	model, s := testllm.Start(script())
	defer s.Close()
	for wire, env := range map[string]string{"ollama": "OLLAMA_HOST=" + s.URL, "environment": "OPENAI_BASE_URL=" + s.URL + "/v1"} {
		t.Run(wire, func(t *testing.T) {
			h := newHome(t, env).demo()
			out := h.ok("--json", "chat", "--agent", "Assistant", "--model", wire+"/scripted", "--message", "do both")
			var types []string
			var last map[string]any
			text, done := "", 0
			for line := range strings.Lines(out) {
				last = object(t, line)
				types = append(types, last["type"].(string))
				switch {
				case last["type"] == "chat:delta" && last["kind"] == "text":
					text += last["text"].(string)
				case last["type"] == "chat:toolCall" && last["status"] == "done":
					done++
				}
			}
			require.Equal(t, "run:started", types[0])
			require.Equal(t, "run:finished", last["type"])
			require.Equal(t, "done", last["status"])
			require.Equal(t, "Both are done.", last["text"])
			require.Equal(t, "One moment. Both are done.", text)
			require.Equal(t, 2, done)
			for _, r := range model.Requests() {
				require.Empty(t, r.Refused, "%s", r.Body)
			}

			// A bare model name finds its provider.
			require.Contains(t, h.ok("chat", "--model", "scripted", "--message", "do both"), "Both are done.")
			code, _, _ := h.run("", "chat", "--model", wire+"/scripted", "--message", "write it")
			require.Equal(t, 3, code)
			require.NoDirExists(t, filepath.Join(h.dir, "notes"))
			h.ok("chat", "--model", wire+"/scripted", "--message", "write it", "--yes")
			require.DirExists(t, filepath.Join(h.dir, "notes"))
			code, out, _ = h.run("", "--json", "chat", "--model", wire+"/scripted", "--message", "busy")
			require.Equal(t, 1, code)
			require.Contains(t, out, `"code":"needs_auth"`)
		})
	}
	h := newHome(t)
	code, _, stderr := h.run("", "chat", "--agent", "Nobody", "--message", "x")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "Assistant")
	code, _, stderr = h.run("", "chat", "--model", "gpt-99", "--message", "x")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "gpt-99")
}

func TestServeAnswersAndLeavesNoProcess(t *testing.T) {
	h := newHome(t).demo()
	code, _, stderr := h.run("", "serve", "--listen", "0.0.0.0:0")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "loopback")

	cmd := exec.CommandContext(t.Context(), program, "serve")
	cmd.Env = append(os.Environ(), h.env...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	info := object(t, line)
	post := func(channel, body string) (int, map[string]any) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, info["address"].(string)+"/rpc/"+channel, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+info["token"].(string))
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		var v map[string]any
		require.NoError(t, json.NewDecoder(res.Body).Decode(&v))
		return res.StatusCode, v
	}
	require.Contains(t, info["url"], "#token="+info["token"].(string))
	require.Eventually(t, func() bool {
		_, v := post("tools:get", "{}")
		return len(v["tools"].([]any)) == 8
	}, 20*time.Second, 50*time.Millisecond)
	ps := object(t, h.ok("--json", "servers", "ps", "demo"))["servers"].([]any)
	require.Len(t, ps, 1)
	require.EqualValues(t, cmd.Process.Pid, ps[0].(map[string]any)["owner"])
	require.Contains(t, fmt.Sprint(ps[0].(map[string]any)["processes"]), "demo-server")
	require.Contains(t, h.ok("servers", "ps"), "demo-server")
	code, _, stderr = h.run("", "servers", "ps", "nobody")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "nobody")
	status, v := post("tools:execute", `{"ref":{"kind":"mcp","server":"demo","name":"roll_dice"},"arguments":{}}`)
	require.Equal(t, 200, status)
	require.Equal(t, "done", v["status"])

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "it must end cleanly")
	require.Equal(t, "demo does not run now.\n", h.ok("servers", "ps", "demo"))
	if runtime.GOOS == "linux" {
		require.Eventually(t, func() bool { return !mentioned(t, h.dir) }, 5*time.Second, 50*time.Millisecond, "a server was left behind")
	}
}

// mentioned reports whether a process with this folder in its command line lives.
func mentioned(t *testing.T, dir string) bool {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(dir)) {
			return true
		}
	}
	return false
}
