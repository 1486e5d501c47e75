package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/host"
)

type chatCmd struct {
	Agent        string        `help:"The agent, by name or id; the built-in one by default."`
	Provider     string        `help:"The provider, by name or id."`
	Model        string        `help:"The model, or PROVIDER/MODEL, or a provider alone for its default model."`
	Message      string        `required:"" help:"What to say; - reads the standard input."`
	Conversation string        `help:"Go on with this conversation, by id."`
	Yes          bool          `short:"y" help:"Allow every tool call without asking."`
	Wait         time.Duration `default:"20s" help:"How long to wait for servers that are still starting."`
}

func (c *chatCmd) Run(a *app) error {
	if c.Message == "-" {
		text, err := a.read("-")
		if err != nil {
			return err
		}
		c.Message = text
	}
	return a.with(host.Options{Answer: a.answerer(c.Yes)}, true, func(h *host.Host) error {
		agent, err := h.Agents.Get(a.ctx, c.Agent)
		if err != nil {
			return err
		}
		providerID, model, err := c.model(a, h)
		if err != nil {
			return err
		}
		await(a.ctx, h, c.Wait, func() bool { return false })
		for _, s := range unconnected(h, "") {
			fmt.Fprintf(a.stderr, "%s: %s\n", visible(s.Name), visible(s.Message))
		}
		id := c.Conversation
		if id == "" {
			conv, err := h.Chat.Create(a.ctx, agent.ID, providerID, model)
			if err != nil {
				return err
			}
			id = conv.ID
		}
		return c.converse(a, h, id)
	})
}

func (c *chatCmd) converse(a *app, h *host.Host, id string) error {
	sub := h.Bus.Subscribe()
	defer sub.Close()
	if _, err := h.Runner.Start(a.ctx, core.Principal{Kind: core.PrincipalCLI}, id, c.Message); err != nil {
		return err
	}
	t := teller{a: a, h: h, id: id, told: map[string]core.CallStatus{}}
	end, err := follow(a.ctx, sub, id, t.tell)
	if err != nil { // interrupted: stop the run and let it save what it has
		h.Runner.Stop(id)
		return core.Errorf(core.CodeCanceled, "Stopped.")
	}
	messages, err := h.Chat.Messages(a.ctx, id)
	if err != nil {
		return err
	}
	denied, text := summary(messages)
	if a.json {
		a.printJSON(flat(end, map[string]any{"text": text}))
	} else {
		a.printf("\n")
	}
	if end.Status == event.RunFailed {
		if !a.json {
			fmt.Fprintln(a.stderr, "patchbay:", end.Error)
		}
		return exit(exitCode(end.Code))
	}
	if denied {
		return exit(exitDenied)
	}
	if end.Status == event.RunStopped {
		return exit(exitFailed)
	}
	return nil
}

// summary looks at what the last message of the person led to.
func summary(messages []core.Message) (denied bool, text string) {
	for i := len(messages) - 1; i >= 0 && messages[i].Role != core.RoleUser; i-- {
		if messages[i].Role == core.RoleAssistant && text == "" {
			text = messages[i].Text()
		}
		for _, p := range messages[i].Parts {
			denied = denied || p.Status == core.CallDenied || p.Status == core.CallDeniedRule
		}
	}
	return denied, text
}

// model reads --provider and --model.
func (c *chatCmd) model(a *app, h *host.Host) (providerID, model string, err error) {
	if c.Provider != "" {
		p, err := h.Models.Get(a.ctx, c.Provider)
		return p.ID, c.Model, err
	}
	if c.Model == "" {
		return "", "", nil
	}
	if p, err := h.Models.Get(a.ctx, c.Model); err == nil {
		return p.ID, "", nil
	}
	if name, rest, ok := strings.Cut(c.Model, "/"); ok {
		if p, err := h.Models.Get(a.ctx, name); err == nil {
			return p.ID, rest, nil
		}
	}
	// A bare model: whoever offers it.
	all, err := h.Models.List(a.ctx)
	if err != nil {
		return "", "", err
	}
	var asked []string
	for _, p := range all {
		models, err := h.Models.Models(a.ctx, p.ID)
		if err != nil {
			asked = append(asked, err.Error())
			continue
		}
		for _, m := range models {
			if m.ID == c.Model || m.Name == c.Model {
				return p.ID, m.ID, nil
			}
		}
	}
	msg := fmt.Sprintf("No provider offers a model %q. See \"patchbay models list\", or name the provider: --model PROVIDER/MODEL.", c.Model)
	if len(asked) > 0 {
		msg += " " + strings.Join(asked, " ")
	}
	return "", "", core.Errorf(core.CodeNotFound, "%s", msg)
}

// teller prints what happens in a run.
type teller struct {
	a    *app
	h    *host.Host
	id   string
	told map[string]core.CallStatus
	mid  bool // the last thing printed was text without a line's end
}

func (t *teller) tell(e event.Event) {
	switch p := e.Data.(type) {
	case event.ChatDelta:
		if t.a.json {
			t.a.printJSON(flat(p, nil))
		} else if p.Kind == core.PartText {
			if p.Offset == 0 && t.mid {
				t.a.printf("\n\n")
			}
			t.a.printf("%s", clean(p.Text))
			t.mid = !strings.HasSuffix(p.Text, "\n")
		}
	case event.ChatToolCall:
		c, ok := t.find(p.CallID)
		if !ok || t.told[p.CallID] == p.Status {
			return
		}
		t.told[p.CallID] = p.Status
		c.Status, c.Chunks = p.Status, orEmpty(c.Chunks)
		if t.a.json {
			t.a.printJSON(flat(p, map[string]any{"call": c}))
		} else {
			t.line(c)
		}
	case event.RunStarted:
		if t.a.json {
			t.a.printJSON(flat(p, nil))
		}
	}
}

// find returns a call as it stands: in the run, or in the conversation once its
// turn has ended.
func (t *teller) find(callID string) (core.RunCall, bool) {
	if run := t.h.Runner.Running(t.id); run != nil {
		for _, c := range run.Calls {
			if c.CallID == callID {
				return c, true
			}
		}
	}
	messages, err := t.h.Chat.Messages(t.a.ctx, t.id)
	if err != nil {
		return core.RunCall{}, false
	}
	var out core.RunCall
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.CallID != callID:
			case p.Kind == core.PartToolCall:
				out = core.RunCall{CallID: callID, Alias: p.Alias, Ref: p.Ref, Title: p.Title, Arguments: p.Arguments, StartedAt: m.At}
			case p.Kind == core.PartToolResult:
				out.Result, out.Error, out.Millis = p.Result, p.Error, p.Millis
			}
		}
	}
	return out, out.CallID != ""
}

func (t *teller) line(c core.RunCall) {
	switch c.Status {
	case core.CallRunning:
		if t.mid {
			t.a.printf("\n")
			t.mid = false
		}
		fmt.Fprintf(t.a.stderr, "→ %s %s\n", c.Alias, visible(c.Arguments))
	case core.CallWaiting:
	case core.CallDone:
		fmt.Fprintf(t.a.stderr, "← %s done in %d ms\n", c.Alias, c.Millis)
	default:
		fmt.Fprintf(t.a.stderr, "← %s %s: %s\n", c.Alias, c.Status, visible(c.Error))
	}
}

// flat is an event as one object, its type beside its fields.
func flat(p event.Payload, more map[string]any) map[string]any {
	out := map[string]any{"type": p.EventType()}
	if b, err := json.Marshal(p); err == nil {
		_ = json.Unmarshal(b, &out) // it was JSON a moment ago
	}
	maps.Copy(out, more)
	return out
}
