package custom

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// maxProcess is what a worker may hold, in bytes.
const maxProcess = 400 << 20

// jail is a job object: it limits the memory of the worker, lets it start
// nothing, and ends it when the program ends.
type jail struct{ job windows.Handle }

func (*jail) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// close puts the worker into the job. It has been given nothing to run yet.
func (j *jail) close(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: maxProcess}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
	info.BasicLimitInformation.ActiveProcessLimit = 1
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err == nil {
		var h windows.Handle
		if h, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid)); err == nil {
			err = windows.AssignProcessToJobObject(job, h)
			_ = windows.CloseHandle(h)
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	j.job = job
	return nil
}

func (j *jail) release() {
	if j.job != 0 {
		_ = windows.CloseHandle(j.job)
		j.job = 0
	}
}

// systemEnv is what a program of Go needs on Windows to start at all.
func systemEnv() []string { return []string{"SystemRoot=" + os.Getenv("SystemRoot")} }

func emptyFolder() string { return os.Getenv("SystemRoot") }
