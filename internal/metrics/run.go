package metrics

import (
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// run is the part of a run that was read so far.
type run struct {
	head   *result.Run
	follow *result.Follower
	seen   bool // in the present scrape

	// tallies are of messages due in the measured window: of all, and of each class.
	tallies map[result.Series]*tally
	sum     result.Interval // the messages of all intervals
	last    result.Interval
}

// mostTallies bounds the series of a run: those of all messages, and of the classes.
const mostTallies = 2 * (1 + workload.MaxClasses)

func newRun(dir string) *run {
	return &run{follow: result.Follow(dir), tallies: map[result.Series]*tally{
		result.Publish: newTally(), result.EndToEnd: newTally()}}
}

// read reads the lines written since the last scrape. It skips a line that cannot be read: reports
// on the run warn of it.
func (r *run) read(dir string) error {
	head, err := result.ReadHead(dir)
	if err != nil {
		return err
	}
	r.head = head
	_ = r.follow.Intervals(func(i result.Interval) {
		r.sum.Scheduled += max(0, i.Scheduled)
		r.sum.Sent += max(0, i.Sent)
		r.sum.Acked += max(0, i.Acked)
		r.sum.Failed += max(0, i.Failed)
		r.sum.Received += max(0, i.Received)
		r.last = i
	})
	_ = r.follow.Latency(shown, func(l result.IntervalLatency) {
		if r.tallies[l.Series] == nil && len(r.tallies) < mostTallies {
			r.tallies[l.Series] = newTally()
		}
		if t := r.tallies[l.Series]; t != nil {
			t.add(l.Histogram)
		}
	})
	return nil
}

func shown(series result.Series, warmup bool) bool {
	of, _ := result.ClassOf(series)
	return !warmup && (of == result.Publish || of == result.EndToEnd)
}

// ended reports whether the run has its account.
func (r *run) ended() bool { return r.head.Counted() }

// missing counts the messages without a latency, which are known when the run has ended.
func (r *run) missing(series result.Series) uint64 {
	if !r.ended() {
		return 0
	}
	return uint64(max(0, r.head.Latency(series).Missing.Total()))
}

// endedAt returns when a run ended, or when its process last wrote its state.
func endedAt(head *result.Run, dir string) time.Time {
	if !head.EndedAt.IsZero() {
		return head.EndedAt
	}
	info, err := os.Stat(filepath.Join(dir, result.RunFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// named is a count of messages.
type named struct {
	name  string
	count float64
}

// events are the sums over all intervals, warm-up and drain included.
func (r *run) events() []named {
	return []named{{"scheduled", float64(r.sum.Scheduled)}, {"sent", float64(r.sum.Sent)},
		{"acked", float64(r.sum.Acked)}, {"failed", float64(r.sum.Failed)},
		{"received", float64(r.sum.Received)}}
}

// outcomes are the counts of the account.
func outcomes(r *result.Run) []named {
	c := r.Counters
	out := []named{{"scheduled", float64(c.Scheduled)}, {"acked", float64(c.Acked)},
		{"failed", float64(c.Failed)}, {"unknown", float64(c.Unknown)},
		{"unsent", float64(c.Unsent)}, {"received", float64(c.Received)}}
	if !r.Accounted() {
		return out
	}
	t := r.Ledger.Total()
	return append(out, named{"lost", float64(t.Lost)}, named{"unread", float64(t.Unread)},
		named{"duplicate", float64(t.Duplicate)}, named{"reordered", float64(t.Reordered)},
		named{"corrupt", float64(t.Corrupt)}, named{"misplaced", float64(t.Misplaced)},
		named{"unacked_received", float64(t.Unacked)})
}
