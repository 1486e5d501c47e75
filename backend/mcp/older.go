package mcp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// older watches the handshake over HTTP with SSE (MCP 2024-11-05, Transports),
// where the SDK waits for whatever does not come.
type older struct {
	began  time.Time
	late   atomic.Int64 // nanoseconds from began until it was plain that it leads nowhere
	silent atomic.Bool  // the stream is open, and nothing came yet
	inBody atomic.Bool  // the answer came in the body of the POST
}

// limit is how long the handshake may take: less once it is plain that it leads
// nowhere.
func (o *older) limit(lim Limits) time.Duration {
	if o.silent.Load() || o.inBody.Load() {
		return min(lim.Connect, time.Duration(o.late.Load())+lim.Stream)
	}
	return lim.Connect
}

// why says in a sentence's end what the server does that ended the handshake
// with err; "" if it is nothing of this transport. o may be nil.
func (o *older) why(err error) string {
	switch {
	case o == nil:
	case strings.Contains(err.Error(), "missing endpoint: "):
		return plain(err)
	case o.silent.Load():
		return "it opens its stream, but does not say where to send messages (no event named endpoint)"
	case o.inBody.Load():
		return "it answers in the body of the POST and not in its stream, as HTTP with SSE wants it; perhaps it is one for streamable-http"
	}
	return ""
}

// stream watches for the first event.
func (o *older) stream(body io.ReadCloser) io.ReadCloser {
	o.late.Store(int64(time.Since(o.began)))
	o.silent.Store(true)
	return &firstByte{ReadCloser: body, came: func() { o.silent.Store(false) }}
}

// posted looks at the answer to a POST whose id is id, and leaves it to be read.
func (o *older) posted(resp *http.Response, id string, limit int) {
	if resp.StatusCode/100 != 2 || mediaType(resp) != "application/json" {
		return
	}
	b, _ := readAll(resp.Body, -1, limit)
	swap(resp, b)
	if e, ok := outline(bytes.TrimSpace(unmarked(b))); ok && e.method == nil && sameID(e.id, id) {
		o.late.Store(int64(time.Since(o.began)))
		o.inBody.Store(true)
	}
}

// firstByte calls came when something other than white space was read.
type firstByte struct {
	io.ReadCloser
	came func()
}

func (f *firstByte) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if f.came != nil && len(bytes.TrimSpace(p[:n])) > 0 {
		f.came()
		f.came = nil
	}
	return n, err
}

// moved is the error of a request that was answered with a redirect which would
// not bring it there: it would arrive as a GET without its message (RFC 9110, 15.4).
type moved struct {
	status int
	to     string
}

func (m *moved) Error() string { return fmt.Sprintf("it redirects to %s (HTTP %d)", m.to, m.status) }

// movedBy is the error of such a redirect; nil if resp is none.
func movedBy(resp *http.Response) *moved {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if to, err := resp.Location(); err == nil {
			return &moved{resp.StatusCode, to.Redacted()}
		}
	}
	return nil
}

// oddity says in a sentence's end what an answer is that is no message. head is
// its begin, as it came.
func oddity(head []byte, encoding string) string {
	text := bytes.TrimSpace(unmarked(head))
	switch {
	case len(text) == 0:
		return "its answer is empty"
	case encoding != "":
		return fmt.Sprintf("its answer is compressed with %q, which nobody asked for", encoding)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "its answer is compressed with gzip but does not say so (Content-Encoding)"
	case len(head) > 1 && head[0] == 0x78 && bytes.IndexByte([]byte{0x01, 0x5e, 0x9c, 0xda}, head[1]) >= 0:
		return "its answer is compressed with deflate but does not say so (Content-Encoding)"
	case wide(head), bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "its answer is UTF-16, where MCP wants UTF-8"
	case text[0] == '<':
		return "it answered with a web page instead of JSON"
	case text[0] == '{':
		return "its answer is not valid JSON"
	case text[0] == '[':
		return "its answer is a list, where MCP wants one message"
	case bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == '\uFFFD' }):
		return "its answer is no text"
	}
	return fmt.Sprintf("its answer is not a message of JSON-RPC but begins with %q", text[:min(len(text), 60)])
}

// oddHead keeps the begin of an answer, so that one which cannot be read can be
// described.
type oddHead struct {
	io.ReadCloser
	keep func(p []byte)
}

func (h *oddHead) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		h.keep(p[:n])
	}
	return n, err
}
