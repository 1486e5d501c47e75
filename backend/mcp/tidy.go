package mcp

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// tidy makes of an answer over HTTP what the specifications allow and the SDK's
// client does not expect: streams of events in any of their spellings, and
// session ids that change. It changes nothing of what a message says.
func tidy(req *http.Request, resp *http.Response) {
	// The session is named in the answer to initialize and nowhere else (MCP
	// 2025-11-25, Transports, Session Management), which is the one request
	// without either header; the SDK ends the session over another name.
	if req.Header.Get("Mcp-Session-Id") != "" || req.Header.Get("Mcp-Protocol-Version") != "" {
		resp.Header.Del("Mcp-Session-Id")
	}
	switch m := mediaType(resp); {
	case resp.Body == nil:
	case m == "text/event-stream":
		resp.Body = &plainEvents{ReadCloser: resp.Body, first: true}
	case resp.StatusCode == http.StatusOK && req.Method == http.MethodPost && likeJSON(m, resp):
		resp.Header.Set("Content-Type", "application/json")
	}
}

// likeJSON reports whether m, the type of an answer, is one of those that servers
// use for JSON; of an answer without any, that it can be nothing else.
func likeJSON(m string, resp *http.Response) bool {
	switch m {
	case "text/json", "application/json-rpc", "application/jsonrequest":
		return true
	case "":
		return resp.Header.Get("Content-Type") == "" && resp.ContentLength != 0
	}
	return strings.HasSuffix(m, "+json")
}

// unmarked is body without a byte order mark, which JSON over a network must not
// have (RFC 8259, section 8.1).
func unmarked(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) }

// plainEvents rewrites a stream of events (HTML, Server-sent events): lines end
// with LF, a field always has its colon, and comments, fields that nobody knows
// and a byte order mark are left out. It is for one reader.
type plainEvents struct {
	io.ReadCloser
	buf   [16 << 10]byte
	out   []byte
	name  []byte // the begin of a line, until it is known what it is
	kind  lineKind
	cr    bool // the last byte was CR: an LF after it is of the same line end
	first bool // the first line, before which a byte order mark may stand
	err   error
}

type lineKind byte

const (
	lineNew  lineKind = iota // its begin is in name
	linePass                 // it goes out as it comes
	lineDrop
)

// longestField is the length of the longest name of a field that counts: "event", "retry".
const longestField = 5

// Read implements io.Reader.
func (p *plainEvents) Read(b []byte) (int, error) {
	for len(p.out) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		n, err := p.ReadCloser.Read(p.buf[:])
		p.out = p.out[:0]
		for rest := p.buf[:n]; len(rest) > 0; {
			rest = p.take(rest)
		}
		p.err = err
	}
	n := copy(b, p.out)
	p.out = p.out[n:]
	return n, nil
}

// take handles what of rest belongs together and returns the rest of it.
func (p *plainEvents) take(rest []byte) []byte {
	if p.cr {
		if p.cr = false; rest[0] == '\n' {
			return rest[1:]
		}
	}
	i := bytes.IndexByte(rest, '\n')
	if j := bytes.IndexByte(rest[:max(i, 0)], '\r'); i > 0 && j >= 0 {
		i = j
	} else if i < 0 {
		i = bytes.IndexByte(rest, '\r')
	}
	if i != 0 {
		part := rest
		if i > 0 {
			part = rest[:i]
		}
		p.part(part)
		return rest[len(part):]
	}
	p.cr = rest[0] == '\r'
	if p.kind == lineNew && len(p.name) > 0 {
		if field(p.name) { // without a value
			p.out = append(append(p.out, p.name...), ":\n"...)
		}
	} else if p.kind != lineDrop {
		p.out = append(p.out, '\n')
	}
	p.name, p.kind, p.first = p.name[:0], lineNew, false
	return rest[1:]
}

// part takes a piece of a line.
func (p *plainEvents) part(b []byte) {
	for ; p.kind == lineNew && len(b) > 0; b = b[1:] {
		if b[0] != ':' {
			p.name = append(p.name, b[0])
			if p.first && string(p.name) == "\xef\xbb\xbf" {
				p.name, p.first = p.name[:0], false
			} else if len(p.name) > longestField {
				p.kind = lineDrop
			}
			continue
		}
		if p.kind = lineDrop; field(p.name) {
			p.kind = linePass
			p.out = append(append(p.out, p.name...), ':')
		}
	}
	if p.kind == linePass {
		p.out = append(p.out, b...)
	}
}

func field(name []byte) bool {
	switch string(name) {
	case "data", "event", "id", "retry":
		return true
	}
	return false
}
