// Package worker is the process that runs scripts: our own program, started
// once more. It has no settings, no keys and, on Unix, not even the right to
// open a file or a connection; what a script wants of the world it asks for
// over the standard output. Each script gets a VM that ran nothing before.
package worker
