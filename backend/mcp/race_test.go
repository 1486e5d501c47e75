//go:build race

package mcp

import "time"

const raceDetector = true

// patience is how long a test waits for a state: 50 MB of JSON take ten times as
// long to read under the race detector.
const patience = 60 * time.Second
