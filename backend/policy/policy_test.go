package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

func TestDefaultRules(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name   string
		a      core.Annotations
		effect core.Effect
		rule   string
		risk   core.Risk
	}{
		{"list_directory", core.Annotations{ReadOnlyHint: &yes}, core.Allow, "read-only-hint", core.RiskLow},
		{"list_directory", core.Annotations{}, core.Ask, "not-read-only", core.RiskMedium},
		{"list_directory", core.Annotations{ReadOnlyHint: &no}, core.Ask, "not-read-only", core.RiskMedium},
		{"tidy", core.Annotations{DestructiveHint: &yes}, core.Ask, "destructive-hint", core.RiskHigh},
		{"tidy", core.Annotations{DestructiveHint: &yes, ReadOnlyHint: &yes}, core.Ask, "destructive-hint", core.RiskHigh},
		// A lying server must not get a write through by claiming to read.
		{"write_file", core.Annotations{ReadOnlyHint: &yes}, core.Ask, "dangerous-name", core.RiskMedium},
		{"overwriteAll", core.Annotations{ReadOnlyHint: &yes}, core.Ask, "dangerous-name", core.RiskMedium},
		{"browser_run_code", core.Annotations{ReadOnlyHint: &yes}, core.Ask, "dangerous-name", core.RiskMedium},
		{"executeQuery", core.Annotations{ReadOnlyHint: &yes}, core.Ask, "dangerous-name", core.RiskHigh},
		{"evaluate_script", core.Annotations{ReadOnlyHint: &yes}, core.Ask, "dangerous-name", core.RiskHigh},
		{"DELETE_FILE", core.Annotations{ReadOnlyHint: &yes}, core.Ask, "dangerous-name", core.RiskHigh},
		{"createIssue", core.Annotations{ReadOnlyHint: &yes}, core.Ask, "dangerous-name", core.RiskMedium},
		{"updated-at", core.Annotations{ReadOnlyHint: &yes}, core.Ask, "dangerous-name", core.RiskMedium},
		// Words that only look alike stay quiet.
		{"document_retrieval", core.Annotations{ReadOnlyHint: &yes}, core.Allow, "read-only-hint", core.RiskLow},
		{"prune_preview", core.Annotations{ReadOnlyHint: &yes}, core.Allow, "read-only-hint", core.RiskLow},
		{"runtime_info", core.Annotations{ReadOnlyHint: &yes}, core.Allow, "read-only-hint", core.RiskLow},
	} {
		d := Default().Evaluate(core.PolicyRequest{Tool: core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: "s", Name: c.name}, Annotations: c.a}})
		require.Equal(t, c.effect, d.Effect, c.name)
		require.Equal(t, c.rule, d.Rule, c.name)
		require.Equal(t, c.risk, d.Risk, c.name)
		require.NotEmpty(t, d.Why)
	}
}

// A decision without an effect would be read as a denial that nobody can explain.
func TestAnEngineWithoutRulesAsks(t *testing.T) {
	d := (&Engine{}).Evaluate(core.PolicyRequest{})
	require.Equal(t, core.Ask, d.Effect)
}

// A command must never run on a yes that was given to another one.
func TestBuiltInToolsThatReachFurtherAsk(t *testing.T) {
	yes := true
	for name, once := range map[string]bool{"run_command": true, "fetch_url": false} {
		d := Default().Evaluate(core.PolicyRequest{Tool: core.Tool{Ref: core.ToolRef{Kind: core.ToolBuiltin, Name: name}, Annotations: core.Annotations{ReadOnlyHint: &yes}}})
		require.Equal(t, core.Ask, d.Effect, name)
		require.Equal(t, once, d.Once, name)
	}
	d := Default().Evaluate(core.PolicyRequest{Tool: core.Tool{Ref: core.ToolRef{Kind: core.ToolBuiltin, Name: "read_file"}, Annotations: core.Annotations{ReadOnlyHint: &yes}}})
	require.Equal(t, core.Allow, d.Effect)
}
