package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"unicode"

	"patchbay/backend/core"
)

// Facades are the doors of the backend. Each exported method of each field is
// a channel: func(context.Context[, Input]) ([Output, ]error).
type Facades struct {
	MCP       *MCP
	Tools     *Tools
	Chat      *Chat
	Agents    *Agents
	Approvals *Approvals
	Questions *Questions
	Audit     *Audit
	Models    *Models
	Secrets   *Secrets
	Settings  *Settings
}

// Channel describes one callable method of a facade.
type Channel struct {
	Name   string       // "mcp:addServer"
	Facade string       // "MCP"
	Method string       // "AddServer"
	Bound  string       // "McpAddServer", the window's name for it
	In     reflect.Type // nil when the method takes no input
	Out    reflect.Type // nil when the method returns an error only

	field, method int
}

// Channels lists every channel in a fixed order.
func Channels() []Channel {
	var out []Channel
	t := reflect.TypeFor[Facades]()
	for i := range t.NumField() {
		f := t.Field(i)
		for j := range f.Type.NumMethod() {
			m := f.Type.Method(j)
			c := Channel{Facade: f.Name, Method: m.Name, field: i, method: j}
			noun := strings.ToLower(f.Name)
			c.Name = noun + ":" + lowerFirst(m.Name)
			c.Bound = strings.ToUpper(noun[:1]) + noun[1:] + m.Name
			if m.Type.NumIn() == 3 {
				c.In = m.Type.In(2)
			}
			if m.Type.NumOut() == 2 {
				c.Out = m.Type.Out(0)
			}
			out = append(out, c)
		}
	}
	return out
}

func lowerFirst(s string) string {
	r := []rune(s)
	r[0] = unicode.ToLower(r[0])
	return string(r)
}

// Dispatcher carries calls by channel name to the facades. It is safe for
// concurrent use.
type Dispatcher struct {
	ctx      context.Context
	log      *slog.Logger
	channels map[string]target

	mu      sync.Mutex
	running map[string]context.CancelFunc
}

type target struct {
	Channel
	fn reflect.Value
}

// NewDispatcher makes a dispatcher whose calls end when ctx ends. A nil log discards.
func NewDispatcher(ctx context.Context, f Facades, log *slog.Logger) *Dispatcher {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Dispatcher{ctx: ctx, log: log, channels: map[string]target{}, running: map[string]context.CancelFunc{}}
	v := reflect.ValueOf(f)
	for _, c := range Channels() {
		d.channels[c.Name] = target{c, v.Field(c.field).Method(c.method)}
	}
	return d
}

// Call runs one channel with a JSON input ("" or "null" for none) and returns
// its JSON output ("null" for none). callID, when not "", lets Cancel end the
// call; it must be unique among the running ones. The error is always a
// *core.Error fit for a person; its cause went to the log.
func (d *Dispatcher) Call(ctx context.Context, channel, callID string, input []byte) (out []byte, err error) {
	t, ok := d.channels[channel]
	if !ok {
		return nil, core.Errorf(core.CodeNotFound, "There is no channel %q.", channel)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	if callID != "" {
		d.mu.Lock()
		if _, taken := d.running[callID]; taken {
			d.mu.Unlock()
			return nil, core.Errorf(core.CodeConflict, "A call with the id %q is running already.", callID)
		}
		d.running[callID] = cancel
		d.mu.Unlock()
		defer func() {
			d.mu.Lock()
			delete(d.running, callID)
			d.mu.Unlock()
		}()
	}
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("panic in a call", "channel", channel, "panic", p, "stack", string(debug.Stack()))
			out, err = nil, core.Errorf(core.CodeInternal, "%s failed inside Patchbay. The log has the details.", channel)
		}
	}()
	args := []reflect.Value{reflect.ValueOf(ctx)}
	if t.In != nil {
		in := reflect.New(t.In)
		if err := decode(input, in.Interface()); err != nil {
			return nil, core.Errorf(core.CodeInvalid, "%s got input that it does not understand: %w", channel, err)
		}
		args = append(args, in.Elem())
	}
	res := t.fn.Call(args)
	if e, _ := res[len(res)-1].Interface().(error); e != nil {
		return nil, d.outward(channel, e)
	}
	if t.Out == nil {
		return []byte("null"), nil
	}
	filled := reflect.New(t.Out)
	filled.Elem().Set(res[0])
	out, err = json.Marshal(noNulls(filled.Elem()).Interface())
	if err != nil {
		return nil, d.outward(channel, fmt.Errorf("encoding the answer: %w", err))
	}
	return out, nil
}

// Cancel ends the running call of that id; an unknown id is no error, since
// the call may have just ended.
func (d *Dispatcher) Cancel(callID string) {
	d.mu.Lock()
	cancel := d.running[callID]
	d.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// outward makes any error one that may be shown: what a *core.Error says is
// meant for people, anything else stays in the log.
func (d *Dispatcher) outward(channel string, err error) error {
	var ce *core.Error
	if errors.As(err, &ce) {
		if ce.Code == core.CodeInternal {
			d.log.Error("call failed", "channel", channel, "err", err, "cause", ce.Err)
		}
		return ce
	}
	switch core.CodeOf(err) {
	case core.CodeCanceled:
		return &core.Error{Code: core.CodeCanceled, Message: "Cancelled.", Err: err}
	case core.CodeTimeout:
		return &core.Error{Code: core.CodeTimeout, Message: "This took too long and was given up.", Err: err}
	}
	d.log.Error("call failed", "channel", channel, "err", err)
	return &core.Error{Code: core.CodeInternal, Message: fmt.Sprintf("%s failed inside Patchbay: %v", channel, err), Err: err}
}

func decode(input []byte, into any) error {
	if len(bytes.TrimSpace(input)) == 0 {
		input = []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("there is more after the first value")
	}
	return nil
}

// noNulls returns v with every nil slice and map replaced by an empty one, so
// that a page never meets null where it expects a list. Slices of bytes (raw
// JSON, data) stay: for them, nil has a meaning.
func noNulls(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().CanSet() {
			v.Elem().Set(noNulls(v.Elem()))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(noNulls(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return reflect.MakeMap(v.Type())
		}
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(noNulls(out.Field(i)))
			}
		}
		return out
	}
	return v
}

// asCoreError returns the first *core.Error in err's chain, an internal one
// for any other error, and nil for nil.
func asCoreError(err error) *core.Error {
	var ce *core.Error
	if err == nil || errors.As(err, &ce) {
		return ce
	}
	return &core.Error{Code: core.CodeInternal, Message: err.Error(), Err: err}
}
