package workload

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Backlog is messages that wait before they are read. It grows while producers send at the
// workload's rate. When it is complete, reading begins, and the run goes on until the readers
// have caught up. The workload's Duration is the longest time that this may take.
type Backlog struct {
	// The size is one of the three; the others are 0. Bytes and Messages include the warm-up,
	// For begins after it.
	Bytes    int64
	Messages int64
	For      time.Duration
	Then     BacklogThen
	// Producers says what producers do while it is read; empty: ProducersGoOn.
	Producers BacklogProducers
	// Limit is the longest time that readers may take to catch up.
	Limit time.Duration
	// After is how long the run goes on when the readers have caught up.
	After time.Duration
}

// BacklogThen says which subscription reads the backlog.
type BacklogThen string

// The ways of reading a backlog.
const (
	// BacklogDrain: the workload's own subscriptions. Their consumers open only when the
	// backlog is complete.
	BacklogDrain BacklogThen = "drain"
	// BacklogReplay: one new subscription, from the beginning. The workload's own subscriptions
	// read new messages all the time.
	BacklogReplay BacklogThen = "replay"
)

// BacklogProducers says what producers do while a backlog is read.
type BacklogProducers string

// The loads beside the readers of a backlog.
const (
	ProducersGoOn BacklogProducers = "go_on"
	// ProducersStop: they stop when the backlog is complete, and are answered before reading
	// begins, so that consumers alone are measured.
	ProducersStop BacklogProducers = "stop"
)

// Stops reports whether producers stop before the backlog is read.
func (b *Backlog) Stops() bool { return b.Producers == ProducersStop }

// The defaults of a backlog. The longest time to catch up is a multiple of the time to build
// it: readers that are less than a third faster than the producers take longer.
const (
	leastLimit  = time.Minute
	limitFactor = 3
	// leastBuild is the shortest time before the reading, so that its figures have enough
	// messages.
	leastBuild = time.Second
)

// SlowBuild is the factor by which building may exceed its planned time, because the system
// acknowledges less than is offered.
const SlowBuild = 1.5

// setBacklog sets the backlog that the file asks for, and the length of the window that follows
// from it.
func (w *Workload) setBacklog(b Backlog, doc *strict.Document) {
	if !doc.Has("backlog") {
		return
	}
	if b.Stops() && !doc.Has("backlog.after") {
		b.After = 0
	}
	w.Backlog = &b
	if !doc.Has("backlog.limit") {
		w.limitBacklog()
	}
	w.fitBacklog()
}

// SetBacklog sets a backlog whose limit is that of a file without one, and the length of the
// window that follows from it. The rate is set before.
func (w *Workload) SetBacklog(b Backlog) {
	b.Producers = cmp.Or(b.Producers, ProducersGoOn)
	w.Backlog = &b
	w.limitBacklog()
	w.fitBacklog()
}

// limitBacklog sets the longest time that readers may take to the default.
func (w *Workload) limitBacklog() {
	limit := max(leastLimit, limitFactor*w.BacklogBuild()).Round(time.Second)
	w.Backlog.Limit = min(limit, MaxDuration)
}

// fitBacklog sets the window to the longest total of building, reading and the time after. The run
// ends the window earlier when the readers have caught up.
func (w *Workload) fitBacklog() {
	build := float64(w.BacklogBuild()) * SlowBuild
	longest := build + float64(w.Backlog.Limit) + float64(w.Backlog.After)
	if !(longest > 0 && longest <= float64(MaxDuration)) {
		longest = float64(MaxDuration) + 1 // checkBacklog reports the error
	}
	w.Duration = time.Duration(longest)
	if longest <= float64(MaxDuration) {
		w.Duration = (w.Duration + time.Second - 1).Truncate(time.Second)
	}
	if len(w.Load.Segments) == 1 {
		w.Load.Segments = []Segment{{w.Load.Segments[0].From, w.Load.Segments[0].To, w.Duration}}
	}
}

// BacklogMessages returns the planned number of messages of the backlog when reading begins:
// all messages acknowledged since the load began.
func (w *Workload) BacklogMessages() int64 {
	b := w.Backlog
	switch {
	case b.Messages > 0:
		return b.Messages
	case b.Bytes > 0:
		return int64(math.Ceil(float64(b.Bytes) / max(w.Message.Mean(), 1)))
	}
	return w.WarmupMessages() + int64(w.opening()*b.For.Seconds())
}

// BacklogBuild returns the time that building takes at the offered rate, from the beginning of
// the measured window.
func (w *Workload) BacklogBuild() time.Duration {
	if w.Backlog.For > 0 {
		return w.Backlog.For
	}
	rate := w.opening()
	seconds := float64(w.BacklogMessages()-w.WarmupMessages()) / rate
	if !(rate > 0 && seconds < MaxDuration.Seconds()) {
		return MaxDuration
	}
	return max(0, time.Duration(seconds*float64(time.Second)))
}

// AllSubscriptions returns the number of subscriptions of each topic, including one that
// replays a backlog or audits.
func (w *Workload) AllSubscriptions() int {
	if w.Backlog != nil && w.Backlog.Then == BacklogReplay || w.Audit {
		return w.Subscriptions + 1
	}
	return w.Subscriptions
}

// checkBacklogSpelling checks which keys go together in a file with a backlog.
func (f *file) checkBacklogSpelling(doc *strict.Document) {
	if !doc.Has("backlog") {
		return
	}
	if doc.Has("duration") {
		doc.Reject("duration",
			"cannot be combined with backlog: the window lasts until the readers have caught up "+
				"and "+
				"backlog.after is over, remove it")
	}
	var given []string
	for _, key := range []string{"size", "messages", "for"} {
		if doc.Has("backlog." + key) {
			given = append(given, "backlog."+key)
		}
	}
	switch {
	case len(given) == 0:
		doc.Reject("backlog",
			"lacks its size: write it like {size: 2GB}, {messages: 1M} or {for: 10m}")
	case len(given) > 1:
		doc.Reject(given[len(given)-1],
			"cannot be combined with "+strings.Join(given[:len(given)-1],
				" and ")+": keep one of size, messages and for")
	}
}

// checkBacklog checks the rules of a backlog.
func (w *Workload) checkBacklog(doc *strict.Document) {
	b := w.Backlog
	if b == nil {
		return
	}
	if w.Audit {
		doc.Reject("audit",
			"cannot be combined with backlog, which has readers of its own: leave one of them out")
	}
	if w.Load.Closed != nil {
		doc.Reject("backlog",
			"cannot be combined with load.closed: producers go on at a rate of their own while "+
				"it is "+
				"read, give load.rate")
		return
	}
	if len(w.Load.Segments) != 1 || w.Load.Segments[0].From != w.Load.Segments[0].To {
		doc.Reject(w.curvePath(doc),
			"cannot be combined with backlog: producers go on at one rate while it is read, give "+
				"load.rate")
		return
	}
	if w.Settle {
		doc.Reject("warmup",
			"cannot be auto with a backlog: its messages are part of the backlog, give its "+
				"length")
	}
	oneOf(doc, "backlog.then", b.Then, []BacklogThen{BacklogDrain, BacklogReplay})
	oneOf(doc, "backlog.producers", cmp.Or(b.Producers, ProducersGoOn),
		[]BacklogProducers{ProducersGoOn, ProducersStop})
	if b.Stops() && b.After > 0 && doc.Has("backlog.after") {
		doc.Reject("backlog.after", "is the time after the reading, and backlog.producers is "+
			"stop: remove it, nothing happens then")
	}
	checkTime(doc, "backlog.limit", b.Limit, 1, MaxDuration)
	checkTime(doc, "backlog.after", b.After, 0, MaxDuration)
	if doc.Failed("backlog") || doc.Failed("load") || doc.Failed("message") ||
		doc.Failed("warmup") {
		return // further checks would repeat the error
	}
	if given := positives(b.Bytes, b.Messages, int64(b.For)); given != 1 {
		doc.Reject("backlog",
			fmt.Sprintf("must have one of size, messages and for above 0, and has %d", given))
		return
	}
	if build := w.BacklogBuild(); build < leastBuild {
		doc.Reject("backlog",
			fmt.Sprintf("of %s messages is complete %s after the measured window begins: make "+
				"that %s or more, the warm-up of %s sends %s",
				quantity.Count(w.BacklogMessages()), quantity.Duration(
					int64(build)), leastBuild, quantity.Duration(int64(w.Warmup)),
				quantity.Count(w.WarmupMessages())))
	}
	if w.Duration > MaxDuration {
		doc.Reject("backlog",
			fmt.Sprintf("may take longer than %s to be built and read: make it smaller, or the "+
				"rate higher", quantity.Duration(int64(MaxDuration))))
	}
}

func positives(values ...int64) (n int) {
	for _, v := range values {
		if v > 0 {
			n++
		}
	}
	return n
}

// String returns the backlog as a file has it, with every default spelled out.
func (b *Backlog) String() string {
	var parts []string
	values := (&Workload{Backlog: b}).Values()
	for _, f := range backlogFields {
		if value := values[f.Path]; value != "" {
			parts = append(parts, strings.TrimPrefix(f.Path, "backlog.")+": "+value)
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
