package figure

import (
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The names of some figures.
const (
	Rate     = "rate"
	Received = "received"
	Lost     = "lost"
	Failed   = "failed"
	PerCore  = "per_core"
	Peak     = "peak"
)

func rates() []Figure {
	return []Figure{
		known(Figure{Name: Rate, Title: "acknowledged", Unit: PerSecond, More: true,
			Means: "acknowledged messages in the measured window"},
			func(r *result.Run) (float64, bool) {
				return r.Summary.AchievedRate, r.Summary.WindowNs > 0
			}),
		known(Figure{Name: Received, Title: "received, each subscription", Unit: PerSecond,
			More: true, Means: "messages that arrived in the measured window, a mean of " +
				"subscriptions"},
			func(r *result.Run) (float64, bool) {
				recorded := r.Imported == nil && !r.ProducersAlone() ||
					r.Imported != nil && r.Imported.Knows(result.RecordedReceived)
				return r.Summary.ReceivedRate, r.Summary.WindowNs > 0 &&
					(recorded || r.Summary.ReceivedRate != 0)
			}),
		known(Figure{Name: "catch_up", Title: "read while catching up", Unit: BytesPerSecond,
			More: true, Means: "bytes of a backlog that were read, from the start of its readers"},
			catchUpBytes),
		known(Figure{Name: "catch_up.publish.p99", Unit: Nanoseconds, Series: result.Publish,
			Title: "publish p99 while a second reader catches up",
			Means: "publish latency in that time"}, publishIn(result.During)),
		known(Figure{Name: "catch_up.before.publish.p99", Unit: Nanoseconds,
			Series: result.Publish, Title: "publish p99 before it catches up",
			Means: "publish latency before the second reader begins"}, publishIn(result.Before)),
		known(Figure{Name: "catch_up.acknowledged", Unit: BytesPerSecond, More: true,
			Title: "acknowledged while catching up",
			Means: "bytes that were acknowledged to producers in that time"}, acknowledgedBytes),
	}
}

// catchUpBytes returns the payload bytes per second that catching-up consumers read; false: they
// never began.
func catchUpBytes(r *result.Run) (float64, bool) {
	if r.Backlog == nil || r.Backlog.ReadBytesPerS <= 0 {
		return 0, false
	}
	return r.Backlog.ReadBytesPerS, true
}

// acknowledgedBytes returns the payload bytes per second that were acknowledged to producers while
// consumers caught up; false: they never began.
func acknowledgedBytes(r *result.Run) (float64, bool) {
	if _, read := catchUpBytes(r); !read || r.Backlog.Messages <= 0 {
		return 0, false
	}
	size := float64(r.Backlog.Bytes) / float64(r.Backlog.Messages)
	return r.Backlog.PublishedRate * size, true
}

// publishIn returns the publish p99 in ns of a stretch, of which catching up is one; false: the run
// has none.
func publishIn(name result.StretchName) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) {
		if r.Backlog == nil {
			return 0, false
		}
		s, has := r.Backlog.Stretch(name)
		ns, known := result.Summary{Latency: s.Latency}.Series(result.Publish).At(99)
		return float64(ns), has && known
	}
}

// counts are exact numbers of messages.
func counts() []Figure {
	ledger := func(of func(result.SubscriptionLedger) int64) func(*result.Run) (float64, bool) {
		return func(r *result.Run) (float64, bool) {
			return float64(of(r.Ledger.Total())), r.Accounted()
		}
	}
	count := func(name, title, means string, of func(*result.Run) (float64, bool)) Figure {
		return known(Figure{Name: name, Title: title, Unit: Messages, Zero: true, Means: means}, of)
	}
	return []Figure{
		{Name: Lost, Title: "acknowledged messages that were lost", Unit: Messages, Zero: true,
			Means: "acknowledged and never received, over the whole run",
			of: func(r *result.Run) (Span, bool) {
				all := r.Ledger.Total()
				// Messages that were not received may be lost, and may still come.
				return Span{float64(all.Lost), float64(all.Lost + all.Unread)},
					r.Accounted() && (all.Unread == 0 || all.Lost > 0)
			}},
		count("duplicate", "duplicates", "messages that arrived again",
			ledger(func(l result.SubscriptionLedger) int64 { return l.Duplicate })),
		count("reordered", "reordered", "messages that came after a later one of their lane",
			ledger(func(l result.SubscriptionLedger) int64 { return l.Reordered })),
		count(Failed, "refused", "messages that the system refused",
			counter(result.RecordedRefused, func(c result.Counters) int64 { return c.Failed })),
		count("unknown", "unanswered", "messages that were handed over and never answered",
			counter("", func(c result.Counters) int64 { return c.Unknown })),
		count("unsent", "never sent", "messages that were due and could not be handed over",
			counter("", func(c result.Counters) int64 { return c.Unsent })),
	}
}

// counter takes a count of the scheduled messages. In an imported run it is known if the other tool
// recorded it. No other tool records messages without an answer; plimsoll counts them when the run
// has ended.
func counter(recorded string, of func(result.Counters) int64) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) {
		known := r.Counters.Scheduled > 0 && (r.Counted() || recorded != "")
		if r.Imported != nil {
			known = r.Imported.Knows(recorded)
		}
		return float64(of(r.Counters)), known
	}
}

// minutes are medians over the minutes of a closed loop.
func minutes() []Figure {
	return []Figure{
		known(Figure{Name: "e2e.p95_minutes", Title: "end-to-end p95 of one-minute windows",
			Unit: Nanoseconds, Means: "the median of the p95 of each minute of a closed loop",
			Series: result.EndToEnd},
			medianMinute(func(m result.Minute) int64 { return m.EndToEndP95Ns })),
		known(Figure{Name: "send.p95_minutes", Title: "p95 of a send, of one-minute windows",
			Unit: Nanoseconds, Means: "the median of the p95 of each minute of a closed loop",
			Series: result.SendCall},
			medianMinute(func(m result.Minute) int64 { return m.SendCallP95Ns })),
	}
}

// medianMinute takes the median over a closed loop's minutes.
func medianMinute(of func(result.Minute) int64) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) {
		var all []float64
		for _, m := range r.Summary.Minutes {
			if ns := of(m); ns > 0 {
				all = append(all, float64(ns))
			}
		}
		if len(all) == 0 {
			return 0, false
		}
		return stats.Median(all), true
	}
}

// searches are figures of a search, which no run has.
func searches() []Figure {
	return []Figure{
		{Name: Peak, Title: "peak stable throughput", Unit: PerSecond, More: true,
			Means: "the highest rate of a search that was stable below every unstable one"},
		{Name: "peak_bytes", Title: "peak stable throughput in bytes", Unit: BytesPerSecond,
			More: true, Means: "peak, times the size of a message"},
	}
}
