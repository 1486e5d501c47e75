//go:build !race

package mcp

import "time"

const raceDetector = false

// patience is how long a test waits for a state.
const patience = 15 * time.Second
