// Package testmcp is an MCP server for tests whose faults can be put together.
// It speaks the wire by itself, without the SDK, so that it can also say what
// no SDK would.
//
// A test runs it in one of three ways: as a process, by running its own binary
// again (see [Main] and [Env]); as an http.Handler (see [Handler]); or as the
// command in cmd/testmcp.
package testmcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Variable is the environment variable that holds the options of a server that
// is started as a process.
const Variable = "TESTMCP"

// Faults of a server on stdio. Any of them can be combined.
const (
	Hang           = "hang"             // starts, reads nothing, says nothing
	Mute           = "mute"             // reads everything, says nothing
	Exit           = "exit"             // ends at once with code 3 and a reason on stderr
	Junk           = "junk"             // text on stdout before and between the messages
	BOM            = "bom"              // a byte order mark before the first message
	SilentProbe    = "silent-probe"     // ignores server/discover
	ExitOnProbe    = "exit-on-probe"    // ends on server/discover
	IgnoreEOF      = "ignore-eof"       // stays when stdin ends
	IgnoreTerm     = "ignore-term"      // stays when told to terminate
	Fork           = "fork"             // leaves a process in a group of its own that holds stdout
	FloodStderr    = "flood-stderr"     // 50 MB of text on stderr
	BadTool        = "bad-tool"         // one illegal tool in the list
	OddTools       = "odd-tools"        // tools with missing and odd schemas, doubles, tasks only
	EndlessPages   = "endless-pages"    // every page of the list has a new cursor
	RepeatedCursor = "repeated-cursor"  // every page has the same cursor
	IDNull         = "id-null"          // an error answer with "id": null before the others
	NoVersion      = "no-version"       // one message without "jsonrpc"
	StringID       = "string-id"        // ids come back as strings
	Double         = "double"           // every answer twice
	Batch          = "batch"            // every answer in an array, with one that nobody asked for (also over HTTP)
	StrayIDs       = "stray-ids"        // answers to requests that nobody made before each answer
	AnswersLate    = "answers-late"     // answers a request after it was canceled
	OddNames       = "odd-names"        // tools with the names of OddToolNames (also over HTTP)
	DiesOnce       = "dies-once"        // ends in the first tools/call of all, as LivesFile notes
	NoTools        = "no-tools"         // offers no tools at all
	ListHangs      = "list-hangs"       // never answers tools/list
	ChangeFlood    = "change-flood"     // 20,000 notifications that the tool list changed
	Unsupported    = "unsupported"      // refuses initialize
	Deaf           = "deaf"             // reads nothing after the first tools/list
	CrashAfterList = "crash-after-list" // ends shortly after the first tools/list
)

// Faults of a server over HTTP.
const (
	Discover202   = "discover-202"    // answers server/discover with 202
	DiscoverHTML  = "discover-html"   // … with a page
	DiscoverJSON  = "discover-json"   // … with foreign JSON
	DiscoverNull  = "discover-null"   // … with "id": null
	Discover500   = "discover-500"    // … with status 500
	DiscoverHangs = "discover-hangs"  // … never
	GetHangs      = "get-hangs"       // never answers a GET
	Get500        = "get-500"         // answers a GET with 500
	Get500Stream  = "get-500-stream"  // … that calls itself an event stream
	Get404        = "get-404"         // … with 404
	GetStream     = "get-stream"      // offers the stream (the default is 405)
	NotifyRefused = "notify-refused"  // answers notifications with 400
	Unauthorized  = "unauthorized"    // 401 to everything
	Forbidden     = "forbidden"       // 403 to everything
	CallDenied    = "call-denied"     // 401 to tools/call
	LoseSession   = "lose-session"    // forgets the session before the second tools/call: 404
	LoseSession4  = "lose-session400" // … 400
	Mismatch      = "mismatch"        // wants its list read again before the first tools/call: -32020
	Private       = "private"         // says that its list is for the account only
	GetEnds       = "get-ends"        // offers the stream and ends it at once, without ids
	EventAnswers  = "event-answers"   // answers as event streams
	Modern        = "modern"          // speaks 2026-07-28
	ListenHangs   = "listen-hangs"    // never answers subscriptions/listen
	ListenEnds    = "listen-ends"     // ends the stream of subscriptions/listen at once
	LegacySSE     = "legacy-sse"      // speaks HTTP with SSE of 2024-11-05 only
	BrokenJSON    = "broken-json"     // half an answer to tools/call
	NotFound      = "not-found"       // 404 to everything
	Redirects     = "redirects"       // sends every request on to Options.Target
	CutCall       = "cut-call"        // ends the stream of tools/call without the answer
)

// Options says what the server is like. The zero value is a sane server of the
// 2025-11-25 revision.
type Options struct {
	Faults []string `json:"faults,omitempty"`
	// Tools adds that many tools named tool_0 … to the standard ones.
	Tools int `json:"tools,omitempty"`
	// ListTTLMS is how long the list is said to be good, in milliseconds
	// (2026-07-28, ttlMs).
	ListTTLMS int `json:"listTtlMs,omitempty"`
	// Busy is the number of tools/call that are answered with BusyStatus and, if
	// it is not "", the header Retry-After.
	Busy       int    `json:"busy,omitempty"`
	BusyStatus int    `json:"busyStatus,omitempty"`
	RetryAfter string `json:"retryAfter,omitempty"`
	// StartMS delays the first word, in milliseconds.
	StartMS int `json:"startMs,omitempty"`
	// PIDFile gets the number of the process, and that of the one that Fork leaves, one a line.
	PIDFile string `json:"pidFile,omitempty"`
	// Lives is the number of starts, counted in LivesFile, that end right after
	// the first list; a later one stays.
	Lives     int    `json:"lives,omitempty"`
	LivesFile string `json:"livesFile,omitempty"`
	// Token is the value that Authorization must have; "" accepts anything.
	Token string `json:"token,omitempty"`
	// HTTP serves over HTTP on a free port instead of stdio, for a process. The
	// address is the first line on stdout; the end of stdin ends it.
	HTTP bool `json:"http,omitempty"`
	// Addr is where HTTP listens; "" means a free port of this machine.
	Addr string `json:"addr,omitempty"`
	// Target is where Redirects sends requests, and the origin of the endpoint that
	// LegacySSE names; "" means its own.
	Target string `json:"target,omitempty"`
	// RedirectStatus is the status of these answers; 0 means 307.
	RedirectStatus int `json:"redirectStatus,omitempty"`
}

func (o Options) has(fault string) bool { return slices.Contains(o.Faults, fault) }

// Env returns the environment for a process of this server.
func Env(o Options) map[string]string {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return map[string]string{Variable: string(b)}
}

// Main turns the process into the server if the environment says so, and then
// does not return. TestMain calls it first.
func Main() {
	v, ok := os.LookupEnv(Variable)
	if !ok {
		return
	}
	var o Options
	if err := json.Unmarshal([]byte(v), &o); err != nil {
		fmt.Fprintln(os.Stderr, "testmcp:", err)
		os.Exit(2)
	}
	if o.HTTP {
		os.Exit(serveHTTP(o))
	}
	os.Exit(Serve(o, os.Stdin, os.Stdout, os.Stderr))
}

func serveHTTP(o Options) int {
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testmcp:", err)
		return 1
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	srv := &http.Server{Handler: Handler(o), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, "testmcp:", srv.Serve(l))
	return 1
}

// message is any JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`

	verbatim []string // the messages to write in place of this one; nil for none
}

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// server is what both transports share. send writes one message to the peer of
// the request; gone is closed when nobody waits for the answer any more.
type server struct {
	o         Options
	cancels   atomic.Int64
	lists     atomic.Int64
	calls     atomic.Int64
	flipped   atomic.Bool  // by ChangesEra
	visits    atomic.Int64 // calls of VisitFirst and VisitOver
	questions atomic.Int64
	rootNews  atomic.Int64
	mu        sync.Mutex
	running   map[string]chan struct{} // by request id
	asked     map[string]chan message  // by the id of the question
	caps      json.RawMessage          // of the client, from initialize
	line      func(string)             // writes a line that is no message; nil over HTTP
}

func newServer(o Options) *server {
	return &server{o: o, running: map[string]chan struct{}{}, asked: map[string]chan message{}}
}

// modern reports whether the server speaks 2026-07-28.
func (s *server) modern() bool { return s.o.has(Modern) != s.flipped.Load() }

// handle answers one request; nil means no answer.
func (s *server) handle(m message, send func(message), gone <-chan struct{}) *message {
	ok := func(result any) *message {
		if s.modern() {
			if r, is := result.(map[string]any); is {
				if r["resultType"] == nil {
					r["resultType"] = "complete"
				}
			}
		}
		return &message{JSONRPC: "2.0", ID: m.ID, Result: result}
	}
	bad := func(code int, text string) *message {
		return &message{JSONRPC: "2.0", ID: m.ID, Error: &wireError{Code: code, Message: text}}
	}
	switch m.Method {
	case "server/discover":
		if !s.modern() {
			return bad(-32601, "Method not found")
		}
		return ok(map[string]any{"supportedVersions": []string{"2026-07-28"}, "capabilities": s.capabilities(), "ttlMs": 0, "cacheScope": "public",
			"_meta": map[string]any{"io.modelcontextprotocol/serverInfo": map[string]any{"name": "testmcp", "version": "1"}}})
	case "initialize":
		if s.o.has(Unsupported) {
			return bad(-32600, "Unsupported protocol version")
		}
		var p struct {
			Caps json.RawMessage `json:"capabilities"`
		}
		_ = json.Unmarshal(m.Params, &p)
		s.mu.Lock()
		s.caps = p.Caps
		s.mu.Unlock()
		if s.o.has(OddHello) {
			return ok(map[string]any{"protocolVersion": "2025-11-25", "capabilities": s.capabilities(), "serverInfo": "testmcp 1.2.3"})
		}
		version := "2025-11-25"
		if s.o.has(OddVersion) {
			version = "1999-01-01"
		}
		return ok(map[string]any{"protocolVersion": version, "capabilities": s.capabilities(), "instructions": "Be gentle.",
			"serverInfo": map[string]any{"name": "testmcp", "title": "Test server", "version": "1.2.3"}})
	case "ping":
		return ok(map[string]any{})
	case "logging/setLevel":
		return ok(map[string]any{})
	case "tools/list":
		s.lists.Add(1)
		if s.o.has(ListHangs) {
			<-gone
			return nil
		}
		list := s.list(m.Params)
		if s.o.has(ToolsObject) {
			list["tools"] = map[string]any{"echo": tool("echo", nil)}
		}
		if s.o.has(NumberCursor) {
			list["nextCursor"] = 2
		}
		return ok(list)
	case "tools/call":
		if s.calls.Add(1) == 2 && s.o.has(ChangesEra) {
			s.flipped.Store(true)
		}
		if s.o.has(ChangesEra) && s.modern() != strings.Contains(string(m.Params), "io.modelcontextprotocol/protocolVersion") {
			return bad(-32022, "Unsupported protocol version")
		}
		if odd := oddOf(m); odd != nil {
			return &message{JSONRPC: "2.0", ID: m.ID, verbatim: odd}
		}
		res, e := s.call(m, send, gone)
		if e != nil {
			return &message{JSONRPC: "2.0", ID: m.ID, Error: e}
		}
		if res == nil {
			return nil
		}
		return ok(res)
	}
	return bad(-32601, "Method not found")
}

func (s *server) capabilities() map[string]any {
	c := map[string]any{"logging": map[string]any{}}
	if !s.o.has(NoTools) {
		c["tools"] = map[string]any{"listChanged": true}
	}
	return c
}

func (s *server) list(params json.RawMessage) map[string]any {
	var p struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(params, &p)
	if s.o.has(EndlessPages) || s.o.has(RepeatedCursor) {
		n, _ := strconv.Atoi(strings.TrimPrefix(p.Cursor, "c"))
		next := "c" + strconv.Itoa(n+1)
		if s.o.has(RepeatedCursor) {
			next = "c1"
		}
		return map[string]any{"tools": []any{tool("page_"+strconv.Itoa(n)+"_"+strconv.FormatInt(s.lists.Load(), 10), nil)}, "nextCursor": next, "ttlMs": 0, "cacheScope": "public"}
	}
	tools := standardTools()
	for i := range s.o.Tools {
		tools = append(tools, tool("tool_"+strconv.Itoa(i), map[string]any{"description": "One of many."}))
	}
	if s.o.has(HugeText) {
		tools = append(tools, tool("huge", map[string]any{"description": strings.Repeat("Long. ", 1<<20/6)}))
	}
	if s.o.has(HugeList) {
		text := strings.Repeat("Long. ", 10_000/6)
		for i := range 5000 {
			tools = append(tools, tool("huge_"+strconv.Itoa(i), map[string]any{"description": text}))
		}
	}
	if s.o.has(BadTool) {
		tools = append([]any{
			map[string]any{"name": 5, "inputSchema": map[string]any{"type": "object"}},
			tool("odd_hint", map[string]any{"annotations": map[string]any{"readOnlyHint": "yes", "destructiveHint": true}}),
		}, tools...)
	}
	if s.o.has(OddNames) {
		for _, n := range OddToolNames() {
			tools = append(tools, tool(n, nil))
		}
		tools = append(tools, tool("", nil))
	}
	if s.o.has(OddTools) {
		tools = append(tools,
			map[string]any{"name": "no_schema"},
			map[string]any{"name": "null_schema", "inputSchema": nil},
			map[string]any{"name": "text_schema", "inputSchema": "object"},
			tool("echo", map[string]any{"description": "again"}),
			tool("task_only", map[string]any{"execution": map[string]any{"taskSupport": "required"}}),
			"not an object",
		)
	}
	scope := "public"
	if s.o.has(Private) {
		scope = "private"
	}
	return map[string]any{"tools": tools, "ttlMs": s.o.ListTTLMS, "cacheScope": scope}
}

// OddToolNames are names that the protocol does not forbid, or that servers have
// all the same. OddNames adds a tool without a name to them.
func OddToolNames() []string {
	return []string{"größe 🎈", "with space", " edges ", "a/b\\c", "dots.and:colons", "quote\"'`", "tab\tand\nline", "=?base64?aGk=?=", "__proto__", strings.Repeat("n", 300), strings.Repeat("ü", 300)}
}

func tool(name string, more map[string]any) map[string]any {
	t := map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}}
	for k, v := range more {
		t[k] = v
	}
	return t
}

func standardTools() []any {
	num := map[string]any{"type": "number"}
	return []any{
		tool("echo", map[string]any{"title": "Echo", "description": "Returns its text.", "annotations": map[string]any{"readOnlyHint": true},
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}}}),
		tool("add", map[string]any{"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"a": num, "b": num}, "required": []string{"a", "b"}},
			"outputSchema": map[string]any{"type": "object", "properties": map[string]any{"sum": num}, "required": []string{"sum"}}}),
		tool("slow", map[string]any{"description": "Counts steps of ms milliseconds."}),
		tool("hang", map[string]any{"description": "Never answers."}),
		tool("cancels", map[string]any{"description": "How many cancellations arrived."}),
		tool("big", map[string]any{"description": "bytes of text."}),
		tool("error", nil),
		tool("image", nil),
		tool("bigint", nil),
		tool("bad_structured", map[string]any{"outputSchema": map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}}),
		tool("odd_content", nil),
		tool("log", nil),
		tool("crash", map[string]any{"annotations": map[string]any{"destructiveHint": true}}),
		tool("grow", map[string]any{"description": "Adds a tool and tells."}),
		tool("env", map[string]any{"description": "An environment variable."}),
		tool("nan", nil),
		tool("rpc_error", nil),
		tool("odd", map[string]any{"description": "Answers as text says, see OddAnswers."}),
		tool("flood", map[string]any{"description": "steps times what text says: log, changed, progress, stderr or junk."}),
	}
}

// call runs a tool. nil, nil means that nobody gets an answer.
func (s *server) call(m message, send func(message), gone <-chan struct{}) (any, *wireError) {
	var p struct {
		Name string `json:"name"`
		Args struct {
			Text  string  `json:"text"`
			A     float64 `json:"a"`
			B     float64 `json:"b"`
			MS    int     `json:"ms"`
			Steps int     `json:"steps"`
			Bytes int     `json:"bytes"`
			Code  int     `json:"code"`
		} `json:"arguments"`
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, &wireError{Code: -32602, Message: err.Error()}
	}
	text := func(t string) map[string]any {
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": t}}}
	}
	if res, e, ok := s.ask(p.Name, m.Params, send, gone); ok {
		return res, e
	}
	switch p.Name {
	case "echo":
		return text(p.Args.Text), nil
	case "add":
		r := text(fmt.Sprint(p.Args.A + p.Args.B))
		r["structuredContent"] = map[string]any{"sum": p.Args.A + p.Args.B}
		return r, nil
	case "slow":
		for i := range p.Args.Steps {
			send(message{JSONRPC: "2.0", Method: "notifications/progress", Params: raw(map[string]any{
				"progressToken": p.Meta.Token, "progress": i + 1, "total": p.Args.Steps, "message": fmt.Sprintf("step %d", i+1)})})
			select {
			case <-time.After(time.Duration(p.Args.MS) * time.Millisecond):
			case <-gone:
				return nil, nil
			}
		}
		return text("done"), nil
	case "hang":
		<-gone
		return nil, nil
	case "cancels":
		return text(strconv.FormatInt(s.cancels.Load(), 10)), nil
	case "big":
		return text(strings.Repeat("x", p.Args.Bytes)), nil
	case "error":
		r := text("it failed")
		r["isError"] = true
		return r, nil
	case "image":
		return map[string]any{"content": []any{
			map[string]any{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
			map[string]any{"type": "audio", "mimeType": "audio/wav", "data": "data:audio/wav;base64,_-8"},
			map[string]any{"type": "resource_link", "uri": "file:///a", "name": "a"},
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///b", "mimeType": "text/plain", "text": "b"}},
		}}, nil
	case "bigint":
		r := text("9007199254740993")
		r["structuredContent"] = json.RawMessage(`{"n":9007199254740993}`)
		return r, nil
	case "bad_structured":
		r := text("kept")
		r["structuredContent"] = map[string]any{"n": "a string"}
		return r, nil
	case "odd_content":
		return map[string]any{"content": []any{
			map[string]any{"type": "hologram", "beam": 1}, map[string]any{"type": "image", "data": "!", "mimeType": "image/png"}, map[string]any{"type": "text", "text": "kept"}}}, nil
	case "log":
		send(message{JSONRPC: "2.0", Method: "notifications/message", Params: raw(map[string]any{"level": "info", "logger": "test", "data": "hello"})})
		return text("logged"), nil
	case "flood":
		s.flood(p.Args.Text, p.Args.Steps, p.Meta.Token, send)
		return text("flooded"), nil
	case "crash":
		fmt.Fprintln(os.Stderr, "Error: the tool crashed the server")
		os.Exit(7)
	case "grow":
		s.o.Tools++
		send(message{JSONRPC: "2.0", Method: "notifications/tools/list_changed"})
		return text("grown"), nil
	case "env":
		return text(os.Getenv(p.Args.Text)), nil
	case "nan":
		return json.RawMessage(`NaN`), nil
	case "rpc_error":
		return nil, &wireError{Code: p.Args.Code, Message: p.Args.Text}
	}
	if strings.HasPrefix(p.Name, "tool_") || strings.HasPrefix(p.Name, "page_") {
		return text(p.Name), nil
	}
	if s.o.has(OddNames) && slices.Contains(OddToolNames(), p.Name) {
		return text("this is " + p.Name), nil
	}
	return nil, &wireError{Code: -32602, Message: "Unknown tool: " + p.Name}
}

// flood sends n times what kind says, as fast as it can.
func (s *server) flood(kind string, n int, token json.RawMessage, send func(message)) {
	for i := range n {
		switch kind {
		case "log":
			send(message{JSONRPC: "2.0", Method: "notifications/message", Params: raw(map[string]any{"level": "info", "data": fmt.Sprint("flood ", i)})})
		case "changed":
			send(message{JSONRPC: "2.0", Method: "notifications/tools/list_changed"})
		case "progress":
			send(message{JSONRPC: "2.0", Method: "notifications/progress", Params: raw(map[string]any{"progressToken": token, "progress": i})})
		case "stderr":
			fmt.Fprintln(os.Stderr, "flood", i)
		case "junk":
			if s.line != nil {
				s.line(fmt.Sprint("flood ", i))
			}
		}
	}
}

// oddOf returns what the tool "odd" answers; nil if it is not called.
func oddOf(m message) []string {
	var p struct {
		Name string `json:"name"`
		Args struct {
			Text string `json:"text"`
		} `json:"arguments"`
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &p) != nil || p.Name != "odd" {
		return nil
	}
	return oddAnswer(p.Args.Text, m.ID, p.Meta.Token)
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own values
	}
	return b
}
