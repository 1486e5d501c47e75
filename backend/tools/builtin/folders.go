package builtin

import (
	"os"
	"path/filepath"
	"strings"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

// spot is a place in one of the chosen folders. root must be closed.
type spot struct {
	root *os.Root
	dir  string // the chosen folder
	rel  string // inside it
	path string // as messages name it
}

// at opens the chosen folder in which path lies, as a root that nothing inside
// leads out of.
func (c *call) at(path string, write bool) (*spot, error) {
	folders := c.access.Folders
	if len(folders) == 0 {
		return nil, core.Errorf(core.CodeNeedsValue, "No folder was chosen for the built-in tools yet. A person chooses folders in Settings, under Tools.")
	}
	var full string
	var err error
	switch {
	case filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/"):
		if full, err = reach.Home(path); err != nil {
			return nil, err
		}
	case len(folders) == 1:
		full = filepath.Join(folders[0].Path, path)
	default:
		return nil, core.Errorf(core.CodeInvalid, "%q could lie in several folders. Begin with one of them: %s.", path, c.names())
	}
	readOnly := ""
	for _, f := range folders {
		rel, err := filepath.Rel(f.Path, full)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if write && !f.Write {
			readOnly = f.Path
			continue
		}
		if reach.Touches(c.r.Private, f.Path, rel) {
			return nil, core.Errorf(core.CodeDenied, "The files of Patchbay itself are out of reach.")
		}
		root, err := os.OpenRoot(f.Path)
		if err != nil {
			return nil, reach.FileError(f.Path, err)
		}
		return &spot{root: root, dir: f.Path, rel: rel, path: full}, nil
	}
	if readOnly != "" {
		return nil, core.Errorf(core.CodeDenied, "%s may only be read. A person can allow writing in Settings, under Tools.", readOnly)
	}
	return nil, core.Errorf(core.CodeDenied, "%s lies in none of the folders that were chosen for the built-in tools: %s.", path, c.names())
}

// names lists the chosen folders for a message.
func (c *call) names() string {
	var out []string
	for _, f := range c.access.Folders {
		out = append(out, f.Path)
	}
	return strings.Join(out, ", ")
}
