package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"patchbay/backend/core"
)

// Lengths, in characters, beyond which a definition costs more than it tells, and
// beyond which some vendors refuse it.
const (
	MaxToolTitle        = 200
	MaxToolDescription  = 2000
	MaxParamDescription = 5000
)

// Verdict is what models make of a tool's definition.
type Verdict struct {
	// Refused is why the tool is not offered to models; "" when it is.
	Refused string
	// Warnings are sentences about texts that are too long; nil for none.
	Warnings []string
}

// Judge returns the verdict on a tool.
func Judge(t core.Tool) Verdict {
	var v Verdict
	if _, err := WireSchema(t.InputSchema); err != nil {
		v.Refused = strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + "."
	}
	long := func(what, text string, limit int) {
		if n := utf8.RuneCountInString(text); n > limit {
			v.Warnings = append(v.Warnings, fmt.Sprintf("%s has %d characters; more than %d cost much and may be refused by a model.", what, n, limit))
		}
	}
	long("The title", t.Title, MaxToolTitle)
	long("The description", t.Description, MaxToolDescription)
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.InputSchema, &s) != nil {
		return v // what is wrong with it is told by Refused
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var p struct {
			Description string `json:"description"`
		}
		if json.Unmarshal(s.Properties[name], &p) == nil {
			long("The description of "+name, p.Description, MaxParamDescription)
		}
	}
	return v
}

// JudgeAll returns the step of a test that says what models make of tools, and
// false when there is nothing to say.
func JudgeAll(tools []core.Tool) (core.TestStep, bool) {
	var refused, long []string
	for _, t := range tools {
		if t.Broken != "" {
			continue
		}
		v := Judge(t)
		if v.Refused != "" {
			refused = append(refused, t.Ref.Name+": "+v.Refused)
		}
		for _, w := range v.Warnings {
			long = append(long, t.Ref.Name+": "+w)
		}
	}
	if len(refused)+len(long) == 0 {
		return core.TestStep{}, false
	}
	const shown = 5
	var parts []string
	if n := len(refused); n > 0 {
		parts = append(parts, fmt.Sprintf("Not offered to models (%d of %d): %s", n, len(tools), strings.Join(refused[:min(n, shown)], " ")))
	}
	parts = append(parts, long[:min(len(long), shown)]...)
	return core.TestStep{Name: "Check tools", Status: core.StepWarning, Message: strings.Join(parts, " ")}, true
}
