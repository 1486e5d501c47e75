// Package approval is the desk where calls wait for a person's yes or no.
package approval

import (
	"context"
	"sync"

	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/waiting"
)

// Answerer decides in the place of a window, for example at a terminal. It may block.
type Answerer func(ctx context.Context, a core.Approval) (core.Answer, error)

// Desk holds the open approvals and the grants given for a conversation. Grants
// are bound to the definition of the tool and last until the program ends. It
// is safe for concurrent use, and no lock is held while a person thinks.
type Desk struct {
	emit   func(event.Payload)
	answer Answerer

	room waiting.Room[core.Approval, core.Answer]

	mu     sync.Mutex // also held while an approval enters, so that no grant misses it
	grants map[grant]struct{}
}

type grant struct {
	conversation string
	ref          core.ToolRef
}

// NewDesk makes a desk. emit may be nil. A nil answer means that approvals wait
// for Resolve; otherwise each is put to answer and never shows up in Pending.
func NewDesk(emit func(event.Payload), answer Answerer) *Desk {
	if emit == nil {
		emit = func(event.Payload) {}
	}
	return &Desk{emit: emit, answer: answer, grants: map[grant]struct{}{}}
}

// Ask returns the answer of a person, or of a grant given before. It fails with
// ctx's error when ctx ends first; the approval is then closed. told may be
// nil; it is called once a person must be asked.
func (d *Desk) Ask(ctx context.Context, a core.Approval, told func()) (core.Answer, error) {
	d.mu.Lock()
	if _, ok := d.grants[grantOf(a)]; ok && a.Principal.ConversationID != "" && !a.Decision.Once {
		d.mu.Unlock()
		return core.AnswerAllowChat, nil
	}
	if d.answer != nil {
		d.mu.Unlock()
		if told != nil {
			told()
		}
		answer, err := d.answer(ctx, a)
		if err == nil && answer == core.AnswerAllowChat {
			d.mu.Lock()
			d.remember(a)
			d.mu.Unlock()
		}
		return answer, err
	}
	seat := d.room.Enter(a.ID, a)
	d.mu.Unlock()
	if told != nil {
		told()
	}
	d.emit(event.ApprovalRequested{ApprovalID: a.ID, ConversationID: a.Principal.ConversationID})
	answer, err := seat.Wait(ctx)
	if err != nil {
		d.emit(event.ApprovalResolved{ApprovalID: a.ID, ConversationID: a.Principal.ConversationID, Answer: core.AnswerExpired})
	}
	return answer, err
}

// Resolve answers an open approval. The first answer wins; a second one, or one
// for an approval that is closed, is a not_found error. AnswerAllowChat also
// answers the approvals of the same tool and conversation that are waiting.
func (d *Desk) Resolve(id string, answer core.Answer) error {
	switch answer {
	case core.AnswerAllowOnce, core.AnswerAllowChat, core.AnswerDeny:
	default:
		return core.Errorf(core.CodeInvalid, "%q is no answer. Use allow_once, allow_chat or deny.", answer)
	}
	d.mu.Lock()
	done, err := d.settle(id, answer)
	d.mu.Unlock()
	for _, a := range done {
		d.emit(event.ApprovalResolved{ApprovalID: a.ID, ConversationID: a.Principal.ConversationID, Answer: answer})
	}
	return err
}

// settle returns the approvals that the answer ended. The caller holds the lock.
func (d *Desk) settle(id string, answer core.Answer) (done []core.Approval, err error) {
	a, ok := d.room.Get(id)
	if ok && answer == core.AnswerAllowChat && a.Principal.ConversationID == "" {
		return nil, core.Errorf(core.CodeInvalid, "This call belongs to no conversation. Allow it once instead.")
	}
	if ok && answer == core.AnswerAllowChat && a.Decision.Once {
		return nil, core.Errorf(core.CodeInvalid, "Each call of this tool is asked for, so the answer cannot be remembered. Allow it once instead.")
	}
	if !ok || !d.room.Answer(id, answer) {
		return nil, core.Errorf(core.CodeNotFound, "This approval is no longer open: it was answered, or its run has stopped.")
	}
	done = []core.Approval{a}
	if answer != core.AnswerAllowChat {
		return done, nil
	}
	d.remember(a)
	for _, other := range d.room.All() {
		if grantOf(other) == grantOf(a) && d.room.Answer(other.ID, answer) {
			done = append(done, other)
		}
	}
	return done, nil
}

// Pending returns the open approvals, the oldest first.
func (d *Desk) Pending() []core.Approval { return d.room.All() }

// Forget drops the grants of a conversation, for example when it is removed.
func (d *Desk) Forget(conversationID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for g := range d.grants {
		if g.conversation == conversationID {
			delete(d.grants, g)
		}
	}
}

func (d *Desk) remember(a core.Approval) {
	if a.Principal.ConversationID != "" && !a.Decision.Once {
		d.grants[grantOf(a)] = struct{}{}
	}
}

// grantOf holds the digest of the definition, so that a changed tool asks anew.
func grantOf(a core.Approval) grant { return grant{a.Principal.ConversationID, a.Call.Ref} }
