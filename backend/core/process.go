package core

// Process is one process of the operating system that belongs to a server: the
// program that was started, or one that it started itself.
type Process struct {
	PID       int    `json:"pid"`
	ParentPID int    `json:"parentPid"`
	Command   string `json:"command"`   // the command line, secrets masked; "" if the system does not tell
	MemoryKB  int64  `json:"memoryKb"`  // resident, in 1024 bytes; 0 if the system does not tell
	CPUMillis int64  `json:"cpuMillis"` // of all its threads since it started, in milliseconds
	StartedAt string `json:"startedAt"` // RFC 3339; "" if the system does not tell
}
