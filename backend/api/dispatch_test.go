package api

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// every channel must be callable by the dispatcher and describable to the page.
func TestChannelsHaveTheShapeOfTheContract(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Channels() {
		require.Regexp(t, `^[a-z]+:[a-z][A-Za-z]*$`, c.Name)
		require.Regexp(t, `^[A-Z][a-z]+[A-Z][A-Za-z]*$`, c.Bound)
		require.False(t, seen[c.Bound], c.Bound)
		seen[c.Bound] = true
		field, _ := reflect.TypeFor[Facades]().FieldByName(c.Facade)
		m, ok := field.Type.MethodByName(c.Method)
		require.True(t, ok)
		require.Equal(t, reflect.TypeFor[context.Context](), m.Type.In(1), c.Name)
		require.LessOrEqual(t, m.Type.NumIn(), 3, c.Name)
		require.Equal(t, reflect.TypeFor[error](), m.Type.Out(m.Type.NumOut()-1), c.Name)
	}
	for _, want := range []string{"mcp:getServers", "mcp:addServer", "mcp:updateServer", "mcp:removeServer", "mcp:testServer", "mcp:reconnectServer",
		"mcp:disconnectServer", "tools:get", "tools:add", "tools:update", "tools:remove", "tools:execute", "tools:cancel", "chat:send", "chat:stop", "approvals:resolve"} {
		require.Contains(t, names(), want)
	}
}

func names() (out []string) {
	for _, c := range Channels() {
		out = append(out, c.Name)
	}
	return out
}

type odd struct {
	List   []string            `json:"list"`
	Map    map[string]int      `json:"map"`
	Raw    json.RawMessage     `json:"raw"`
	Nested []struct{ L []int } `json:"nested"`
	Number float64             `json:"number"`
}

type input struct {
	Text string `json:"text"`
}

// plain builds a dispatcher with one channel around any function.
func plain(fn any) *Dispatcher {
	v := reflect.ValueOf(fn)
	c := Channel{Name: "x:y"}
	if v.Type().NumIn() == 2 {
		c.In = v.Type().In(1)
	}
	if v.Type().NumOut() == 2 {
		c.Out = v.Type().Out(0)
	}
	d := NewDispatcher(context.Background(), Facades{}, nil)
	d.channels["x:y"] = target{c, v}
	return d
}

func TestListsAreNeverNull(t *testing.T) {
	d := plain(func(context.Context) (odd, error) {
		return odd{Raw: json.RawMessage("null"), Nested: make([]struct{ L []int }, 1)}, nil
	})
	out, err := d.Call(t.Context(), "x:y", "", nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"list":[],"map":{},"raw":null,"nested":[{"L":[]}],"number":0}`, string(out))
}

// What ends a Wails app, or leaves its page waiting, is an error here.
func TestFaultsBecomeErrors(t *testing.T) {
	_, err := plain(func(context.Context) (odd, error) { return odd{Number: math.NaN()}, nil }).Call(t.Context(), "x:y", "", nil)
	require.Equal(t, core.CodeInternal, core.CodeOf(err))
	_, err = plain(func(context.Context) error { panic("secret detail") }).Call(t.Context(), "x:y", "", nil)
	require.Equal(t, core.CodeInternal, core.CodeOf(err))
	require.NotContains(t, err.Error(), "secret detail")
	_, err = plain(func(context.Context) error { return nil }).Call(t.Context(), "no:such", "", nil)
	require.Equal(t, core.CodeNotFound, core.CodeOf(err))
	_, err = plain(func(context.Context) error { return errors.New("plain") }).Call(t.Context(), "x:y", "", nil)
	require.Equal(t, core.CodeInternal, core.CodeOf(err))
	_, err = plain(func(context.Context) error { return core.Errorf(core.CodeConflict, "taken") }).Call(t.Context(), "x:y", "", nil)
	require.Equal(t, core.CodeConflict, core.CodeOf(err))
}

func TestInputIsDecodedStrictly(t *testing.T) {
	d := plain(func(_ context.Context, in input) (string, error) { return in.Text, nil })
	out, err := d.Call(t.Context(), "x:y", "", []byte(`{"text":"é"}`))
	require.NoError(t, err)
	require.Equal(t, `"é"`, string(out))
	for _, bad := range []string{`{"txt":"typo"}`, `{"text":1}`, `{`, `[]`, `{} {}`} {
		_, err := d.Call(t.Context(), "x:y", "", []byte(bad))
		require.Equal(t, core.CodeInvalid, core.CodeOf(err), bad)
	}
}

func TestCancelEndsARunningCall(t *testing.T) {
	started := make(chan struct{})
	d := plain(func(ctx context.Context) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	})
	ended := make(chan error)
	go func() {
		_, err := d.Call(context.Background(), "x:y", "id", nil)
		ended <- err
	}()
	<-started
	_, err := d.Call(t.Context(), "x:y", "id", nil)
	require.Equal(t, core.CodeConflict, core.CodeOf(err), "an id names one call")
	d.Cancel("nobody")
	d.Cancel("id")
	select {
	case err := <-ended:
		require.Equal(t, core.CodeCanceled, core.CodeOf(err))
	case <-time.After(5 * time.Second):
		t.Fatal("the call did not end")
	}
}

func TestMaskNeverBecomesAValue(t *testing.T) {
	require.True(t, isReference("${secret:fs/KEY}"))
	require.True(t, isReference("${HOME}"))
	require.False(t, isReference("${A:-sk-123}"), "a default may be the secret itself")
	require.False(t, isReference("${A}${B}"))
	require.False(t, isReference("sk-123"))
	env := map[string]string{"K": "sk-123", "R": "${secret:x}", "E": ""}
	require.Equal(t, map[string]string{"K": "••••••••", "R": "${secret:x}", "E": ""}, masked(env))
	require.Equal(t, "sk-123", env["K"], "masking must not touch the configuration itself")
	require.Error(t, unmasked(core.ServerSpec{Headers: map[string]string{"A": "••••••••"}}))
}

// The secrets for signing in must not reach the page, and must survive an edit there.
func TestSecretsOfAuthAreMasked(t *testing.T) {
	saved := &core.ServerAuth{ClientID: "us", ClientSecret: "s1", PrivateKey: "pem", Assertion: "${secret:jwt}", IdentityProvider: &core.IdentityProvider{TokenURL: "https://idp.example", ClientSecret: "s2"}}
	shown := view(core.ServerSpec{Name: "s", Auth: saved}, core.ServerStatus{}).Spec.Auth
	text, err := json.Marshal(shown)
	require.NoError(t, err)
	for _, secret := range []string{"s1", "pem", "s2"} {
		require.NotContains(t, string(text), `"`+secret+`"`)
	}
	require.Equal(t, "us", shown.ClientID)
	require.Equal(t, "${secret:jwt}", shown.Assertion, "a reference is no secret")
	require.Equal(t, "s1", saved.ClientSecret, "masking must not touch the configuration itself")
	require.Error(t, unmasked(core.ServerSpec{Auth: shown}))
	shown.ClientID = "others"
	back := unmask(core.ServerSpec{Auth: shown}, core.ServerSpec{Auth: saved}).Auth
	require.Equal(t, "s1 pem s2", back.ClientSecret+" "+back.PrivateKey+" "+back.IdentityProvider.ClientSecret)
	require.Equal(t, "others", back.ClientID)
	require.NoError(t, unmasked(core.ServerSpec{Auth: back}))
	require.Error(t, unmasked(unmask(core.ServerSpec{Auth: shown}, core.ServerSpec{})))
}
