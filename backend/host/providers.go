package host

import (
	"patchbay/backend/core"
	"patchbay/backend/llm/registry"
)

// constructors says who speaks to the providers of each kind.
func constructors() map[core.ProviderKind]registry.Constructor {
	return map[core.ProviderKind]registry.Constructor{}
}
