package custom_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"patchbay/backend/approval"
	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/limit"
	"patchbay/backend/policy"
	"patchbay/backend/store"
	"patchbay/backend/tools"
	"patchbay/backend/tools/custom"
	"patchbay/backend/tools/custom/worker"
)

func TestMain(m *testing.M) {
	worker.Main(os.Args)
	goleak.VerifyTestMain(m)
}

// servers stands for MCP servers: it answers with what it was asked.
type servers struct {
	mu    sync.Mutex
	calls []string
	gate  chan struct{} // when not nil, each call waits for one value
}

func (s *servers) Call(ctx context.Context, ref core.ToolRef, _ string, args json.RawMessage, _ core.ChunkFunc) (core.ToolResult, error) {
	s.mu.Lock()
	s.calls = append(s.calls, ref.String()+string(args))
	s.mu.Unlock()
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return core.ToolResult{}, ctx.Err()
		}
	}
	return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: ref.String()}}, StructuredContent: args}, nil
}

func (s *servers) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

type bench struct {
	t       testing.TB
	gate    *tools.Executor
	catalog *tools.Catalog
	runner  *custom.Runner
	store   *store.Store
	servers *servers
	desk    *approval.Desk
	list    []core.CustomTool
}

type caller struct{ b *bench }

func (c caller) Alias(_ context.Context, text string) string {
	if e, err := c.b.catalog.Find(text); err == nil {
		return e.Alias
	}
	return text
}

func (c caller) Call(ctx context.Context, p core.Principal, call core.ToolCall, w core.Watch) core.Outcome {
	return c.b.gate.Call(ctx, p, call, w)
}

func yes() *bool { b := true; return &b }

// newBench joins the real gate, policy, limiter, audit log and workers. A tool
// whose name begins with "ask" needs a person; "b" servers hold the others.
func newBench(t testing.TB, change func(*custom.Options), answer approval.Answerer) *bench {
	t.Helper()
	s, err := store.Open(context.Background(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	b := &bench{t: t, catalog: tools.NewCatalog(nil), store: s, servers: &servers{}}
	o := custom.Options{Caller: caller{b}}
	if change != nil {
		change(&o)
	}
	b.runner = custom.New(o)
	t.Cleanup(b.runner.Close)
	if answer == nil {
		answer = func(context.Context, core.Approval) (core.Answer, error) { return core.AnswerAllowOnce, nil }
	}
	b.desk = approval.NewDesk(func(event.Payload) {}, answer)
	b.gate = tools.NewExecutor(tools.Options{Catalog: b.catalog, Log: s.Audit, Policy: policy.Default(), Desk: b.desk, Limiter: limit.New(),
		Runners: map[core.ToolKind]tools.Runner{core.ToolMCP: b.servers, core.ToolCustom: b.runner},
		Nested: func(_ context.Context, _ core.Principal, call core.ToolCall, tool core.OfferedTool) error {
			return b.runner.Permit(call.ParentID, tool.Alias)
		}})
	for _, server := range []string{"one", "two"} {
		var list []core.Tool
		for _, name := range []string{"read", "look", "ask_first"} {
			tool := core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: server, Name: name}, Title: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
			if name != "ask_first" {
				tool.Annotations.ReadOnlyHint = yes()
			}
			tool.Ref.Digest = tool.ComputeDigest()
			list = append(list, tool)
		}
		b.catalog.Replace("mcp:"+server, list)
	}
	return b
}

// add makes a tool of code callable.
func (b *bench) add(name, code string, change ...func(*core.CustomTool)) {
	t := core.CustomTool{Name: name, Parameters: json.RawMessage(`{"type":"object"}`), Code: code, Enabled: true, TimeoutMS: 60_000}
	for _, c := range change {
		c(&t)
	}
	for i := range b.list {
		if b.list[i].Name == name {
			b.list = append(b.list[:i], b.list[i+1:]...)
			break
		}
	}
	b.list = append(b.list, t)
	b.catalog.Replace("custom", b.runner.Set(b.list))
}

func (b *bench) call(name, args string) core.Outcome {
	return b.gate.Call(context.Background(), core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{Alias: name, Arguments: json.RawMessage(args)}, core.Watch{})
}

// run adds a tool of code, calls it once and returns what it returned.
func (b *bench) run(code string, change ...func(*core.CustomTool)) core.Outcome {
	b.add("script", code, change...)
	return b.call("script", `{}`)
}

func (b *bench) records() []core.AuditRecord {
	b.t.Helper()
	rs, err := b.store.Audit.Records(context.Background(), 0, 500)
	require.NoError(b.t, err)
	return rs
}

func limited(d time.Duration) func(*core.CustomTool) {
	return func(t *core.CustomTool) { t.TimeoutMS = d.Milliseconds() }
}

func TestWordCount(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("word_count", "const words = args.text.split(/\\s+/).filter(Boolean);\nreturn { words: words.length, lines: args.text.split('\\n').length };\n")
	o := b.call("word_count", `{"text":"a b\nc"}`)
	require.NoError(t, o.Err)
	require.Equal(t, core.CallDone, o.Status)
	require.JSONEq(t, `{"words":3,"lines":2}`, string(o.Result.StructuredContent))
	require.JSONEq(t, `{"words":3,"lines":2}`, o.Result.Text())
}

func TestResults(t *testing.T) {
	b := newBench(t, nil, nil)
	for code, want := range map[string]string{
		`return "plain"`:   "plain",
		`return 7`:         "7",
		`return [1, null]`: "[1,null]",
		`return null`:      "null",
		`await new Promise(r => setTimeout(r, 5)); return 1`:                                                                          "1",
		`let n = 0; const id = setInterval(() => n++, 1); await new Promise(r => setTimeout(r, 20)); clearInterval(id); return n > 2`: "true",
		`return atob(btoa("hé")) + new TextDecoder().decode(new TextEncoder().encode("ü€😀"))`:                                         "héü€😀",
		`return new URLSearchParams({ q: "a b&c", n: 1 }).toString()`:                                                                 "q=a+b%26c&n=1",
		`return Object.keys(args).length + typeof require + typeof process + typeof std + typeof os`:                                  "0undefinedundefinedundefinedundefined",
		`const a = []; queueMicrotask(() => a.push(1)); await null; await null; return a`:                                             "[1]",
	} {
		o := b.run(code)
		require.NoError(t, o.Err, code)
		require.False(t, o.Result.IsError, "%s: %s", code, o.Result.Text())
		require.Equal(t, want, o.Result.Text(), code)
	}
	o := b.run(``)
	require.NoError(t, o.Err)
	require.Empty(t, o.Result.Content)
	require.NotEmpty(t, o.ModelText)
}

// A script that throws is a result; it says where, in the person's own lines.
func TestExceptionsNameTheirPlace(t *testing.T) {
	b := newBench(t, nil, nil)
	for code, want := range map[string]string{
		"const x = 1;\n  null.foo":                                 "TypeError: cannot read property 'foo' of null (line 2, column 7)",
		"function f() {\n  throw new RangeError('no');\n}\n\nf();": "RangeError: no (line 2, column 23)\nat f, line 2, column 23\nat the tool, line 5, column 2",
		"return 1 +;":                            "(line 1, column 11)",
		"await 0;\nawait tools.call('nothing');": "(line 2, column ",
		"throw 'text'":                           "text",
		"throw { a: 1 }":                         `{"a":1}`,
		"throw null":                             "null",
		"const a = {}; a.a = a; return a":        "cannot be written as JSON",
		"return 10n":                             "cannot be written as JSON",
		"await new Promise(() => {})":            "nothing will ever settle",
		"setTimeout(() => { throw new Error('late') }, 1); await new Promise(r => setTimeout(r, 1000))": "Error: late (line 1",
		"return eval('1')": "eval",
	} {
		o := b.run(code)
		require.NoError(t, o.Err, code)
		require.Equal(t, core.CallToolError, o.Status, code)
		require.Contains(t, o.Result.Text(), want, code)
	}
}

func TestConsoleAndProgressStream(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("talk", `console.log("one", {a: 1}, [2], new Map([[1, 2]]), undefined);
console.error("bad"); progress(1, 4, "step"); await new Promise(r => setTimeout(r, 60)); progress("word only");
await new Promise(r => setTimeout(r, 60)); progress({ progress: 0.5 }); return 1`)
	var got []core.Chunk
	o := b.gate.Call(t.Context(), core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{Alias: "talk"}, core.Watch{Chunk: func(c core.Chunk) { got = append(got, c) }})
	require.NoError(t, o.Err)
	require.Len(t, got, 5)
	require.Equal(t, `one {"a":1} [2] [[1,2]] undefined`, got[0].Message)
	require.Equal(t, "info", got[0].Level)
	require.Equal(t, core.ChunkLog, got[1].Kind)
	require.Equal(t, "error", got[1].Level)
	require.Equal(t, core.ChunkProgress, got[2].Kind)
	require.EqualValues(t, 1, *got[2].Progress)
	require.EqualValues(t, 4, *got[2].Total)
	require.Equal(t, "step", got[2].Message)
	require.Equal(t, "word only", got[3].Message)
	require.EqualValues(t, 0.5, *got[4].Progress)
}

// A console that never stops must not drown whoever listens.
func TestAFloodOfNewsIsBounded(t *testing.T) {
	b := newBench(t, nil, nil)
	n := 0
	b.add("flood", `for (let i = 0; i < 2e4; i++) { console.log("x".repeat(100)); progress(i) } return 1`)
	o := b.gate.Call(t.Context(), core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{Alias: "flood"}, core.Watch{Chunk: func(core.Chunk) { n++ }})
	require.NoError(t, o.Err)
	require.Less(t, n, 3000) // lines and, a few times a second, progress
	require.Greater(t, n, 1000)
}

// Nothing that one call leaves behind may be there for the next, in whichever worker it runs.
func TestNoStateSurvives(t *testing.T) {
	b := newBench(t, func(o *custom.Options) { o.AtOnce = 1 }, nil)
	b.add("dirty", `globalThis.left = 1; Object.prototype.evil = 1; Array.prototype.map = () => "evil"; JSON.stringify = () => "evil";
Promise.prototype.then = null; globalThis.fetch = globalThis.tools = globalThis.console = null; setTimeout(() => { globalThis.late = 1 }, 0);
String.prototype.split = () => ["evil"]; return "dirty"`)
	b.add("clean", `return [typeof left, ({}).evil === undefined, [1].map(x => x + 1), JSON.stringify([1]), typeof fetch, typeof tools, typeof console, typeof late, "a b".split(" ").length]`)
	for range 20 {
		b.call("dirty", `{}`)
		o := b.call("clean", `{}`)
		require.NoError(t, o.Err)
		require.Equal(t, `["undefined",true,[2],"[1]","function","object","object","undefined",2]`, o.Result.Text())
	}
}

func TestAChangedToolDoesNotRunUnderItsOldIdentity(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("x", "return 1")
	old := b.runner.Set(b.list)[0].Ref
	b.add("x", "return 2")
	require.NotEqual(t, old.Digest, b.runner.Set(b.list)[0].Ref.Digest, "the code is not part of the identity")
	_, err := b.runner.Call(t.Context(), old, "id", nil, nil)
	require.Equal(t, core.CodeConflict, core.CodeOf(err))
	now := b.runner.Set(b.list)[0].Ref
	b.add("x", "return 2", func(c *core.CustomTool) { c.Hosts = []string{"example.com"} })
	require.NotEqual(t, now.Digest, b.runner.Set(b.list)[0].Ref.Digest, "what it may reach is not part of the identity")
}

func TestDraftsRunThroughTheGateAndOnlyWhileHeld(t *testing.T) {
	b := newBench(t, nil, nil)
	def, release := b.runner.Draft(core.CustomTool{Name: "d", Parameters: json.RawMessage(`{"type":"object","required":["n"]}`), Code: "return args.n"})
	try := func(args string) core.Outcome {
		return b.gate.Try(t.Context(), core.Principal{Kind: core.PrincipalWindow}, def, core.ToolCall{Arguments: json.RawMessage(args)}, core.Watch{})
	}
	require.Equal(t, core.CallInvalid, try(`{}`).Status, "the draft's own schema counts")
	require.Equal(t, "3", try(`{"n":3}`).ModelText)
	require.Equal(t, "d", b.records()[0].Ref.Name)
	_, listed := b.catalog.ByAlias("d")
	require.False(t, listed, "an agent could be offered the draft")
	release()
	require.Equal(t, core.CallInvalid, try(`{"n":3}`).Status)
}

func TestCheckNamesThePlaceOfASyntaxError(t *testing.T) {
	b := newBench(t, nil, nil)
	require.NoError(t, b.runner.Check(t.Context(), "const a = await 1;\nreturn a"))
	for code, line := range map[string]int{"const a = ;": 1, "return 1;\n\nlet let = 2": 3, "if (x) {": 2, "throw new Error(": 2} {
		err := b.runner.Check(t.Context(), code)
		var ce *core.Error
		require.ErrorAs(t, err, &ce, code)
		require.Equal(t, core.CodeInvalid, ce.Code)
		require.Equal(t, line, ce.Line, "%s: %v", code, err)
		require.Positive(t, ce.Column, code)
	}
	// Nothing of the code may run.
	require.NoError(t, b.runner.Check(t.Context(), "for (;;) {}"))
}

func TestManyAtOnce(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("slow", "await new Promise(r => setTimeout(r, 5)); return args.n")
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			r, err := b.runner.Call(context.Background(), b.runner.Set(b.list)[0].Ref, fmt.Sprint(i), json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)), nil)
			if err != nil || r.Text() != fmt.Sprint(i) {
				t.Errorf("call %d: %v %v", i, r, err)
			}
		})
	}
	wg.Wait()
}

func TestCancel(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("loop", "for (;;) {}")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	o := b.gate.Call(ctx, core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{Alias: "loop"}, core.Watch{})
	require.Equal(t, core.CallCanceled, o.Status)
	require.Less(t, o.Millis, int64(5000))
}

func TestSecrets(t *testing.T) {
	b := newBench(t, func(o *custom.Options) {
		o.Secret = func(_ context.Context, name string) (string, bool, error) {
			return "hush-hush", name == "known", nil
		}
	}, nil)
	declare := func(c *core.CustomTool) { c.Secrets = []string{"known", "missing"} }
	require.Equal(t, "9", b.run(`return (await secrets.get("known")).length`, declare).Result.Text())
	require.Contains(t, b.run(`return await secrets.get("other")`, declare).Result.Text(), "does not declare the secret \"other\"")
	require.Contains(t, b.run(`return await secrets.get("missing")`, declare).Result.Text(), "There is no secret \"missing\" yet")
	o := b.run(`throw new Error("it is " + await secrets.get("known"))`, declare)
	require.NotContains(t, o.Result.Text(), "hush")
	var said string
	b.add("log", `console.log(await secrets.get("known"))`, declare)
	b.gate.Call(t.Context(), core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{Alias: "log"}, core.Watch{Chunk: func(c core.Chunk) { said += c.Message }})
	require.Equal(t, "••••••••", said)
}

func TestCloseRefuses(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("x", "return 1")
	b.runner.Close()
	o := b.call("x", `{}`)
	require.Equal(t, core.CodeUnavailable, core.CodeOf(o.Err))
}

func sentence(t *testing.T, o core.Outcome, code core.Code, parts ...string) {
	t.Helper()
	require.Error(t, o.Err)
	require.Equal(t, code, core.CodeOf(o.Err), o.Err.Error())
	for _, p := range parts {
		require.True(t, strings.Contains(o.Err.Error(), p), "%q says nothing of %q", o.Err, p)
	}
}
