//go:build race

package worker

const (
	// hardMemory is what the whole process may hold, in bytes; the VM's own
	// limit, far below, is the one that a script normally meets.
	hardMemory = 6 << 30
	// slack is what Go and the race detector reserve beyond what they use, in bytes.
	slack = 8 << 30
)
