// Package waiting is the room where questions wait, each for one answer.
package waiting

import (
	"context"
	"slices"
	"sync"
)

// Room holds the questions of type Q that are open; answers are of type A. The
// zero value is ready. It is safe for concurrent use, and no lock is held while
// a question waits.
type Room[Q, A any] struct {
	mu   sync.Mutex
	open []*Seat[Q, A]
}

// Seat is one question that waits.
type Seat[Q, A any] struct {
	room     *Room[Q, A]
	id       string
	question Q
	answer   chan A // buffered; gets exactly one answer
}

// Enter lets a question wait under id, which must be unique.
func (r *Room[Q, A]) Enter(id string, q Q) *Seat[Q, A] {
	s := &Seat[Q, A]{room: r, id: id, question: q, answer: make(chan A, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = append(r.open, s)
	return s
}

// Wait returns the answer. When ctx ends first the question leaves, and the
// error is that of ctx; an answer that was faster stands.
func (s *Seat[Q, A]) Wait(ctx context.Context) (A, error) {
	select {
	case a := <-s.answer:
		return a, nil
	case <-ctx.Done():
	}
	s.room.mu.Lock()
	i := slices.Index(s.room.open, s)
	if i >= 0 {
		s.room.open = slices.Delete(s.room.open, i, i+1)
	}
	s.room.mu.Unlock()
	if i < 0 {
		return <-s.answer, nil
	}
	var none A
	return none, ctx.Err()
}

// Get returns the open question id; false when it is not open.
func (r *Room[Q, A]) Get(id string) (q Q, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.open {
		if s.id == id {
			return s.question, true
		}
	}
	return q, false
}

// Answer gives the open question id its answer, with which it leaves. The first
// answer wins: false means that the question is not open.
func (r *Room[Q, A]) Answer(id string, a A) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.open, func(s *Seat[Q, A]) bool { return s.id == id })
	if i < 0 {
		return false
	}
	r.open[i].answer <- a
	r.open = slices.Delete(r.open, i, i+1)
	return true
}

// All returns the open questions, the oldest first; never nil.
func (r *Room[Q, A]) All() []Q {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Q, 0, len(r.open))
	for _, s := range r.open {
		out = append(out, s.question)
	}
	return out
}
