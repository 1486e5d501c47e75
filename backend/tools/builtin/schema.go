package builtin

import (
	"encoding/json"
	"strings"
)

// schemaOf makes a JSON Schema of "properties|required", where the names of the
// required ones are joined by `","`.
func schemaOf(short string) json.RawMessage {
	properties, required, some := strings.Cut(short, "|")
	out := `{"type":"object","additionalProperties":false,"properties":` + properties
	if some {
		out += `,"required":["` + required + `"]`
	}
	return json.RawMessage(out + "}")
}
