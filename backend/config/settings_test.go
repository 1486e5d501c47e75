package config

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

const withSettings = `{
  "mcpServers": {
    "files": {
      "command": "files", // ours
      "timeout": 5000,
      "maxTotalTimeout": 60000,
      "toolTimeouts": { "slow": 120000 },
      "connectTimeout": 20000,
      "start": "on_demand", // seldom needed
      "idleStop": 1000,
      "toolListTtl": 300000,
      "disabledTools": ["delete"],
      "roots": ["~/notes"],
      "auth": { "grant": "client_credentials", "clientId": "us", "clientSecret": "${secret:files/client}" }
    }
  }
}`

func TestSettingsOfAServer(t *testing.T) {
	s, path := open(t, withSettings)
	f, err := s.Current()
	require.NoError(t, err)
	require.Empty(t, f.Skipped)
	spec := f.Servers[0]
	assert.Equal(t, core.ServerSpec{
		Name: "files", Transport: core.TransportStdio, Command: "files", TimeoutMS: 5000, MaxTotalTimeoutMS: 60000,
		ToolTimeouts: map[string]int64{"slow": 120000}, ConnectTimeoutMS: 20000, Start: core.StartOnDemand, IdleStopMS: 1000,
		ToolListTTLMS: 300000, DisabledTools: []string{"delete"}, Roots: []string{"~/notes"},
		Auth: &core.ServerAuth{Grant: core.GrantClientCredentials, ClientID: "us", ClientSecret: "${secret:files/client}"},
	}, spec)

	spec.DisabledTools, spec.IdleStopMS, spec.Roots = []string{"delete", "move"}, 0, nil
	require.NoError(t, s.UpdateServer(context.Background(), "files", spec))
	now := text(t, path)
	assert.Contains(t, now, "// seldom needed", "a comment is lost")
	assert.Contains(t, now, `"move"`)
	assert.NotContains(t, now, "idleStop")
	assert.NotContains(t, now, "roots")
	assert.Contains(t, now, `"slow": 120000`)
}

func TestWrongSettingsNameThemselves(t *testing.T) {
	for _, wrong := range []string{
		`"start": "sometimes"`, `"roots": "~"`, `"disabledTools": [1]`, `"idleStop": -1`, `"toolTimeouts": {"a": -2}`,
		`"auth": {"grant": "magic"}`, `"auth": {"clientID": 1}`, `"maxTotalTimeout": 1.5`,
	} {
		s, _ := open(t, `{"mcpServers": {"files": {"command": "files", `+wrong+`}}}`)
		f, err := s.Current()
		require.NoError(t, err)
		require.Len(t, f.Skipped, 1, wrong)
		var key map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte("{"+wrong+"}"), &key))
		for k := range key {
			assert.ErrorContains(t, f.Skipped[0].Error, k)
		}
	}
}
