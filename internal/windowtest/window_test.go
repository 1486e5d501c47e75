//go:build linux && window

// Package windowtest drives the real window, under a virtual display, through
// WebKitWebDriver. The window must be a build with the tag e2e.
package windowtest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const patience = 60 * time.Second

// started runs a helper program until the test ends.
func started(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
	})
}

// answering runs a helper program and returns the line that it writes to its
// descriptor 3 once it is ready.
func answering(t *testing.T, name string, args ...string) string {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(name, args...)
	cmd.ExtraFiles = []*os.File{w}
	started(t, cmd)
	require.NoError(t, w.Close())
	require.NoError(t, r.SetReadDeadline(time.Now().Add(patience)))
	line := make([]byte, 512)
	n, err := r.Read(line)
	require.NoError(t, err, "%s did not start", name)
	return strings.TrimSpace(string(line[:n]))
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// session is a W3C WebDriver session.
type session struct {
	t    *testing.T
	base string
}

func (s session) do(method, path string, body, into any) error {
	var in io.Reader
	if method == http.MethodPost {
		if body == nil {
			body = map[string]any{}
		}
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, in)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, b)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(b, &struct{ Value any }{into})
}

// js runs a function body in the page; into gets what it returns. It may await.
func (s session) js(body string, into any) error {
	return s.do(http.MethodPost, "/execute/async", map[string]any{"args": []any{}, "script": `const done = arguments[arguments.length - 1];
		(async () => { ` + body + ` })().then((v) => done({ok: v === undefined ? null : v}), (e) => done({error: String(e && e.message || e)}));`}, into)
}

type answer[T any] struct {
	OK    T      `json:"ok"`
	Error string `json:"error"`
}

func eval[T any](s session, body string) T {
	s.t.Helper()
	var a answer[T]
	require.NoError(s.t, s.js(body, &a))
	require.Empty(s.t, a.Error)
	return a.OK
}

// until waits for a condition in the page.
func (s session) until(what, condition string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		var a answer[bool]
		return s.js("return !!("+condition+")", &a) == nil && a.OK
	}, patience, 100*time.Millisecond, what)
}

// click presses the mouse on an element, as a person would.
func (s session) click(xpath string) {
	s.t.Helper()
	var element map[string]string
	require.Eventually(s.t, func() bool {
		return s.do(http.MethodPost, "/element", map[string]string{"using": "xpath", "value": xpath}, &element) == nil
	}, patience, 100*time.Millisecond, "no element %s", xpath)
	for _, id := range element {
		require.NoError(s.t, s.do(http.MethodPost, "/element/"+id+"/click", nil, nil))
	}
}

func (s session) screenshot(name string) {
	s.t.Helper()
	var png string
	require.NoError(s.t, s.do(http.MethodGet, "/screenshot", nil, &png))
	raw, err := base64.StdEncoding.DecodeString(png)
	require.NoError(s.t, err)
	require.Greater(s.t, len(raw), 5000, "the window is empty")
	if dir := os.Getenv("ARTIFACTS"); dir != "" {
		require.NoError(s.t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
	}
}

// bound calls a bound method and returns its JSON answer.
func bound(method, input string) string {
	return fmt.Sprintf(`return JSON.parse(await window.go.main.App.%s(crypto.randomUUID(), %q));`, method, input)
}

func TestWindow(t *testing.T) {
	window := os.Getenv("PATCHBAY_WINDOW")
	require.NotEmpty(t, window, "PATCHBAY_WINDOW names the window's program, built with the tag e2e")
	home := t.TempDir()
	t.Setenv("PATCHBAY_HOME", home)
	t.Setenv("DISPLAY", ":"+answering(t, "Xvfb", "-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp"))
	// By the bus, a second start of the program finds the first.
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", answering(t, "dbus-daemon", "--session", "--nofork", "--print-address=3"))
	t.Setenv("WAYLAND_DISPLAY", "")
	port := freePort(t)
	started(t, exec.Command("WebKitWebDriver", "-p", fmt.Sprint(port)))
	driver := session{t, fmt.Sprintf("http://127.0.0.1:%d", port)}
	require.Eventually(t, func() bool { return driver.do(http.MethodGet, "/status", nil, nil) == nil }, patience, 50*time.Millisecond)

	began := time.Now()
	var created struct {
		SessionID string `json:"sessionId"`
	}
	require.NoError(t, driver.do(http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"webkitgtk:browserOptions": map[string]any{"binary": window, "args": []string{}}}}}, &created))
	s := session{t, driver.base + "/session/" + created.SessionID}

	s.until("the first screen", `document.querySelector("main") && document.body.innerText.trim().length > 50`)
	t.Logf("the first screen stands %s after the start", time.Since(began).Round(time.Millisecond))
	s.screenshot("window-first-screen.png")

	// A bound call answers, and what it returns is ours.
	info := eval[struct{ ConfigPath string }](s, bound("SettingsGetInfo", "{}"))
	require.Equal(t, filepath.Join(home, "tools.json"), info.ConfigPath)

	// An error keeps its code on the way to the page.
	code := eval[string](s, `try { await window.go.main.App.McpReconnectServer("x", '{"name":"nobody"}'); return "no error" } catch (e) { return JSON.parse(e.message ?? e).code }`)
	require.Equal(t, "not_found", code)

	// A server is added, connects, and its tools and events reach the page.
	eval[any](s, `window.seen = []; window.runtime.EventsOn("patchbay", (batch) => { for (const e of JSON.parse(batch)) window.seen.push(e.type) });`)
	s.click(`//button[normalize-space()="Add the demo server"]`)
	s.until("the demo server's tools", `JSON.parse(await window.go.main.App.ToolsGet("", "{}")).tools.some((t) => t.alias === "demo__current_time")`)
	s.until("an event about it", `window.seen.includes("servers:changed")`)
	raw, err := os.ReadFile(filepath.Join(home, "tools.json"))
	require.NoError(t, err)
	require.Contains(t, string(raw), `"demo-server"`)
	s.until("the server on screen", `document.body.innerText.includes("1 server connected")`)
	s.screenshot("window-with-server.png")

	// A call goes through the gate and into the log.
	out := eval[struct{ Status string }](s, bound("ToolsExecute", `{"ref":{"kind":"mcp","server":"demo","name":"roll_dice"},"arguments":{}}`))
	require.Equal(t, "done", out.Status)

	// The system opens a link with a second start of the program, which hands it
	// over and ends. Nothing is added by that: the first window shows the review.
	again(t, window, "cursor://anysphere.cursor-deeplink/mcp/install?name=linked&config="+base64.URLEncoding.EncodeToString([]byte(`{"command":"npx","args":["-y","from-a-link"]}`)))
	s.until("the review of the link", `document.body.innerText.includes("npx -y from-a-link")`)
	s.screenshot("window-link.png")
	s.click(`//button[normalize-space()="Discard"]`)
	require.NoError(t, os.WriteFile(filepath.Join(home, "mine.json"), []byte(`{"mcpServers":{"opened":{"command":"npx","args":["-y","from-a-file"]}}}`), 0o600))
	again(t, window, "mine.json")
	s.until("the servers of the file", `document.body.innerText.includes("npx -y from-a-file")`)
	raw, err = os.ReadFile(filepath.Join(home, "tools.json"))
	require.NoError(t, err)
	require.NotContains(t, string(raw), "from-a-")

	// Closing the window ends the servers, too.
	pids := children(t, home)
	require.NotEmpty(t, pids)
	_ = s.do(http.MethodDelete, "", nil, nil) // the driver says "no such window" and ends it all the same
	require.Eventually(t, func() bool { return len(children(t, home)) == 0 }, 20*time.Second, 100*time.Millisecond, "processes were left behind: %v", pids)
}

// again starts the program once more, in the profile's folder, and waits for it
// to hand arg over to the first window.
func again(t *testing.T, window, arg string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, window, arg)
	cmd.Dir = os.Getenv("PATCHBAY_HOME")
	out, err := cmd.CombinedOutput()
	require.NoError(t, ctx.Err(), "the second start did not end: %s", out)
	var ended *exec.ExitError // with 1, as Wails ends it
	require.ErrorAs(t, err, &ended, "%s", out)
}

// children lists the processes whose command line names this test's folder.
func children(t *testing.T, home string) (pids []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, f := range lines {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(home)) {
			pids = append(pids, f)
		}
	}
	return pids
}
