package tools

import (
	"sync"
	"time"

	"patchbay/backend/core"
)

const (
	chunkGap     = 50 * time.Millisecond // at most 20 chunks a second of one kind
	maxChunkText = 4 << 10               // bytes of one message
)

// chunker numbers the chunks of one call and thins them: of progress that
// comes faster than anyone can read, the latest is kept. The zero value drops
// everything until start.
type chunker struct {
	mu      sync.Mutex
	callID  string
	emit    func(core.Chunk)
	seq     int
	sent    time.Time // of the last progress chunk
	held    *core.Chunk
	stopped bool
}

func (c *chunker) start(callID string, emit func(core.Chunk)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.callID, c.emit = callID, emit
}

func (c *chunker) add(ch core.Chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.emit == nil || c.stopped {
		return
	}
	ch.Message = HeadTail(ch.Message, maxChunkText)
	if ch.Kind == core.ChunkProgress {
		if time.Since(c.sent) < chunkGap {
			c.held = &ch
			return
		}
		c.held, c.sent = nil, time.Now()
	}
	c.send(ch)
}

func (c *chunker) send(ch core.Chunk) {
	c.seq++
	ch.CallID, ch.Seq, ch.At = c.callID, c.seq, time.Now().UTC().Format(time.RFC3339Nano)
	c.emit(ch)
}

// flush sends what is held; nothing is sent after it.
func (c *chunker) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		c.send(*c.held)
		c.held = nil
	}
	c.stopped = true
}

func (c *chunker) last() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seq
}
