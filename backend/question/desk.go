// Package question is the desk where the questions of servers wait for a person.
package question

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/waiting"
)

// Answer is what a person did. Content is a JSON object, for accept only.
type Answer struct {
	Action  core.QuestionAction
	Content json.RawMessage
}

// Desk holds the open questions. It is safe for concurrent use.
type Desk struct {
	emit func(event.Payload)
	room waiting.Room[core.Question, Answer]
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
	seat := d.room.Enter(q.ID, q)
	d.emit(event.QuestionAsked{QuestionID: q.ID})
	answer, err := seat.Wait(ctx)
	if err != nil {
		d.emit(event.QuestionAnswered{QuestionID: q.ID})
	}
	return answer, err
}

// Answer closes an open question. The first answer wins; for a question that is
// closed the error is not_found.
func (d *Desk) Answer(id string, answer Answer) error {
	switch answer.Action {
	case core.QuestionAccept, core.QuestionDecline, core.QuestionCancel:
	default:
		return core.Errorf(core.CodeInvalid, "%q is no answer. Use accept, decline or cancel.", answer.Action)
	}
	if !d.room.Answer(id, answer) {
		return core.Errorf(core.CodeNotFound, "This question is no longer open: it was answered, or its call has ended.")
	}
	d.emit(event.QuestionAnswered{QuestionID: id})
	return nil
}

// EndCall closes the questions that were asked during a call, since nobody waits
// for their answers any more. Servers do not always take them back themselves.
func (d *Desk) EndCall(callID string) {
	for _, q := range d.room.All() {
		if q.CallID == callID && callID != "" {
			_ = d.Answer(q.ID, Answer{Action: core.QuestionCancel}) // a person may have been faster
		}
	}
}

// Pending returns the open questions, the oldest first.
func (d *Desk) Pending() []core.Question { return d.room.All() }
