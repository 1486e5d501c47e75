package tools

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"patchbay/backend/core"
)

// Entry is a tool in the catalog.
type Entry struct {
	Tool  core.Tool
	Alias string // the name that models see

	schema *schema
}

// Catalog holds all tools in memory. Reading never waits; it is safe for
// concurrent use.
type Catalog struct {
	// Blocked says which tools are offered to no agent; nil for none. It is set
	// before the catalog is used.
	Blocked func(core.ToolRef) bool

	changed func()
	snap    atomic.Pointer[snapshot]

	mu      sync.Mutex
	naming  Naming
	sources map[string][]Entry
}

type snapshot struct {
	all     []Entry
	byAlias map[string]int
	byRef   map[core.ToolRef]int // without digests
}

// keyOf is a reference as the index knows it.
func keyOf(ref core.ToolRef) core.ToolRef {
	ref.Digest = ""
	return ref
}

// NewCatalog makes an empty catalog. changed, when not nil, is called after
// each change, with no lock held.
func NewCatalog(changed func()) *Catalog {
	c := &Catalog{changed: changed, sources: map[string][]Entry{}}
	c.snap.Store(&snapshot{})
	return c
}

// SetNaming names all tools anew. A run that is under way still finds the tools
// that it was offered, by their references.
func (c *Catalog) SetNaming(n Naming) {
	c.mu.Lock()
	same := c.naming == n
	c.naming = n
	if !same {
		c.publish()
	}
	c.mu.Unlock()
	if !same && c.changed != nil {
		c.changed()
	}
}

// AliasOf returns the name that models see of ref, in the catalog or not.
func (c *Catalog) AliasOf(ref core.ToolRef) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.naming.Alias(ref)
}

// Replace sets the tools of one source ("mcp:github", "custom"); nil removes
// the source. It takes over the slice.
func (c *Catalog) Replace(source string, tools []core.Tool) {
	c.mu.Lock()
	old := map[string]*schema{}
	for _, e := range c.sources[source] {
		old[e.Tool.Ref.Digest] = e.schema
	}
	if tools == nil {
		delete(c.sources, source)
	} else {
		entries := make([]Entry, 0, len(tools))
		for _, t := range tools {
			s := old[t.Ref.Digest]
			if s == nil {
				s = &schema{source: t.InputSchema}
			}
			entries = append(entries, Entry{Tool: t, schema: s})
		}
		c.sources[source] = entries
	}
	c.publish()
	c.mu.Unlock()
	if c.changed != nil {
		c.changed()
	}
}

// publish joins the sources in the order of their names, so that the order in
// which servers connect does not show.
func (c *Catalog) publish() {
	names := make([]string, 0, len(c.sources))
	for n := range c.sources {
		names = append(names, n)
	}
	slices.Sort(names)
	s := &snapshot{byAlias: map[string]int{}, byRef: map[core.ToolRef]int{}}
	for _, n := range names {
		for _, e := range c.sources[n] {
			e.Alias = c.naming.Alias(e.Tool.Ref)
			if _, twice := s.byAlias[e.Alias]; twice {
				// Only a server that lists one name twice gets here. The first stays callable.
				e.Tool.Broken = "Its server lists two tools of this name."
				s.all = append(s.all, e)
				continue
			}
			s.byAlias[e.Alias] = len(s.all)
			s.byRef[keyOf(e.Tool.Ref)] = len(s.all)
			s.all = append(s.all, e)
		}
	}
	c.snap.Store(s)
}

// All returns every tool in a stable order. The slice belongs to the catalog
// and must not be changed.
func (c *Catalog) All() []Entry { return c.snap.Load().all }

// ByAlias looks up the name that a model used.
func (c *Catalog) ByAlias(alias string) (Entry, bool) {
	s := c.snap.Load()
	i, ok := s.byAlias[alias]
	if !ok {
		return Entry{}, false
	}
	return s.all[i], true
}

// ByRef looks up a tool by its identity. A digest in ref must match the current
// definition; a conflict error says that the definition changed.
func (c *Catalog) ByRef(ref core.ToolRef) (Entry, error) {
	s := c.snap.Load()
	i, ok := s.byRef[keyOf(ref)]
	if !ok {
		return Entry{}, core.Errorf(core.CodeNotFound, "There is no tool %s now. Is its server connected?", ref)
	}
	e := s.all[i]
	if ref.Digest != "" && ref.Digest != e.Tool.Ref.Digest {
		return Entry{}, core.Errorf(core.CodeConflict, "The definition of %s changed meanwhile. Look at it again, then repeat the call.", ref)
	}
	return e, nil
}

// Find looks up what a person typed: an alias, or a tool's own name where only
// one tool has it. The error names the nearest tools.
func (c *Catalog) Find(text string) (Entry, error) {
	if e, ok := c.ByAlias(text); ok {
		return e, nil
	}
	var own, near []Entry
	low := strings.ToLower(text)
	for _, e := range c.All() {
		if e.Tool.Ref.Name == text {
			own = append(own, e)
		}
		if strings.Contains(strings.ToLower(e.Alias), low) || strings.Contains(low, strings.ToLower(e.Tool.Ref.Name)) {
			near = append(near, e)
		}
	}
	if len(own) == 1 {
		return own[0], nil
	}
	if len(own) > 1 {
		near = own
	}
	msg := fmt.Sprintf("There is no tool named %q.", text)
	if len(own) > 1 {
		msg = fmt.Sprintf("Several servers have a tool named %q.", text)
	}
	if len(near) > 0 {
		names := make([]string, 0, 5)
		for _, e := range near[:min(len(near), 5)] {
			names = append(names, e.Alias)
		}
		msg += " Did you mean " + strings.Join(names, ", ") + "?"
	} else {
		msg += " List the tools to see their names."
	}
	return Entry{}, &core.Error{Code: core.CodeNotFound, Message: msg}
}

// Offer returns the tools that an agent may use now, in a stable order: not
// those that are broken, turned off or blocked, and of the others those that it chose.
func (c *Catalog) Offer(a core.Agent) []core.OfferedTool {
	var out []core.OfferedTool
	for _, e := range c.All() {
		if e.Tool.Broken == "" && !e.Tool.Disabled && Chosen(a, e.Tool.Ref) && (c.Blocked == nil || !c.Blocked(e.Tool.Ref)) {
			out = append(out, core.OfferedTool{Alias: e.Alias, Tool: e.Tool})
		}
	}
	return out
}

// Chosen reports whether the agent a chose the tool ref. "All tools" are not the
// built-in ones: an agent has those only that it names.
func Chosen(a core.Agent, ref core.ToolRef) bool {
	if ref.Kind == core.ToolBuiltin {
		return a.ToolChoice != core.ToolsNone && slices.ContainsFunc(a.Tools, ref.Same)
	}
	switch a.ToolChoice {
	case core.ToolsAll:
		return true
	case core.ToolsSome:
		return ref.Server != "" && slices.Contains(a.Servers, ref.Server) || slices.ContainsFunc(a.Tools, ref.Same)
	}
	return false
}
