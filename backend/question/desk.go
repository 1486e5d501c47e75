// Package question is the desk where the questions of servers wait for a person.
package question

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// Answer is what a person did. Content is a JSON object, for accept only.
type Answer struct {
	Action  core.QuestionAction
	Content json.RawMessage
}

// Desk holds the open questions. It is safe for concurrent use.
type Desk struct {
	emit func(event.Payload)

	mu   sync.Mutex
	open []*asked
}

type asked struct {
	core.Question
	answered chan Answer // buffered; gets exactly one answer
}

// NewDesk makes a desk. emit may be nil.
func NewDesk(emit func(event.Payload)) *Desk {
	if emit == nil {
		emit = func(event.Payload) {}
	}
	return &Desk{emit: emit}
}

// Ask returns the answer of a person. It sets the question's ID and AskedAt. It
// fails with ctx's error when ctx ends first; the question is then closed.
func (d *Desk) Ask(ctx context.Context, q core.Question) (Answer, error) {
	q.ID, q.AskedAt = uuid.NewString(), time.Now().UTC().Format(time.RFC3339Nano)
	a := &asked{Question: q, answered: make(chan Answer, 1)}
	d.mu.Lock()
	d.open = append(d.open, a)
	d.mu.Unlock()
	d.emit(event.QuestionAsked{QuestionID: q.ID})
	select {
	case answer := <-a.answered:
		return answer, nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	had := d.take(a)
	d.mu.Unlock()
	if !had { // Answer was faster
		return <-a.answered, nil
	}
	d.emit(event.QuestionAnswered{QuestionID: q.ID})
	return Answer{}, ctx.Err()
}

// Answer closes an open question. The first answer wins; for a question that is
// closed the error is not_found.
func (d *Desk) Answer(id string, answer Answer) error {
	switch answer.Action {
	case core.QuestionAccept, core.QuestionDecline, core.QuestionCancel:
	default:
		return core.Errorf(core.CodeInvalid, "%q is no answer. Use accept, decline or cancel.", answer.Action)
	}
	d.mu.Lock()
	i := slices.IndexFunc(d.open, func(a *asked) bool { return a.ID == id })
	if i < 0 {
		d.mu.Unlock()
		return core.Errorf(core.CodeNotFound, "This question is no longer open: it was answered, or its call has ended.")
	}
	a := d.open[i]
	d.take(a)
	a.answered <- answer
	d.mu.Unlock()
	d.emit(event.QuestionAnswered{QuestionID: id})
	return nil
}

// EndCall closes the questions that were asked during a call, since nobody waits
// for their answers any more. Servers do not always take them back themselves.
func (d *Desk) EndCall(callID string) {
	d.mu.Lock()
	var ids []string
	for _, a := range d.open {
		if a.CallID == callID && callID != "" {
			ids = append(ids, a.ID)
		}
	}
	d.mu.Unlock()
	for _, id := range ids {
		_ = d.Answer(id, Answer{Action: core.QuestionCancel}) // a person may have been faster
	}
}

// Pending returns the open questions, the oldest first.
func (d *Desk) Pending() []core.Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]core.Question, 0, len(d.open))
	for _, a := range d.open {
		out = append(out, a.Question)
	}
	return out
}

func (d *Desk) take(a *asked) bool {
	i := slices.Index(d.open, a)
	if i < 0 {
		return false
	}
	d.open = slices.Delete(d.open, i, i+1)
	return true
}
