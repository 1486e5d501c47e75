// Package tools knows every tool and holds the gate through which every tool
// call passes, whoever makes it: [Executor.Call]. What stands around the gate
// may only take reach away.
//
// The gate's order is fixed: record the begin, resolve the tool, validate the
// arguments, ask the policy, ask a person, take from the limits, dispatch with
// a deadline, shape the result, record the end. An error in any step means
// that the tool is not called.
package tools
