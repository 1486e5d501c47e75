// Package custom runs the person's own tools, written in JavaScript.
//
// A script runs in a worker (see backend/tools/custom/worker): a process that
// can do nothing but compute, and asks this package for all else. Here each
// question is held against what the tool declares, and a call of another tool
// goes through the gate like any other call, as a child of the script's own.
package custom
