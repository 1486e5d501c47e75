package api

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"patchbay/backend/core"
	"patchbay/backend/llm"
	"patchbay/backend/tools"
)

// verdicts remembers what models make of each definition, for judging takes
// long with a thousand tools.
type verdicts struct {
	mu    sync.Mutex
	known map[string]llm.Verdict // by digest
}

// of returns the verdict on t.
func (v *verdicts) of(t core.Tool) llm.Verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	got, ok := v.known[t.Ref.Digest]
	if !ok {
		got = llm.Judge(t)
		if v.known == nil {
			v.known = map[string]llm.Verdict{}
		}
		v.known[t.Ref.Digest] = got
	}
	return got
}

// keep forgets the verdicts on definitions that are not in list, once they are
// more than those that are.
func (v *verdicts) keep(list []tools.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) <= 2*len(list)+100 {
		return
	}
	now := make(map[string]llm.Verdict, len(list))
	for _, e := range list {
		if got, ok := v.known[e.Tool.Ref.Digest]; ok {
			now[e.Tool.Ref.Digest] = got
		}
	}
	v.known = now
}

// fits refuses a custom tool whose texts are too long for models. What was saved
// before with the same texts stays as it is.
func fits(now core.CustomTool, former *core.CustomTool) error {
	if former != nil && former.Description == now.Description && bytes.Equal(former.Parameters, now.Parameters) {
		return nil
	}
	warnings := llm.Judge(core.Tool{Description: now.Description, InputSchema: now.Parameters}).Warnings
	if len(warnings) == 0 {
		if err := tools.CheckSchema(now.Parameters); len(now.Parameters) > 0 && err != nil {
			return &core.Error{Code: core.CodeInvalid, Path: "parameters", Err: err, Message: fmt.Sprintf("%s was not saved. Its schema is no JSON Schema: %v.", now.Name, err)}
		}
		return nil
	}
	path := "parameters"
	if strings.HasPrefix(warnings[0], "The description has") {
		path = "description"
	}
	return &core.Error{Code: core.CodeTooLarge, Path: path, Message: now.Name + " was not saved. " + strings.Join(warnings, " ") + " Make it shorter."}
}
