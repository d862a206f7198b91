package result

import "time"

// mostQueued bounds the writes that wait for the disk: those of about forty readings, each of
// which may hold packed histograms of up to a megabyte.
const mostQueued = 128

// queue writes on its own goroutine, in order. Servers that keep the disk and the cores busy can
// delay a write, a sync or a compression by seconds, and the reader of the counters must not wait
// for it. Its methods are for one goroutine.
type queue struct {
	writes chan func() error
	failed chan error // the first failure, until it was reported
	ended  chan struct{}
	heldUp time.Duration // time that put waited because the queue was full
}

func newQueue() *queue {
	q := &queue{writes: make(chan func() error, mostQueued), failed: make(chan error, 1),
		ended: make(chan struct{})}
	go q.run()
	return q
}

func (q *queue) run() {
	defer close(q.ended)
	broken := false
	for write := range q.writes {
		if broken {
			continue
		}
		if err := write(); err != nil {
			broken = true
			q.failed <- err
		}
	}
}

// put queues a write, and returns the error of a failed write once. After a failure nothing
// more is written.
func (q *queue) put(write func() error) error {
	select {
	case q.writes <- write:
	default:
		began := time.Now()
		q.writes <- write
		q.heldUp += time.Since(began)
	}
	return q.failure()
}

// close waits until every queued write is done.
func (q *queue) close() error {
	close(q.writes)
	<-q.ended
	return q.failure()
}

func (q *queue) failure() error {
	select {
	case err := <-q.failed:
		return err
	default:
		return nil
	}
}
