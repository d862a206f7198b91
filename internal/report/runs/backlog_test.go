package runs

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// withBacklog is a run with a backlog that was read, or was not.
func withBacklog(t *testing.T, then string, end result.BacklogEnd) *result.Saved {
	t.Helper()
	sh := fixture.Small
	sh.StallAt = 0
	s := sh.Load(t)
	b := &result.Backlog{
		Then: then, Messages: 100_000, Bytes: 102_400_000, BuiltNs: 6e9, FirstNs: 6.25e9,
		CaughtUpNs: 9.75e9, End: end,
		ReadMessages: 170_000, ReadRate: 48_571, ReadBytesPerS: 48_571 * 1024,
		PublishedRate: 20_000,
	}
	if end != result.BacklogCaughtUp {
		b.CaughtUpNs, b.LeftMessages, b.ReadRate = 0, 120_000, 14_000
	}
	for i, name := range []result.StretchName{result.Before, result.During, result.After} {
		if i == 2 && b.CaughtUpNs == 0 {
			break
		}
		latency := func(series result.Series, times int64) result.Latency {
			h := result.NewHistogram()
			for n := range int64(10_000) {
				_ = h.RecordValue((400_000 + 40*n) * times)
			}
			return result.Summarize(series, h, 0, 0)
		}
		slower := []int64{10, 14, 11}[i]
		b.Stretches = append(b.Stretches, result.Stretch{
			Name: name, StartNs: []int64{3e9, 6e9, 9.75e9}[i], EndNs: []int64{6e9, 9.75e9,
				11e9}[i], AckedRate: 20_000,
			Latency: []result.Latency{latency(result.Publish, slower),
				latency(result.EndToEnd, 2*slower)},
		})
	}
	s.Run.Backlog, s.Run.Load.Backlog = b, "{size: 100MB, then: "+then+", limit: 12s, after: 5s}"
	fixture.Reconcile(&s.Run)
	verdict.JudgeSaved(s)
	return s
}

// The page shades the reading, sets the stretches side by side, and says the
// effect.
func TestBacklogPage(t *testing.T) {
	says(t, "html", []*result.Saved{withBacklog(t, "replay", result.BacklogCaughtUp)},
		"catching up", "Before, while and after the backlog was read",
		"Publish p99 × 1.40, end-to-end p99 × 1.40 while catching up")
	says(t, "md", []*result.Saved{withBacklog(t, "drain", result.BacklogCaughtUp),
		withBacklog(t, "drain", result.BacklogNever)}, "| caught up in | 3.5s | never |",
		"| publish p99, × while read | 1.40 | 1.40 |")
}
