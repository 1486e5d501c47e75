package builtin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// group makes the end of cmd the end of all that it started.
func group(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		kill := filepath.Join(os.Getenv("SYSTEMROOT"), "System32", "taskkill.exe")
		if exec.Command(kill, "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
}

// endGroup has nothing to do: what outlives its parent here cannot be found any more.
func endGroup(*exec.Cmd) {}
