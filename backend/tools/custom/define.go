package custom

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/backend/core"
)

// Define returns t as a tool of the catalog. Its digest covers the code and what
// the tool may reach, so that a yes to one version is no yes to another.
func Define(t core.CustomTool) core.Tool {
	def := core.Tool{
		Ref: core.ToolRef{Kind: core.ToolCustom, Name: t.Name}, Title: core.TitleOf("", "", t.Name), Description: t.Description,
		InputSchema: t.Parameters, TimeoutMS: t.TimeoutMS,
	}
	if t.HTTP != nil {
		def.Annotations = t.HTTP.Annotations()
	}
	reach, err := json.Marshal(t.Capabilities)
	if err == nil && t.HTTP != nil {
		reach, err = json.Marshal(t.HTTP)
	}
	if err != nil { // lists of texts always can
		def.Broken = fmt.Sprintf("What it declares cannot be written as JSON: %v.", err)
	}
	sum := sha256.Sum256([]byte(def.ComputeDigest() + "\x00" + string(reach) + "\x00" + t.Code))
	def.Ref.Digest = hex.EncodeToString(sum[:])
	return def
}

// limitOf is how long one call of t may take.
func (r *Runner) limitOf(t core.CustomTool) time.Duration {
	if t.TimeoutMS > 0 {
		return time.Duration(t.TimeoutMS) * time.Millisecond
	}
	return r.o.Timeout
}
