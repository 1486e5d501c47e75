//go:build !unix

package secret

// syncDir does nothing: only Unix lets a folder be synced.
func syncDir(string) error { return nil }
