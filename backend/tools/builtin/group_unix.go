//go:build !windows

package builtin

import (
	"os/exec"
	"syscall"
)

// group starts cmd as the head of a group, so that all it starts ends with it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what is left of the group of cmd. The group's number cannot be
// another's while one of its processes lives.
func endGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nothing is left in the usual case
}
