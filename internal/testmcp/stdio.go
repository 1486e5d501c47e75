package testmcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// Serve speaks MCP on in and out until in ends, and returns the exit code.
func Serve(o Options, in io.Reader, out, stderr io.Writer) int {
	note := func(pid int) {
		if o.PIDFile == "" {
			return
		}
		if f, err := os.OpenFile(o.PIDFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f, pid)
			f.Close()
		}
	}
	note(os.Getpid())
	if o.has(Exit) {
		fmt.Fprintln(stderr, "npm warn deprecated something@1.0.0")
		fmt.Fprintln(stderr, "Error: ENOENT: no such file or directory, stat '/nowhere'")
		fmt.Fprintln(stderr, "    at main (index.js:1:1)")
		return 3
	}
	if o.has(IgnoreTerm) {
		ignoreTerm()
	}
	if o.has(Fork) {
		self, err := os.Executable()
		if err == nil {
			child := exec.Command(self)
			child.Env = append(os.Environ(), Variable+`={"faults":["hang"]}`)
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
			detach(child)
			if child.Start() == nil {
				note(child.Process.Pid)
			}
		}
	}
	if o.has(FloodStderr) {
		go func() {
			line := strings.Repeat("noise ", 170) + "\n"
			for range 50_000 {
				io.WriteString(stderr, line)
			}
		}()
	}
	time.Sleep(time.Duration(o.StartMS) * time.Millisecond)
	if o.has(Hang) {
		stay(o.has(IgnoreTerm))
	}
	mortal := false
	if o.LivesFile != "" && o.Lives > 0 {
		b, _ := os.ReadFile(o.LivesFile)
		n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		mortal = n < o.Lives
		_ = os.WriteFile(o.LivesFile, []byte(strconv.Itoa(n+1)), 0o600)
	}

	s := newServer(o)
	line := (&lines{o: o, w: bufio.NewWriter(out)}).line
	s.line = line
	send := func(m message) {
		if m.verbatim != nil {
			for _, text := range m.verbatim {
				line(text)
			}
			return
		}
		if o.has(Junk) {
			line("npm warn exec The following package was not found and will be installed")
		}
		b, err := json.Marshal(m)
		if err != nil { // a result that is no JSON on purpose
			b = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, m.Result)
		}
		if o.has(StringID) && m.Method == "" {
			b = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s","result":%s}`, m.ID, raw(m.Result))
		}
		if m.Method == "" && o.has(StrayIDs) {
			for _, id := range []string{`4711`, `1000999999`, `"nobody"`, `-1`, `1.5`, `null`} {
				line(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"stray"}],"tools":[]}}`)
			}
		}
		if m.Method == "" && o.has(Batch) {
			b = fmt.Appendf(nil, `[{"jsonrpc":"2.0","id":4711,"result":{}},%s]`, b)
		}
		if m.Method == "" {
			b = o.twist(b, m.ID)
		}
		line(string(b))
		if o.has(Double) {
			line(string(b))
		}
	}
	if o.has(BOM) {
		out.Write([]byte("\xef\xbb\xbf"))
	}
	if o.has(Junk) {
		line("Server starting on stdio")
		line("")
		line("{ not json")
	}
	if o.has(IDNull) {
		line(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
	}
	if o.has(NoVersion) {
		line(`{"id":77,"result":{}}`)
	}

	r := bufio.NewReaderSize(in, 1<<20)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		if o.has(Echoes) {
			line(strings.TrimSpace(string(text)))
		}
		var m message
		if json.Unmarshal(text, &m) != nil || o.has(Mute) {
			continue
		}
		if m.Method == "server/discover" {
			if o.has(ExitOnProbe) {
				fmt.Fprintln(stderr, "panic: request before initialize")
				return 1
			}
			if o.has(SilentProbe) {
				continue
			}
		}
		switch m.Method {
		case "notifications/cancelled":
			s.cancels.Add(1)
			var p struct {
				ID json.RawMessage `json:"requestId"`
			}
			_ = json.Unmarshal(m.Params, &p)
			s.mu.Lock()
			if ch := s.running[string(p.ID)]; ch != nil {
				delete(s.running, string(p.ID))
				close(ch)
				if o.has(AnswersLate) {
					send(message{JSONRPC: "2.0", ID: p.ID, Result: map[string]any{"content": []any{map[string]any{"type": "text", "text": "too late"}}}})
				}
			}
			s.mu.Unlock()
			continue
		case "notifications/initialized":
			if o.has(ChangeFlood) {
				for range 20_000 {
					send(message{JSONRPC: "2.0", Method: "notifications/tools/list_changed"})
				}
			}
			continue
		case "subscriptions/listen":
			if s.modern() {
				send(message{JSONRPC: "2.0", Method: "notifications/subscriptions/acknowledged", Params: raw(map[string]any{
					"_meta": map[string]any{"io.modelcontextprotocol/subscriptionId": m.ID}, "notifications": map[string]any{"toolsListChanged": true}})})
				continue
			}
		}
		if m.Method == "" {
			s.answered(m)
			continue
		}
		if m.Method == "notifications/roots/list_changed" {
			s.rootNews.Add(1)
		}
		if m.ID == nil {
			continue
		}
		if m.Method == "tools/call" && o.has(DiesOnce) {
			if _, err := os.Stat(o.LivesFile); err != nil {
				_ = os.WriteFile(o.LivesFile, nil, 0o600)
				os.Exit(9)
			}
		}
		gone := make(chan struct{})
		s.mu.Lock()
		s.running[string(m.ID)] = gone
		s.mu.Unlock()
		go func() {
			if a := s.handle(m, send, gone); a != nil {
				send(*a)
			}
			if m.Method == "tools/list" && o.has(Storm) {
				storm(send)
			}
			if m.Method == "tools/list" && o.has(ClosesOut) {
				os.Stdout.Close()
			}
			if m.Method == "tools/list" && (mortal || o.has(CrashAfterList)) {
				fmt.Fprintln(stderr, "Error: out of luck")
				os.Exit(9)
			}
		}()
		if m.Method == "tools/list" && o.has(Deaf) {
			stay(false)
		}
		if m.Method == "tools/list" && o.has(ClosesIn) {
			os.Stdin.Close()
			stay(false)
		}
	}
	if o.has(IgnoreEOF) || o.has(IgnoreTerm) {
		stay(o.has(IgnoreTerm))
	}
	return 0
}

// stay blocks until the process is killed or, unless deaf, told to terminate.
func stay(deaf bool) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch)
	for {
		if sig := <-ch; sig.String() == "terminated" && !deaf {
			os.Exit(143)
		}
	}
}
