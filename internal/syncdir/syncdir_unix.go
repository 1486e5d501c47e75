//go:build unix

// Package syncdir writes the entries of a folder to the disk, where a system lets
// a program do that.
package syncdir

import "os"

// Dir makes a rename in the folder dir survive a power cut.
func Dir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
