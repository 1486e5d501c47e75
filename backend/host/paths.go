package host

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// Paths is where everything lies.
type Paths struct {
	Config string // the file tools.json
	Data   string // folder: databases, secrets
	State  string // folder: logs, the ledger of processes
}

// FindPaths returns the person's folders as their system defines them, or, when
// the environment variable PATCHBAY_HOME is set, folders below that one. It
// makes the folders of data and state.
func FindPaths() (Paths, error) {
	p := Paths{
		Config: filepath.Join(xdg.ConfigHome, "patchbay", "tools.json"),
		Data:   filepath.Join(xdg.DataHome, "patchbay"),
		State:  filepath.Join(xdg.StateHome, "patchbay"),
	}
	if home := os.Getenv("PATCHBAY_HOME"); home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			return p, fmt.Errorf("PATCHBAY_HOME %q: %w", home, err)
		}
		p = Paths{Config: filepath.Join(abs, "tools.json"), Data: filepath.Join(abs, "data"), State: filepath.Join(abs, "state")}
	}
	for _, dir := range []string{p.Data, p.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return p, fmt.Errorf("making the folder %s: %w", dir, err)
		}
	}
	return p, nil
}
