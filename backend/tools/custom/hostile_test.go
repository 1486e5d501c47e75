package custom_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools/custom"
)

// hostile are scripts that do not want to end, or want all there is. Each must
// end by the limit and leave everything else alone.
func hostile() map[string]string {
	return map[string]string{
		"loop":              `for (;;) {}`,
		"loop in try":       `try { for (;;) {} } catch { for (;;) {} } finally { for (;;) {} }`,
		"endless await":     `for (;;) await 0`,
		"endless jobs":      `const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})`,
		"endless timers":    `setInterval(() => {}, 0); await new Promise(() => {})`,
		"endless progress":  `for (;;) { progress(1); console.log("x") }`,
		"regex":             `return /^(a+)+$/.test("a".repeat(40) + "b")`,
		"regex lookahead":   `return /(?=(a+))\1+b(.*)*$/.test("a".repeat(60000))`,
		"regex backref":     `return /(a*)*\1b/.test("a".repeat(50))`,
		"deep JSON.parse":   `return JSON.parse("[".repeat(5e6))`,
		"deep stringify":    `let o = {}; for (let i = 0; i < 1e6; i++) o = { o }; return o`,
		"memory":            `const a = []; for (;;) a.push(new Array(1e5).fill(1))`,
		"memory, strings":   `let s = "x"; for (;;) s += s + s`,
		"memory, buffers":   `const a = []; for (;;) a.push(new ArrayBuffer(1 << 20))`,
		"memory, caught":    `const a = []; for (;;) { try { a.push(new Array(1e5).fill(1)) } catch {} }`,
		"memory, objects":   `const m = new Map(); for (let i = 0; ; i++) m.set({ i }, { i })`,
		"big array":         `return new Array(2 ** 32 - 1).fill(0)`,
		"big string":        `return "x".repeat(5e8)`,
		"native join":       `return new Array(2e8).join("ab").length`,
		"native fill":       `const a = new Array(5e6); for (;;) a.fill(1).reverse().join("")`,
		"recursion":         `const f = () => f() + 1; return f()`,
		"recursion, getter": `const o = { get a() { return this.a } }; return o.a`,
		"recursion, proxy":  `let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x`,
		"recursion, toJSON": `const o = { toJSON() { return { o } } }; return o`,
		"sort":              `return [..."x".repeat(1e5)].sort(() => { for (;;); })`,
		"sort, wild":        `const a = Array.from({ length: 1e6 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)`,
		"bigint":            `let n = 3n; for (;;) n = n ** 3n`,
		"hostile error":     `const e = new Error(); Object.defineProperty(e, "message", { get() { for (;;); } }); throw e`,
		"hostile toJSON":    `return { toJSON() { for (;;); } }`,
		"proxy keys":        `return new Proxy({}, { ownKeys() { return Array.from({ length: 1e6 }, (_, i) => "k" + i) }, getOwnPropertyDescriptor() { return { enumerable: true, configurable: true, value: 1 } } })`,
		"array holes":       `const a = []; a[2 ** 32 - 2] = 1; return a`,
		"copyWithin":        `return Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 1, 0)`,
		"String.raw":        `return String.raw({ raw: { length: 2 ** 53 - 1 } }, "x")`,
		"replaceAll":        `return "x".repeat(1e6).replaceAll("x", "y".repeat(1e6)).length`,
		"questions":         `Object.defineProperty(Map.prototype, "size", { get() { return 0 } }); for (;;) files.read("/x").catch(() => {})`,
		"host's own glue":   `Array.prototype.join = () => new Proxy({}, { get() { for (;;); }, ownKeys() { for (;;); } }); console.log(1)`,
		"thenable":          `return { then() { for (;;); } }`,
		"never":             `await new Promise(r => setTimeout(r, 1e9))`,
	}
}

func rounds() int {
	n, err := strconv.Atoi(os.Getenv("PATCHBAY_HOSTILE"))
	if err != nil {
		return 2
	}
	return n
}

// G1: PATCHBAY_HOSTILE=100 runs each script a hundred times.
func TestHostileScripts(t *testing.T) {
	const limit = 100 * time.Millisecond
	b := newBench(t, nil, nil)
	b.add("word", `return "fine"`)
	var worst time.Duration
	for name, code := range hostile() {
		t.Run(name, func(t *testing.T) {
			b.add("evil", `console.log("begun"); `+code, limited(limit))
			ref := b.runner.Set(b.list)[len(b.list)-1].Ref
			b.runner.Call(t.Context(), b.runner.Set(b.list)[0].Ref, "warm", nil, nil) // so that no start of a process is measured
			for i := range rounds() {
				called := time.Now()
				var began time.Time // when the script really ran: a busy machine may take its time to get there
				res, err := b.runner.Call(t.Context(), ref, name+strconv.Itoa(i), nil, func(core.Chunk) {
					if began.IsZero() {
						began = time.Now()
					}
				})
				if began.IsZero() { // on a machine so busy that it did not get there
					began = called
				}
				took := time.Since(began)
				worst = max(worst, took)
				if err == nil {
					require.True(t, res.IsError || name == "native join" || strings.HasPrefix(name, "regex") || strings.HasPrefix(name, "recursion, proxy"), "it came to an end: %.200s", res.Text())
				} else {
					require.Contains(t, []core.Code{core.CodeTimeout, core.CodeTooLarge}, core.CodeOf(err), err.Error())
					require.Contains(t, err.Error(), "evil ")
				}
				require.Less(t, took, 20*time.Second, "it was not stopped")
				if took > limit+200*time.Millisecond {
					t.Logf("round %d ran %s, %s after it was called: %v", i, took, began.Sub(called), err)
				}
				o, err := b.runner.Call(t.Context(), b.runner.Set(b.list)[0].Ref, "after"+strconv.Itoa(i), nil, nil)
				require.NoError(t, err, "the next call was hit")
				require.Equal(t, "fine", o.Text())
			}
		})
	}
	t.Logf("the longest ran %s", worst)
}

func TestLimitsAreToldClearly(t *testing.T) {
	b := newBench(t, nil, nil)
	o := b.run(`for (;;) {}`, limited(50*time.Millisecond))
	require.Equal(t, core.CallTimeout, o.Status)
	sentence(t, o, core.CodeTimeout, "script ran longer than its limit of 50ms", "Raise its timeout")
	o = b.run(`const a = []; for (;;) a.push(new Array(1e5).fill(1))`)
	sentence(t, o, core.CodeTooLarge, "script needed more than the 64 MiB")
	o = b.run(`const f = () => f() + 1; return f()`)
	require.Equal(t, core.CallToolError, o.Status)
	require.Contains(t, o.Result.Text(), "called itself too deeply")
}

// While one script misbehaves, others must not notice.
func TestOthersGoOnBesideAHostileScript(t *testing.T) {
	b := newBench(t, nil, nil)
	b.add("good", `return 1`)
	b.add("evil", `const a = []; for (;;) { try { a.push(new Array(1e5).fill(1)) } catch {} }`, limited(300*time.Millisecond))
	defs := b.runner.Set(b.list)
	done := make(chan error, 1)
	go func() {
		_, err := b.runner.Call(context.Background(), defs[1].Ref, "evil", nil, nil)
		done <- err
	}()
	n := 0
	for {
		select {
		case err := <-done:
			require.Error(t, err)
			require.Greater(t, n, 5)
			return
		default:
		}
		r, err := b.runner.Call(t.Context(), defs[0].Ref, "good"+strconv.Itoa(n), nil, nil)
		require.NoError(t, err)
		require.Equal(t, "1", r.Text())
		n++
	}
}

// G3: none of these may reach anything. Each returns "in" when it is kept in.
func TestEscapes(t *testing.T) {
	b := newBench(t, nil, nil)
	code := `
const ways = {
  eval: () => eval("1"),
  indirectEval: () => (0, globalThis.eval)("1"),
  Function: () => Function("return 1")(),
  newFunction: () => new Function("return 1")(),
  fnConstructor: () => (() => {}).constructor("return 1")(),
  deepConstructor: () => [].constructor.constructor("return 1")(),
  errConstructor: () => { try { null.x } catch (e) { return e.constructor.constructor("return 1")() } },
  asyncConstructor: () => (async () => {}).constructor("return 1")(),
  genConstructor: () => (function* () {}).constructor("return 1")(),
  asyncGenConstructor: () => (async function* () {}).constructor("return 1")(),
  protoConstructor: () => Object.getPrototypeOf(() => {}).constructor("return 1")(),
  reflect: () => Reflect.construct((() => {}).constructor, ["return 1"])(),
  hostFunction: () => console.log.constructor("return 1")(),
  toolsConstructor: () => tools.call.constructor("return 1")(),
  promiseConstructor: () => fetch("x").catch(() => {}).constructor.constructor("return 1")(),
  classConstructor: () => class {}.constructor("return 1")(),
  timerText: () => setTimeout("1", 0),
  std: () => std.open("/etc/passwd", "r"),
  os: () => os.exec(["id"]),
  process: () => process.env.PATH,
  require: () => require("fs"),
  host: () => __host("ask", 1, "read", "{}"),
  bjson: () => bjson.read(),
  worker: () => new Worker("x"),
  xhr: () => new XMLHttpRequest(),
  websocket: () => new WebSocket("ws://127.0.0.1"),
  loadScript: () => loadScript("/etc/passwd"),
  scriptArgs: () => scriptArgs[0],
  print: () => print(1),
  gc: () => gc(),
  importMeta: () => globalThis.import,
  shadow: () => new ShadowRealm(),
  wasm: () => WebAssembly.compile,
  Deno: () => Deno.env,
  Bun: () => Bun.env,
  navigatorUse: () => navigator.sendBeacon,
  callerFn: () => (function f() { return f.caller.constructor("return 1")() })(),
  global: () => global.process,
  windowUse: () => window.location,
  self: () => self.location,
  atomicsWait: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10),
};
const out = [];
for (const [name, way] of Object.entries(ways)) {
  try { const r = await way(); if (r !== undefined || name === "timerText") out.push(name + ": " + String(r)) } catch {}
}
for (const m of ["os", "std", "fs", "node:fs", "/etc/passwd", "./x.js", "data:text/javascript,export default 1", "https://example.com/x.js"]) {
  try { await import(m); out.push("import " + m) } catch {}
}
return out`
	o := b.run(code)
	require.NoError(t, o.Err)
	require.Equal(t, "[]", o.Result.Text())
	// The wrapper around the code can be closed, but what follows stands in the same room.
	o = b.run("})(); (async function () { return typeof __host + typeof process + typeof eval")
	require.Equal(t, "undefinedundefinedundefined", o.Result.Text())
}

// A worker must hold nothing of ours: no environment, no files, and no right to open any.
func TestAWorkerHasNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	t.Setenv("PATCHBAY_CANARY", "secret")
	b := newBench(t, nil, nil)
	pid := slowCall(t, b)
	limits, err := os.ReadFile("/proc/" + pid + "/limits")
	require.NoError(t, err)
	require.Regexp(t, `Max open files\s+0\s+0`, string(limits))
	require.Regexp(t, `Max file size\s+0\s+0`, string(limits))
	status, err := os.ReadFile("/proc/" + pid + "/status")
	require.NoError(t, err)
	require.Contains(t, string(status), "NoNewPrivs:\t1")
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	if err == nil { // the system may hide it even from us
		require.NotContains(t, string(env), "PATCHBAY_CANARY")
	}
}

// slowCall starts a call that lasts until the test ends and returns the number of its worker's process.
func slowCall(t *testing.T, b *bench) string {
	t.Helper()
	b.add("slow", `console.log("here"); await new Promise(r => setTimeout(r, 60000))`, limited(time.Minute))
	ctx, cancel := context.WithCancel(context.Background())
	here, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = b.runner.Call(ctx, b.runner.Set(b.list)[0].Ref, "slow", nil, func(core.Chunk) { close(here) })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	<-here
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(os.Getpid()), "-f", "javascript-worker").Output()
	require.NoError(t, err)
	pids := strings.Fields(string(out))
	require.NotEmpty(t, pids)
	return pids[0]
}

// kill -9 of a worker ends its call with a clear error and nothing else.
func TestAWorkerThatDies(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("uses pgrep")
	}
	b := newBench(t, nil, nil)
	b.add("slow", `console.log("here"); await new Promise(r => setTimeout(r, 60000))`, limited(time.Minute))
	var killed atomic.Bool
	o := b.gate.Call(t.Context(), core.Principal{Kind: core.PrincipalWindow}, core.ToolCall{Alias: "slow"}, core.Watch{Chunk: func(core.Chunk) {
		if killed.CompareAndSwap(false, true) {
			_ = exec.Command("pkill", "-9", "-P", strconv.Itoa(os.Getpid()), "-f", "javascript-worker").Run()
		}
	}})
	sentence(t, o, core.CodeUnavailable, "The worker that ran slow ended in the middle", "the next call gets a new worker")
	require.Equal(t, core.CallFailed, o.Status)
	// The worker that was kept warm was killed as well, which may not be known yet.
	require.Eventually(t, func() bool { return b.run("return 1").Result.Text() == "1" }, 10*time.Second, 10*time.Millisecond)
}

// kill -9 of the program must leave no worker behind, not even one in a native
// loop. The child of this test is the program.
func TestNoWorkerOutlivesTheProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	if os.Getenv("PATCHBAY_TEST_PARENT") != "" {
		b := newBench(t, nil, nil)
		b.run(os.Getenv("PATCHBAY_TEST_PARENT"), limited(time.Minute))
		return
	}
	for _, code := range []string{`for (;;) {}`, `return new Array(2e9).join("ab").length`, `await new Promise(r => setTimeout(r, 60000))`} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestNoWorkerOutlivesTheProgram$")
		cmd.Env = append(os.Environ(), "PATCHBAY_TEST_PARENT="+code)
		require.NoError(t, cmd.Start())
		var pids []string
		require.Eventually(t, func() bool {
			out, _ := exec.Command("pgrep", "-P", strconv.Itoa(cmd.Process.Pid), "-f", "javascript-worker").Output()
			pids = strings.Fields(string(out))
			return len(pids) > 0
		}, 20*time.Second, 20*time.Millisecond)
		time.Sleep(100 * time.Millisecond) // into the script; if it is not, the test is only weaker
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		require.Eventually(t, func() bool {
			for _, pid := range pids {
				if state, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(state), ") Z ") {
					return false
				}
			}
			return true
		}, 20*time.Second, 20*time.Millisecond, "a worker is left: %s", code)
	}
}

// Workers end when nobody needs them.
func TestIdleWorkersEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("uses pgrep")
	}
	b := newBench(t, func(o *custom.Options) { o.Idle = 50 * time.Millisecond }, nil)
	b.run("return 1")
	require.Eventually(t, func() bool {
		out, _ := exec.Command("pgrep", "-P", strconv.Itoa(os.Getpid()), "-f", "javascript-worker").Output()
		return len(out) == 0
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, "1", b.run("return 1").Result.Text())
}

// P9: a warm call beside a bare function of the same process.
func BenchmarkCall(b *testing.B) {
	bb := newBench(b, nil, nil)
	bb.add("word_count", `return { words: args.text.split(/\s+/).length }`)
	ref := bb.runner.Set(bb.list)[0].Ref
	args := []byte(`{"text":"a b c d e f g"}`)
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			_ = len(strings.Fields("a b c d e f g"))
		}
	})
	b.Run("worker", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			if _, err := bb.runner.Call(b.Context(), ref, "x", args, nil); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	})
	b.Run("gate and worker", func(b *testing.B) {
		def := bb.runner.Set(bb.list)[0]
		for n := 0; b.Loop(); n++ { // each call as of a run of its own, for which the limiter keeps an allowance
			p := core.Principal{Kind: core.PrincipalWindow, RunID: strconv.Itoa(n)}
			if o := bb.gate.Try(b.Context(), p, def, core.ToolCall{Arguments: args}, core.Watch{}); o.Err != nil {
				b.Fatal(o.Err)
			}
		}
	})
}
