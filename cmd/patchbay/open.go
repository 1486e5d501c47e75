package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"patchbay/backend/api"
	"patchbay/backend/core"
)

type openCmd struct {
	Link string `arg:"" help:"A link that adds servers: patchbay:, cursor: or vscode:."`
}

// Run starts the window with the link. A window that is open already takes it over.
func (c *openCmd) Run(a *app) error {
	if err := api.NewLinks(nil).Open(c.Link); err != nil {
		return err
	}
	program, err := window()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(a.ctx, program, c.Link)
	cmd.Cancel = func() error { return nil } // the window outlives this command
	if err := cmd.Start(); err != nil {
		return core.Errorf(core.CodeUnavailable, "The window %s cannot be started: %w", program, err)
	}
	return cmd.Process.Release()
}

// window finds the program of the window: beside this one, or in PATH.
func window() (string, error) {
	name := "patchbay-desktop"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if st, err := os.Stat(beside); err == nil && !st.IsDir() {
			return beside, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", core.Errorf(core.CodeUnavailable, "The window program %s is neither beside this program nor in PATH. \"patchbay serve --open\" shows the link in a browser.", name)
}
