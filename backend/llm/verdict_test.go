package llm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// A tool that models do not get must say so, and why.
func TestToolsThatAreLeftOutSayWhy(t *testing.T) {
	offered, left := WireTools([]ToolDef{
		{Name: "good", Schema: []byte(`{"type":"object"}`)},
		{Name: "far", Schema: []byte(`{"type":"object","properties":{"a":{"$ref":"https://x/y"}}}`)},
		{Name: "list", Schema: []byte(`{"type":"array"}`)},
	})
	require.Len(t, offered, 1)
	require.Equal(t, "good", offered[0].Name)
	require.Len(t, left, 2)
	require.Equal(t, "far", left[0].Name)
	require.ErrorContains(t, left[0].Err, `"https://x/y" outside itself`)
	require.ErrorContains(t, left[1].Err, "does not describe an object")

	tool := func(name, schema string) core.Tool {
		return core.Tool{Ref: core.ToolRef{Name: name}, InputSchema: []byte(schema)}
	}
	require.Equal(t, "The input schema does not describe an object.", Judge(tool("list", `{"type":"array"}`)).Refused)
	step, is := JudgeAll([]core.Tool{tool("list", `{"type":"array"}`), tool("good", `{}`)})
	require.True(t, is)
	require.Equal(t, core.StepWarning, step.Status)
	require.Contains(t, step.Message, "(1 of 2): list: The input schema")
	_, is = JudgeAll([]core.Tool{tool("good", `{}`)})
	require.False(t, is)
}

// Lengths are counted in characters, and only beyond the limit.
func TestLongTextsAreWarnedOf(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	tool := core.Tool{Title: long(MaxToolTitle), Description: long(MaxToolDescription),
		InputSchema: []byte(`{"properties":{"b":{"description":"` + long(MaxParamDescription) + `"},"odd":true}}`)}
	require.Empty(t, Judge(tool))
	tool.Title += "x"
	tool.Description += "x"
	tool.InputSchema = []byte(`{"properties":{"b":{"description":"` + long(MaxParamDescription+1) + `"}}}`)
	v := Judge(tool)
	require.Empty(t, v.Refused)
	require.Len(t, v.Warnings, 3)
	require.Contains(t, v.Warnings[1], "2001 characters")
	require.Contains(t, v.Warnings[2], "The description of b")
}
