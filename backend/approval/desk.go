// Package approval is the desk where calls wait for a person's yes or no.
package approval

import (
	"context"
	"slices"
	"sync"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// Answerer decides in the place of a window, for example at a terminal. It may block.
type Answerer func(ctx context.Context, a core.Approval) (core.Answer, error)

// Desk holds the open approvals and the grants given for a conversation. Grants
// are bound to the definition of the tool and last until the program ends. It
// is safe for concurrent use, and no lock is held while a person thinks.
type Desk struct {
	emit   func(event.Payload)
	answer Answerer

	mu     sync.Mutex
	open   []*question
	grants map[grant]struct{}
}

type question struct {
	core.Approval
	answered chan core.Answer // buffered; gets exactly one answer
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
// ctx's error when ctx ends first; the approval is then closed. waiting may be
// nil; it is called once a person must be asked.
func (d *Desk) Ask(ctx context.Context, a core.Approval, waiting func()) (core.Answer, error) {
	d.mu.Lock()
	if _, ok := d.grants[grantOf(a)]; ok && a.Principal.ConversationID != "" && !a.Decision.Once {
		d.mu.Unlock()
		return core.AnswerAllowChat, nil
	}
	if d.answer != nil {
		d.mu.Unlock()
		if waiting != nil {
			waiting()
		}
		answer, err := d.answer(ctx, a)
		if err == nil && answer == core.AnswerAllowChat {
			d.mu.Lock()
			d.remember(a)
			d.mu.Unlock()
		}
		return answer, err
	}
	q := &question{Approval: a, answered: make(chan core.Answer, 1)}
	d.open = append(d.open, q)
	d.mu.Unlock()
	if waiting != nil {
		waiting()
	}
	d.emit(event.ApprovalRequested{ApprovalID: a.ID, ConversationID: a.Principal.ConversationID})
	select {
	case answer := <-q.answered:
		return answer, nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	had := d.take(q)
	d.mu.Unlock()
	if !had { // Resolve was faster; its answer stands
		return <-q.answered, nil
	}
	d.emit(event.ApprovalResolved{ApprovalID: a.ID, ConversationID: a.Principal.ConversationID, Answer: core.AnswerExpired})
	return "", ctx.Err()
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
	i := slices.IndexFunc(d.open, func(q *question) bool { return q.ID == id })
	if i < 0 {
		d.mu.Unlock()
		return core.Errorf(core.CodeNotFound, "This approval is no longer open: it was answered, or its run has stopped.")
	}
	q := d.open[i]
	if answer == core.AnswerAllowChat && q.Principal.ConversationID == "" {
		d.mu.Unlock()
		return core.Errorf(core.CodeInvalid, "This call belongs to no conversation. Allow it once instead.")
	}
	if answer == core.AnswerAllowChat && q.Decision.Once {
		d.mu.Unlock()
		return core.Errorf(core.CodeInvalid, "Each call of this tool is asked for, so the answer cannot be remembered. Allow it once instead.")
	}
	done := []*question{q}
	if answer == core.AnswerAllowChat {
		d.remember(q.Approval)
		for _, o := range d.open {
			if o != q && grantOf(o.Approval) == grantOf(q.Approval) {
				done = append(done, o)
			}
		}
	}
	for _, o := range done {
		d.take(o)
		o.answered <- answer
	}
	d.mu.Unlock()
	for _, o := range done {
		d.emit(event.ApprovalResolved{ApprovalID: o.ID, ConversationID: o.Principal.ConversationID, Answer: answer})
	}
	return nil
}

// Pending returns the open approvals, the oldest first.
func (d *Desk) Pending() []core.Approval {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]core.Approval, 0, len(d.open))
	for _, q := range d.open {
		out = append(out, q.Approval)
	}
	return out
}

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

func (d *Desk) take(q *question) bool {
	i := slices.Index(d.open, q)
	if i < 0 {
		return false
	}
	d.open = slices.Delete(d.open, i, i+1)
	return true
}

func (d *Desk) remember(a core.Approval) {
	if a.Principal.ConversationID != "" && !a.Decision.Once {
		d.grants[grantOf(a)] = struct{}{}
	}
}

// grantOf holds the digest of the definition, so that a changed tool asks anew.
func grantOf(a core.Approval) grant { return grant{a.Principal.ConversationID, a.Call.Ref} }
