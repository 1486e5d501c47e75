package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// lift takes the result of one request off an HTTP answer before the SDK
// decodes it, so that it stays as the server wrote it, and takes the progress
// of that request off the same stream in the order of the wire. It travels in
// the request's context.
type lift struct {
	method string
	token  string
	sink   *sink

	// The fields below belong to the goroutine that reads the answer, and to the
	// caller after the SDK has returned the answer to it.
	id     string // of the last attempt
	as     string // the id that the SDK gave the same call; "" if it is id
	handed *handed
	modern bool
	raw    []byte        // the result; nil if none was taken
	status int           // of the last HTTP answer
	after  time.Duration // that it wants us to wait
	lost   bool          // that answer says that the session is unknown
	max    int
}

type liftKey struct{}

func withLift(ctx context.Context, l *lift) context.Context {
	return context.WithValue(ctx, liftKey{}, l)
}

func liftOf(ctx context.Context) *lift {
	l, _ := ctx.Value(liftKey{}).(*lift)
	return l
}

// take looks at one message and returns what the SDK shall see of it; nil
// means nothing.
func (l *lift) take(msg []byte, logged func(level, text string)) []byte {
	e, ok := outline(msg)
	if !ok {
		var batch []json.RawMessage
		if json.Unmarshal(msg, &batch) == nil {
			return l.takeAll(batch, logged)
		}
		return failure(l.sdkID(), codeBroken, oddity(msg[:min(len(msg), oddBytes)], ""))
	}
	if e.method != nil {
		if e.id != nil {
			return msg
		}
		switch string(e.method) {
		case `"notifications/cancelled"`:
			if id, reason := withdrawal(e.params); sameID(id, l.id) {
				return failure(l.sdkID(), codeWithdrawn, reason)
			}
		case `"notifications/progress"`:
			token, chunk, ok := decodeProgress(e.params)
			if ok && token == l.token {
				if l.sink != nil {
					l.sink.send(chunk)
				}
				return nil
			}
		case `"notifications/message"`:
			if level, text, ok := decodeLog(e.params); ok {
				if l.sink != nil {
					l.sink.send(logChunk(level, text))
				}
				logged(level, text)
				return nil
			}
		}
		if !json.Valid(msg) { // the SDK would end the session over it
			return nil
		}
		return msg
	}
	if !l.answers(e) || !e.versioned {
		return msg
	}
	complete := false
	if e.result != nil {
		t := resultType(e.result)
		complete = t == "" || t == "complete"
	}
	if !complete { // an error, or something with which the SDK knows how to go on
		if sid := l.sdkID(); string(e.id) != sid {
			return renamed(sid, e)
		}
		return msg
	}
	l.raw = e.result
	body := `{"content":[]}`
	if l.method == "tools/list" {
		body = `{"tools":[]}`
		if l.modern { // the SDK derives headers of later calls from the list
			body = string(legalTools(e.result))
		}
	}
	return []byte(`{"jsonrpc":"2.0","id":` + l.sdkID() + `,"result":` + body + `}`)
}

// sdkID is the id by which the SDK knows the request.
func (l *lift) sdkID() string {
	if l.as != "" {
		return l.as
	}
	return l.id
}

// answers reports whether the message is the answer, also when its id came back
// as a text or as 1.0.
func (l *lift) answers(e envelope) bool { return sameID(e.id, l.id) }

// sameID reports whether id stands for the one that we sent.
func sameID(id []byte, sent string) bool {
	if string(id) == sent {
		return true
	}
	a, ok := number(id)
	b, err := strconv.ParseInt(sent, 10, 64)
	return ok && err == nil && a == b
}

// takeAll looks at a batch (MCP 2025-03-26), which the SDK cannot read, and
// returns the answer that is in it; nil if it is not.
func (l *lift) takeAll(batch []json.RawMessage, logged func(level, text string)) (answer []byte) {
	for _, msg := range batch {
		seen := l.take(msg, logged)
		if e, ok := outline(msg); ok && e.method == nil && l.answers(e) {
			answer = seen
		}
	}
	return answer
}

// resultType reads the member of that name (MCP 2026-07-28, Result).
func resultType(result []byte) (t string) {
	members(result, func(key, val []byte) {
		if string(key) == `"resultType"` {
			t = strings.Trim(string(val), `"`)
		}
	})
	return t
}

// unbatched is the answer to the request id if body is a list that holds it
// (MCP 2025-03-26, Batching), else body.
func unbatched(body []byte, id string) []byte {
	var batch []json.RawMessage
	if b := bytes.TrimSpace(body); len(b) == 0 || b[0] != '[' || json.Unmarshal(b, &batch) != nil {
		return body
	}
	for _, msg := range batch {
		if e, ok := outline(msg); ok && e.method == nil && sameID(e.id, id) {
			return msg
		}
	}
	return body
}

// jsonBody is an application/json answer with its result lifted.
type jsonBody struct {
	io.ReadCloser
	l      *lift
	logged func(level, text string)
	size   int64 // as announced; -1: unknown
	r      *bytes.Reader
}

func (b *jsonBody) Read(p []byte) (int, error) {
	if b.r == nil {
		msg, err := readAll(b.ReadCloser, b.size, b.l.max)
		switch {
		case errors.Is(err, errTooLarge):
			msg = failure(b.l.sdkID(), codeTooLarge, "the server's answer is too large")
		case err != nil:
			return 0, err
		default:
			if msg = b.l.take(bytes.TrimSpace(unmarked(msg)), b.logged); msg == nil {
				msg = failure(b.l.id, codeBroken, "the server's answer is not one to the request")
			}
		}
		b.r = bytes.NewReader(msg)
	}
	return b.r.Read(p)
}

var errTooLarge = errors.New("too large")

// readAll reads r to its end. size is the announced length, -1 if unknown.
func readAll(r io.Reader, size int64, limit int) ([]byte, error) {
	if size > int64(limit) {
		return nil, errTooLarge
	}
	if size > 0 {
		b := make([]byte, size)
		n, err := io.ReadFull(r, b)
		return b[:n], err
	}
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(b) > limit {
		err = errTooLarge
	}
	return b, err
}

// eventBody is a text/event-stream answer with the result lifted out of it.
// Everything else passes as it came.
type eventBody struct {
	io.ReadCloser
	l      *lift
	logged func(level, text string)
	in     *bufio.Reader
	out    []byte
	err    error
}

func newEventBody(body io.ReadCloser, l *lift, logged func(level, text string)) *eventBody {
	return &eventBody{ReadCloser: body, l: l, logged: logged, in: bufio.NewReaderSize(body, 4<<10)}
}

func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.next()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// next reads one event into out.
func (b *eventBody) next() {
	var head, data []byte
	var size int
	hasData, big := false, false
	for {
		line, err := b.line(&size)
		if errors.Is(err, errTooLarge) {
			big, err = true, nil
		}
		if err != nil {
			b.err = err
			if len(line) == 0 {
				if hasData && json.Valid(data) { // all that it lacks is the blank line
					break
				}
				b.out = head // an unfinished event counts for nothing
				return
			}
		}
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			break
		}
		if rest, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			if hasData {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
			hasData = true
			continue
		}
		head = append(append(head, text...), '\n')
	}
	if big {
		data, hasData = failure(b.l.sdkID(), codeTooLarge, "the server's answer is too large"), true
	} else if hasData && foreign(head) {
		hasData = false
	} else if hasData && len(data) > 0 {
		data = b.l.take(data, b.logged)
		hasData = data != nil
	}
	b.out = head
	if hasData {
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			b.out = append(append(append(b.out, "data: "...), line...), '\n')
		}
	}
	b.out = append(b.out, '\n')
}

// foreign reports whether the fields of an event give it a type of its own, which
// no message of MCP has.
func foreign(head []byte) bool {
	for line := range bytes.Lines(head) {
		if kind, ok := bytes.CutPrefix(line, []byte("event:")); ok {
			kind = bytes.TrimSpace(kind)
			return len(kind) > 0 && string(kind) != "message"
		}
	}
	return false
}

// line reads one line, keeping no more of an event than the limit.
func (b *eventBody) line(size *int) ([]byte, error) {
	line, err := b.in.ReadSlice('\n')
	if *size += len(line); err != bufio.ErrBufferFull {
		return line, err
	}
	buf := append(make([]byte, 0, 4*len(line)), line...)
	over := false
	for err == bufio.ErrBufferFull {
		line, err = b.in.ReadSlice('\n')
		*size += len(line)
		if over = *size > b.l.max; !over {
			buf = append(buf, line...)
		}
	}
	if over && err == nil {
		err = errTooLarge
	}
	return buf, err
}
