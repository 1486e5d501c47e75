package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// human is a person whose answers a test scripts. A nil answer is "cancel".
type human struct {
	fill  func(context.Context, Form) (FormAnswer, error)
	visit func(context.Context, Visit) (Action, error)
	open  func(ctx context.Context, server, address string) error
	// A nil sample declines.
	sample func(context.Context, Sample) (SampleAnswer, error)

	mu     sync.Mutex
	forms  []Form
	visits []Visit
	opened []string
}

func (h *human) Fill(ctx context.Context, f Form) (FormAnswer, error) {
	h.mu.Lock()
	h.forms = append(h.forms, f)
	h.mu.Unlock()
	if h.fill == nil {
		return FormAnswer{}, nil
	}
	return h.fill(ctx, f)
}

func (h *human) Visit(ctx context.Context, v Visit) (Action, error) {
	h.mu.Lock()
	h.visits = append(h.visits, v)
	h.mu.Unlock()
	if h.visit == nil {
		return Dismiss, nil
	}
	return h.visit(ctx, v)
}

func (h *human) Sample(ctx context.Context, s Sample) (SampleAnswer, error) {
	if h.sample == nil {
		return SampleAnswer{Action: Decline}, nil
	}
	return h.sample(ctx, s)
}

func (h *human) OpenBrowser(ctx context.Context, server, address string) error {
	h.mu.Lock()
	h.opened = append(h.opened, address)
	h.mu.Unlock()
	if h.open == nil {
		return nil
	}
	return h.open(ctx, server, address)
}

func (h *human) count() (forms, visits, opened int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.forms), len(h.visits), len(h.opened)
}

// everyWay runs f for both revisions on both transports.
func everyWay(t *testing.T, f func(t *testing.T, spec core.ServerSpec, modern bool)) {
	for _, modern := range []bool{false, true} {
		var faults []string
		name := "2025-11-25"
		if modern {
			faults, name = []string{testmcp.Modern}, "2026-07-28"
		}
		t.Run("stdio "+name, func(t *testing.T) {
			t.Parallel()
			f(t, stdioSpec(t, "s", testmcp.Options{Faults: faults}), modern)
		})
		t.Run("http "+name, func(t *testing.T) {
			t.Parallel()
			spec, _ := httpSpec(t, "s", testmcp.Options{Faults: faults})
			f(t, spec, modern)
		})
	}
}

// asks calls a tool for somebody who hears of it.
func (w *world) asks(server, tool, args string) (core.ToolResult, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return w.Call(ctx, ref(server, tool), "call-"+tool, []byte(args), func(core.Chunk) {})
}

func withPerson(h *human) func(*Options) { return func(o *Options) { o.Asker = h } }

func TestFormsAreAnswered(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, spec core.ServerSpec, _ bool) {
		answers := map[string]FormAnswer{
			"defaults": {Action: Accept},
			"own":      {Action: Accept, Content: json.RawMessage(`{"name":"Grace","color":"red"}`)},
			"decline":  {Action: Decline},
			"dismiss":  {},
		}
		var next FormAnswer
		h := &human{}
		h.fill = func(context.Context, Form) (FormAnswer, error) { return next, nil }
		w := newWorld(t, withPerson(h))
		w.start(spec)
		for name, want := range map[string]string{
			"defaults": `{"action":"accept","content":{"age":36,"name":"Ada"}}`,
			"own":      `{"action":"accept","content":{"age":36,"color":"red","name":"Grace"}}`,
			"decline":  `{"action":"decline"}`,
			"dismiss":  `{"action":"cancel"}`,
		} {
			next = answers[name]
			res, err := w.asks("s", testmcp.Ask, `{}`)
			require.NoError(t, err, name)
			got, _, _ := strings.Cut(res.Text(), " s1") // the state that the newer revision carries along
			assert.JSONEq(t, want, got, name)
		}
		f := h.forms[0]
		assert.Equal(t, "s", f.Server)
		assert.Equal(t, "Who are you?", f.Message)
		assert.Equal(t, "call-ask", f.CallID)
		assert.JSONEq(t, `{"age":36,"name":"Ada"}`, string(f.Defaults))
		assert.Contains(t, string(f.Schema), `"color"`)
	})
}

// An answer that breaks the schema must not reach the server: the person gets
// to see what is wrong.
func TestWrongAnswersComeBack(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, spec core.ServerSpec, _ bool) {
		h := &human{}
		h.fill = func(_ context.Context, f Form) (FormAnswer, error) {
			if f.Problem == "" {
				return FormAnswer{Action: Accept, Content: json.RawMessage(`{"age":"old"}`)}, nil
			}
			return FormAnswer{Action: Accept, Content: json.RawMessage(`{"age":7}`)}, nil
		}
		w := newWorld(t, withPerson(h))
		w.start(spec)
		res, err := w.asks("s", testmcp.Ask, `{}`)
		require.NoError(t, err)
		assert.Contains(t, res.Text(), `"age":7`)
		n, _, _ := h.count()
		assert.Equal(t, 2, n)
		assert.Contains(t, h.forms[1].Problem, "age")
	})
}

func TestVisits(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, spec core.ServerSpec, modern bool) {
		h := &human{visit: func(context.Context, Visit) (Action, error) { return Accept, nil }}
		w := newWorld(t, withPerson(h))
		w.start(spec)
		res, err := w.asks("s", testmcp.AskVisit, `{}`)
		require.NoError(t, err)
		assert.Contains(t, res.Text(), `{"action":"accept"}`)
		v := h.visits[0]
		assert.Equal(t, Visit{Server: "s", CallID: "call-ask_visit", Message: "Pay here.", URL: "https://pay.example/now?id=1", Host: "pay.example"}, v)
		if modern {
			return
		}
		res, err = w.asks("s", testmcp.VisitFirst, `{}`)
		require.NoError(t, err)
		assert.Equal(t, "visited", res.Text())
		assert.True(t, h.visits[1].Wait)
	})
}

// The server may know that a visit has ended before the person says so.
func TestVisitEndsByTheServer(t *testing.T) {
	t.Parallel()
	h := &human{visit: func(ctx context.Context, _ Visit) (Action, error) {
		<-ctx.Done()
		return Dismiss, ctx.Err()
	}}
	w := newWorld(t, withPerson(h))
	w.start(stdioSpec(t, "s", testmcp.Options{}))
	res, err := w.asks("s", testmcp.VisitOver, `{}`)
	require.NoError(t, err)
	assert.Equal(t, "visited", res.Text())
}

func TestVisitThatIsDeclinedIsNotRepeated(t *testing.T) {
	t.Parallel()
	h := &human{visit: func(context.Context, Visit) (Action, error) { return Decline, nil }}
	w := newWorld(t, withPerson(h))
	w.start(stdioSpec(t, "s", testmcp.Options{}))
	_, err := w.asks("s", testmcp.VisitFirst, `{}`)
	require.Error(t, err)
	_, visits, _ := h.count()
	assert.Equal(t, 1, visits)
}

// A state without a question is carried back, which the SDK leaves to us.
func TestStateWithoutQuestionIsCarriedBack(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, spec core.ServerSpec, modern bool) {
		if !modern {
			t.Skip("there is no such thing")
		}
		w := newWorld(t, withPerson(&human{}))
		w.start(spec)
		res, err := w.asks("s", testmcp.StateOnly, `{}`)
		require.NoError(t, err)
		assert.Equal(t, "s1", res.Text())
	})
}

// While a person thinks, the call shows that it waits for one; and the end of
// the call ends the question.
func TestQuestionsBelongToTheirCall(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, spec core.ServerSpec, modern bool) {
		ended := make(chan error, 1)
		h := &human{fill: func(ctx context.Context, _ Form) (FormAnswer, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return FormAnswer{}, ctx.Err()
		}}
		w := newWorld(t, withPerson(h))
		w.start(spec)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		chunks := make(chan core.Chunk, 16)
		done := make(chan error, 1)
		go func() {
			_, err := w.Call(ctx, ref("s", testmcp.Ask), "c1", nil, func(c core.Chunk) { chunks <- c })
			done <- err
		}()
		select {
		case c := <-chunks:
			assert.Equal(t, core.ChunkInput, c.Kind)
			assert.Equal(t, "c1", c.CallID)
			assert.Equal(t, "Who are you?", c.Message)
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(5 * time.Second):
			require.Fail(t, "no chunk")
		}
		if modern {
			cancel()
			assert.Equal(t, core.CodeCanceled, core.CodeOf(<-done))
		} else { // the question is the server's own; it ends with the connection
			require.NoError(t, w.Disconnect(ctx, "s"))
			assert.Error(t, <-done)
		}
		select {
		case err := <-ended:
			assert.True(t, errors.Is(err, context.Canceled))
		case <-time.After(5 * time.Second):
			require.Fail(t, "the question is still open")
		}
	})
}

// Without a person the capability must not be declared, and a server that asks
// all the same gets an error instead of silence.
func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, spec core.ServerSpec, modern bool) {
		w := newWorld(t)
		w.start(spec)
		res, err := w.asks("s", testmcp.Ask, `{}`)
		if modern {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		assert.Contains(t, res.Text(), "error: ")
	})
}
