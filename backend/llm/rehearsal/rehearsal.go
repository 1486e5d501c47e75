// Package rehearsal is a provider without a model. It does what the person
// types, so that servers and tools can be tried, and the whole program tested,
// with nothing installed and nothing sent anywhere. The same conversation
// always gets the same answer.
package rehearsal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"patchbay/backend/core"
	"patchbay/backend/llm"
)

// ModelID is the one model.
const ModelID = "rehearsal"

const (
	pieceRunes = 12 // of one delta
	pace       = 4 * time.Millisecond
	shownLines = 6 // of a result
	shownRunes = 500
)

// Provider is the rehearsal. It is safe for concurrent use.
type Provider struct{ pace time.Duration }

// New makes the provider; it needs neither configuration nor key.
func New(core.Provider, string) (llm.Provider, error) { return &Provider{pace: pace}, nil }

// Models returns the one model.
func (p *Provider) Models(context.Context) ([]core.Model, error) {
	yes := true
	return []core.Model{{ID: ModelID, Name: "Rehearsal (no AI)", Tools: &yes}}, nil
}

// Caps says that it calls tools.
func (p *Provider) Caps(string) llm.Caps { return llm.Caps{Tools: true} }

// Stream answers the last message.
func (p *Provider) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		text, calls := answer(r)
		var b llm.Builder
		for piece := range pieces(text) {
			if err := wait(ctx, p.pace); err != nil {
				yield(llm.Event{}, err)
				return
			}
			if !yield(b.Text(piece), nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(llm.Event{}, err)
			return
		}
		for _, c := range calls {
			start := b.Call("", c.alias)
			if !yield(start, nil) || !yield(b.Args(start.Index, c.args), nil) {
				return
			}
		}
		yield(b.End(llm.StopEnd, core.Usage{}), nil)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for runes := []rune(text); len(runes) > 0; {
			n := min(pieceRunes, len(runes))
			if !yield(string(runes[:n])) {
				return
			}
			runes = runes[n:]
		}
	}
}

type call struct{ alias, args string }

// answer decides what to say and which tools to call.
func answer(r *llm.Request) (string, []call) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == core.RoleTool {
		return results(r.Messages), nil
	}
	text := ""
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == core.RoleUser {
			text = m.Text()
			break
		}
	}
	if asked := commands(text); len(asked) > 0 {
		return obey(asked, r.Tools)
	}
	return propose(text, r.Tools), nil
}

// commands finds the "/call" lines; the arguments may go on over more lines.
func commands(text string) []call {
	var out []call
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "/call")
		switch {
		case ok && (rest == "" || unicode.IsSpace(rune(rest[0]))):
			rest = strings.TrimSpace(rest)
			alias := rest
			if i := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == '{' }); i >= 0 {
				alias = rest[:i]
			}
			out = append(out, call{alias, rest[len(alias):]})
		case len(out) > 0:
			out[len(out)-1].args += line
		}
	}
	return out
}

// obey makes the calls that can be made and says what is wrong with the others.
func obey(asked []call, tools []llm.ToolDef) (string, []call) {
	var says []string
	var calls []call
	for _, c := range asked {
		args := strings.TrimSpace(c.args)
		if args == "" {
			args = "{}"
		}
		var object map[string]json.RawMessage
		i := slices.IndexFunc(tools, func(t llm.ToolDef) bool { return t.Name == c.alias })
		switch {
		case c.alias == "":
			says = append(says, "Behind /call must stand the name of a tool and its arguments, such as `/call NAME {\"key\": \"value\"}`.")
		case i < 0:
			says = append(says, unknown(c.alias, tools))
		case json.Unmarshal([]byte(args), &object) != nil || object == nil:
			says = append(says, fmt.Sprintf("The arguments of `%s` are not a JSON object: `%s`. Write them like this: `%s`.", c.alias, core.Clip(args, 160), example(tools[i])))
		default:
			calls = append(calls, call{c.alias, args})
		}
	}
	if len(calls) > 0 {
		names := make([]string, len(calls))
		for i, c := range calls {
			names[i] = "`" + c.alias + "`"
		}
		says = append(says, "Calling "+strings.Join(names, ", ")+".")
	}
	return strings.Join(says, "\n\n"), calls
}

func unknown(alias string, tools []llm.ToolDef) string {
	if len(tools) == 0 {
		return fmt.Sprintf("There is no tool `%s`. %s", alias, noTools)
	}
	near := rank(alias, tools)
	if len(near) == 0 {
		near = tools
	}
	var names []string
	for _, t := range near[:min(5, len(near))] {
		names = append(names, "`"+t.Name+"`")
	}
	return fmt.Sprintf("There is no tool `%s`. Near to it: %s.", alias, strings.Join(names, ", "))
}

const noTools = "No tools are offered here. Open *Tools*, paste the configuration of an MCP server (its JSON, its address or its command line) or add the demo server, and wait until it is connected."

// propose names the tool that fits best and says how to call it.
func propose(text string, tools []llm.ToolDef) string {
	const who = "I am the rehearsal: no AI is behind me, and I only call what you tell me to. "
	if len(tools) == 0 {
		return who + noTools
	}
	best := rank(text, tools)
	if len(best) == 0 {
		var names []string
		for _, t := range tools[:min(8, len(tools))] {
			names = append(names, "`"+t.Name+"`")
		}
		more := ""
		if n := len(tools) - 8; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		return who + fmt.Sprintf("No tool matches your words. There are %s%s. To call one, type for example:\n\n```\n%s\n```\n", strings.Join(names, ", "), more, example(tools[0]))
	}
	t := best[0]
	says := who + fmt.Sprintf("The tool that fits best is `%s`", t.Name)
	if d := firstLine(t.Description); d != "" {
		says += ": " + strings.TrimRight(d, ".")
	}
	return says + fmt.Sprintf(". To call it, type:\n\n```\n%s\n```\n", example(t))
}

// rank returns the tools that share words with text, best first.
func rank(text string, tools []llm.ToolDef) []llm.ToolDef {
	want := words(text)
	type scored struct {
		tool  llm.ToolDef
		score int
	}
	var list []scored
	for _, t := range tools {
		name, about := words(t.Name), words(t.Description)
		score := 0
		for w := range want {
			switch {
			case name[w]:
				score += 5
			case about[w]:
				score += 2
			default:
				for n := range name {
					if len(w) > 3 && len(n) > 3 && (strings.HasPrefix(n, w[:4]) || strings.HasPrefix(w, n[:4])) {
						score++
					}
				}
			}
		}
		if score > 0 {
			list = append(list, scored{t, score})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.tool.Name, b.tool.Name))
	})
	out := make([]llm.ToolDef, len(list))
	for i, s := range list {
		out[i] = s.tool
	}
	return out
}

// words splits text at everything but letters and digits, and drops what says nothing.
func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch w {
		case "a", "an", "the", "of", "to", "in", "on", "is", "it", "and", "or", "for", "me", "my", "i", "you", "please", "can", "what", "with", "this", "that", "all":
			continue
		}
		out[w] = true
	}
	return out
}

// example is a line that calls t, with a value of the right type for each
// required argument.
func example(t llm.ToolDef) string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if wire, err := llm.WireSchema(t.Schema); err == nil {
		_ = json.Unmarshal(wire, &schema) // an odd schema gives an example without arguments
	}
	var parts []string
	for _, name := range schema.Required {
		key, err := json.Marshal(name)
		if err != nil {
			continue
		}
		parts = append(parts, string(key)+": "+sample(schema.Properties[name]))
	}
	return "/call " + t.Name + " {" + strings.Join(parts, ", ") + "}"
}

func sample(raw json.RawMessage) string {
	var p struct {
		Type    json.RawMessage   `json:"type"`
		Enum    []json.RawMessage `json:"enum"`
		Default json.RawMessage   `json:"default"`
		Example []json.RawMessage `json:"examples"`
	}
	_ = json.Unmarshal(raw, &p) // what cannot be read is shown as text
	switch {
	case len(p.Default) > 0:
		return string(p.Default)
	case len(p.Example) > 0:
		return string(p.Example[0])
	case len(p.Enum) > 0:
		return string(p.Enum[0])
	}
	switch strings.Trim(string(p.Type), `"`) {
	case "number", "integer":
		return "1"
	case "boolean":
		return "true"
	case "array":
		return "[]"
	case "object":
		return "{}"
	}
	return `"…"`
}

// results says what the calls of the last turn returned.
func results(history []core.Message) string {
	start := len(history)
	for start > 0 && history[start-1].Role == core.RoleTool {
		start--
	}
	var says []string
	for _, m := range history[start:] {
		for _, p := range m.Parts {
			if p.Kind != core.PartToolResult {
				continue
			}
			head := fmt.Sprintf("`%s` returned:", p.Alias)
			if p.Error != "" || p.Result != nil && p.Result.IsError || p.Status != "" && p.Status != core.CallDone {
				head = fmt.Sprintf("`%s` did not succeed:", p.Alias)
			}
			says = append(says, head+"\n\n```\n"+excerpt(llm.ResultText(p))+"\n```")
		}
	}
	if len(says) == 0 {
		return "There was nothing to call."
	}
	return strings.Join(says, "\n\n") + "\n"
}

func excerpt(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	more := len(lines) > shownLines
	s = strings.Join(lines[:min(shownLines, len(lines))], "\n")
	if r := []rune(s); len(r) > shownRunes {
		s, more = string(r[:shownRunes]), true
	}
	s = strings.ReplaceAll(s, "```", "'''")
	if more {
		s += "\n…"
	}
	return s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return core.Clip(line, 160)
}
