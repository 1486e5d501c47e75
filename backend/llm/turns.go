package llm

import (
	"strings"

	"patchbay/backend/core"
)

// Turns returns history as every vendor accepts it: each call has exactly one
// result, in the message right behind it; results without a call and messages
// without content are left out. history is not changed.
func Turns(history []core.Message) []core.Message {
	var out []core.Message
	for i := 0; i < len(history); i++ {
		m := history[i]
		if m.Role == core.RoleTool || !hasContent(m) {
			continue
		}
		out = append(out, m)
		var calls []core.Part
		for _, p := range m.Parts {
			if p.Kind == core.PartToolCall && m.Role == core.RoleAssistant {
				calls = append(calls, p)
			}
		}
		if len(calls) == 0 {
			continue
		}
		results := map[string]core.Part{}
		for i+1 < len(history) && history[i+1].Role == core.RoleTool {
			i++
			for _, p := range history[i].Parts {
				if p.Kind == core.PartToolResult {
					results[p.CallID] = p
				}
			}
		}
		answer := core.Message{Role: core.RoleTool}
		for _, c := range calls {
			r, ok := results[c.CallID]
			if !ok {
				r = core.Part{Kind: core.PartToolResult, CallID: c.CallID, Text: "This call was not run."}
			}
			r.Alias = c.Alias
			answer.Parts = append(answer.Parts, r)
		}
		out = append(out, answer)
	}
	return out
}

func hasContent(m core.Message) bool {
	for _, p := range m.Parts {
		switch p.Kind {
		case core.PartToolCall, core.PartToolResult, core.PartImage:
			return true
		case core.PartText:
			if p.Text != "" {
				return true
			}
		}
	}
	return false
}

// ResultText returns what a model is to read of a tool's result; never "".
func ResultText(p core.Part) string {
	switch {
	case strings.TrimSpace(p.Text) != "":
		return p.Text
	case p.Result != nil && p.Result.Text() != "":
		return p.Result.Text()
	case p.Result != nil && len(p.Result.StructuredContent) > 0:
		return string(p.Result.StructuredContent)
	case p.Error != "":
		return p.Error
	}
	return "(The tool returned nothing.)"
}

// ResultImages returns the images of a tool's result.
func ResultImages(p core.Part) []core.Content {
	var out []core.Content
	if p.Result != nil {
		for _, c := range p.Result.Content {
			if c.Type == core.ContentImage && len(c.Data) > 0 {
				out = append(out, c)
			}
		}
	}
	return out
}
