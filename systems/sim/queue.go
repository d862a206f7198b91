package sim

import "container/heap"

// queue is a first-in-first-out list that reuses its memory.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) len() int { return len(q.items) - q.head }

func (q *queue[T]) push(v T) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, v)
}

func (q *queue[T]) peek() (T, bool) {
	if q.len() == 0 {
		var none T
		return none, false
	}
	return q.items[q.head], true
}

func (q *queue[T]) pop() T {
	v := q.items[q.head]
	var none T
	q.items[q.head] = none
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return v
}

// answerQueue returns answers in the order of their times. Most are added in that order; the
// others go through a heap.
type answerQueue struct {
	inOrder queue[answer]
	lastNs  int64
	early   answerHeap
}

func (q *answerQueue) push(a answer) {
	if a.atNs >= q.lastNs || q.inOrder.len() == 0 {
		q.lastNs = a.atNs
		q.inOrder.push(a)
		return
	}
	heap.Push(&q.early, a)
}

func (q *answerQueue) peek() (answer, bool) {
	a, ok := q.inOrder.peek()
	if len(q.early) > 0 && (!ok || q.early[0].atNs < a.atNs) {
		return q.early[0], true
	}
	return a, ok
}

func (q *answerQueue) pop() {
	a, ok := q.inOrder.peek()
	if len(q.early) > 0 && (!ok || q.early[0].atNs < a.atNs) {
		heap.Pop(&q.early)
		return
	}
	q.inOrder.pop()
}

// drop removes and returns the answers due to one producer.
func (q *answerQueue) drop(p *producer) []answer {
	var dropped []answer
	var rest answerQueue
	for a, ok := q.peek(); ok; a, ok = q.peek() {
		q.pop()
		if a.slot.from == p {
			a.slot.answered = true
			dropped = append(dropped, a)
		} else {
			rest.push(a)
		}
	}
	*q = rest
	return dropped
}

type answerHeap []answer

func (h answerHeap) Len() int           { return len(h) }
func (h answerHeap) Less(i, j int) bool { return h[i].atNs < h[j].atNs }
func (h answerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *answerHeap) Push(v any)        { *h = append(*h, v.(answer)) }
func (h *answerHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
