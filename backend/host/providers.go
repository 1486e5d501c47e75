package host

import (
	"patchbay/backend/core"
	"patchbay/backend/llm/ollama"
	"patchbay/backend/llm/openai"
	"patchbay/backend/llm/registry"
	"patchbay/backend/llm/rehearsal"
)

// constructors says who speaks to the providers of each kind.
func constructors() map[core.ProviderKind]registry.Constructor {
	return map[core.ProviderKind]registry.Constructor{
		core.ProviderRehearsal: rehearsal.New,
		core.ProviderOllama:    ollama.New,
		core.ProviderOpenAI:    openai.New,
	}
}
