//go:build !race

package worker

// slack is what Go reserves beyond what it uses, in bytes.
const slack = 300 << 20
