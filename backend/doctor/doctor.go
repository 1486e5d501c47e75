// Package doctor looks at the configuration of a server and says what a person
// should know before anything of it runs. It starts nothing and changes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patchbay/backend/core"
)

// Locator finds the program of a configuration without starting it, as
// mcp.Manager does: an absolute path, or an error that says how to get it.
type Locator interface {
	Locate(ctx context.Context, spec core.ServerSpec) (string, error)
}

// Doctor reviews configurations. All fields may be nil; what they would tell is
// then left out.
type Doctor struct {
	Locate Locator
	// Missing lists the places that hold a placeholder in the place of a value, as "env.KEY".
	Missing func(core.ServerSpec) []string
	// Cache says whether a package runner has its package on this machine.
	Cache *Cache
	// HasSecret reports whether the secret store knows a name.
	HasSecret func(ctx context.Context, name string) (bool, error)
}

// Review is what there is to know about one configuration.
type Review struct {
	// Argv is the command line, word by word, as it would be started; nil for a URL.
	Argv []string
	// EnvNames are the variables that the configuration sets, sorted.
	EnvNames []string
	// Resolved is the absolute path of the program; "" when it was not found or there is none.
	Resolved string
	Findings []core.Finding
	Secrets  []Secret
	Missing  []string
}

// Worst returns the highest severity among findings, "" for none.
func Worst(findings []core.Finding) core.Severity {
	worst := core.Severity("")
	for _, f := range findings {
		switch {
		case f.Severity == core.SeverityDanger:
			return core.SeverityDanger
		case f.Severity == core.SeverityWarning || worst == "":
			worst = f.Severity
		}
	}
	return worst
}

// Review looks at one configuration. A ctx that ends cuts the looking short.
func (d *Doctor) Review(ctx context.Context, spec core.ServerSpec) Review {
	r := Review{EnvNames: slices.Sorted(maps.Keys(spec.Env)), Secrets: Secrets(spec)}
	if spec.Transport == core.TransportStdio {
		r.Argv = append([]string{spec.Command}, spec.Args...)
	}
	n := &notes{name: spec.Name}
	n.hidden(spec)
	n.hostile(spec)
	if d.Missing != nil {
		r.Missing = d.Missing(spec)
	}
	for _, place := range r.Missing {
		n.add("value_missing", core.SeverityWarning, place, core.MendFillIn, "%s needs a value; the server waits until it has one.", Label(place))
	}
	if d.Locate != nil && spec.Transport == core.TransportStdio && strings.TrimSpace(spec.Command) != "" {
		path, err := d.Locate.Locate(ctx, spec)
		r.Resolved = path
		var ce *core.Error
		if errors.As(err, &ce) && ce.Code != core.CodeNeedsValue && ce.Code != core.CodeCanceled {
			n.add("command_missing", core.SeverityDanger, "command", core.MendInstall, "%s", ce.Message)
		}
		if err == nil && d.Cache != nil {
			if pkg, cached, known := d.Cache.Look(spec); known && !cached {
				n.add("cold_cache", core.SeverityInfo, "command", core.MendNone, "%s is not on this computer yet; the first start downloads it and takes longer.", pkg)
			}
		}
	}
	for _, s := range r.Secrets {
		n.add("secret_in_clear", core.SeverityWarning, s.Place, core.MendMoveSecret, "%s holds %s in clear; tools.json is a plain file.", Label(s.Place), s.What)
	}
	if d.HasSecret != nil {
		for _, name := range references(spec, false) {
			if ok, err := d.HasSecret(ctx, name); err == nil && !ok {
				n.add("secret_missing", core.SeverityDanger, "", core.MendFillIn, "The secret %s, which %s refers to, is not in the secret store.", name, spec.Name)
			}
		}
	}
	r.Findings = n.list
	rank := map[core.Severity]int{core.SeverityDanger: 0, core.SeverityWarning: 1, core.SeverityInfo: 2}
	slices.SortStableFunc(r.Findings, func(a, b core.Finding) int { return rank[a.Severity] - rank[b.Severity] })
	return r
}

// Label names a place for a person: "API_KEY", "The header Authorization", "Argument 3".
func Label(place string) string {
	group, key, _ := strings.Cut(place, ".")
	switch group {
	case "env":
		return key
	case "headers":
		return "The header " + key
	case "args":
		var n int
		if _, err := fmt.Sscanf(key, "%d", &n); err == nil {
			return fmt.Sprintf("Argument %d", n+1)
		}
	case "url":
		return "The URL"
	case "command":
		return "The command"
	case "auth":
		return "The setting " + place
	}
	return place
}

// notes collects findings of one server.
type notes struct {
	name string
	list []core.Finding
}

func (n *notes) add(code string, severity core.Severity, place string, mend core.Mend, format string, args ...any) {
	field := n.name
	if place != "" {
		field += "." + place
	}
	f := core.Finding{Code: code, Severity: severity, Field: field, Mend: mend, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(n.list, f) {
		n.list = append(n.list, f)
	}
}
