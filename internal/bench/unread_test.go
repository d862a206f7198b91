package bench_test

import (
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// A drain that ends by its limit while messages arrive has found unread messages. Those that a
// later message of their partition has passed are lost all the same.
func TestTruthUnreadIsNotLost(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings map[string]string
		drain    time.Duration
		unread   bool
		loss     string
	}{
		{"slow", map[string]string{"drain_rate": "100/s"}, 5 * time.Second, true, result.Unknown},
		{"slow, in a short drain", map[string]string{"drain_rate": "100/s"},
			100 * time.Millisecond, true, result.Unknown},
		{"lossy", map[string]string{"lose_per_million": "10000"}, 5 * time.Second, false,
			result.Broken},
		{"lossy, and read in the drain", map[string]string{"lose_per_million": "10000",
			"drain_rate": "250/s"}, 5 * time.Second, false, result.Broken},
		{"lossy and slow", map[string]string{"lose_per_million": "10000", "drain_rate": "100/s"},
			5 * time.Second, true, result.Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := load(400, 5*time.Second)
			w.Subscriptions, w.Drain = 2, c.drain
			s, planted := onSim(t, w, c.settings)
			for _, l := range s.Run.Ledger.Subscriptions {
				missing := l.Acked - l.Received
				if c.unread {
					if missing < 500 || l.Unread < missing-planted.Lost ||
						l.Lost+l.Unread != missing || l.AwaitedNs != 0 {
						t.Errorf("of %d missing messages %d are unread", missing, l.Unread)
					}
				} else if missing != planted.Lost || l.Unread != 0 {
					t.Errorf("%d are missing, %d unread, %d lost", missing, l.Unread, planted.Lost)
				}
				if l.Lost > planted.Lost || (l.Lost > 0) != (planted.Lost > 0) || l.Acked != 2000 {
					t.Errorf("%d of %d are lost: want at most %d of 2000", l.Lost, l.Acked,
						planted.Lost)
				}
			}
			verdict.JudgeSaved(s)
			if got := judged(s)[verdict.Loss]; got != c.loss {
				t.Errorf("the verdict on loss is %s, want %s", got, c.loss)
			}
			warned := slices.ContainsFunc(s.Run.Warnings,
				func(w result.Warning) bool { return w.Code == "unread" })
			if sound := verdict.Sound(&s.Run); warned != c.unread ||
				sound != (c.loss == result.Unknown) {
				t.Errorf("warned: %v, sound: %v", warned, sound)
			}
		})
	}
}
