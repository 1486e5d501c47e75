// Command tsgen prints the TypeScript types of the contract: every exported
// type of the packages given as arguments. It lives in a module of its own so
// that its dependencies stay out of the product's.
package main

import (
	"fmt"
	"os"

	"github.com/coder/guts"
	"github.com/coder/guts/bindings"
	"github.com/coder/guts/config"
)

// inside are the types that never cross to the page. The envelope of events is
// a union that internal/gen writes with its members.
var inside = []string{
	"patchbay/backend/core.OfferedTool",
	"patchbay/backend/core.Outcome",
	"patchbay/backend/core.PolicyRequest",
	"patchbay/backend/core.Watch",
	"patchbay/backend/event.Bus",
	"patchbay/backend/event.Event",
	"patchbay/backend/event.Payload",
	"patchbay/backend/event.Subscription",
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tsgen:", err)
		os.Exit(1)
	}
}

func run(packages []string) error {
	p, err := guts.NewGolangParser()
	if err != nil {
		return err
	}
	p.PreserveComments()
	for _, path := range packages {
		if err := p.IncludeGenerate(path); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
	}
	p.IncludeCustomDeclaration(map[string]guts.TypeOverride{
		"encoding/json.RawMessage": config.OverrideLiteral(bindings.KeywordUnknown),
	})
	if err := p.ExcludeCustom(inside...); err != nil {
		return err
	}
	ts, err := p.ToTypescript()
	if err != nil {
		return err
	}
	ts.ApplyMutations(config.EnumAsTypes, config.ExportTypes, config.SimplifyOptional, config.NotNullMaps)
	out, err := ts.Serialize()
	if err != nil {
		return err
	}
	_, err = fmt.Print(out)
	return err
}
