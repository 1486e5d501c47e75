package worker

import "golang.org/x/sys/unix"

// memory tells how much the process holds.
type memory struct{}

func openMemory() *memory { return nil }

// held returns the most that the process ever held, in bytes.
func (*memory) held() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss
}

// confine gives up what a script must not have even if it broke out of the
// engine: opening files and connections, writing files.
func confine() {
	forbid(unix.RLIMIT_CORE)
	forbid(unix.RLIMIT_FSIZE)
	forbid(unix.RLIMIT_NOFILE)
}

func forbid(resource int) { _ = unix.Setrlimit(resource, &unix.Rlimit{}) }
