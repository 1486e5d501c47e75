package custom_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools/custom"
)

// Would catch: a script that hands the secret out in another spelling, or as its result.
func TestASecretLeavesNoScript(t *testing.T) {
	const secret = `k3y/"+=zz`
	b := newBench(t, func(o *custom.Options) {
		o.Secret = func(_ context.Context, name string) (string, bool, error) {
			return map[string]string{"KEY": secret, "PIN": "12345678"}[name], true, nil
		}
	}, nil)
	declare := func(c *core.CustomTool) { c.Secrets = []string{"KEY", "PIN"} }
	for _, code := range []string{
		`return k`, `return { k, n: [k] }`, `return btoa(k)`, `return encodeURIComponent(k)`, `return JSON.stringify({ k })`, `return { [k]: 1 }`,
		`return [...new TextEncoder().encode(k)].map(n => n.toString(16).padStart(2, "0")).join("")`,
		`throw new Error("with " + k)`, `throw k`, `throw { k }`,
	} {
		o := b.run(`const k = await secrets.get("KEY"); `+code, declare)
		require.NoError(t, o.Err)
		shown := o.Result.Text() + string(o.Result.StructuredContent) + o.ModelText
		require.Contains(t, shown, "••••", code)
		for _, form := range []string{"k3y", "k3y%2F", "6b3379", strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "=")} {
			require.NotContains(t, shown, form, code)
		}
	}
	o := b.run(`return { n: Number(await secrets.get("PIN")) }`, declare)
	require.NoError(t, o.Err)
	require.Equal(t, `{"n":••••••••}`, o.Result.Text())
	require.Nil(t, o.Result.StructuredContent, "what is no JSON any more must not be called JSON")
}

// Would catch: questions that pile up in our process while the first of them wait.
func TestQuestionsThatWaitCountAsMemory(t *testing.T) {
	b := newBench(t, func(o *custom.Options) { o.Memory = 16 << 20 }, nil)
	b.servers.gate = make(chan struct{}) // nothing is answered
	const first = `for (let i = 0; i < 8; i++) tools.call("one__read").catch(() => {}); `
	for _, code := range []string{
		first + `const s = "x".repeat(1e6); for (let i = 0; i < 100; i++) tools.call("one__read", { s }).catch(() => {}); await new Promise(() => {})`,
		first + `Object.defineProperty(Map.prototype, "size", { get() { return 0 } }); for (;;) { tools.call("one__read").catch(() => {}); await 0 }`,
	} {
		sentence(t, b.run(code), core.CodeTooLarge, "script needed more than the 16 MiB")
	}
	b.servers.gate = nil
	require.Equal(t, "1", b.run(`return 1`).Result.Text())
}

// Would catch: a script that makes the audit say what did not happen, or that is
// told nothing it can act on.
func TestAnExceptionIsNoLimit(t *testing.T) {
	b := newBench(t, nil, nil)
	o := b.run(`const e = new Error("interrupted"); e.name = "InternalError"; throw e`)
	require.Equal(t, core.CallToolError, o.Status, "it ran no longer than it may")
	o = b.run(`throw new Error("x".repeat(5e6))`)
	require.Equal(t, core.CallToolError, o.Status)
	require.Less(t, len(o.Result.Text()), 100_000)
	o = b.run(`let o = {}; for (let i = 0; i < 1e6; i++) o = { o }; return o`)
	require.Contains(t, o.Result.Text()+errorText(o), "memory")
}

func errorText(o core.Outcome) string {
	if o.Err == nil {
		return ""
	}
	return o.Err.Error()
}
