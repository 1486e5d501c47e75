//go:build race

package worker

// slack is what Go and the race detector reserve beyond what they use, in bytes.
const slack = 8 << 30
