package custom

import (
	"encoding/json"
	"os"
	"slices"

	"patchbay/backend/core"
	"patchbay/backend/tools/custom/frame"
)

// question is the union of what scripts ask for.
type question struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Path      string          `json:"path"`
	Content   string          `json:"content"`
	URL       string          `json:"url"`
	Method    string          `json:"method"`
	Redirect  string          `json:"redirect"`
	Headers   [][2]string     `json:"headers"`
	Text      string          `json:"text"`
	Base64    []byte          `json:"base64"`
}

// askCost is what a question costs beside its text, in bytes: a goroutine.
const askCost = 8 << 10

// ask answers one question of the script, in the background. It returns false
// when more wait than the script may have of memory: what waits here counts as its.
func (c *call) ask(f frame.Frame) bool {
	weight := int64(len(f.Body)) + askCost
	if c.waiting.Add(weight) > c.r.o.Memory {
		return false
	}
	c.asks.Go(func() {
		defer c.waiting.Add(-weight)
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-c.ctx.Done():
			return
		}
		answer := frame.Frame{Kind: frame.Answer, ID: f.ID}
		v, err := c.answer(f)
		c.sending.Lock() // one at a time, for a large answer takes much memory on its way
		defer c.sending.Unlock()
		if err == nil {
			answer.Body, err = json.Marshal(v)
		}
		if err != nil {
			answer.Body = nil
			answer.Problem = &frame.Problem{Cause: frame.Refused, Name: "Error", Message: err.Error(), Code: string(core.CodeOf(err))}
		}
		if c.ctx.Err() != nil {
			return
		}
		if err := c.worker.out.Send(answer); err != nil && answer.Body != nil {
			// Too large to be sent; the script must hear of it all the same.
			answer.Body, answer.Problem = nil, &frame.Problem{Cause: frame.Refused, Name: "Error", Message: "The answer is too large: " + err.Error() + ".", Code: string(core.CodeTooLarge)}
			_ = c.worker.out.Send(answer) // a worker that is gone is noticed elsewhere
		}
	})
	return true
}

func (c *call) answer(f frame.Frame) (any, error) {
	var q question
	if err := json.Unmarshal(f.Body, &q); err != nil {
		return nil, core.Errorf(core.CodeInvalid, "%s cannot be asked for like this: %w", f.Op, err)
	}
	switch f.Op {
	case "tool":
		return c.nested(q.Name, q.Arguments)
	case "fetch":
		return c.fetch(q)
	case "secret":
		return c.secret(q.Name)
	case "read":
		return c.readFile(q.Path)
	case "write":
		return nil, c.writeFile(q.Path, q.Content)
	case "list":
		return c.listFolder(q.Path)
	}
	return nil, core.Errorf(core.CodeInvalid, "There is nothing called %q here.", f.Op)
}

func (c *call) secret(name string) (string, error) {
	if !slices.Contains(c.tool.Secrets, name) {
		return "", core.Errorf(core.CodeDenied, "%s does not declare the secret %q. Add it to its secrets if it shall read it.", c.tool.Name, name)
	}
	if c.r.o.Secret == nil {
		return "", core.Errorf(core.CodeUnavailable, "There are no secrets here.")
	}
	v, ok, err := c.r.o.Secret(c.ctx, name)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", core.Errorf(core.CodeNeedsValue, "There is no secret %q yet. Add it, then run %s again.", name, c.tool.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.secrets, v) {
		c.secrets = append(c.secrets, v)
		c.masked = core.Masker(c.secrets...)
	}
	return v, nil
}

// executable is this program, for one more start of it.
func executable() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", core.Errorf(core.CodeUnavailable, "This program cannot find itself, so it cannot start a worker: %w", err)
	}
	return self, nil
}
