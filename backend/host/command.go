package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"patchbay/backend/core"
)

// commandLine finds the program "patchbay" for the program at self: itself, its
// neighbour, or the one in PATH.
func commandLine(self string) (string, error) {
	name := "patchbay"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	if strings.EqualFold(filepath.Base(self), name) {
		return self, nil
	}
	beside := filepath.Join(filepath.Dir(self), name)
	if st, err := os.Stat(beside); err == nil && !st.IsDir() {
		return beside, nil
	}
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	return "", core.Errorf(core.CodeUnavailable, "The program %s, which holds the demo server, is neither in %s nor in PATH. Install it there, then try again.", name, filepath.Dir(self))
}
