package worker

import (
	"container/heap"
	"time"
)

// timers are a script's timers, the next one first. One that was cleared stays
// until it is due, and then does nothing.
type timers struct {
	heap timerHeap
	seq  int
}

type timer struct {
	at  time.Time
	seq int // of two that are due together, the older one first
	id  int
}

func (t *timers) add(id int, after time.Duration) {
	t.seq++
	heap.Push(&t.heap, timer{time.Now().Add(after), t.seq, id})
}

func (t *timers) next() (time.Time, bool) {
	if len(t.heap) == 0 {
		return time.Time{}, false
	}
	return t.heap[0].at, true
}

func (t *timers) pop() int { return heap.Pop(&t.heap).(timer).id }

type timerHeap []timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].seq < h[j].seq
}
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)   { *h = append(*h, x.(timer)) }
func (h *timerHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
