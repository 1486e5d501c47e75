package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"patchbay/backend/agent"
	"patchbay/backend/approval"
	"patchbay/backend/chat"
	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/limit"
	"patchbay/backend/llm"
	"patchbay/backend/policy"
	"patchbay/backend/store"
	"patchbay/backend/tools"
)

// turn is one scripted reply of the model: its text in pieces, then calls.
type turn struct {
	text  []string
	calls []core.Part
	err   error
	hang  bool // after the text
}

// model plays the vendor; everything behind it is real.
type model struct {
	mu       sync.Mutex
	turns    []turn
	requests []llm.Request
}

func (m *model) Models(context.Context) ([]core.Model, error) { return nil, nil }
func (m *model) Caps(string) llm.Caps                         { return llm.Caps{Tools: true} }
func (m *model) Resolve(context.Context, string, string) (llm.Provider, core.Origin, error) {
	return m, core.Origin{Provider: "p", Model: "m"}, nil
}

func (m *model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	m.mu.Lock()
	m.requests = append(m.requests, *r)
	t := m.turns[0]
	m.turns = m.turns[1:]
	m.mu.Unlock()
	return func(yield func(llm.Event, error) bool) {
		msg := core.Message{Role: core.RoleAssistant}
		if len(t.text) > 0 {
			msg.Parts = append(msg.Parts, core.Part{Kind: core.PartText, Text: strings.Join(t.text, "")})
		}
		for _, s := range t.text {
			if !yield(llm.Event{Kind: llm.EventText, Delta: s}, nil) {
				return
			}
		}
		if t.hang {
			<-ctx.Done()
			yield(llm.Event{}, ctx.Err())
			return
		}
		if t.err != nil {
			yield(llm.Event{}, t.err)
			return
		}
		for i, c := range t.calls {
			if !yield(llm.Event{Kind: llm.EventCallStart, Index: i, CallID: c.CallID, Name: c.Alias}, nil) {
				return
			}
			for _, piece := range strings.SplitAfter(c.Arguments, ":") {
				if !yield(llm.Event{Kind: llm.EventCallArgs, Index: i, Delta: piece}, nil) {
					return
				}
			}
		}
		msg.Parts = append(msg.Parts, t.calls...)
		yield(llm.Event{Kind: llm.EventEnd, End: &llm.End{Message: msg, Usage: core.Usage{Input: 10, Output: 5}}}, nil)
	}
}

func call(id, alias, args string) core.Part {
	return core.Part{Kind: core.PartToolCall, CallID: id, Alias: alias, Arguments: args}
}

type server struct {
	fn func(ctx context.Context, ref core.ToolRef, args string) (core.ToolResult, error)
}

func (s *server) Call(ctx context.Context, ref core.ToolRef, _ string, args json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error) {
	chunk(core.Chunk{Kind: core.ChunkLog, Message: "working"})
	return s.fn(ctx, ref, string(args))
}

type rig struct {
	*agent.Runner
	t      *testing.T
	model  *model
	server *server
	chat   *chat.Service
	agents *agent.Agents
	desk   *approval.Desk
	store  *store.Store
	conv   core.Conversation
	sub    *event.Subscription

	prepared []event.ChatDelta // what finish saw of calls that were being written
}

func newRig(t *testing.T, dir string, turns ...turn) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	require.NoError(t, err)
	bus := &event.Bus{}
	r := &rig{t: t, model: &model{turns: turns}, server: &server{}, store: s, desk: approval.NewDesk(bus.Publish, nil)}
	r.server.fn = func(_ context.Context, ref core.ToolRef, args string) (core.ToolResult, error) {
		return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: ref.Name + args}}}, nil
	}
	catalog := tools.NewCatalog(nil)
	yes := true
	var list []core.Tool
	for name, a := range map[string]core.Annotations{"look": {ReadOnlyHint: &yes}, "delete_all": {DestructiveHint: &yes}} {
		tool := core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: "s", Name: name}, Title: strings.ToUpper(name), InputSchema: []byte(`{"type":"object"}`), Annotations: a}
		tool.Ref.Digest = tool.ComputeDigest()
		list = append(list, tool)
	}
	catalog.Replace("mcp:s", list)
	gate := tools.NewExecutor(tools.Options{Catalog: catalog, Log: s.Audit, Policy: policy.Default(), Desk: r.desk, Limiter: limit.New(),
		Runners: map[core.ToolKind]tools.Runner{core.ToolMCP: r.server}, Emit: bus.Publish})
	r.chat = chat.NewService(s.App, bus.Publish)
	r.agents = agent.NewAgents(s.App, bus.Publish)
	r.Runner = agent.NewRunner(agent.Options{Conversations: r.chat, Agents: r.agents, Models: r.model, Catalog: catalog, Gate: gate, Emit: bus.Publish})
	r.sub = bus.Subscribe()
	t.Cleanup(func() {
		r.sub.Close()
		require.NoError(t, r.Close(context.Background()))
		require.NoError(t, s.Close())
	})
	r.conv, err = r.chat.Create(t.Context(), "", "", "")
	require.NoError(t, err)
	return r
}

func (r *rig) send(text string) {
	r.t.Helper()
	_, err := r.Start(r.t.Context(), core.Principal{Kind: core.PrincipalWindow}, r.conv.ID, text)
	require.NoError(r.t, err)
}

// finish waits for the end of the run and returns it with the text that was streamed.
func (r *rig) finish() (end event.RunFinished, streamed string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	for {
		batch, err := r.sub.Next(ctx)
		require.NoError(r.t, err, "the run did not end")
		for _, e := range batch {
			switch p := e.Data.(type) {
			case event.ChatDelta:
				if p.Kind == core.PartToolCall {
					r.prepared = append(r.prepared, p)
					continue
				}
				if p.Offset == 0 {
					streamed = ""
				}
				streamed += p.Text
			case event.RunFinished:
				return p, streamed
			}
		}
	}
}

func (r *rig) messages() []core.Message {
	r.t.Helper()
	m, err := r.chat.Messages(r.t.Context(), r.conv.ID)
	require.NoError(r.t, err)
	return m
}

func TestTextStreamsAndIsKept(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{text: []string{"Hel", "lo 🎉", "!"}})
	r.send("Hi there\nsecond line")
	end, streamed := r.finish()
	require.Equal(t, event.RunDone, end.Status)
	require.Equal(t, "Hello 🎉!", streamed)
	require.EqualValues(t, 5, end.Usage.Output)
	m := r.messages()
	require.Len(t, m, 2)
	require.Equal(t, "Hello 🎉!", m[1].Text())
	require.Equal(t, core.Origin{Provider: "p", Model: "m"}, m[1].Origin)
	c, err := r.chat.Get(t.Context(), r.conv.ID)
	require.NoError(t, err)
	require.Equal(t, "Hi there", c.Title)
	require.Nil(t, r.Running(r.conv.ID))
}

// Calls of one turn run at the same time; their results go back in the model's
// order, under the vendor's ids, and leave audit records.
func TestCallsOfOneTurnRunAtOnce(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{text: []string{"Let me look."}, calls: []core.Part{call("0", "s__look", `{"n":1}`), call("1", "s__look", `{"n":2}`)}}, turn{text: []string{"Done."}})
	var together sync.WaitGroup
	together.Add(2)
	r.server.fn = func(_ context.Context, ref core.ToolRef, args string) (core.ToolResult, error) {
		together.Done()
		together.Wait() // one after the other would never get here
		return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: args}}}, nil
	}
	r.send("go")
	end, _ := r.finish()
	require.Equal(t, event.RunDone, end.Status, end.Error)
	require.Equal(t, 2, end.Turns)
	m := r.messages()
	require.Equal(t, []core.Role{core.RoleUser, core.RoleAssistant, core.RoleTool, core.RoleAssistant}, roles(m))
	require.Equal(t, "LOOK", m[1].Parts[1].Title)
	require.NotEqual(t, "0", m[1].Parts[1].CallID, "ids are unique for ever")
	require.Equal(t, m[1].Parts[1].CallID, m[2].Parts[0].CallID)
	sent := r.model.requests[1].Messages
	require.Equal(t, "0", sent[1].Parts[1].CallID)
	require.Equal(t, "0", sent[2].Parts[0].CallID)
	require.Equal(t, `{"n":1}`, sent[2].Parts[0].Text)
	require.Equal(t, `{"n":2}`, sent[2].Parts[1].Text)
	records, err := r.store.Audit.Records(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Len(t, records, 2)
	require.Equal(t, core.PrincipalAgent, records[0].Principal.Kind)
	require.Equal(t, r.conv.ID, records[0].Principal.ConversationID)
}

// Long arguments take a model a while; who waits must see that it writes, and what.
func TestArgumentsAreShownWhileTheyAreWritten(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{calls: []core.Part{call("0", "s__look", `{"n":"🎉","m":1}`), call("1", "nothing", `{}`)}}, turn{text: []string{"Done."}})
	r.send("go")
	end, _ := r.finish()
	require.Equal(t, event.RunDone, end.Status, end.Error)
	var first string
	calls := map[int]event.ChatDelta{}
	for _, d := range r.prepared {
		calls[d.Call] = d
		if d.Call == 0 {
			require.Equal(t, len(utf16.Encode([]rune(first))), d.Offset)
			first += d.Text
		}
	}
	require.Equal(t, `{"n":"🎉","m":1}`, first)
	require.Equal(t, "look", calls[0].Ref.Name)
	require.Equal(t, "nothing", calls[1].Alias)
	require.Nil(t, calls[1].Ref, "it was not offered")
	for _, m := range r.messages() {
		for _, p := range m.Parts {
			require.False(t, p.Kind == core.PartToolCall && p.CallID == "", "only whole calls are kept")
		}
	}
}

func roles(m []core.Message) (out []core.Role) {
	for _, x := range m {
		out = append(out, x.Role)
	}
	return out
}

func TestDenialGoesBackToTheModel(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{calls: []core.Part{call("a", "s__delete_all", `{}`)}}, turn{text: []string{"I will not."}})
	r.server.fn = func(context.Context, core.ToolRef, string) (core.ToolResult, error) {
		t.Error("a denied tool was called")
		return core.ToolResult{}, nil
	}
	r.send("delete everything")
	require.Eventually(t, func() bool { return len(r.desk.Pending()) == 1 }, 5*time.Second, time.Millisecond)
	run := r.Running(r.conv.ID)
	require.Equal(t, core.CallWaiting, run.Calls[0].Status)
	require.NoError(t, r.desk.Resolve(r.desk.Pending()[0].ID, core.AnswerDeny))
	end, _ := r.finish()
	require.Equal(t, event.RunDone, end.Status)
	require.Contains(t, r.model.requests[1].Messages[2].Parts[0].Text, "declined")
	require.Equal(t, core.CallDenied, r.messages()[2].Parts[0].Status)
}

// A model may not reach a tool that its agent was not given, even by its right name.
func TestOnlyOfferedToolsCanBeCalled(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{calls: []core.Part{call("a", "s__look", `{}`), call("b", "no_such", `{}`)}}, turn{text: []string{"ok"}})
	a, err := r.agents.Save(t.Context(), core.Agent{Name: "Bare", ToolChoice: core.ToolsNone})
	require.NoError(t, err)
	_, err = r.chat.Update(t.Context(), r.conv.ID, func(c *core.Conversation) { c.AgentID = a.ID })
	require.NoError(t, err)
	r.server.fn = func(context.Context, core.ToolRef, string) (core.ToolResult, error) {
		t.Error("a tool that was not offered was called")
		return core.ToolResult{}, nil
	}
	r.send("go")
	r.finish()
	require.Empty(t, r.model.requests[0].Tools)
	for _, p := range r.messages()[2].Parts {
		require.Equal(t, core.CallInvalid, p.Status)
		require.Contains(t, p.Text, "no tool")
	}
}

func TestStopKeepsWhatWasWritten(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{text: []string{"Once upon"}, hang: true}, turn{text: []string{"again"}})
	r.send("tell")
	require.Eventually(t, func() bool {
		run := r.Running(r.conv.ID)
		return run != nil && run.Reply != nil && run.Reply.Text() == "Once upon"
	}, 5*time.Second, time.Millisecond)
	_, err := r.Start(t.Context(), core.Principal{}, r.conv.ID, "again")
	require.Equal(t, core.CodeConflict, core.CodeOf(err))
	r.Stop(r.conv.ID)
	end, _ := r.finish()
	require.Equal(t, event.RunStopped, end.Status)
	m := r.messages()
	require.True(t, m[1].Stopped)
	require.Equal(t, "Once upon", m[1].Text())
	r.send("go on")
	end, _ = r.finish()
	require.Equal(t, event.RunDone, end.Status)
}

func TestStopCancelsRunningCallsAndOpenApprovals(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{calls: []core.Part{call("a", "s__look", `{}`), call("b", "s__delete_all", `{}`)}}, turn{text: []string{"fine"}})
	r.server.fn = func(ctx context.Context, _ core.ToolRef, _ string) (core.ToolResult, error) {
		<-ctx.Done()
		return core.ToolResult{}, ctx.Err()
	}
	r.send("go")
	require.Eventually(t, func() bool { return len(r.desk.Pending()) == 1 }, 5*time.Second, time.Millisecond)
	r.Stop(r.conv.ID)
	end, _ := r.finish()
	require.Equal(t, event.RunStopped, end.Status)
	require.Empty(t, r.desk.Pending())
	m := r.messages()
	require.Equal(t, core.RoleTool, m[2].Role, "every call keeps a result, or no model takes the conversation again")
	require.Equal(t, core.CallCanceled, m[2].Parts[0].Status)
	require.Equal(t, core.CallCanceled, m[2].Parts[1].Status)
}

func TestFailureIsToldAndTheConversationGoesOn(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{text: []string{"Half"}, err: &llm.Error{Kind: llm.ErrTruncated, Message: "The reply broke off."}}, turn{text: []string{"Whole"}})
	r.send("go")
	end, _ := r.finish()
	require.Equal(t, event.RunFailed, end.Status)
	require.Equal(t, "The reply broke off.", end.Error)
	require.Equal(t, "Half", r.messages()[1].Text())
	require.Equal(t, "The reply broke off.", r.messages()[1].Error)
	r.send("again")
	end, _ = r.finish()
	require.Equal(t, event.RunDone, end.Status)
}

// A program that died between a call and its result must not leave a
// conversation that every model refuses.
func TestUnansweredCallsGetAResult(t *testing.T) {
	r := newRig(t, t.TempDir(), turn{text: []string{"ok"}})
	require.NoError(t, r.chat.Append(t.Context(), r.conv.ID,
		core.Message{ID: "u", Role: core.RoleUser, Parts: []core.Part{{Kind: core.PartText, Text: "x"}}},
		core.Message{ID: "a", Role: core.RoleAssistant, Parts: []core.Part{{Kind: core.PartToolCall, CallID: "1", WireID: "w", Alias: "s__look"}}}))
	r.send("still there?")
	r.finish()
	sent := r.model.requests[0].Messages
	require.Equal(t, []core.Role{core.RoleUser, core.RoleAssistant, core.RoleTool, core.RoleUser}, roles(sent))
	require.Equal(t, "w", sent[2].Parts[0].CallID)
	require.Equal(t, core.CallLost, sent[2].Parts[0].Status)
}

func TestEndlessAgentIsPaused(t *testing.T) {
	var turns []turn
	for i := range 60 {
		turns = append(turns, turn{calls: []core.Part{call(fmt.Sprint(i), "s__look", `{}`)}})
	}
	r := newRig(t, t.TempDir(), turns...)
	r.send("loop")
	end, _ := r.finish()
	require.Equal(t, event.RunFailed, end.Status)
	require.Contains(t, end.Error, "50 turns")
	require.Len(t, r.model.turns, 10)
}

func TestCloseEndsRunsAndLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	t.Run("running", func(t *testing.T) {
		r := newRig(t, dir, turn{text: []string{"..."}, hang: true})
		r.send("go")
		require.Eventually(t, func() bool {
			run := r.Running(r.conv.ID)
			return run != nil && run.Reply != nil && run.Reply.Text() != ""
		}, 5*time.Second, time.Millisecond)
		require.NoError(t, r.Close(t.Context()))
		_, err := r.Start(t.Context(), core.Principal{}, r.conv.ID, "more")
		require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
		require.True(t, r.messages()[1].Stopped)
	})
}

func TestAgents(t *testing.T) {
	r := newRig(t, t.TempDir())
	a, err := r.agents.Get(t.Context(), "")
	require.NoError(t, err)
	require.True(t, a.BuiltIn)
	a.Instructions = "Be brief."
	_, err = r.agents.Save(t.Context(), a)
	require.NoError(t, err)
	a, err = r.agents.Get(t.Context(), "ASSISTANT")
	require.NoError(t, err)
	require.Equal(t, "Be brief.", a.Instructions)
	_, err = r.agents.Save(t.Context(), core.Agent{Name: "assistant"})
	require.Equal(t, core.CodeConflict, core.CodeOf(err))
	require.Error(t, r.agents.Remove(t.Context(), agent.DefaultID))
	_, err = r.agents.Get(t.Context(), "nobody")
	require.ErrorContains(t, err, "Assistant")
	var ce *core.Error
	require.True(t, errors.As(err, &ce))
}

// BenchmarkStop measures from the press of Stop to the end of the run; the goal is 100 ms.
func BenchmarkStop(b *testing.B) {
	s, err := store.Open(b.Context(), b.TempDir())
	require.NoError(b, err)
	defer s.Close()
	bus := &event.Bus{}
	m := &model{}
	c := chat.NewService(s.App, bus.Publish)
	r := agent.NewRunner(agent.Options{Conversations: c, Agents: agent.NewAgents(s.App, nil), Models: m, Catalog: tools.NewCatalog(nil), Gate: nil, Emit: bus.Publish})
	defer func() { require.NoError(b, r.Close(context.Background())) }()
	conv, err := c.Create(b.Context(), "", "", "")
	require.NoError(b, err)
	for b.Loop() {
		b.StopTimer()
		m.mu.Lock()
		m.turns = append(m.turns, turn{text: []string{"..."}, hang: true})
		m.mu.Unlock()
		_, err := r.Start(b.Context(), core.Principal{}, conv.ID, "x")
		require.NoError(b, err)
		for run := r.Running(conv.ID); run == nil || run.Reply == nil || run.Reply.Text() == ""; run = r.Running(conv.ID) {
			runtime.Gosched()
		}
		b.StartTimer()
		r.Stop(conv.ID)
		for r.Running(conv.ID) != nil {
			runtime.Gosched()
		}
	}
}
