package mcp

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"patchbay/backend/core"
)

// tapped notes the messages that cross an HTTP connection, on the wire's side
// of every repair but those that change no message.
type tapped struct {
	base http.RoundTripper
	log  *logRing
}

// RoundTrip implements http.RoundTripper.
func (t *tapped) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPost && req.GetBody != nil {
		if r, err := req.GetBody(); err == nil {
			head, _ := io.ReadAll(io.LimitReader(r, frameHead))
			r.Close()
			var end []byte
			if int64(len(head)) < req.ContentLength {
				end = []byte{} // the rest is not read twice only to be shown
			}
			t.log.sized(core.ActivitySent, head, end, int(max(req.ContentLength, int64(len(head)))))
		}
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil || resp.Body == nil {
		return resp, err
	}
	tidy(req, resp)
	switch mediaType(resp) {
	case "application/json":
		resp.Body = &tappedBody{ReadCloser: resp.Body, log: t.log}
	case "text/event-stream":
		resp.Body = &tappedBody{ReadCloser: resp.Body, log: t.log, events: true}
	}
	return resp, nil
}

// tappedBody notes a message, or those of a stream of events, while it is read.
type tappedBody struct {
	io.ReadCloser
	log    *logRing
	events bool

	mu   sync.Mutex // a body may be closed while it is read
	head []byte     // of the message that is being read
	end  []byte     // its last bytes, once head is full
	size int
	line []byte // of a stream: the begin of the line that is being read
	over bool   // a data line's prefix has been taken off and its rest goes to the message
	done bool
}

func (b *tappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return n, err
	}
	if b.events {
		b.lines(p[:n])
	} else {
		b.keep(p[:n])
	}
	if err != nil {
		b.done = true
		b.note()
	}
	return n, err
}

func (b *tappedBody) Close() error {
	b.mu.Lock()
	if !b.done {
		b.done = true
		b.note()
	}
	b.mu.Unlock()
	return b.ReadCloser.Close()
}

func (b *tappedBody) keep(p []byte) {
	b.size += len(p)
	if room := frameHead - len(b.head); room > 0 {
		n := min(room, len(p))
		b.head, p = append(b.head, p[:n]...), p[n:]
	}
	if len(p) > frameEnd {
		p = p[len(p)-frameEnd:]
	}
	if b.end = append(b.end, p...); len(b.end) > frameEnd {
		b.end = append(b.end[:0], b.end[len(b.end)-frameEnd:]...)
	}
}

// lines takes the data out of events (HTML, Server-sent events).
func (b *tappedBody) lines(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		if b.over {
			b.keep(bytes.TrimSuffix(part, []byte("\r")))
		} else if len(b.line) < 64 {
			b.line = append(b.line, part...)
			if rest, ok := bytes.CutPrefix(b.line, []byte("data:")); ok {
				b.over = true
				b.keep(bytes.TrimSpace(rest))
			}
		}
		if i < 0 {
			return
		}
		if !b.over && len(bytes.TrimSpace(b.line)) == 0 {
			b.note()
		}
		b.line, b.over, p = b.line[:0], false, p[i+1:]
	}
}

func (b *tappedBody) note() {
	if len(bytes.TrimSpace(b.head)) > 0 {
		var end []byte
		if len(b.end) > 0 {
			end = b.end
		}
		b.log.sized(core.ActivityReceived, b.head, end, b.size)
	}
	b.head, b.end, b.size = b.head[:0], b.end[:0], 0
}
