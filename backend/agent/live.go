package agent

import (
	"slices"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// maxChunks is how many chunks of a call are kept for a page that comes late.
const maxChunks = 200

// snapshot returns a copy that nobody else changes.
func (u *run) snapshot() *core.Run {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.live
	if u.live.Reply != nil {
		reply := *u.live.Reply
		reply.Parts = slices.Clone(reply.Parts)
		out.Reply = &reply
	}
	out.Calls = slices.Clone(u.live.Calls)
	for i := range out.Calls {
		out.Calls[i].Chunks = slices.Clone(out.Calls[i].Chunks)
	}
	return &out
}

func (u *run) startReply(turn int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.live.Turn = turn
	u.live.Calls = nil
	u.live.Reply = &core.Message{ID: uuid.NewString(), Role: core.RoleAssistant, Origin: u.origin, At: now()}
	u.length, u.calls = map[core.PartKind]int{}, nil
}

// preparing is a call whose arguments the model is writing.
type preparing struct {
	alias  string
	ref    *core.ToolRef
	length int // of the arguments so far, in UTF-16 code units
}

// prepare tells that the model begins to write the call with that number.
func (u *run) prepare(index int, alias string, offered []core.OfferedTool) {
	p := preparing{alias: alias}
	for _, t := range offered {
		if t.Alias == alias {
			ref := t.Tool.Ref
			p.ref = &ref
		}
	}
	u.mu.Lock()
	for len(u.calls) <= index {
		u.calls = append(u.calls, preparing{})
	}
	u.calls[index] = p
	u.mu.Unlock()
	u.arguments(index, "")
}

// arguments passes on what the model writes. It is only shown: what runs is the
// call of the whole reply.
func (u *run) arguments(index int, text string) {
	u.mu.Lock()
	if index < 0 || index >= len(u.calls) {
		u.mu.Unlock()
		return
	}
	c := &u.calls[index]
	d := event.ChatDelta{ConversationID: u.live.ConversationID, RunID: u.live.ID, MessageID: u.live.Reply.ID, Kind: core.PartToolCall,
		Offset: c.length, Text: text, Call: index, Alias: c.alias, Ref: c.ref}
	c.length += utf16Len(text)
	u.mu.Unlock()
	u.r.o.Emit(d)
}

func (u *run) delta(kind core.PartKind, text string) {
	if text == "" {
		return
	}
	u.mu.Lock()
	reply := u.live.Reply
	if n := len(reply.Parts); n > 0 && reply.Parts[n-1].Kind == kind {
		reply.Parts[n-1].Text += text
	} else {
		reply.Parts = append(reply.Parts, core.Part{Kind: kind, Text: text})
	}
	d := event.ChatDelta{ConversationID: u.live.ConversationID, RunID: u.live.ID, MessageID: reply.ID, Kind: kind, Offset: u.length[kind], Text: text}
	u.length[kind] += utf16Len(text)
	u.mu.Unlock()
	u.r.o.Emit(d)
}

// utf16Len counts as JavaScript does.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

func (u *run) startCalls(parts []core.Part) {
	if len(parts) == 0 {
		return
	}
	u.mu.Lock()
	for _, p := range parts {
		u.live.Calls = append(u.live.Calls, core.RunCall{CallID: p.CallID, Alias: p.Alias, Ref: p.Ref, Title: p.Title,
			Arguments: p.Arguments, Status: core.CallRunning, StartedAt: now()})
	}
	u.mu.Unlock()
	u.r.o.Emit(event.ChatToolCall{ConversationID: u.live.ConversationID, RunID: u.live.ID, CallID: parts[0].CallID, Status: core.CallRunning})
}

func (u *run) callChanged(i int, change func(*core.RunCall)) {
	u.mu.Lock()
	change(&u.live.Calls[i])
	c := u.live.Calls[i]
	u.mu.Unlock()
	u.r.o.Emit(event.ChatToolCall{ConversationID: u.live.ConversationID, RunID: u.live.ID, CallID: c.CallID, Status: c.Status})
}

func (u *run) addChunk(i int, ch core.Chunk) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := &u.live.Calls[i]
	c.Chunks = append(c.Chunks, ch)
	if over := len(c.Chunks) - maxChunks; over > 0 {
		c.Chunks = slices.Delete(c.Chunks, 0, over)
	}
}
