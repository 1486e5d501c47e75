// Package policy decides about a tool call without a person. Its rules are
// pure functions: no I/O and no clock, so that the same input always gives the
// same decision and every decision names its rule.
package policy

import (
	"fmt"
	"strings"
	"unicode"

	"patchbay/backend/core"
)

// Rule looks at a request and decides, or leaves it to the next rule.
type Rule struct {
	Name string // stable; recorded in the audit log
	// Once says that a yes to what this rule asks cannot be remembered.
	Once  bool
	Judge func(core.PolicyRequest) (effect core.Effect, risk core.Risk, why string, decided bool)
}

// Choices are what a person chose for single tools, from memory.
type Choices interface {
	// Choice returns the choice for a tool by its name, and false for none.
	Choice(core.ToolRef) (core.ToolApproval, bool)
}

// Engine asks what a person chose for the tool, then its rules in order; the
// first that decides wins. Where none does, a person is asked.
type Engine struct {
	rules   []Rule
	choices Choices // nil: none
}

// Default returns the rules that the product ships with: a tool runs unasked
// only when its server says that it is read-only and nothing about it says otherwise.
func Default() *Engine {
	return &Engine{rules: []Rule{commandLine, fetching, destructiveHint, dangerousName, readOnlyHint, unannotated}}
}

// With returns the engine that asks choices before the rules of e.
func (e *Engine) With(choices Choices) *Engine { return &Engine{rules: e.rules, choices: choices} }

// Evaluate returns the decision on one request. It never returns the zero Decision.
func (e *Engine) Evaluate(r core.PolicyRequest) core.Decision {
	d := e.Inherited(r)
	if e.choices == nil {
		return d
	}
	a, ok := e.choices.Choice(r.Tool.Ref)
	if !ok {
		return d
	}
	return chosen(a, r.Tool.Ref.Digest, d)
}

// RuleChosen is the rule of a decision that a person made for the tool.
const RuleChosen = "chosen"

// chosen applies the choice a to the tool with this digest, where the rules say d.
func chosen(a core.ToolApproval, digest string, d core.Decision) core.Decision {
	switch a.Choice {
	case core.ChoiceBlock:
		return core.Decision{Effect: core.Deny, Rule: RuleChosen, Risk: d.Risk,
			Why: "You blocked this tool. To use it again, choose another approval for it in the Tools dialog, or run \"patchbay tools ask\" with its name."}
	case core.ChoiceAsk:
		return core.Decision{Effect: core.Ask, Rule: RuleChosen, Risk: d.Risk, Why: "You want to be asked for this tool."}
	case core.ChoiceAllow:
		if digest != "" && !a.Changed(digest) {
			return core.Decision{Effect: core.Allow, Rule: RuleChosen, Risk: d.Risk, Why: "You allowed this tool."}
		}
		if d.Effect == core.Ask {
			d.Why += " It changed since you allowed it."
		}
	}
	return d
}

// Inherited returns what the rules say where a person chose nothing for the tool.
func (e *Engine) Inherited(r core.PolicyRequest) core.Decision {
	for _, rule := range e.rules {
		if effect, risk, why, decided := rule.Judge(r); decided {
			return core.Decision{Effect: effect, Rule: rule.Name, Why: why, Risk: risk, Once: rule.Once}
		}
	}
	return core.Decision{Effect: core.Ask, Rule: "default", Why: "No rule covers this tool.", Risk: core.RiskMedium}
}

func source(r core.PolicyRequest) string {
	if r.Tool.Ref.Server != "" {
		return "The server says"
	}
	return "The tool says"
}

var commandLine = Rule{Name: "command-line", Once: true, Judge: func(r core.PolicyRequest) (core.Effect, core.Risk, string, bool) {
	if r.Tool.Ref.Kind != core.ToolBuiltin || r.Tool.Ref.Name != "run_command" {
		return "", "", "", false
	}
	return core.Ask, core.RiskHigh, "A command can do whatever you can do on this computer. Each one is asked for.", true
}}

// What an agent read before can leave with an address.
var fetching = Rule{Name: "fetch-url", Judge: func(r core.PolicyRequest) (core.Effect, core.Risk, string, bool) {
	if r.Tool.Ref.Kind != core.ToolBuiltin || r.Tool.Ref.Name != "fetch_url" {
		return "", "", "", false
	}
	return core.Ask, core.RiskMedium, "The address leaves this computer, with whatever stands in it.", true
}}

var destructiveHint = Rule{Name: "destructive-hint", Judge: func(r core.PolicyRequest) (core.Effect, core.Risk, string, bool) {
	a := r.Tool.Annotations
	if a.DestructiveHint == nil || !*a.DestructiveHint {
		return "", "", "", false
	}
	// MCP 2025-11-25, ToolAnnotations: destructiveHint means something only
	// when readOnlyHint is not true. A server that sets both is contradicting
	// itself, and the harsher claim counts.
	return core.Ask, core.RiskHigh, source(r) + " that it may destroy data.", true
}}

var dangerousName = Rule{Name: "dangerous-name", Judge: func(r core.PolicyRequest) (core.Effect, core.Risk, string, bool) {
	for _, word := range words(r.Tool.Ref.Name) {
		for _, bad := range verbs {
			if bad.in(word) {
				return core.Ask, bad.risk, fmt.Sprintf("Its name says %q.", bad.stem), true
			}
		}
	}
	return "", "", "", false
}}

type verb struct {
	stem string
	risk core.Risk
	// prefix says that the stem counts at a word's start only: "retrieval" and
	// "prune" are harmless.
	prefix bool
}

func (v verb) in(word string) bool {
	if v.stem == "run" {
		return word == "run" || word == "runs" || word == "running"
	}
	if v.prefix {
		return strings.HasPrefix(word, v.stem)
	}
	return strings.Contains(word, v.stem)
}

var verbs = [...]verb{
	{stem: "delete", risk: core.RiskHigh},
	{stem: "remove", risk: core.RiskHigh},
	{stem: "shell", risk: core.RiskHigh},
	{stem: "command", risk: core.RiskHigh},
	{stem: "exec", risk: core.RiskHigh, prefix: true},
	{stem: "eval", risk: core.RiskHigh, prefix: true},
	{stem: "write", risk: core.RiskMedium},
	{stem: "create", risk: core.RiskMedium},
	{stem: "update", risk: core.RiskMedium},
	{stem: "run", risk: core.RiskMedium},
}

var readOnlyHint = Rule{Name: "read-only-hint", Judge: func(r core.PolicyRequest) (core.Effect, core.Risk, string, bool) {
	a := r.Tool.Annotations
	if a.ReadOnlyHint == nil || !*a.ReadOnlyHint {
		return "", "", "", false
	}
	return core.Allow, core.RiskLow, source(r) + " that it only reads.", true
}}

var unannotated = Rule{Name: "not-read-only", Judge: func(r core.PolicyRequest) (core.Effect, core.Risk, string, bool) {
	if r.Tool.Annotations.ReadOnlyHint != nil {
		return core.Ask, core.RiskMedium, source(r) + " that it changes data.", true
	}
	if r.Tool.Ref.Kind == core.ToolCustom {
		return core.Ask, core.RiskMedium, "It is a tool of your own, and what its code does is not known.", true
	}
	return core.Ask, core.RiskMedium, "Its server does not say that it only reads.", true
}}

// words splits a tool's name at separators and at changes of case, in lower case.
func words(name string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			out = append(out, strings.ToLower(string(cur)))
			cur = nil
		}
	}
	prevLower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			prevLower = false
			continue
		}
		if unicode.IsUpper(r) && prevLower {
			flush()
		}
		prevLower = unicode.IsLower(r) || unicode.IsDigit(r)
		cur = append(cur, r)
	}
	flush()
	return out
}
