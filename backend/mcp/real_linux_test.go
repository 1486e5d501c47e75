package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// allServers is the environment variable that makes the tests run the servers
// too that take long to install or need a browser.
const allServers = "PATCHBAY_ALL_SERVERS"

// realServer is a server that people really use, as they would configure it.
type realServer struct {
	name    string
	args    []string // of npx: the package with its exact version, and its own
	env     map[string]string
	tools   int // at least so many
	tool    string
	with    string // arguments
	want    string // in the result
	browser bool   // it starts one
	big     bool   // only with allServers
}

// realServers returns them; dir is a folder of theirs with the file hello.txt.
func realServers(dir string) []realServer {
	return []realServer{
		{name: "everything", args: []string{"@modelcontextprotocol/server-everything@2026.8.31"}, tools: 10, tool: "echo", with: `{"message":"hey"}`, want: "hey"},
		{name: "filesystem", args: []string{"@modelcontextprotocol/server-filesystem@2026.8.31", dir}, tools: 10,
			tool: "read_text_file", with: fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "hello.txt")), want: "hi there"},
		{name: "memory", args: []string{"@modelcontextprotocol/server-memory@2026.8.31"}, env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")}, tools: 5,
			tool: "create_entities", with: `{"entities":[{"name":"Ada","entityType":"person","observations":["wrote programs"]}]}`, want: "Ada"},
		{name: "sequential-thinking", args: []string{"@modelcontextprotocol/server-sequential-thinking@2026.8.31"}, tools: 1,
			tool: "sequentialthinking", with: `{"thought":"One.","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`, want: `"thoughtNumber": 1`},
		{name: "playwright", args: []string{"@playwright/mcp@0.0.83", "--executable-path", chromium, "--headless", "--no-sandbox", "--isolated"}, tools: 15, big: true, browser: true,
			tool: "browser_navigate", with: `{"url":"data:text/html,<title>Patchbay</title>"}`, want: "Patchbay"},
		{name: "chrome-devtools", args: []string{"chrome-devtools-mcp@1.11.0", "--executablePath", chromium, "--headless", "--isolated", "--chromeArg=--no-sandbox"}, tools: 15, big: true, browser: true,
			tool: "list_pages", with: `{}`, want: "about:blank"},
		{name: "azure", args: []string{"@azure/mcp@2.0.5", "server", "start"}, tools: 20, big: true,
			tool: "get_azure_bestpractices", with: `{"intent":"see what there is","learn":true}`, want: "get_azure_bestpractices"},
		{name: "azure-all", args: []string{"@azure/mcp@2.0.5", "server", "start", "--mode", "all"}, tools: 235, big: true,
			tool: "get_azure_bestpractices_get", with: `{"resource":"general","action":"all"}`, want: "Azure"},
	}
}

const chromium = "/usr/bin/chromium"

func (r realServer) spec(dir string) core.ServerSpec {
	return core.ServerSpec{Name: r.name, Transport: core.TransportStdio, Command: "npx", Args: append([]string{"-y"}, r.args...), Env: r.env, Cwd: dir}
}

// real returns the servers that this run shall use, and a folder for them.
func real(t *testing.T) (_ []realServer, dir string) {
	t.Helper()
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skip("npx is not installed")
	}
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hi there"), 0o600))
	_, err := os.Stat(chromium)
	browser := err == nil
	var out []realServer
	for _, r := range realServers(dir) {
		switch {
		case r.big && os.Getenv(allServers) == "":
		case r.browser && !browser:
			t.Logf("%s is left out: there is no %s", r.name, chromium)
		default:
			out = append(out, r)
		}
	}
	return out, dir
}

// family is a process with all that it started, also what is no longer below it:
// number → start time.
func family(root int, marks ...string) map[int]string {
	kids := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
		parent, _ := strconv.Atoi(fields[1])
		kids[parent] = append(kids[parent], pid)
	}
	all := map[int]string{}
	queue := []int{root}
	for _, m := range marks {
		queue = append(queue, marked(m)...)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		if _, ok := all[queue[0]]; !ok {
			all[queue[0]] = startTime(queue[0])
			queue = append(queue, kids[queue[0]]...)
		}
	}
	return all
}

// requireNobody checks that no process of the families lives 2 s from now, the
// longest that a person may see one.
func requireNobody(t *testing.T, all map[int]string, marks []string) {
	t.Helper()
	left := func() (out []string) {
		for _, m := range marks {
			for _, pid := range marked(m) {
				all[pid] = startTime(pid)
			}
		}
		for pid, at := range all {
			if at != "" && startTime(pid) == at {
				b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				out = append(out, fmt.Sprintf("%d %s", pid, core.Clip(strings.ReplaceAll(string(b), "\x00", " "), 200)))
			}
		}
		return out
	}
	began := time.Now()
	if !eventually(2*time.Second, func() bool { return len(left()) == 0 }) {
		require.Fail(t, "processes are left", "%s", strings.Join(left(), "\n"))
	}
	t.Logf("%d processes were gone after %s", len(all), time.Since(began).Round(time.Millisecond))
}

// The servers that people really use: connect, list, call, close, and nothing is
// left of them, nor of the browsers that they started.
func TestRealServers(t *testing.T) {
	servers, dir := real(t)
	w := newWorld(t, func(o *Options) {
		o.Limits = Limits{StartRunner: 5 * time.Minute}
		o.StateDir = t.TempDir()
	})
	var specs []core.ServerSpec
	for _, r := range servers {
		specs = append(specs, r.spec(dir))
	}
	began := time.Now()
	w.Apply(specs)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	require.NoError(t, w.WaitSettled(ctx))
	for _, r := range servers {
		st := w.status(r.name)
		require.Equal(t, core.StateConnected, st.State, "%s: %s\n%s", r.name, st.Message, st.Detail)
		assert.GreaterOrEqual(t, st.ToolCount, r.tools)
		t.Logf("%s: %s, MCP %s", r.name, st.Message, st.ProtocolVersion)
		for _, tool := range w.Tools(r.name) {
			assert.NotEmpty(t, tool.Title)
			assert.Len(t, tool.Ref.Digest, 64)
		}
		tool := w.tool(r.name, r.tool)
		res, err := w.Call(ctx, tool.Ref, "call-"+r.name, []byte(r.with), nil)
		require.NoError(t, err, r.name)
		assert.Contains(t, res.Text(), r.want)
		assert.False(t, res.IsError, r.name)
		assert.Empty(t, res.Warning, r.name)
	}
	t.Logf("all of them after %s", time.Since(began).Round(time.Millisecond))
	assert.Contains(t, strings.Join(w.Log("everything"), "\n"), "/npx -y @modelcontextprotocol/server-everything@")
	var chunks []core.Chunk
	_, err := w.Call(ctx, ref("everything", "trigger-long-running-operation"), "long", []byte(`{"duration":1,"steps":4}`), func(c core.Chunk) { chunks = append(chunks, c) })
	require.NoError(t, err)
	assert.NotEmpty(t, chunks)
	res, err := w.Call(ctx, ref("filesystem", "read_text_file"), "denied", []byte(`{"path":"/etc/passwd"}`), nil)
	require.NoError(t, err)
	assert.True(t, res.IsError)

	all := map[int]string{}
	var marks []string
	w.d.procs.Range(func(p, _ any) bool {
		marks = append(marks, p.(*process).mark)
		maps.Copy(all, family(p.(*process).cmd.Process.Pid, p.(*process).mark))
		return true
	})
	require.GreaterOrEqual(t, len(all), len(servers))
	began = time.Now()
	require.NoError(t, w.Close(context.Background()))
	t.Logf("closed in %s", time.Since(began).Round(time.Millisecond))
	requireNobody(t, all, marks)
}

// A program that is killed cannot end its servers. They end by themselves, all
// the same.
func TestRealServersEndWithAKilledProgram(t *testing.T) {
	servers, dir := real(t)
	job := hostJob{Limits: Limits{StartRunner: 5 * time.Minute}}
	for _, r := range servers {
		job.Specs = append(job.Specs, r.spec(dir))
		job.Calls = append(job.Calls, hostCall{Server: r.name, Tool: r.tool, Args: json.RawMessage(r.with)})
	}
	host, state := startHost(t, job, 10*time.Minute)
	program, left, err := readLedger(filepath.Join(state, fmt.Sprintf("servers-%d.json", host.Process.Pid)))
	require.NoError(t, err)
	require.Equal(t, host.Process.Pid, program.PID)
	require.Len(t, left, len(servers))
	var marks []string
	for mark := range left {
		marks = append(marks, mark)
	}
	all := family(host.Process.Pid, marks...)
	require.Greater(t, len(all), len(servers))
	require.NoError(t, host.Process.Kill())
	_ = host.Wait()
	requireNobody(t, all, marks)
}

// The same server over its three transports.
func TestRealServerOverHTTP(t *testing.T) {
	servers, dir := real(t)
	npx, err := exec.LookPath("npx")
	require.NoError(t, err)
	for _, c := range []struct {
		mode, path string
		transport  core.Transport
	}{{"streamableHttp", "/mcp", core.TransportHTTP}, {"sse", "/sse", core.TransportSSE}, {"sse", "/sse", core.TransportHTTP}} {
		t.Run(c.mode+" as "+string(c.transport), func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			_, port, err := net.SplitHostPort(l.Addr().String())
			require.NoError(t, err)
			require.NoError(t, l.Close())
			env := childEnv(os.Environ(), os.Getenv("PATH"), map[string]string{"PORT": port})
			p, err := startProcess(npx, []string{"-y", servers[0].args[0], c.mode}, env, dir, time.Second, &tail{})
			require.NoError(t, err)
			defer func() {
				p.kill()
				<-p.gone
			}()
			require.Eventually(t, func() bool {
				conn, err := net.Dial("tcp", "127.0.0.1:"+port)
				if err == nil {
					conn.Close()
				}
				return err == nil
			}, 3*time.Minute, 20*time.Millisecond)
			w := newWorld(t, func(o *Options) { o.Limits = Limits{} })
			w.Apply([]core.ServerSpec{{Name: "everything", Transport: c.transport, URL: "http://127.0.0.1:" + port + c.path}})
			st := w.until("everything", core.StateConnected)
			assert.GreaterOrEqual(t, st.ToolCount, servers[0].tools)
			res, err := w.call("everything", "echo", `{"message":"hey"}`)
			require.NoError(t, err)
			assert.Contains(t, res.Text(), "hey")
			var chunks []core.Chunk
			_, err = w.Call(context.Background(), ref("everything", "trigger-long-running-operation"), "long", []byte(`{"duration":1,"steps":4}`), func(c core.Chunk) { chunks = append(chunks, c) })
			require.NoError(t, err)
			assert.NotEmpty(t, chunks)
			require.NoError(t, w.Close(context.Background()))
		})
	}
}
