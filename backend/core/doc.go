// Package core holds the vocabulary that every other package speaks: what a
// tool is, what a call and its result are, who calls, what was decided and how
// a failure is named. It imports the standard library only and does no I/O.
//
// Its structs are also the wire types of the contract, so their JSON tags are
// what the page, the command line and the files in the data folder see.
package core
