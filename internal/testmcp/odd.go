package testmcp

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Faults that no matrix lists: what a careless author gets wrong on the wire.
// Those of a whole connection are faults; those of one answer are texts for the
// tool "odd" (see [OddAnswers]).
const (
	Bytewise   = "bytewise"    // one byte at a time (also over HTTP)
	CRLF       = "crlf"        // lines end as on Windows
	FloatIDs   = "float-ids"   // ids come back as 1.0 (also over HTTP)
	ErrorNull  = "error-null"  // answers have "error": null beside the result (also over HTTP)
	ClosesIn   = "closes-in"   // closes its stdin after the first tools/list and lives on
	ClosesOut  = "closes-out"  // the same with its stdout
	HugeText   = "huge-text"   // one tool with a description of 1 MB (also over HTTP)
	HugeList   = "huge-list"   // 5,000 tools of 10 KB each (also over HTTP)
	Storm      = "storm"       // says that its list changed 10,000 times a second, for ever
	OddVersion = "odd-version" // answers initialize with a revision that never was (also over HTTP)

	StallsInLine = "stalls-in-line" // the first answer to tools/call pauses in its middle for StallMS
	Dribbles     = "dribbles"       // answers to tools/call come at 20 bytes a second
	UTF16        = "utf-16"         // prints UTF-16
	UTF16BOM     = "utf-16-bom"     // … with a byte order mark
	Pretty       = "pretty"         // prints each message over several lines
	NoLineEnd    = "no-line-end"    // prints no line feeds
	LengthFirst  = "length-first"   // frames messages as language servers do
	Echoes       = "echoes"         // prints what it is sent, beside its answers
	OddHello     = "odd-hello"      // answers initialize with a text as serverInfo (also over HTTP)
	ToolsObject  = "tools-object"   // lists its tools in an object (also over HTTP)
	NumberCursor = "number-cursor"  // names the next page of its list by a number (also over HTTP)
	ChangesEra   = "changes-era"    // from the second tools/call on, knows the other revisions only (also over HTTP)

	Charset       = "charset"        // content types with parameters and capitals
	PlainText     = "plain-text"     // JSON that calls itself text/plain
	EmptyBody     = "empty-body"     // 200 without a body to tools/call
	NoContent     = "no-content"     // 204 to tools/call
	Gzip          = "gzip"           // compressed answers
	GzipBomb      = "gzip-bomb"      // a small answer to tools/call that becomes 200 MB
	NewSession    = "new-session"    // another session id in each answer
	EventsCR      = "events-cr"      // events whose lines end with CR alone
	EventsOdd     = "events-odd"     // events with comments, ids, empty data and several data lines
	DiesAtBody    = "dies-at-body"   // ends the connection after the headers of tools/call
	CutLength     = "cut-length"     // announces more bytes than it sends to tools/call
	CutChunks     = "cut-chunks"     // ends the connection in the middle of an answer to tools/call
	ClosesIdle    = "closes-idle"    // ends each connection after an answer without having said so
	DeleteHangs   = "delete-hangs"   // never answers a DELETE
	StallsAtBody  = "stalls-at-body" // sends half of an answer to tools/call, and then nothing
	JSONType      = "json-type"      // JSON that calls itself text/json
	EventsUnended = "events-unended" // streams whose last event has no blank line after it
	EventsTyped   = "events-typed"   // events of another type before those of messages
	Page          = "page"           // a web page to everything
	ListFails     = "list-fails"     // 500 to tools/list
	HugeHeader    = "huge-header"    // 2 MB of headers for tools/call
	RedirectsLoop = "redirects-loop" // sends every request to where it was
	GzipSilent    = "gzip-silent"    // compressed answers that do not say so
	Deflate       = "deflate"        // the same with deflate
	Packed        = "packed"         // the same, and says so
	BatchHello    = "batch-hello"    // answers initialize with a list of one message
	TextEvent     = "text-event"     // streams that begin with an event of text
	NoEndpoint    = "no-endpoint"    // HTTP with SSE: never says where to send messages
	JSONEndpoint  = "json-endpoint"  // HTTP with SSE: says it in JSON
	InBody        = "in-body"        // HTTP with SSE: answers in the body of the POST
	Sticky        = "sticky"         // sets a cookie with the session, without which it knows none
)

// OddAnswers are the texts for the tool "odd", which answers as each says, with
// the text "kept" where there is one. ID stands for the id of the request, TOKEN
// for its progress token; lines are messages.
func OddAnswers() map[string]string {
	const kept = `{"content":[{"type":"text","text":"kept"}]}`
	const answer = `{"jsonrpc":"2.0","id":ID,"result":` + kept + `}`
	progress := func(value string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":TOKEN,"progress":` + value + `}}`
	}
	return map[string]string{
		"null result":      `{"jsonrpc":"2.0","id":ID,"result":null}`,
		"number result":    `{"jsonrpc":"2.0","id":ID,"result":5}`,
		"list result":      `{"jsonrpc":"2.0","id":ID,"result":[]}`,
		"text result":      `{"jsonrpc":"2.0","id":ID,"result":"kept"}`,
		"no outcome":       `{"jsonrpc":"2.0","id":ID}`,
		"bare error":       `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000}}`,
		"text error":       `{"jsonrpc":"2.0","id":ID,"error":"it broke"}`,
		"error with code":  `{"jsonrpc":"2.0","id":ID,"error":{"code":"-32000","message":"it broke"}}`,
		"error and result": `{"jsonrpc":"2.0","id":ID,"error":null,"result":` + kept + `}`,
		"double keys":      `{"jsonrpc":"2.0","id":ID,"id":ID,"result":{"content":[]},"result":` + kept + `}`,
		"float id":         `{"jsonrpc":"2.0","id":ID.0,"result":` + kept + `}`,
		"text numbers":     `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":5},{"type":"text","text":"kept"}],"isError":"false"}}`,
		"content object":   `{"jsonrpc":"2.0","id":ID,"result":{"content":{"type":"text","text":"kept"}}}`,
		"content null":     `{"jsonrpc":"2.0","id":ID,"result":{"content":null}}`,
		"bad utf8":         "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"kept\xff\xc3\"}]}}",
		"half surrogate":   `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"kept\ud83d"}]}}`,
		"deep":             `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"kept"}],"structuredContent":{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}}`,
		"late progress":    answer + "\n" + progress("7"),
		"odd progress":     progress("NaN") + "\n" + progress("5") + "\n" + progress("-1e300") + "\n" + progress(`"3"`) + "\n" + progress("null") + "\n" + answer,
		"foreign progress": strings.ReplaceAll(progress("5"), "TOKEN", `{"a":1}`) + "\n" + answer,
		"null params":      `{"jsonrpc":"2.0","method":"notifications/message","params":null}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/unheard-of"}` + "\n" + answer,
		"odd request":      `{"jsonrpc":"2.0","id":"x","method":"unheard/of","params":[1]}` + "\n" + answer,
		"two on a line":    progress("1") + answer,
		"text before":      "[info] done: " + answer,
		"text after":       answer + " [info] done",
		"nul bytes":        "\x00\x00" + answer,
		"old result":       `{"jsonrpc":"2.0","id":ID,"result":{"toolResult":"kept"}}`,
		"old object":       `{"jsonrpc":"2.0","id":ID,"result":{"toolResult":{"a":"kept"}}}`,
		"withdrawn":        `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID,"reason":"maintenance"}}` + "\n" + progress("1"),
	}
}

// oddAnswer returns the messages for one text of OddAnswers; nil if there is none.
func oddAnswer(text string, id, token json.RawMessage) []string {
	a, ok := OddAnswers()[text]
	if !ok {
		return nil
	}
	return strings.Split(strings.NewReplacer("ID", string(id), "TOKEN", string(token)).Replace(a), "\n")
}

// twist applies the faults of a connection to an encoded answer.
func (o Options) twist(b []byte, id json.RawMessage) []byte {
	if o.has(FloatIDs) {
		b = []byte(strings.Replace(string(b), `"id":`+string(id), `"id":`+string(id)+`.0`, 1))
	}
	if o.has(ErrorNull) {
		b = []byte(strings.Replace(string(b), `"id":`, `"error":null,"id":`, 1))
	}
	return b
}

// storm says that the list changed until send fails or the process ends.
func storm(send func(message)) {
	for {
		for range 100 {
			send(message{JSONRPC: "2.0", Method: "notifications/tools/list_changed"})
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// oddWriter plays the faults that a response has beside its content.
type oddWriter struct {
	http.ResponseWriter
	o     Options
	gz    *gzip.Writer
	wrote bool // the headers
	begun bool // the body
}

func (w *oddWriter) WriteHeader(code int) {
	w.wrote = true
	h := w.Header()
	if w.o.has(Charset) {
		switch h.Get("Content-Type") {
		case "application/json":
			h.Set("Content-Type", "Application/JSON; charset=UTF-8")
		case "text/event-stream":
			h.Set("Content-Type", "text/event-stream;charset=utf-8")
		}
	}
	if w.o.has(PlainText) && h.Get("Content-Type") == "application/json" {
		h.Set("Content-Type", "text/plain")
	}
	if w.o.has(JSONType) && h.Get("Content-Type") == "application/json" {
		h.Set("Content-Type", "text/json")
	}
	if w.o.has(Packed) && h.Get("Content-Type") == "application/json" {
		h.Set("Content-Encoding", "deflate")
	}
	if w.o.has(Gzip) && code == http.StatusOK {
		h.Set("Content-Encoding", "gzip")
		w.gz = gzip.NewWriter(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *oddWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.o.has(BOM) && !w.begun && w.Header().Get("Content-Type") == "application/json" {
		io.WriteString(w.ResponseWriter, "\xef\xbb\xbf")
	}
	w.begun = true
	if w.Header().Get("Content-Type") == "application/json" {
		if b := w.o.packed(p); b != nil {
			_, err := w.ResponseWriter.Write(b)
			return len(p), err
		}
	}
	if w.gz != nil {
		n, err := w.gz.Write(p)
		w.gz.Flush()
		return n, err
	}
	if !w.o.has(Bytewise) {
		return w.ResponseWriter.Write(p)
	}
	for i := range p {
		if _, err := w.ResponseWriter.Write(p[i : i+1]); err != nil {
			return i, err
		}
		w.Flush()
	}
	return len(p), nil
}

// packed is p as a client cannot read it; nil if there is no such fault.
func (o Options) packed(p []byte) []byte {
	var b bytes.Buffer
	switch {
	case o.has(GzipSilent):
		z := gzip.NewWriter(&b)
		z.Write(p)
		z.Close()
	case o.has(Deflate), o.has(Packed):
		z := zlib.NewWriter(&b)
		z.Write(p)
		z.Close()
	case o.has(UTF16):
		for _, c := range p {
			b.Write([]byte{c, 0})
		}
	default:
		return nil
	}
	return b.Bytes()
}

// Flush implements http.Flusher.
func (w *oddWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w *oddWriter) end() {
	if w.gz != nil {
		w.gz.Close()
	}
}

// oddCall answers tools/call over HTTP as the faults of whole answers say; false
// means that there is none of them.
func (h *HTTP) oddCall(w http.ResponseWriter, m message, wait func()) bool {
	o := h.s.o
	half := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[`, m.ID)
	switch {
	case o.has(EmptyBody):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
	case o.has(NoContent):
		w.WriteHeader(http.StatusNoContent)
	case o.has(GzipBomb):
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		gz := gzip.NewWriter(w)
		io.WriteString(gz, half+`{"type":"text","text":"`)
		for range 200 {
			if _, err := gz.Write([]byte(strings.Repeat("x", 1<<20))); err != nil {
				break
			}
		}
		io.WriteString(gz, `"}]}}`)
		gz.Close()
	case o.has(DiesAtBody):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case o.has(CutLength), o.has(CutChunks):
		h.half(w, half)
		panic(http.ErrAbortHandler)
	case o.has(StallsAtBody):
		h.half(w, half)
		wait()
	case o.has(HugeHeader):
		w.Header().Set("X-Huge", strings.Repeat("x", 2<<20))
		w.WriteHeader(http.StatusOK)
	default:
		return false
	}
	return true
}

// half begins an answer, as one event where the server answers so.
func (h *HTTP) half(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	if h.s.o.has(EventAnswers) {
		w.Header().Set("Content-Type", "text/event-stream")
		text = ": hello\n\nevent: message\ndata: " + text
	}
	if h.s.o.has(CutLength) {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)+100))
	}
	io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// oddEvent writes a message as no simple reader of events expects it.
func oddEvent(w io.Writer, o Options, b []byte) {
	if o.has(EventsCR) {
		fmt.Fprintf(w, ": hello\revent: message\rdata: %s\r\r", b)
		return
	}
	fmt.Fprint(w, ": a comment\n\nid: 7\nretry: 100000\ndata\n\n:\r\nevent:message\r\n")
	// A line break may stand wherever JSON allows white space.
	first, rest, _ := strings.Cut(string(b), ",")
	fmt.Fprintf(w, "data:%s,\ndata:%s\nunknown: field\n\n", first, rest)
}
