package workload

import "time"

// Backlog is messages that wait before they are read. It is built while
// producers go on at the workload's rate; when it is there, reading begins, and
// the run goes on until the readers have caught up.
type Backlog struct {
	// How large it gets: one of the three, the others are 0.
	Bytes    int64
	Messages int64
	For      time.Duration
	Then     BacklogThen
	// Limit is the longest time that readers may take to catch up.
	Limit time.Duration
	// After is how long the run goes on when they have.
	After time.Duration
}

// BacklogThen is who reads the backlog.
type BacklogThen string

// The ways of reading a backlog.
const (
	// BacklogDrain: the workload's own subscriptions, whose consumers open only
	// when the backlog is there.
	BacklogDrain BacklogThen = "drain"
	// BacklogReplay: one new subscription, from the beginning, while the
	// workload's own read what is new all along.
	BacklogReplay BacklogThen = "replay"
)
