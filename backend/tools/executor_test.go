package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/approval"
	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/limit"
	"patchbay/backend/policy"
	"patchbay/backend/store"
	"patchbay/backend/tools"
)

// runner plays the tools: its function stands for a server.
type runner struct {
	mu    sync.Mutex
	calls []string
	fn    func(ctx context.Context, args json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error)
}

func (r *runner) Call(ctx context.Context, ref core.ToolRef, _ string, args json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error) {
	r.mu.Lock()
	r.calls = append(r.calls, ref.Name+string(args))
	r.mu.Unlock()
	if r.fn == nil {
		return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: "fine"}}}, nil
	}
	return r.fn(ctx, args, chunk)
}

type gate struct {
	*tools.Executor
	catalog *tools.Catalog
	runner  *runner
	desk    *approval.Desk
	store   *store.Store
	events  *recorder
}

type recorder struct {
	mu  sync.Mutex
	all []event.Payload
}

func (r *recorder) add(p event.Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
}

func yes() *bool { b := true; return &b }

func tool(name, schema string, a core.Annotations) core.Tool {
	t := core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: "fs", Name: name}, Title: name, InputSchema: json.RawMessage(schema), Annotations: a}
	t.Ref.Digest = t.ComputeDigest()
	return t
}

const pathSchema = `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","maximum":10}},"required":["path"],"additionalProperties":false}`

func newGate(t testing.TB, answer approval.Answerer, change func(*tools.Options)) *gate {
	t.Helper()
	s, err := store.Open(context.Background(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	g := &gate{catalog: tools.NewCatalog(nil), runner: &runner{}, store: s, events: &recorder{}}
	g.desk = approval.NewDesk(g.events.add, answer)
	g.catalog.Replace("mcp:fs", []core.Tool{
		tool("read", pathSchema, core.Annotations{ReadOnlyHint: yes()}),
		tool("write_file", pathSchema, core.Annotations{}),
	})
	o := tools.Options{Catalog: g.catalog, Log: s.Audit, Policy: policy.Default(), Desk: g.desk, Limiter: limit.New(),
		Runners: map[core.ToolKind]tools.Runner{core.ToolMCP: g.runner}, Emit: g.events.add}
	if change != nil {
		change(&o)
	}
	g.Executor = tools.NewExecutor(o)
	return g
}

func (g *gate) call(t testing.TB, alias, args string) core.Outcome {
	t.Helper()
	return g.Call(t.Context(), core.Principal{Kind: core.PrincipalAgent, ConversationID: "c", RunID: "r"},
		core.ToolCall{Alias: alias, Arguments: json.RawMessage(args)}, core.Watch{})
}

// record returns the newest audit record: every end must have left one.
func (g *gate) record(t testing.TB) core.AuditRecord {
	t.Helper()
	rs, err := g.store.Audit.Records(context.Background(), 0, 1)
	require.NoError(t, err)
	require.Len(t, rs, 1)
	require.NotEmpty(t, rs[0].EndedAt, "the record has no end")
	return rs[0]
}

func answering(a core.Answer) approval.Answerer {
	return func(context.Context, core.Approval) (core.Answer, error) { return a, nil }
}

func TestReadOnlyToolRunsUnasked(t *testing.T) {
	g := newGate(t, answering(core.AnswerDeny), nil)
	o := g.call(t, "fs__read", `{"path":"/tmp"}`)
	require.Equal(t, core.CallDone, o.Status)
	require.Equal(t, "fine", o.ModelText)
	r := g.record(t)
	require.Equal(t, "read-only-hint", r.Decision.Rule)
	require.Equal(t, core.CallDone, r.Status)
	require.Equal(t, `{"path":"/tmp"}`, r.Arguments)
	require.EqualValues(t, 4, r.Bytes)
}

// Whatever the answer but a clear yes, the tool must not be reached.
func TestOnlyAClearYesReachesTheTool(t *testing.T) {
	for answer, want := range map[core.Answer]core.CallStatus{
		core.AnswerAllowOnce: core.CallDone, core.AnswerAllowChat: core.CallDone,
		core.AnswerDeny: core.CallDenied, core.AnswerExpired: core.CallExpired, "": core.CallDenied, "maybe": core.CallDenied,
	} {
		g := newGate(t, answering(answer), nil)
		o := g.call(t, "fs__write_file", `{"path":"x"}`)
		require.Equal(t, want, o.Status, answer)
		require.Equal(t, want, g.record(t).Status)
		require.Equal(t, want == core.CallDone, len(g.runner.calls) == 1, "answer %q", answer)
		require.NotEmpty(t, o.ModelText)
	}
	g := newGate(t, func(context.Context, core.Approval) (core.Answer, error) {
		return core.AnswerAllowOnce, errors.New("the desk broke")
	}, nil)
	require.Equal(t, core.CallFailed, g.call(t, "fs__write_file", `{"path":"x"}`).Status)
	require.Empty(t, g.runner.calls)
}

type verdict core.Decision

func (v verdict) Evaluate(core.PolicyRequest) core.Decision { return core.Decision(v) }

func TestPolicyDenialAndAPolicyWithoutAnOpinionAreNo(t *testing.T) {
	for _, v := range []verdict{{Effect: core.Deny, Rule: "r", Why: "Because."}, {}} {
		g := newGate(t, answering(core.AnswerAllowOnce), func(o *tools.Options) { o.Policy = v })
		o := g.call(t, "fs__read", `{"path":"x"}`)
		require.Equal(t, core.CallDeniedRule, o.Status)
		require.Empty(t, g.runner.calls)
		require.Equal(t, core.CallDeniedRule, g.record(t).Status)
	}
}

type brokenLog struct{}

func (brokenLog) Begin(context.Context, core.AuditRecord) (int64, error) {
	return 0, errors.New("disk full")
}
func (brokenLog) End(context.Context, core.AuditRecord) error { return errors.New("disk full") }

// A call that cannot be recorded is not made.
func TestNoRecordNoCall(t *testing.T) {
	g := newGate(t, nil, func(o *tools.Options) { o.Log = brokenLog{} })
	o := g.call(t, "fs__read", `{"path":"x"}`)
	require.Equal(t, core.CallFailed, o.Status)
	require.ErrorContains(t, o.Err, "audit log")
	require.Empty(t, g.runner.calls)
}

func TestWrongCallsNeverReachTheTool(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)
	for args, want := range map[string]string{
		`{"n": 50}`:                  "missing property 'path'",
		`{"path": 5}`:                "/path",
		`{"path":"a","n":50}`:        "/n",
		`{"path":"a","more":1}`:      "more",
		`{"path":"a","path":"b"}`:    "twice",
		`{"path":"a"`:                "line 1",
		`{"path":"a"} {}`:            "more after",
		`[1]`:                        "JSON object",
		`"text"`:                     "JSON object",
		deep:                         "nesting",
		`{"path":"a","Path":"/etc"}`: "Path",
	} {
		g := newGate(t, nil, nil)
		o := g.call(t, "fs__read", args)
		require.Equal(t, core.CallInvalid, o.Status, args)
		require.ErrorContains(t, o.Err, want)
		require.Empty(t, g.runner.calls)
		require.Equal(t, core.CallInvalid, g.record(t).Status)
	}
	g := newGate(t, nil, nil)
	o := g.call(t, "fs__nothing", `{}`)
	require.Equal(t, core.CallInvalid, o.Status)
	require.Equal(t, "fs__nothing", g.record(t).Ref.Name)
}

// What the tool receives is our own encoding of what was judged.
func TestToolReceivesTheCanonicalArguments(t *testing.T) {
	g := newGate(t, nil, nil)
	g.call(t, "fs__read", "{ \"n\" : 7.0,\n \"path\":\"<a>&é\" }")
	require.Equal(t, []string{`read{"n":7.0,"path":"<a>&é"}`}, g.runner.calls)
}

// A definition that changed between the offer and the call, or while a person
// thought, must not run under the old yes.
func TestChangedDefinitionDoesNotRun(t *testing.T) {
	var g *gate
	change := func() {
		g.catalog.Replace("mcp:fs", []core.Tool{tool("write_file", pathSchema, core.Annotations{Title: "Harmless"})})
	}
	g = newGate(t, func(context.Context, core.Approval) (core.Answer, error) { change(); return core.AnswerAllowOnce, nil }, nil)
	o := g.call(t, "fs__write_file", `{"path":"x"}`)
	require.Equal(t, core.CallInvalid, o.Status)
	require.ErrorContains(t, o.Err, "changed")
	require.Empty(t, g.runner.calls)
}

// A tool that a person turned off must not run, also not under an approval that
// came before.
func TestToolThatIsTurnedOffDoesNotRun(t *testing.T) {
	var g *gate
	off := tool("write_file", pathSchema, core.Annotations{})
	off.Disabled = true
	require.Equal(t, off.Ref.Digest, off.ComputeDigest(), "what a person chose is no part of the definition")
	g = newGate(t, func(context.Context, core.Approval) (core.Answer, error) {
		g.catalog.Replace("mcp:fs", []core.Tool{off})
		return core.AnswerAllowOnce, nil
	}, nil)
	for range 2 { // turned off while the person thinks, then before the call
		o := g.call(t, "fs__write_file", `{"path":"x"}`)
		require.Equal(t, core.CallDeniedRule, o.Status)
		require.Equal(t, core.CodeDenied, core.CodeOf(o.Err))
		require.ErrorContains(t, o.Err, "Turn it on in the settings of the server fs.")
		require.Equal(t, core.CallDeniedRule, g.record(t).Status)
	}
	require.Empty(t, g.runner.calls)
	require.Empty(t, g.catalog.Offer(core.Agent{ToolChoice: core.ToolsAll}))
	require.Len(t, g.catalog.All(), 1, "it stays listed")
}

func TestPanicIsAnEndToo(t *testing.T) {
	g := newGate(t, nil, nil)
	g.runner.fn = func(context.Context, json.RawMessage, core.ChunkFunc) (core.ToolResult, error) { panic("boom") }
	o := g.call(t, "fs__read", `{"path":"x"}`)
	require.Equal(t, core.CallFailed, o.Status)
	require.NotContains(t, o.Err.Error(), "boom")
	require.Equal(t, core.CallFailed, g.record(t).Status)
}

func TestToolErrorIsAResult(t *testing.T) {
	g := newGate(t, nil, nil)
	g.runner.fn = func(context.Context, json.RawMessage, core.ChunkFunc) (core.ToolResult, error) {
		return core.ToolResult{IsError: true, Content: []core.Content{{Type: core.ContentText, Text: "no such file"}}}, nil
	}
	o := g.call(t, "fs__read", `{"path":"x"}`)
	require.Equal(t, core.CallToolError, o.Status)
	require.NoError(t, o.Err)
	require.Equal(t, "no such file", o.ModelText)
}

// lastLog keeps the newest record in memory, for tests with a clock of their own.
type lastLog struct{ last core.AuditRecord }

func (l *lastLog) Begin(context.Context, core.AuditRecord) (int64, error) { return 1, nil }
func (l *lastLog) End(_ context.Context, r core.AuditRecord) error        { l.last = r; return nil }

func TestDeadlineIsResetByProgressAndStillEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		catalog, log, r := tools.NewCatalog(nil), &lastLog{}, &runner{}
		catalog.Replace("mcp:fs", []core.Tool{tool("read", pathSchema, core.Annotations{ReadOnlyHint: yes()})})
		x := tools.NewExecutor(tools.Options{Catalog: catalog, Log: log, Policy: policy.Default(), Desk: approval.NewDesk(nil, nil), Limiter: limit.New(),
			Runners: map[core.ToolKind]tools.Runner{core.ToolMCP: r}})
		call := func() core.Outcome {
			return x.Call(t.Context(), core.Principal{}, core.ToolCall{Alias: "fs__read", Arguments: json.RawMessage(`{"path":"x"}`)}, core.Watch{})
		}
		r.fn = func(ctx context.Context, _ json.RawMessage, _ core.ChunkFunc) (core.ToolResult, error) {
			<-ctx.Done()
			return core.ToolResult{}, ctx.Err()
		}
		began := time.Now()
		o := call()
		require.Equal(t, core.CallTimeout, o.Status)
		require.ErrorContains(t, o.Err, "30s")
		require.Equal(t, 30*time.Second, time.Since(began))
		require.Equal(t, core.CallTimeout, log.last.Status)

		r.fn = func(ctx context.Context, _ json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error) {
			tick := time.NewTicker(20 * time.Second)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					chunk(core.Chunk{Kind: core.ChunkProgress})
				case <-ctx.Done():
					return core.ToolResult{}, ctx.Err()
				}
			}
		}
		began = time.Now()
		o = call()
		require.Equal(t, core.CallTimeout, o.Status)
		require.Equal(t, 10*time.Minute, time.Since(began), "progress keeps a call alive, but not for ever")

		limited := tool("read", pathSchema, core.Annotations{ReadOnlyHint: yes()})
		limited.TimeoutMS, limited.MaxTotalMS = 25_000, 45_000
		catalog.Replace("mcp:fs", []core.Tool{limited})
		began = time.Now()
		o = call()
		require.Equal(t, core.CallTimeout, o.Status)
		require.Equal(t, 45*time.Second, time.Since(began), "the tool's own limit in all")
		for _, word := range []string{"fs", "read", "45s", "the settings of the server fs"} {
			require.ErrorContains(t, o.Err, word)
		}
	})
}

func TestCancelIsRecorded(t *testing.T) {
	g := newGate(t, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	g.runner.fn = func(ctx context.Context, _ json.RawMessage, _ core.ChunkFunc) (core.ToolResult, error) {
		cancel()
		<-ctx.Done()
		return core.ToolResult{}, ctx.Err()
	}
	o := g.Call(ctx, core.Principal{}, core.ToolCall{Alias: "fs__read", Arguments: json.RawMessage(`{"path":"x"}`)}, core.Watch{})
	require.Equal(t, core.CallCanceled, o.Status)
	require.Equal(t, core.CallCanceled, g.record(t).Status)
}

// A person may cancel any running call by its id, also one that waits for approval.
func TestCancelByID(t *testing.T) {
	g := newGate(t, nil, nil)
	g.runner.fn = func(ctx context.Context, _ json.RawMessage, _ core.ChunkFunc) (core.ToolResult, error) {
		<-ctx.Done()
		return core.ToolResult{}, ctx.Err()
	}
	g.Cancel("nobody")
	for _, alias := range []string{"fs__read", "fs__write_file"} {
		ready := make(chan struct{}, 1)
		ended := make(chan core.Outcome)
		go func() {
			ended <- g.Call(context.Background(), core.Principal{}, core.ToolCall{ID: "id", Alias: alias, Arguments: json.RawMessage(`{"path":"x"}`)},
				core.Watch{Status: func(core.CallStatus) { ready <- struct{}{} }})
		}()
		<-ready
		require.Equal(t, core.CodeConflict, core.CodeOf(g.Call(t.Context(), core.Principal{}, core.ToolCall{ID: "id", Alias: alias}, core.Watch{}).Err))
		g.Cancel("id")
		require.Equal(t, core.CallCanceled, (<-ended).Status)
	}
}

func TestChunksAreNumberedThinnedAndEnd(t *testing.T) {
	g := newGate(t, nil, nil)
	g.runner.fn = func(_ context.Context, _ json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error) {
		for i := range 500 {
			p := float64(i)
			chunk(core.Chunk{Kind: core.ChunkProgress, Progress: &p})
		}
		chunk(core.Chunk{Kind: core.ChunkLog, Message: strings.Repeat("x", 9000)})
		return core.ToolResult{}, nil
	}
	require.Equal(t, core.CallDone, g.call(t, "fs__read", `{"path":"x"}`).Status)
	var chunks []core.Chunk
	var end event.ToolsStreamEnd
	for _, p := range g.events.all {
		switch p := p.(type) {
		case event.ToolsStreamChunk:
			require.Zero(t, end, "a chunk after the end")
			chunks = append(chunks, p.Chunk)
		case event.ToolsStreamEnd:
			end = p
		}
	}
	require.Less(t, len(chunks), 50)
	for i, c := range chunks {
		require.Equal(t, i+1, c.Seq)
		require.Less(t, len(c.Message), 5000)
	}
	require.Equal(t, 499.0, *chunks[len(chunks)-1].Progress, "the latest progress is kept")
	require.Equal(t, len(chunks), end.LastSeq)
}

func TestHugeResultsAreShortened(t *testing.T) {
	g := newGate(t, nil, nil)
	g.runner.fn = func(context.Context, json.RawMessage, core.ChunkFunc) (core.ToolResult, error) {
		return core.ToolResult{Content: []core.Content{
			{Type: core.ContentText, Text: "head" + strings.Repeat("é", 2<<20) + "tail"},
			{Type: core.ContentImage, MIMEType: "image/png", Data: make([]byte, 9<<20)},
		}}, nil
	}
	o := g.call(t, "fs__read", `{"path":"x"}`)
	require.True(t, o.Result.Shortened)
	require.Greater(t, o.Result.Bytes, int64(13<<20))
	require.Less(t, len(o.Result.Content[0].Text), 2<<20)
	require.Less(t, len(o.ModelText), 140<<10)
	require.True(t, strings.HasPrefix(o.ModelText, "head"))
	require.Contains(t, o.ModelText, "left out")
	require.True(t, strings.ToValidUTF8(o.ModelText, "?") == o.ModelText, "cut inside a character")
}

func TestApprovalDeskThroughTheGate(t *testing.T) {
	g := newGate(t, nil, nil)
	results := make(chan core.Outcome, 3)
	for range 3 {
		go func() { results <- g.call(t, "fs__write_file", `{"path":"x"}`) }()
	}
	require.Eventually(t, func() bool { return len(g.desk.Pending()) == 3 }, 5*time.Second, time.Millisecond)
	first := g.desk.Pending()[0]
	require.Equal(t, `{"path":"x"}`, string(first.Call.Arguments))
	require.NoError(t, g.desk.Resolve(first.ID, core.AnswerAllowChat))
	for range 3 { // the grant reaches the siblings that wait
		require.Equal(t, core.CallDone, (<-results).Status)
	}
	require.Error(t, g.desk.Resolve(first.ID, core.AnswerDeny), "the first answer wins")
	require.Equal(t, core.CallDone, g.call(t, "fs__write_file", `{"path":"y"}`).Status, "and those that come later")
	// A tool that changed since must ask again.
	g.catalog.Replace("mcp:fs", []core.Tool{tool("write_file", pathSchema, core.Annotations{Title: "New"})})
	go func() { results <- g.call(t, "fs__write_file", `{"path":"z"}`) }()
	require.Eventually(t, func() bool { return len(g.desk.Pending()) == 1 }, 5*time.Second, time.Millisecond)
	require.NoError(t, g.desk.Resolve(g.desk.Pending()[0].ID, core.AnswerDeny))
	require.Equal(t, core.CallDenied, (<-results).Status)
}

func TestStoppedRunClosesItsApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(nil, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		_, err := d.Ask(ctx, core.Approval{ID: "1"}, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, d.Pending())
		require.Error(t, d.Resolve("1", core.AnswerAllowOnce))
	})
}

func TestAliasesAreInjectiveAndSafe(t *testing.T) {
	refs := []core.ToolRef{
		{Kind: core.ToolMCP, Server: "my-server", Name: "t"}, {Kind: core.ToolMCP, Server: "my_server", Name: "t"}, {Kind: core.ToolMCP, Server: "my.server", Name: "t"},
		{Kind: core.ToolMCP, Server: "My Server", Name: "t"}, {Kind: core.ToolMCP, Server: "evil__foo", Name: "bar"}, {Kind: core.ToolMCP, Server: "evil", Name: "foo__bar"},
		{Kind: core.ToolMCP, Server: "a_", Name: "b"}, {Kind: core.ToolMCP, Server: "a", Name: "_b"}, {Kind: core.ToolMCP, Server: "日本", Name: "語"}, {Kind: core.ToolMCP, Server: "中国", Name: "話"},
		{Kind: core.ToolCustom, Name: "a__b"}, {Kind: core.ToolMCP, Server: "a", Name: "b"}, {Kind: core.ToolCustom, Name: "x"}, {Kind: core.ToolBuiltin, Name: "1x"},
		{Kind: core.ToolMCP, Server: "", Name: "x"}, {Kind: core.ToolMCP, Server: "s", Name: ""},
	}
	for i := range 200 {
		refs = append(refs, core.ToolRef{Kind: core.ToolMCP, Server: "s", Name: strings.Repeat("n", 100) + fmt.Sprint(i)})
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ab__--.AB0 1é語\u200b mcp_builtin")
	word := func() string {
		var b strings.Builder
		for range rnd.IntN(6) {
			b.WriteRune(letters[rnd.IntN(len(letters))])
		}
		return b.String()
	}
	kinds := []core.ToolKind{core.ToolMCP, core.ToolMCP, core.ToolMCP, core.ToolCustom, core.ToolBuiltin, core.ToolFeature}
	for range 10000 {
		r := core.ToolRef{Kind: kinds[rnd.IntN(len(kinds))], Name: word()}
		if r.Kind == core.ToolMCP || r.Kind == core.ToolFeature {
			r.Server = word()
		}
		refs = append(refs, r)
	}
	for _, naming := range []tools.Naming{tools.NamingPlain, tools.NamingPrefix, tools.NamingSingle} {
		seen := map[string]core.ToolRef{}
		for _, r := range refs {
			a := naming.Alias(r)
			require.Regexp(t, `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`, a)
			if old, taken := seen[a]; taken && old != r {
				t.Fatalf("%q: %v and %v share %s", naming, old, r, a)
			}
			seen[a] = r
			// A server must not be able to name its tool as another's alias.
			require.NotEqual(t, a, naming.Alias(core.ToolRef{Kind: core.ToolCustom, Name: a + "x"}))
		}
	}
	listed := core.ToolRef{Kind: core.ToolMCP, Server: "filesystem", Name: "list_directory"}
	require.Equal(t, "filesystem__list_directory", tools.NamingPlain.Alias(listed))
	require.Equal(t, "mcp__filesystem__list_directory", tools.NamingPrefix.Alias(listed))
	require.Equal(t, "mcp_filesystem_list_directory", tools.NamingSingle.Alias(listed))
}

// A person may change how tools are named while a run still knows the old names.
func TestNamingChangesAllNamesAndNoReference(t *testing.T) {
	changes := 0
	c := tools.NewCatalog(func() { changes++ })
	one := core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: "s", Name: "t"}, InputSchema: []byte(`{"type":"object"}`)}
	c.Replace("mcp:s", []core.Tool{one})
	c.SetNaming(tools.NamingSingle)
	c.SetNaming(tools.NamingSingle)
	require.Equal(t, 2, changes, "the same naming again is no change")
	_, ok := c.ByAlias("s__t")
	require.False(t, ok)
	e, ok := c.ByAlias("mcp_s_t")
	require.True(t, ok)
	again, err := c.ByRef(one.Ref)
	require.NoError(t, err)
	require.Equal(t, e.Alias, again.Alias)
}

func TestCatalogKeepsItsOrderWhateverConnectsFirst(t *testing.T) {
	a, b := tools.NewCatalog(nil), tools.NewCatalog(nil)
	one, two := []core.Tool{tool("one", "{}", core.Annotations{})}, []core.Tool{tool("two", "{}", core.Annotations{})}
	a.Replace("mcp:a", one)
	a.Replace("mcp:b", two)
	b.Replace("mcp:b", two)
	b.Replace("mcp:a", one)
	require.Equal(t, a.All()[0].Alias, b.All()[0].Alias)
	_, err := a.Find("three")
	require.ErrorContains(t, err, "three")
	e, err := a.Find("two")
	require.NoError(t, err)
	require.Equal(t, "fs__two", e.Alias)
}

func BenchmarkGate(b *testing.B) {
	g := newGate(b, nil, nil)
	g.Executor = nil
	s, err := store.Open(b.Context(), b.TempDir())
	require.NoError(b, err)
	defer s.Close()
	x := tools.NewExecutor(tools.Options{Catalog: g.catalog, Log: s.Audit, Policy: policy.Default(), Desk: g.desk, Limiter: free{},
		Runners: map[core.ToolKind]tools.Runner{core.ToolMCP: g.runner}})
	args := json.RawMessage(`{"path":"` + strings.Repeat("x", 1024) + `"}`)
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			_, _ = g.runner.Call(b.Context(), core.ToolRef{}, "", args, nil)
		}
	})
	b.Run("gate", func(b *testing.B) {
		for b.Loop() {
			if o := x.Call(b.Context(), core.Principal{}, core.ToolCall{Alias: "fs__read", Arguments: args}, core.Watch{}); o.Status != core.CallDone {
				b.Fatal(o.Err)
			}
		}
	})
}

type free struct{}

func (free) Take(context.Context, core.Principal, core.ToolRef, bool) (func(), error) {
	return func() {}, nil
}
