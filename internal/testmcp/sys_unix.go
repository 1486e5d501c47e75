//go:build unix

package testmcp

import (
	"os/exec"
	"os/signal"
	"syscall"
)

func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func ignoreTerm() { signal.Ignore(syscall.SIGTERM) }
