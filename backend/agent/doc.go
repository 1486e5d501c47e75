// Package agent holds the loop of model and tools. One user request is a run;
// a run belongs to the program and not to the request that began it, so a page
// may come and go while it goes on.
package agent
