package custom

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

const (
	maxFile    = 10 << 20 // bytes
	maxEntries = 10_000
)

// listed is one entry of a folder.
type listed struct {
	Name   string `json:"name"`
	Folder bool   `json:"folder"`
	Size   int64  `json:"size"` // in bytes; 0 for a folder
}

// open opens the declared folder in which path lies, as a root that nothing
// inside leads out of, and returns path as seen from there.
func (c *call) open(path string, write bool) (root *os.Root, rel string, err error) {
	full, err := reach.Home(path)
	if err != nil {
		return nil, "", err
	}
	list, word := c.tool.WriteFolders, "writeFolders"
	if !write {
		list, word = slices.Concat(c.tool.Folders, c.tool.WriteFolders), "folders"
	}
	for _, declared := range list {
		dir, err := reach.Home(declared)
		if err != nil {
			return nil, "", err
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if err := c.notOurs(dir, rel); err != nil {
			return nil, "", err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, "", reach.FileError(declared, err)
		}
		return root, rel, nil
	}
	return nil, "", core.Errorf(core.CodeDenied, "%s does not declare a folder that holds %s. Add one to its %s if it shall reach it.", c.tool.Name, path, word)
}

// notOurs keeps scripts out of the product's own files: one that could write
// tools.json could give itself everything.
func (c *call) notOurs(dir, rel string) error {
	if reach.Touches(c.r.o.Private, dir, rel) {
		return core.Errorf(core.CodeDenied, "%s may not touch the files of Patchbay itself.", c.tool.Name)
	}
	return nil
}

func (c *call) readFile(path string) (string, error) {
	root, rel, err := c.open(path, false)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := reach.OpenRegular(root, rel, os.O_RDONLY, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", reach.FileError(path, err)
	case len(raw) > maxFile:
		return "", core.Errorf(core.CodeTooLarge, "%s is larger than the %d MiB that a tool can read.", path, maxFile>>20)
	case !utf8.Valid(raw):
		return "", core.Errorf(core.CodeInvalid, "%s is no text in UTF-8.", path)
	}
	return string(raw), nil
}

func (c *call) writeFile(path, content string) error {
	if len(content) > maxFile {
		return core.Errorf(core.CodeTooLarge, "%s was not written: a tool can write at most %d MiB.", path, maxFile>>20)
	}
	root, rel, err := c.open(path, true)
	if err != nil {
		return err
	}
	defer root.Close()
	return reach.WriteFile(root, rel, content, path)
}

func (c *call) listFolder(path string) ([]listed, error) {
	root, rel, err := c.open(path, false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	d, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, reach.FileError(path, err)
	}
	defer d.Close()
	entries, err := d.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, reach.FileError(path, err)
	}
	if len(entries) > maxEntries {
		return nil, core.Errorf(core.CodeTooLarge, "%s holds more than %d entries.", path, maxEntries)
	}
	out := make([]listed, 0, len(entries))
	for _, e := range entries {
		l := listed{Name: e.Name(), Folder: e.IsDir()}
		if info, err := e.Info(); err == nil && !e.IsDir() { // it may have gone meanwhile
			l.Size = info.Size()
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b listed) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
