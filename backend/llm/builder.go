package llm

import (
	"strings"

	"github.com/google/uuid"

	"patchbay/backend/core"
)

// Builder puts a turn together while its pieces arrive, and makes the events
// for them. The zero value is ready. It is not safe for concurrent use.
type Builder struct {
	parts []piece
	calls []int // indexes into parts
}

// piece is one part. Its text grows in a buffer of its own: adding thousands of
// deltas to a string would copy it each time.
type piece struct {
	core.Part
	text *strings.Builder
}

// Text adds to the reply's text.
func (b *Builder) Text(s string) Event {
	b.add(core.PartText, s)
	return Event{Kind: EventText, Delta: s}
}

// Reasoning adds to the model's reasoning.
func (b *Builder) Reasoning(s string) Event {
	b.add(core.PartReasoning, s)
	return Event{Kind: EventReasoning, Delta: s}
}

func (b *Builder) add(kind core.PartKind, s string) {
	if n := len(b.parts); n == 0 || b.parts[n-1].Kind != kind {
		b.parts = append(b.parts, piece{core.Part{Kind: kind}, &strings.Builder{}})
	}
	b.parts[len(b.parts)-1].text.WriteString(s)
}

// Call begins a tool call. An id is made up where the vendor gives none, or one
// that this turn has already.
func (b *Builder) Call(id, name string) Event {
	for _, i := range b.calls {
		if b.parts[i].CallID == id {
			id = ""
		}
	}
	if id == "" {
		id = "call_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:16]
	}
	b.calls = append(b.calls, len(b.parts))
	b.parts = append(b.parts, piece{core.Part{Kind: core.PartToolCall, CallID: id, Alias: name}, &strings.Builder{}})
	return Event{Kind: EventCallStart, Index: len(b.calls) - 1, CallID: id, Name: name}
}

// Args adds to the arguments of the call with that index (from [Builder.Call]).
func (b *Builder) Args(index int, s string) Event {
	b.parts[b.calls[index]].text.WriteString(s)
	return Event{Kind: EventCallArgs, Index: index, Delta: s}
}

// Arguments returns what has arrived of a call's arguments.
func (b *Builder) Arguments(index int) string { return b.parts[b.calls[index]].text.String() }

// End makes the last event. The stop is StopTools when there are calls,
// whatever the vendor says.
func (b *Builder) End(stop Stop, usage core.Usage) Event {
	m := core.Message{Role: core.RoleAssistant, Usage: usage}
	for i := range b.parts {
		p := b.parts[i].Part
		if text := b.parts[i].text.String(); p.Kind != core.PartToolCall {
			p.Text = text
		} else if p.Arguments = text; strings.TrimSpace(text) == "" {
			p.Arguments = "{}"
		}
		m.Parts = append(m.Parts, p)
	}
	if len(b.calls) > 0 {
		stop = StopTools
	}
	return Event{Kind: EventEnd, End: &End{Stop: stop, Message: m, Usage: usage}}
}
