package custom_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/approval"
	"patchbay/backend/core"
)

// Three calls of two servers at the same time: each has a record of its own
// that names the script's call as its parent.
func TestNestedCallsAreInTheAudit(t *testing.T) {
	b := newBench(t, nil, nil)
	b.servers.gate = make(chan struct{})
	b.add("all", `const rs = await Promise.all([tools.call("one__read", { n: 1 }), tools.call("two__read", { n: 2 }), tools.call("two__look", { n: 3 })]);
return rs.map(r => [r.content[0].text, r.structuredContent.n, r.isError])`)
	done := make(chan core.Outcome)
	go func() { done <- b.call("all", `{}`) }()
	// All three are under way before the first is answered: they run in parallel.
	require.Eventually(t, func() bool { return b.servers.count() == 3 }, 20*time.Second, 5*time.Millisecond)
	close(b.servers.gate)
	o := <-done
	require.NoError(t, o.Err)
	require.JSONEq(t, `[["one: read",1,false],["two: read",2,false],["two: look",3,false]]`, o.Result.Text())
	rs := b.records()
	require.Len(t, rs, 4)
	seen := map[string]bool{}
	for _, r := range rs[:3] {
		require.Equal(t, o.CallID, r.ParentID)
		require.Equal(t, core.CallDone, r.Status)
		require.Equal(t, core.PrincipalWindow, r.Principal.Kind)
		require.Equal(t, "read-only-hint", r.Decision.Rule)
		seen[r.Ref.String()] = true
	}
	require.Len(t, seen, 3)
	require.Empty(t, rs[3].ParentID)
}

// G4: what the policy or a person refuses, a script does not get either.
func TestNestedCallsPassTheSameGate(t *testing.T) {
	b := newBench(t, nil, func(_ context.Context, a core.Approval) (core.Answer, error) {
		if a.Call.Ref.Name == "ask_first" {
			require.NotEmpty(t, a.Call.ParentID)
			return core.AnswerDeny, nil
		}
		return core.AnswerAllowOnce, nil
	})
	o := b.run(`try { await tools.call("one__ask_first") } catch (e) { return [e.name, e.code, e.message] }`)
	require.NoError(t, o.Err)
	require.Equal(t, `["Error","denied","You declined, so one: ask_first was not called."]`, o.Result.Text())
	require.Zero(t, b.servers.count())
	require.Equal(t, core.CallDenied, b.records()[0].Status)

	o = b.run(`await tools.call("no_such_tool")`)
	require.Equal(t, core.CallToolError, o.Status)
	require.Contains(t, o.Result.Text(), "no_such_tool")
	require.Equal(t, core.CallInvalid, b.records()[0].Status)

	// Only what it declares, if it declares any; the refusal is in the audit.
	only := func(c *core.CustomTool) { c.Tools = &[]string{"one__read"} }
	o = b.run(`await tools.call("one__read"); try { await tools.call("two__read") } catch (e) { return e.message }`, only)
	require.Contains(t, o.Result.Text(), `script may call only the tools that it declares. Add "two__read" to its tools`)
	require.Equal(t, core.CallDeniedRule, b.records()[0].Status)
	require.Equal(t, "nested-call", b.records()[0].Decision.Rule)
	require.Equal(t, 1, b.servers.count())
	o = b.run(`await tools.call("one__read")`, func(c *core.CustomTool) { c.Tools = &[]string{} })
	require.Equal(t, core.CallToolError, o.Status)

	// A parent that is made up lets nothing pass.
	bad := b.gate.Call(t.Context(), core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{Alias: "one__read", ParentID: "made-up"}, core.Watch{})
	require.Equal(t, core.CallDeniedRule, bad.Status)
}

func TestFanOutIsBounded(t *testing.T) {
	b := newBench(t, nil, nil)
	o := b.run(`let ok = 0, no = 0, why;
await Promise.all(Array.from({ length: 10000 }, async () => { try { await tools.call("one__read"); ok++ } catch (e) { no++; why = e.message } }));
return [ok, no]`, limited(time.Minute))
	require.NoError(t, o.Err)
	require.Equal(t, "[100,9900]", o.Result.Text())
	require.Equal(t, 100, b.servers.count())

	// The budget is one for all that a call leads to.
	b.servers.calls = nil
	b.add("inner", `let n = 0; for (let i = 0; i < 60; i++) { try { await tools.call("one__read"); n++ } catch {} } return n`, limited(time.Minute))
	b.add("outer", `const a = await tools.call("inner"); const b = await tools.call("inner"); return [a.structuredContent, b.structuredContent]`, limited(time.Minute))
	o = b.gate.Call(t.Context(), core.Principal{Kind: core.PrincipalAgent, RunID: "other"}, core.ToolCall{Alias: "outer"}, core.Watch{})
	require.NoError(t, o.Err)
	require.Equal(t, "[60,38]", o.Result.Text())
}

func TestDepthIsBounded(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("down", `try { return "(" + (await tools.call("down")).content[0].text + ")" } catch (e) { return e.message }`)
	o := b.call("down", `{}`)
	require.NoError(t, o.Err)
	require.Contains(t, o.Result.Text(), "((")
	require.NotContains(t, o.Result.Text(), "(((")
	require.Contains(t, o.Result.Text(), "3 deep only")
}

// Many parents that all wait for children must not hold all workers or all
// turns of the limiter.
func TestParentsDoNotStarveTheirChildren(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("child", `return 1`)
	b.add("parent", `await new Promise(r => setTimeout(r, 20)); return (await tools.call("child")).structuredContent`)
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			if o := b.call("parent", `{}`); o.Err != nil || o.Result.Text() != "1" {
				t.Errorf("%v %v", o.Err, o.Result)
			}
		})
	}
	wg.Wait()
}

// The child has no more time than its parent has left, and the record says so.
func TestTheDeadlineIsInherited(t *testing.T) {
	b := newBench(t, nil, nil)
	b.servers.gate = make(chan struct{})
	o := b.run(`await tools.call("one__read")`, limited(100*time.Millisecond))
	require.Equal(t, core.CallTimeout, o.Status)
	sentence(t, o, core.CodeTimeout, "script ran longer than its limit of 100ms")
	rs := b.records()
	require.Len(t, rs, 2)
	require.Equal(t, core.CallTimeout, rs[0].Status)
	require.NotEmpty(t, rs[0].EndedAt, "the child was left running")
}

// A call that nobody waits for any more ends with the script.
func TestForgottenCallsEnd(t *testing.T) {
	b := newBench(t, nil, nil)
	b.servers.gate = make(chan struct{})
	o := b.run(`tools.call("one__read"); await new Promise(r => setTimeout(r, 50)); return 1`)
	require.NoError(t, o.Err)
	require.Len(t, b.records(), 2)
	for _, r := range b.records() {
		require.NotEmpty(t, r.EndedAt)
	}
}

// While a person thinks about a nested call, the script's time stands still;
// its own work is counted all the same.
func TestApprovalDoesNotConsumeTheLimit(t *testing.T) {
	answer := make(chan struct{})
	asked := make(chan struct{}, 1)
	var ask approval.Answerer = func(ctx context.Context, a core.Approval) (core.Answer, error) {
		if a.Call.Ref.Name != "ask_first" {
			return core.AnswerAllowOnce, nil
		}
		asked <- struct{}{}
		select {
		case <-answer:
			return core.AnswerAllowOnce, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	b := newBench(t, nil, ask)
	b.add("inner", `return (await tools.call("one__ask_first")).content[0].text`, limited(400*time.Millisecond))
	b.add("outer", `return (await tools.call("inner")).content[0].text`, limited(400*time.Millisecond))
	done := make(chan core.Outcome)
	go func() { done <- b.call("outer", `{}`) }()
	<-asked
	time.Sleep(time.Second) // more than both limits
	close(answer)
	o := <-done
	require.NoError(t, o.Err)
	require.Equal(t, "one: ask_first", o.Result.Text())

	// Somebody is asked for ever, and meanwhile the script burns its time.
	answer = make(chan struct{})
	o = b.run(`tools.call("one__ask_first"); for (;;) await 0`, limited(200*time.Millisecond))
	require.Equal(t, core.CallTimeout, o.Status)
}

func TestCancelReachesNestedCalls(t *testing.T) {
	b := newBench(t, nil, nil)
	b.servers.gate = make(chan struct{})
	b.add("wait", `await tools.call("one__read")`)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan core.Outcome)
	go func() {
		done <- b.gate.Call(ctx, core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{Alias: "wait"}, core.Watch{})
	}()
	require.Eventually(t, func() bool { return b.servers.count() == 1 }, 20*time.Second, 5*time.Millisecond)
	cancel()
	require.Equal(t, core.CallCanceled, (<-done).Status)
	require.Len(t, b.records(), 2)
	for i, r := range b.records() {
		require.Equal(t, core.CallCanceled, r.Status, strconv.Itoa(i))
	}
}
