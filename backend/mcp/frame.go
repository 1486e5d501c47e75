package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// envelope is the outer layer of one JSON-RPC message. Its fields point into
// the message, unchecked: only the outline was read.
type envelope struct {
	id        []byte // nil when absent
	method    []byte // with quotes; nil when absent
	params    []byte
	result    []byte
	error     []byte
	versioned bool // "jsonrpc":"2.0"
}

// outline finds the members of the message in b without decoding what is in
// them, at a fraction of the cost. false means that b is not a JSON object.
func outline(b []byte) (e envelope, ok bool) {
	ok = members(b, func(key, val []byte) {
		switch string(key) {
		case `"jsonrpc"`:
			e.versioned = string(val) == `"2.0"`
		case `"id"`:
			e.id = val
		case `"method"`:
			e.method = val
		case `"params"`:
			e.params = val
		case `"result"`:
			e.result = val
		case `"error"`:
			e.error = val
		}
	})
	return e, ok
}

// members calls f for every member of the object that b is; key has its quotes.
func members(b []byte, f func(key, val []byte)) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return space(b, i+1) == len(b)
	}
	for i < len(b) && b[i] == '"' {
		k := skip(b, i)
		c := space(b, max(k, 0))
		if k < 0 || c >= len(b) || b[c] != ':' {
			return false
		}
		v := space(b, c+1)
		end := skip(b, v)
		if end < 0 {
			return false
		}
		f(b[i:k], b[v:end])
		i = space(b, end)
		if i >= len(b) {
			return false
		}
		if b[i] == '}' {
			return space(b, i+1) == len(b)
		}
		if b[i] != ',' {
			return false
		}
		i = space(b, i+1)
	}
	return false
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skip returns the end of the value that starts at i, or -1.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				if i = skipString(b, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[min(i, len(b)):], '"')
		if n < 0 {
			return -1
		}
		q := i + n
		esc := 0
		for k := q - 1; k >= i && b[k] == '\\'; k-- {
			esc++
		}
		i = q + 1
		if esc%2 == 0 {
			return i
		}
	}
}

// number reads an id that is an integer, also one that came back as a string or
// as 1.0, as some servers write it. false means that it is none of ours.
func number(id []byte) (int64, bool) {
	id = bytes.Trim(id, `"`)
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(id), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// wide reports whether line looks like UTF-16: of what stands in messages, every
// second byte is 0 then.
func wide(line []byte) bool {
	n := 3 * bytes.Count(line, []byte{0})
	return len(line) >= 8 && n > len(line) && n < 2*len(line)
}

// narrow makes ASCII of UTF-16 in either order of bytes.
func narrow(line []byte) []byte {
	line = bytes.TrimPrefix(bytes.TrimPrefix(line, []byte("\xff\xfe")), []byte("\xfe\xff"))
	return bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, nil))
}

const (
	salvageBytes = 1 << 20 // of a longer line nothing is salvaged
	salvageTries = 64
)

// salvage finds the messages in a line that is none itself: two of them without
// a line end between, or one beside text of a log. A request is not taken from
// there: servers that print what they receive print our own.
func salvage(line []byte) (found [][]byte) {
	if len(line) > salvageBytes || !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		return nil
	}
	for range salvageTries {
		i := bytes.IndexByte(line, '{')
		if i < 0 {
			break
		}
		line = line[i:]
		end := skip(line, 0)
		if end < 0 {
			if key := line[space(line, 1):]; bytes.HasPrefix(key, []byte(`"jsonrpc"`)) {
				break // half a message; what is in it was not said
			}
			line = line[1:]
			continue
		}
		if e, ok := outline(line[:end]); ok && e.versioned && (e.method == nil) != (e.id == nil) {
			found = append(found, line[:end])
		}
		line = line[end:]
	}
	return found
}

// rpcError is an error answer (JSON-RPC 2.0, section 5.1).
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

// decodeRPCError reads an error answer, also one that breaks the schema.
func decodeRPCError(raw []byte) *rpcError {
	e := &rpcError{}
	if json.Unmarshal(raw, e) != nil && e.Message == "" {
		_ = json.Unmarshal(raw, &e.Message) // a text in its place
	}
	return e
}

// renamed writes an answer anew, with another id.
func renamed(id string, e envelope) []byte {
	b := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), ',')
	if e.error != nil && string(e.error) != "null" {
		b = append(append(b, `"error":`...), e.error...)
	} else {
		b = append(append(b, `"result":`...), e.result...)
	}
	return append(b, '}')
}

// cancelled tells the server that nobody waits for the answer to the request id
// any more (MCP 2025-11-25, Cancellation).
func cancelled(id string, why error) []byte {
	reason, _ := json.Marshal(fmt.Sprint(why))
	return []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":` + string(reason) + `}}`)
}

const noOutcome = "the server's answer holds neither a result nor an error"

// failure is the error answer that we put in place of one that cannot be used.
func failure(id string, code int, msg string) []byte {
	b, _ := json.Marshal(msg)
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + strconv.Itoa(code) + `,"message":` + string(b) + `}}`)
}
