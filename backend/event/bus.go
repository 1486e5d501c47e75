package event

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

const (
	// maxQueue is how many events may wait for one subscriber before it is told
	// to resync instead.
	maxQueue = 4096
	// frame is how long text deltas and chunks wait for company; about 30 a second.
	frame = 33 * time.Millisecond
	// maxBatch bounds the text of one batch, in bytes. Larger events are kept
	// for ever by some web views.
	maxBatch = 6 << 10
)

// Bus hands every published event to every subscription. Publish never blocks
// and never drops in silence: a subscription that falls behind gets [Resync].
// The zero value is ready to use.
type Bus struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// Publish gives p to every subscription.
func (b *Bus) Publish(p Payload) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		s.add(p)
	}
}

// Subscribe begins a subscription, whose first event is [Resync]: query
// everything, then follow. Close it when done.
func (b *Bus) Subscribe() *Subscription {
	s := &Subscription{bus: b, wake: make(chan struct{}, 1)}
	s.add(Resync{})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = map[*Subscription]struct{}{}
	}
	b.subs[s] = struct{}{}
	return s
}

// Subscription is one reader of a [Bus]. Next may be used by one goroutine at a
// time; Close by any.
type Subscription struct {
	bus  *Bus
	wake chan struct{}

	mu     sync.Mutex
	queue  []Payload
	urgent bool // the queue holds something other than deltas and chunks
	seq    int64
	last   time.Time // of the last batch
}

func (s *Subscription) add(p Payload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.merge(p):
	case len(s.queue) >= maxQueue:
		s.queue = append(s.queue[:0], Resync{})
		s.urgent = true
	default:
		s.queue = append(s.queue, p)
		s.urgent = s.urgent || !gradual(p)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// merge adds a delta to the one before it, or drops a state change that waits
// already: whoever gets it queries what is true then.
func (s *Subscription) merge(p Payload) bool {
	if len(s.queue) == 0 {
		return false
	}
	last := s.queue[len(s.queue)-1]
	if d, ok := p.(ChatDelta); ok {
		l, ok := last.(ChatDelta)
		if !ok || l.MessageID != d.MessageID || l.Kind != d.Kind || l.Call != d.Call || len(l.Text)+len(d.Text) > maxBatch {
			return false
		}
		l.Text += d.Text
		s.queue[len(s.queue)-1] = l
		return true
	}
	switch p.(type) {
	case ToolsChanged, ConfigChanged, AgentsChanged, SettingsChanged, Resync:
		return last == p
	}
	return false
}

func gradual(p Payload) bool {
	switch p.(type) {
	case ChatDelta, ToolsStreamChunk:
		return true
	}
	return false
}

// Next waits for events and returns the next batch, oldest first, never empty.
// State changes come at once, deltas and chunks about 30 times a second. It
// fails only with ctx's error.
func (s *Subscription) Next(ctx context.Context) ([]Event, error) {
	for {
		s.mu.Lock()
		pending, urgent, wait := len(s.queue), s.urgent, time.Until(s.last.Add(frame))
		s.mu.Unlock()
		if pending > 0 && (urgent || wait <= 0) {
			return s.take(), nil
		}
		var timer <-chan time.Time
		if pending > 0 {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.wake:
		case <-timer:
		}
	}
}

func (s *Subscription) take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Event
	size := 0
	for len(s.queue) > 0 {
		p := s.queue[0]
		size += weight(p)
		if len(out) > 0 && size > maxBatch {
			break
		}
		s.queue = s.queue[1:]
		s.seq++
		out = append(out, Event{Seq: s.seq, Type: p.EventType(), Data: p})
	}
	if len(s.queue) == 0 {
		s.queue, s.urgent, s.last = nil, false, time.Now()
	}
	return out
}

// weight estimates the size of an event on the wire, in bytes.
func weight(p Payload) int {
	const envelope = 160
	switch p := p.(type) {
	case ChatDelta:
		return envelope + len(p.Text)
	case ToolsStreamChunk:
		return envelope + len(p.Chunk.Message)
	}
	return envelope
}

// Pump subscribes and hands every batch, as a JSON array of events, to send, one
// after the other, until ctx ends or send fails. It returns that error.
func (b *Bus) Pump(ctx context.Context, send func(batch []byte) error) error {
	s := b.Subscribe()
	defer s.Close()
	for {
		batch, err := s.Next(ctx)
		if err != nil {
			return err
		}
		text, err := json.Marshal(batch)
		if err != nil {
			return fmt.Errorf("encoding events: %w", err)
		}
		if err := send(text); err != nil {
			return err
		}
	}
}

// Close ends the subscription; what waits in it is dropped.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	delete(s.bus.subs, s)
}
