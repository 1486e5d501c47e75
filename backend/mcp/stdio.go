package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"patchbay/backend/core"
)

// errLost says that a connection ended while somebody waited for an answer.
var errLost = errors.New("connection lost")

// firstRawID keeps our own request ids apart from those of the SDK, which
// counts from 1. It fits into 32 bits, since some servers read ids as such.
const firstRawID = 1_000_000_000

// stdioConn is the connection with a server on its standard streams (MCP
// 2025-11-25, Transports, stdio). For the SDK it is a transport. Beside it,
// call sends a request straight to the wire and returns the result as the
// server wrote it.
type stdioConn struct {
	proc     *process
	probe    time.Duration // for the answer to server/discover; 0: no limit
	maxFrame int
	junk     func(line []byte) // a line on stdout that is no message
	changed  func()            // the tool list changed
	logged   func(level, text string)
	tap      func(kind core.ActivityKind, msg []byte) // sees every message; must not keep it

	out     chan []byte // frames to write
	in      chan []byte // frames for the SDK
	ended   chan struct{}
	endOnce sync.Once
	workers sync.WaitGroup
	gone    chan struct{} // process, readers and writer are gone

	nextID  atomic.Int64
	mu      sync.Mutex
	pending map[int64]chan reply
	sinks   map[string]*sink // by progress token
	probeID string           // of the unanswered server/discover; "" for none

	silent atomic.Bool // the probe got no answer
	probed atomic.Bool // the probe was sent
	spoke  atomic.Bool // at least one message came
	deaf   atomic.Bool // the server closed its stdin
	left   atomic.Bool // the SDK closed the connection while the server still had its ends
	wide   atomic.Bool // it prints UTF-16
	echoes atomic.Bool // it prints what it is sent
	junked atomic.Int64
	odd    atomic.Pointer[string] // the first line that is no message; nil for none
	rest   atomic.Pointer[string] // the begin of a last line without an end; nil for none

	many []byte // the begin of a message over several lines; the reader's
}

type reply struct {
	result []byte
	err    *rpcError
}

func newStdioConn(p *process, probe time.Duration, maxFrame int) *stdioConn {
	c := &stdioConn{
		proc: p, probe: probe, maxFrame: maxFrame,
		junk: func([]byte) {}, changed: func() {}, logged: func(string, string) {}, tap: func(core.ActivityKind, []byte) {},
		out: make(chan []byte, 256), in: make(chan []byte, 64), ended: make(chan struct{}), gone: make(chan struct{}),
		pending: map[int64]chan reply{}, sinks: map[string]*sink{},
	}
	c.nextID.Store(firstRawID)
	return c
}

// begin starts the connection's goroutines. They end after close, or when the
// process ended.
func (c *stdioConn) begin() {
	flushed := make(chan struct{})
	stdin := c.proc.stdin
	c.proc.closeIn = sync.OnceFunc(func() {
		c.end()
		select {
		case <-flushed: // a last notification may still be on its way
		case <-time.After(100 * time.Millisecond):
		}
		stdin.Close()
	})
	c.workers.Go(c.readLoop)
	c.workers.Go(func() {
		defer close(flushed)
		c.writeLoop()
	})
	c.workers.Go(func() {
		select {
		case <-c.proc.exited:
			// A grandchild may hold stdout for ever: give the last output a moment only.
			select {
			case <-c.ended:
			case <-time.After(200 * time.Millisecond):
			}
		case <-c.ended:
		}
		c.end()
		c.proc.stop()
	})
	go func() {
		<-c.proc.gone
		c.workers.Wait()
		close(c.gone)
	}()
}

// end marks the connection as over; close also ends the process.
func (c *stdioConn) end() { c.endOnce.Do(func() { close(c.ended) }) }

func (c *stdioConn) close() {
	c.end()
	c.proc.stop()
}

func (c *stdioConn) writeLoop() {
	for {
		select {
		case b := <-c.out:
			if _, err := c.proc.stdin.Write(b); err != nil {
				c.unheard()
				return
			}
			continue
		default:
		}
		select {
		case b := <-c.out:
			if _, err := c.proc.stdin.Write(b); err != nil {
				c.unheard()
				return
			}
		case <-c.ended:
			select {
			case b := <-c.out:
				c.proc.stdin.Write(b)
			default:
				return
			}
		}
	}
}

// unheard ends the connection with a server that closed its stdin. What it says
// in its last moment still counts.
func (c *stdioConn) unheard() {
	c.deaf.Store(true)
	select {
	case <-c.ended:
	case <-time.After(200 * time.Millisecond):
		c.end()
	}
}

// send queues one frame without its line end.
func (c *stdioConn) send(ctx context.Context, frame []byte) error {
	select {
	case <-c.ended:
		return errLost
	default:
	}
	c.tap(core.ActivitySent, frame)
	select {
	case c.out <- append(frame, '\n'):
		return nil
	case <-c.ended:
		return errLost
	case <-ctx.Done():
		return ctx.Err()
	}
}

const headBytes = 4 << 10

// readLoop splits stdout into lines. Of one that passes the limit, head and
// end are kept to find out whose answer it was.
func (c *stdioConn) readLoop() {
	defer c.end()
	r := bufio.NewReaderSize(c.proc.stdout, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		owned, big := false, false
		if err == bufio.ErrBufferFull {
			owned = true
			buf := append(make([]byte, 0, 4*len(line)), line...)
			for err == bufio.ErrBufferFull {
				line, err = r.ReadSlice('\n')
				if !big {
					if buf = append(buf, line...); len(buf) > c.maxFrame {
						big = true
						buf = append([]byte(nil), buf[:headBytes]...)
					}
				}
				if big {
					keep := append(buf[headBytes:], line...)
					buf = append(buf[:headBytes:headBytes], keep[max(0, len(keep)-headBytes):]...)
				}
			}
			line = buf
		}
		if !big && c.gather(line) {
			if err != nil {
				return
			}
			continue
		}
		if err != nil && len(line) > 0 {
			begin := string(line[:min(len(line), 100)])
			c.rest.Store(&begin)
		}
		if !c.admit(line, owned, big) || err != nil {
			return
		}
	}
}

// gather puts together a message that is printed for people, over several lines
// from a brace that stands alone to one that begins a line. It reports whether it
// took the line.
func (c *stdioConn) gather(line []byte) bool {
	text := bytes.TrimRight(line, " \t\r\n")
	switch {
	case string(text) == "{":
		if c.many != nil {
			c.admit(c.many, false, false)
		}
		c.many = append(c.many[:0], text...)
	case c.many == nil:
		return false
	case bytes.Contains(text, []byte("{")) && bytes.Contains(text, []byte(`"jsonrpc"`)), len(c.many)+len(text) > c.maxFrame: // it was none
		c.admit(c.many, false, false)
		c.many = nil
		return false
	default:
		if c.many = append(c.many, text...); len(text) > 0 && text[0] == '}' {
			msg := c.many
			c.many = nil
			c.admit(msg, true, false)
		}
	}
	return true
}

// admit takes one line of stdout to where it belongs. owned says that nobody
// else uses the bytes. false means that the connection is over.
func (c *stdioConn) admit(line []byte, owned, big bool) bool {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
	if len(line) == 0 {
		return true
	}
	if line[0] == '[' && !big && json.Valid(line) { // a batch (MCP 2025-03-26)
		var batch []json.RawMessage
		if json.Unmarshal(line, &batch) == nil {
			for _, m := range batch {
				if !c.admit(m, true, false) {
					return false
				}
			}
			return true
		}
	}
	e, ok := outline(line)
	if !ok && !c.spoke.Load() && wide(line) {
		c.wide.Store(true)
		if e, ok := outline(narrow(line)); ok && e.versioned {
			c.junk(narrow(line))
			return false // nothing that follows will be of use
		}
	}
	if big || !ok || !e.versioned {
		c.tap(core.ActivityReceived, line)
		if found := salvage(line); !big && len(found) > 0 {
			c.junk(line)
			for _, msg := range found {
				if e, _ := outline(msg); !c.take(msg, e, owned) {
					return false
				}
			}
			return true
		}
		return c.refuse(line, e, ok && !big, big)
	}
	c.tap(core.ActivityReceived, line)
	return c.take(line, e, owned)
}

// ours reports whether a request is one that only clients make.
func ours(method []byte) bool {
	kind, _, _ := strings.Cut(strings.Trim(string(method), `"`), "/")
	switch kind {
	case "initialize", "server", "tools", "resources", "prompts", "completion", "logging", "subscriptions":
		return true
	}
	return false
}

// take hands one message on.
func (c *stdioConn) take(line []byte, e envelope, owned bool) bool {
	if e.method != nil && e.id != nil && ours(e.method) { // to answer it would be to answer ourselves
		c.echoes.Store(true)
		c.junk(line)
		return true
	}
	c.spoke.Store(true)
	if e.method == nil {
		if e.id == nil || string(e.id) == "null" {
			c.junk(line) // an error about nothing we sent; the SDK would close on it
			return true
		}
		id, ok := number(e.id)
		plain := strconv.FormatInt(id, 10)
		if ok {
			c.answered(plain)
		}
		if ok && id > firstRawID {
			c.deliver(id, e, owned)
			return true
		} else if ok && (string(e.id) != plain || string(e.error) == "null") { // the SDK would not recognise it
			return c.pass(renamed(strconv.FormatInt(id, 10), e))
		}
	} else if e.id == nil && c.notified(e) {
		return true
	}
	if !owned {
		line = bytes.Clone(line)
	}
	return c.pass(line)
}

func (c *stdioConn) pass(frame []byte) bool {
	select {
	case c.in <- frame:
		return true
	case <-c.proc.tree.ended:
		return false
	}
}

// refuse handles a line that is no message. If it looks like an answer, only
// the call that waits for it fails.
func (c *stdioConn) refuse(line []byte, e envelope, whole, big bool) bool {
	if e.method != nil {
		c.junk(line)
		return true
	}
	id, text := "", "the server's answer is not a valid JSON-RPC message"
	if whole {
		id = string(e.id)
	} else if line[0] == '{' {
		id = strayID(line)
		if big {
			text = fmt.Sprintf("the server's answer is larger than %d MiB", c.maxFrame>>20)
		}
	}
	n, ok := number([]byte(id))
	if !ok {
		c.junk(line)
		return true
	}
	c.junk(line)
	if n > firstRawID {
		c.mu.Lock()
		ch := c.pending[n]
		delete(c.pending, n)
		c.mu.Unlock()
		if ch != nil {
			code := codeBroken
			if big {
				code = codeTooLarge
			}
			ch <- reply{err: &rpcError{Code: code, Message: text}}
		}
		return true
	}
	return c.pass(failure(id, jsonrpc.CodeInternalError, text))
}

// Codes for answers that never got through, outside the ranges that JSON-RPC
// and MCP use.
const (
	codeBroken    = 1
	codeTooLarge  = 2
	codeWithdrawn = 3
)

// strayID finds the id in a message that cannot be parsed: near its begin or,
// as some servers write it, at its very end.
func strayID(line []byte) string {
	head, end := line[:min(len(line), 512)], line[max(0, len(line)-512):]
	if bytes.Contains(head, []byte(`"method"`)) {
		return ""
	}
	for _, part := range [][]byte{head, end} {
		i := bytes.LastIndex(part, []byte(`"id"`))
		if &part[0] == &head[0] {
			i = bytes.Index(part, []byte(`"id"`))
		}
		if i < 0 {
			continue
		}
		i = space(part, i+len(`"id"`))
		if i >= len(part) || part[i] != ':' {
			continue
		}
		i = space(part, i+1)
		j := i
		for j < len(part) && part[j] >= '0' && part[j] <= '9' {
			j++
		}
		if j > i {
			return string(part[i:j])
		}
	}
	return ""
}

func (c *stdioConn) deliver(id int64, e envelope, owned bool) {
	c.mu.Lock()
	ch := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if ch == nil {
		return // canceled meanwhile
	}
	if e.error != nil && string(e.error) != "null" {
		ch <- reply{err: decodeRPCError(e.error)}
		return
	}
	if e.result == nil {
		ch <- reply{err: &rpcError{Code: codeBroken, Message: noOutcome}}
		return
	}
	if !owned {
		e.result = bytes.Clone(e.result)
	}
	ch <- reply{result: e.result}
}

// notified handles the notifications that concern calls and the tool list, in
// the order of the wire. The SDK would queue them behind each other and let an
// answer overtake them. The others are left to it.
func (c *stdioConn) notified(e envelope) bool {
	switch string(e.method) {
	case `"notifications/tools/list_changed"`:
		c.changed()
		return true
	case `"notifications/cancelled"`:
		return c.withdrawn(e.params)
	case `"notifications/progress"`:
		if token, chunk, ok := decodeProgress(e.params); ok {
			c.mu.Lock()
			s := c.sinks[token]
			c.mu.Unlock()
			if s != nil {
				s.send(chunk)
			}
		}
		return true
	case `"notifications/message"`:
		if level, text, ok := decodeLog(e.params); ok {
			c.mu.Lock()
			var only *sink
			if len(c.sinks) == 1 {
				for _, only = range c.sinks {
				}
			}
			c.mu.Unlock()
			if only != nil {
				only.send(logChunk(level, text))
			}
			c.logged(level, text)
		}
		return true
	}
	return false
}

// running returns who listens to the calls in flight.
func (c *stdioConn) running() []*sink {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.sinks))
}

// listen hands the progress of token to s, which may be nil, until the returned
// function is called.
func (c *stdioConn) listen(token string, s *sink) (stop func()) {
	if s == nil {
		return func() {}
	}
	c.mu.Lock()
	c.sinks[token] = s
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		delete(c.sinks, token)
		c.mu.Unlock()
	}
}

// answered reports whether id was that of the open probe, and closes it.
func (c *stdioConn) answered(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.probeID == "" || c.probeID != id {
		return false
	}
	c.probeID = ""
	return true
}

// call sends one request and returns the result as it came. A sink gets the
// progress of token until call returns; nil means that nobody listens. Errors
// are *rpcError, errLost or that of ctx, in which case the server is told.
func (c *stdioConn) call(ctx context.Context, method string, params []byte, token string, s *sink) ([]byte, error) {
	id := c.nextID.Add(1)
	ch := make(chan reply, 1)
	c.mu.Lock()
	c.pending[id] = ch
	if s != nil {
		c.sinks[token] = s
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		if s != nil {
			delete(c.sinks, token)
		}
		c.mu.Unlock()
	}()
	frame := make([]byte, 0, len(params)+len(method)+72)
	frame = append(frame, `{"jsonrpc":"2.0","id":`...)
	frame = strconv.AppendInt(frame, id, 10)
	frame = append(frame, `,"method":"`...)
	frame = append(frame, method...)
	frame = append(frame, `","params":`...)
	frame = append(frame, params...)
	frame = append(frame, '}')
	if err := c.send(ctx, frame); err != nil {
		return nil, err
	}
	var r reply
	select {
	case r = <-ch:
	case <-c.ended:
		select {
		case r = <-ch: // the last thing it said
		default:
			return nil, errLost
		}
	case <-ctx.Done():
		c.cancelRequest(id, context.Cause(ctx))
		return nil, ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.result, nil
}

// cancelRequest tells the server that nobody waits any more (MCP 2025-11-25,
// Cancellation). It never waits: a server that does not read will not hear it.
func (c *stdioConn) cancelRequest(id int64, why error) {
	frame := cancelled(strconv.FormatInt(id, 10), why)
	select {
	case c.out <- append(frame, '\n'):
		c.tap(core.ActivitySent, frame)
	default:
	}
}
