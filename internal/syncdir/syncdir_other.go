//go:build !unix

// Package syncdir writes the entries of a folder to the disk, where a system lets
// a program do that.
package syncdir

// Dir does nothing: only Unix lets a folder be synced.
func Dir(string) error { return nil }
