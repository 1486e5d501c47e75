// Package registry keeps the configured providers of models and makes them
// ready to use. Keys stay in the secret store; nothing here hands one out.
package registry

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/llm"
)

// Ids of the providers that need no configuration.
const (
	RehearsalID   = "rehearsal"
	OllamaID      = "ollama"
	EnvironmentID = "environment"
)

// Store keeps providers and settings durably.
type Store interface {
	Providers(ctx context.Context) ([]core.Provider, error)
	SaveProvider(ctx context.Context, p core.Provider) error
	RemoveProvider(ctx context.Context, id string) error
}

// Secrets keeps keys. Get returns "" and false where there is none.
type Secrets interface {
	Get(ctx context.Context, name string) (string, bool, error)
	Set(ctx context.Context, name, value string) error
	Delete(ctx context.Context, name string) error
}

// Defaults says which provider and model to use where nobody chose.
type Defaults interface {
	DefaultModel(ctx context.Context) (providerID, model string, err error)
}

// Constructor makes a provider of one kind. key is "" where there is none.
type Constructor func(p core.Provider, key string) (llm.Provider, error)

// Options are what a registry stands on. All but Env and Emit must be set.
type Options struct {
	Store        Store
	Secrets      Secrets
	Defaults     Defaults
	Constructors map[core.ProviderKind]Constructor
	// Env reads the environment: OLLAMA_HOST, OPENAI_BASE_URL, OPENAI_API_KEY.
	// nil means that there is none.
	Env  func(name string) string
	Emit func(event.Payload)
}

// Registry is all providers. It is safe for concurrent use.
type Registry struct {
	o Options

	mu    sync.Mutex
	ready map[string]made // by id
}

type made struct {
	config   core.Provider
	key      string
	provider llm.Provider
}

// New makes a registry.
func New(o Options) *Registry {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	if o.Emit == nil {
		o.Emit = func(event.Payload) {}
	}
	return &Registry{o: o, ready: map[string]made{}}
}

// List returns all providers: those that need no configuration first, then the
// person's own in the order in which they were made.
func (r *Registry) List(ctx context.Context) ([]core.Provider, error) {
	out := []core.Provider{
		{ID: RehearsalID, Kind: core.ProviderRehearsal, Name: "Rehearsal (no AI)", DefaultModel: "rehearsal", Origin: "builtin"},
		{ID: OllamaID, Kind: core.ProviderOllama, Name: "Ollama", BaseURL: ollamaURL(r.o.Env("OLLAMA_HOST")), Origin: "builtin"},
	}
	if base, key := r.o.Env("OPENAI_BASE_URL"), r.o.Env("OPENAI_API_KEY"); base != "" || key != "" {
		if base == "" {
			base = "https://api.openai.com/v1"
		}
		out = append(out, core.Provider{ID: EnvironmentID, Kind: core.ProviderOpenAI, Name: "OpenAI (from the environment)", BaseURL: base, HasKey: key != "", Origin: "environment"})
	}
	saved, err := r.o.Store.Providers(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range saved {
		if i := slices.IndexFunc(out, func(p core.Provider) bool { return p.ID == s.ID }); i >= 0 {
			out[i].Name, out[i].DefaultModel = s.Name, s.DefaultModel
			if s.BaseURL != "" && r.o.Env("OLLAMA_HOST") == "" {
				out[i].BaseURL = s.BaseURL
			}
			continue
		}
		s.Origin = "user"
		out = append(out, s)
	}
	return out, nil
}

// ollamaURL reads OLLAMA_HOST as Ollama itself does: with or without scheme and port.
func ollamaURL(host string) string {
	if host == "" {
		return "http://127.0.0.1:11434"
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return host
	}
	if h := u.Hostname(); h == "0.0.0.0" || h == "" { // where a server listens is not where a client connects
		port := u.Port()
		u.Host = "127.0.0.1"
		if port != "" {
			u.Host += ":" + port
		}
	}
	if u.Port() == "" && u.Scheme == "http" {
		u.Host += ":11434"
	}
	return strings.TrimSuffix(u.String(), "/")
}

// Get returns the provider of that id or name, or a not_found error.
func (r *Registry) Get(ctx context.Context, idOrName string) (core.Provider, error) {
	all, err := r.List(ctx)
	if err != nil {
		return core.Provider{}, err
	}
	var ids []string
	for _, p := range all {
		if p.ID == idOrName || strings.EqualFold(p.Name, idOrName) {
			return p, nil
		}
		ids = append(ids, p.ID)
	}
	return core.Provider{}, core.Errorf(core.CodeNotFound, "There is no provider %q. There are: %s.", idOrName, strings.Join(ids, ", "))
}

// Save adds (ID "") or changes a provider. A nil key leaves the key as it is,
// "" removes it.
func (r *Registry) Save(ctx context.Context, p core.Provider, key *string) (core.Provider, error) {
	p.Name, p.BaseURL = strings.TrimSpace(p.Name), strings.TrimSpace(p.BaseURL)
	if r.o.Constructors[p.Kind] == nil {
		return p, &core.Error{Code: core.CodeInvalid, Path: "kind", Message: fmt.Sprintf("%q is no kind of provider. Use ollama or openai.", p.Kind)}
	}
	if p.Name == "" {
		return p, &core.Error{Code: core.CodeInvalid, Path: "name", Message: "A provider needs a name."}
	}
	if p.Kind != core.ProviderRehearsal {
		u, err := url.Parse(p.BaseURL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return p, &core.Error{Code: core.CodeInvalid, Path: "baseUrl", Message: "The base URL must be a full address such as http://localhost:1234/v1."}
		}
	}
	if p.ID == "" {
		p.ID = uuid.NewString()
	} else {
		old, err := r.Get(ctx, p.ID)
		if err != nil {
			return p, err
		}
		if old.Origin == "environment" {
			return p, core.Errorf(core.CodeInvalid, "This provider comes from the environment variables OPENAI_BASE_URL and OPENAI_API_KEY. Change them there, or add a provider of your own.")
		}
		p.HasKey, p.Kind = old.HasKey, old.Kind
	}
	if key != nil {
		var err error
		if *key == "" {
			err = r.o.Secrets.Delete(ctx, secretName(p.ID))
		} else {
			err = r.o.Secrets.Set(ctx, secretName(p.ID), *key)
		}
		if err != nil {
			return p, err
		}
		p.HasKey = *key != ""
	}
	p.Origin = ""
	if err := r.o.Store.SaveProvider(ctx, p); err != nil {
		return p, err
	}
	r.o.Emit(event.SettingsChanged{})
	return r.Get(ctx, p.ID)
}

// Remove removes a provider and its key. One that the product brings goes back
// to how it was.
func (r *Registry) Remove(ctx context.Context, id string) error {
	if err := r.o.Secrets.Delete(ctx, secretName(id)); err != nil {
		return err
	}
	if err := r.o.Store.RemoveProvider(ctx, id); err != nil {
		return err
	}
	r.o.Emit(event.SettingsChanged{})
	return nil
}

// Models lists the models of a provider by asking its endpoint.
func (r *Registry) Models(ctx context.Context, providerID string) ([]core.Model, error) {
	_, p, err := r.provider(ctx, providerID)
	if err != nil {
		return nil, err
	}
	return p.Models(ctx)
}

// Resolve returns the provider and model to use. An empty provider is the
// default one; an empty model is the provider's default, or else the first
// that its endpoint lists.
func (r *Registry) Resolve(ctx context.Context, providerID, model string) (llm.Provider, core.Origin, error) {
	defaultID, defaultModel, err := r.o.Defaults.DefaultModel(ctx)
	if err != nil {
		return nil, core.Origin{}, err
	}
	if defaultID == "" {
		defaultID = RehearsalID
	}
	if providerID == "" {
		providerID = defaultID
	}
	config, p, err := r.provider(ctx, providerID)
	if err != nil {
		return nil, core.Origin{}, err
	}
	if model == "" && config.ID == defaultID {
		model = defaultModel
	}
	if model == "" {
		model = config.DefaultModel
	}
	if model == "" {
		models, err := p.Models(ctx)
		if err != nil {
			return nil, core.Origin{}, err
		}
		if len(models) == 0 {
			return nil, core.Origin{}, core.Errorf(core.CodeNeedsValue, "%s offers no model. Install or load one there, then choose it.", config.Name)
		}
		model = models[0].ID
	}
	return p, core.Origin{Provider: config.ID, Model: model}, nil
}

// provider makes a provider once for each configuration and key.
func (r *Registry) provider(ctx context.Context, id string) (core.Provider, llm.Provider, error) {
	config, err := r.Get(ctx, id)
	if err != nil {
		return config, nil, err
	}
	key := ""
	switch {
	case config.Origin == "environment":
		key = r.o.Env("OPENAI_API_KEY")
	case config.HasKey:
		var ok bool
		if key, ok, err = r.o.Secrets.Get(ctx, secretName(config.ID)); err != nil {
			return config, nil, err
		} else if !ok {
			return config, nil, core.Errorf(core.CodeNeedsValue, "The key of %s is gone from the secret store. Enter it again in Settings.", config.Name)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.ready[config.ID]; ok && m.config == config && m.key == key {
		return config, m.provider, nil
	}
	p, err := r.o.Constructors[config.Kind](config, key)
	if err != nil {
		return config, nil, err
	}
	r.ready[config.ID] = made{config, key, p}
	return config, p, nil
}

func secretName(providerID string) string { return "provider/" + providerID }
