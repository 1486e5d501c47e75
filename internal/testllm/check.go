package testllm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// checker walks a request and keeps the first thing that is wrong.
type checker struct{ err error }

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// only refuses keys that the wire does not have.
func (c *checker) only(where string, m map[string]any, keys ...string) {
	for k := range m {
		known := false
		for _, want := range keys {
			known = known || k == want
		}
		if !known {
			c.fail("%s: unknown field %q", where, k)
		}
	}
}

func (c *checker) object(where string, v any) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		c.fail("%s must be an object", where)
	}
	return m
}

func (c *checker) list(where string, v any) []any {
	l, ok := v.([]any)
	if !ok {
		c.fail("%s must be an array", where)
	}
	return l
}

func (c *checker) text(where string, v any) string {
	s, ok := v.(string)
	if !ok {
		c.fail("%s must be a string", where)
	}
	return s
}

// tools checks the tools, which both wires write alike.
func (c *checker) tools(v any) {
	name := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
	seen := map[string]bool{}
	list := c.list("tools", v)
	if len(list) == 0 {
		c.fail("tools must not be empty")
	}
	for i, e := range list {
		where := fmt.Sprintf("tools[%d]", i)
		t := c.object(where, e)
		c.only(where, t, "type", "function")
		if t["type"] != "function" {
			c.fail("%s.type must be function", where)
		}
		f := c.object(where+".function", t["function"])
		c.only(where+".function", f, "name", "description", "parameters", "strict")
		n := c.text(where+".function.name", f["name"])
		if !name.MatchString(n) || seen[n] {
			c.fail("%s: the name %q is not allowed or stands twice", where, n)
		}
		seen[n] = true
		if d, ok := f["description"]; ok {
			c.text(where+".function.description", d)
		}
		c.schema(where+".function.parameters", f["parameters"])
	}
}

// schema checks the root of a tool's schema and its subschemas.
func (c *checker) schema(where string, v any) {
	s := c.object(where, v)
	if s["type"] != "object" {
		c.fail("%s: schema must have type object", where)
	}
	c.object(where+".properties", s["properties"])
	for _, k := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "$schema", "$id", "$ref"} {
		if _, ok := s[k]; ok {
			c.fail("%s must not have %s at the top level", where, k)
		}
	}
	c.subschema(where, s)
}

func (c *checker) subschema(where string, s map[string]any) {
	for _, k := range []string{"properties", "$defs", "definitions"} {
		m, ok := s[k].(map[string]any)
		if !ok {
			continue
		}
		for name, v := range m {
			at := where + "." + k + "." + name
			if inner := c.object(at, v); inner != nil {
				c.subschema(at, inner)
			}
		}
	}
	if items, ok := s["items"]; ok {
		if inner, ok := items.(map[string]any); ok {
			c.subschema(where+".items", inner)
		} else if _, ok := items.([]any); !ok {
			c.fail("%s.items must be a schema", where)
		}
	}
	if r, ok := s["required"]; ok {
		for _, e := range c.list(where+".required", r) {
			c.text(where+".required[]", e)
		}
	}
	if ref, ok := s["$ref"].(string); ok && !strings.HasPrefix(ref, "#") {
		c.fail("%s: reference %q leads outside", where, ref)
	}
}

// conversation checks the order of roles and that each call has its result.
type conversation struct {
	*checker
	asked   asked
	open    []string // calls that wait for their results
	calls   map[string]bool
	begun   bool
	lastWas string
	images  bool // the message at hand holds images
}

func (v *conversation) role(where, role string) {
	switch role {
	case "system", "developer":
		if v.begun {
			v.fail("%s: a system message must come first", where)
		}
	case "tool":
		if len(v.open) == 0 {
			v.fail("%s: a tool message without a call before it", where)
		}
	case "user", "assistant":
		if len(v.open) > 0 {
			v.fail("%s: the tool calls %v have no tool messages", where, v.open)
		}
		if !v.begun && role == "assistant" {
			v.fail("%s: the conversation begins with the assistant", where)
		}
		v.begun = true
		// The images of tools come in a user message right behind the results,
		// which is no new question.
		if role == "assistant" || v.lastWas != "tool" || !v.images {
			v.asked.results = nil
		}
	default:
		v.fail("%s: unknown role %q", where, role)
	}
	v.lastWas = role
}

func (v *conversation) done() (asked, error) {
	if len(v.open) > 0 {
		v.fail("the tool calls %v have no tool messages", v.open)
	}
	if v.lastWas != "user" && v.lastWas != "tool" {
		v.fail("the last message must be of the user or of a tool, not %q", v.lastWas)
	}
	return v.asked, v.err
}

func checkOllama(req map[string]any) (asked, error) {
	c := &checker{}
	c.only("request", req, "model", "messages", "tools", "stream", "options", "think", "keep_alive", "format")
	if c.text("model", req["model"]) == "" {
		c.fail("model is empty")
	}
	if req["stream"] != true {
		c.fail("stream must be true")
	}
	if t, ok := req["tools"]; ok {
		c.tools(t)
	}
	if o, ok := req["options"]; ok {
		for k, v := range c.object("options", o) {
			if _, ok := v.(float64); !ok {
				c.fail("options.%s must be a number", k)
			}
		}
	}
	v := conversation{checker: c}
	for i, e := range c.list("messages", req["messages"]) {
		where := fmt.Sprintf("messages[%d]", i)
		m := c.object(where, e)
		c.only(where, m, "role", "content", "thinking", "images", "tool_calls", "tool_name")
		role := c.text(where+".role", m["role"])
		content := c.text(where+".content", m["content"])
		_, v.images = m["images"]
		v.role(where, role)
		if images, ok := m["images"]; ok {
			for _, img := range c.list(where+".images", images) {
				if _, err := base64.StdEncoding.DecodeString(c.text(where+".images[]", img)); err != nil || role != "user" {
					c.fail("%s: images must be base64 in a user message", where)
				}
			}
		}
		calls, has := m["tool_calls"]
		switch role {
		case "user":
			if len(v.asked.results) == 0 {
				v.asked.user = content
			}
		case "assistant":
			if has {
				for j, e := range c.list(where+".tool_calls", calls) {
					at := fmt.Sprintf("%s.tool_calls[%d]", where, j)
					call := c.object(at, e)
					c.only(at, call, "id", "function")
					f := c.object(at+".function", call["function"])
					c.object(at+".function.arguments", f["arguments"])
					v.open = append(v.open, c.text(at+".function.name", f["name"]))
				}
			} else if content == "" {
				c.fail("%s: an assistant message without content", where)
			}
		case "tool":
			if name := c.text(where+".tool_name", m["tool_name"]); len(v.open) > 0 && v.open[0] != name {
				c.fail("%s: the result of %q stands where that of %q must", where, name, v.open[0])
			}
			if len(v.open) > 0 {
				v.open = v.open[1:]
			}
			v.asked.results = append(v.asked.results, content)
		}
	}
	return v.done()
}

func checkOpenAI(req map[string]any) (asked, error) {
	c := &checker{}
	c.only("request", req, "model", "messages", "tools", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "tool_choice", "parallel_tool_calls")
	if c.text("model", req["model"]) == "" {
		c.fail("model is empty")
	}
	if req["stream"] != true {
		c.fail("stream must be true")
	}
	if t, ok := req["tools"]; ok {
		c.tools(t)
	}
	if o, ok := req["stream_options"]; ok {
		c.only("stream_options", c.object("stream_options", o), "include_usage")
	}
	v := conversation{checker: c, calls: map[string]bool{}}
	for i, e := range c.list("messages", req["messages"]) {
		where := fmt.Sprintf("messages[%d]", i)
		m := c.object(where, e)
		c.only(where, m, "role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content")
		role := c.text(where+".role", m["role"])
		_, v.images = m["content"].([]any)
		v.role(where, role)
		content := c.content(where, role, m["content"])
		switch role {
		case "system":
			if content == "" {
				c.fail("%s: an empty system message", where)
			}
		case "user":
			if _, plain := m["content"].(string); content == "" && plain {
				c.fail("%s: an empty user message", where)
			}
			if len(v.asked.results) == 0 {
				v.asked.user = content
			}
		case "assistant":
			calls, has := m["tool_calls"]
			if !has && content == "" {
				c.fail("%s: neither content nor tool_calls", where)
			}
			if has {
				v.openaiCalls(where, calls)
			}
		case "tool":
			id := c.text(where+".tool_call_id", m["tool_call_id"])
			if _, ok := m["content"].(string); !ok || content == "" {
				c.fail("%s: a tool message needs content", where)
			}
			rest := v.open[:0:0]
			for _, o := range v.open {
				if o != id {
					rest = append(rest, o)
				}
			}
			if len(rest) == len(v.open) {
				c.fail("%s: tool_call_id %q answers no call", where, id)
			}
			v.open = rest
			v.asked.results = append(v.asked.results, content)
		}
	}
	return v.done()
}

func (v *conversation) openaiCalls(where string, calls any) {
	list := v.list(where+".tool_calls", calls)
	if len(list) == 0 {
		v.fail("%s.tool_calls must not be empty", where)
	}
	ids := map[string]bool{}
	for j, e := range list {
		at := fmt.Sprintf("%s.tool_calls[%d]", where, j)
		call := v.object(at, e)
		v.only(at, call, "id", "type", "function", "index")
		id := v.text(at+".id", call["id"])
		if id == "" || ids[id] || call["type"] != "function" {
			v.fail("%s: an empty or repeated id, or a wrong type", at)
		}
		ids[id] = true
		f := v.object(at+".function", call["function"])
		if v.text(at+".function.name", f["name"]) == "" {
			v.fail("%s: no name", at)
		}
		if !json.Valid([]byte(v.text(at+".function.arguments", f["arguments"]))) {
			v.fail("%s: the arguments are not JSON", at)
		}
		v.open = append(v.open, id)
	}
}

// content checks a message's content and returns its text.
func (c *checker) content(where, role string, v any) string {
	switch t := v.(type) {
	case nil:
		if role != "assistant" {
			c.fail("%s: no content", where)
		}
	case string:
		return t
	case []any:
		text := ""
		if role != "user" {
			c.fail("%s: only a user message may have parts", where)
		}
		for _, e := range t {
			part := c.object(where+".content[]", e)
			switch part["type"] {
			case "text":
				text += c.text(where+".content[].text", part["text"])
			case "image_url":
				img := c.object(where+".content[].image_url", part["image_url"])
				if !strings.HasPrefix(c.text(where+".content[].image_url.url", img["url"]), "data:image/") {
					c.fail("%s: the image is no data URL", where)
				}
			default:
				c.fail("%s: unknown type of part %v", where, part["type"])
			}
		}
		return text
	default:
		c.fail("%s: content must be a string or an array", where)
	}
	return ""
}
