package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
)

// The store also holds keys of providers and tokens; none of them is to be seen
// or changed here, and no value comes out.
func TestSecretsNameUsersAndKeepToThemselves(t *testing.T) {
	b := servers(t)
	ctx := t.Context()
	f := NewSecrets(b.secrets, b.config, b.manager, nil)
	for _, name := range []string{"provider/openai", "oauth/github"} {
		require.NoError(t, b.secrets.Set(ctx, name, "h1dden"))
		require.Equal(t, core.CodeInvalid, core.CodeOf(f.Remove(ctx, wire.RemoveSecretInput{Name: name, EvenIfUsed: true})))
		_, err := f.Save(ctx, wire.SaveSecretInput{Name: name, Value: "x"})
		require.Equal(t, core.CodeInvalid, core.CodeOf(err))
	}
	for _, bad := range []wire.SaveSecretInput{{Name: " ", Value: "v"}, {Name: "a}", Value: "v"}, {Name: "a\nb", Value: "v"}, {Name: "a"}} {
		_, err := f.Save(ctx, bad)
		require.Error(t, err, bad.Name)
	}
	spec := full() // it has REF: ${secret:s/api-key}
	_, err := b.AddServer(ctx, wire.AddServerInput{Server: spec})
	require.NoError(t, err)
	view, err := f.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []wire.SecretView{{Name: "s/api-key", UsedBy: []wire.SecretUse{{Server: "s"}}}}, view.Secrets)
	_, err = f.Save(ctx, wire.SaveSecretInput{Name: "s/api-key", Value: "v4lue"})
	require.NoError(t, err)
	view, err = f.List(ctx)
	require.NoError(t, err)
	require.True(t, view.Secrets[0].Kept)
	leaks(t, view, "v4lue", "h1dden")
	err = f.Remove(ctx, wire.RemoveSecretInput{Name: "s/api-key"})
	require.Equal(t, core.CodeConflict, core.CodeOf(err))
	require.ErrorContains(t, err, "the server s would stop working")
	_, err = b.RemoveServer(ctx, wire.NameInput{Name: "s"})
	require.NoError(t, err)
	view, err = f.List(ctx)
	require.NoError(t, err)
	require.Empty(t, view.Secrets[0].UsedBy, "the secret of a removed server is kept and not used")
	require.NoError(t, f.Remove(ctx, wire.RemoveSecretInput{Name: "s/api-key"}))
	v, ok, err := b.secrets.Get(ctx, "provider/openai")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "h1dden", v)
}
