package worker

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// memory tells how much the process holds.
type memory struct{ statm *os.File }

// openMemory is called before confine, after which no file can be opened.
func openMemory() *memory {
	f, err := os.Open("/proc/self/statm")
	if err != nil {
		return &memory{}
	}
	return &memory{f}
}

// held returns the resident bytes of the process, 0 where they are not known.
func (m *memory) held() int64 {
	if m == nil || m.statm == nil {
		return 0
	}
	var buf [128]byte
	n, _ := m.statm.ReadAt(buf[:], 0) // io.EOF tells the end of a file that is shorter than buf
	f := bytes.Fields(buf[:n])
	if len(f) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(f[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// confine gives up what a script must not have even if it broke out of the
// engine: opening files and connections, writing files, memory without end.
// A limit that cannot be set is left out: the engine's own fences stand before it.
func confine() {
	forbid(unix.RLIMIT_DATA, hardMemory+slack)
	forbid(unix.RLIMIT_CORE, 0)
	forbid(unix.RLIMIT_FSIZE, 0)
	forbid(unix.RLIMIT_NOFILE, 0)
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

func forbid(resource int, limit uint64) {
	_ = unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit})
}
