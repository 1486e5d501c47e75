package mcp

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// markName is the environment variable by which a tree of processes is known.
const markName = "PATCHBAY_TREE"

// lineage holds all descendants of one child in a job object, which ends them
// when it is closed, also when the program itself dies.
type lineage struct {
	cmd   *exec.Cmd
	ended chan struct{} // nothing is left

	mu  sync.Mutex
	job windows.Handle // 0 once everything ended
}

func newLineage(cmd *exec.Cmd, _ string) *lineage {
	// Suspended until it is in the job: a child that was started meanwhile would escape.
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
	switch strings.ToLower(filepath.Ext(cmd.Path)) {
	case ".cmd", ".bat":
		line, err := batchLine(cmd.Path, cmd.Args[1:])
		if err != nil {
			cmd.Err = err // Start returns it
		}
		cmd.SysProcAttr.CmdLine = line
		cmd.Path = filepath.Join(systemDir(), "cmd.exe")
	}
	return &lineage{cmd: cmd, ended: make(chan struct{})}
}

func systemDir() string {
	d, err := windows.GetSystemDirectory()
	if err != nil {
		return `C:\Windows\System32`
	}
	return d
}

func (l *lineage) started() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		windows.CloseHandle(job)
		return err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE|windows.PROCESS_SUSPEND_RESUME, false, uint32(l.cmd.Process.Pid))
	if err != nil {
		windows.CloseHandle(job)
		return err
	}
	defer windows.CloseHandle(h)
	if err = windows.AssignProcessToJobObject(job, h); err != nil {
		windows.CloseHandle(job)
		return err
	}
	l.mu.Lock()
	l.job = job
	l.mu.Unlock()
	resume := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")
	if err = resume.Find(); err != nil {
		return err
	}
	if status, _, _ := resume.Call(uintptr(h)); status != 0 {
		return windows.NTStatus(status)
	}
	return nil
}

func (l *lineage) snapshot() {}

// terminate asks the console programs of the child's group to end.
func (l *lineage) terminate() {
	windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(l.cmd.Process.Pid))
}

func (l *lineage) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.job != 0 {
		windows.TerminateJobObject(l.job, 1)
	}
}

func (l *lineage) alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.job == 0 {
		return false
	}
	var acc struct {
		user, kernel, periodUser, periodKernel   int64
		faults, total, active, totalTerminations uint32
	}
	err := windows.QueryInformationJobObject(l.job, windows.JobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&acc)), uint32(unsafe.Sizeof(acc)), nil)
	if err != nil || acc.active > 0 {
		return err == nil
	}
	windows.CloseHandle(l.job)
	l.job = 0
	return false
}

func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		cmd.Process.Kill()
	}
}

// startTime identifies a process beyond its number, which the system uses
// again; "" if there is no such process.
func startTime(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h)
	var c, e, k, u windows.Filetime
	if windows.GetProcessTimes(h, &c, &e, &k, &u) != nil {
		return ""
	}
	return strconv.FormatInt(c.Nanoseconds(), 10)
}

// killTree ends what a former run of the program left behind. The job object
// has done that already for everything but the rarest cases.
func killTree(pid int, _ string) {
	if h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid)); err == nil {
		windows.TerminateProcess(h, 1)
		windows.CloseHandle(h)
	}
}

// closeLeaks has nothing to do: handles are not inherited unless named.
func closeLeaks() {}

// killMarked has no way to find processes by their environment here.
func killMarked(string) int { return 0 }
