//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// markName is the environment variable by which a tree of processes is known.
const markName = "PATCHBAY_TREE"

func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// ownSession gives cmd a group of its own and no terminal, for which an
// interactive shell would otherwise fight.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func killGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

func signalGroup(cmd *exec.Cmd, sig syscall.Signal) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, sig)
	}
}

func killPid(pid int) { syscall.Kill(pid, syscall.SIGKILL) }
