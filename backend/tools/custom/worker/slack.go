//go:build !race

package worker

const (
	// hardMemory is what the whole process may hold, in bytes; the VM's own
	// limit, far below, is the one that a script normally meets.
	hardMemory = 300 << 20
	// slack is what Go reserves beyond what it uses, in bytes.
	slack = 300 << 20
)
