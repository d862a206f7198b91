package bench_test

import (
	"slices"
	"strings"
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

// Producers alone: the rates are the load's, nothing is said of loss, and no verdict is broken.
func TestTruthProducersAlone(t *testing.T) {
	w := load(400, 3*time.Second)
	w.Subscriptions, w.Topics, w.Producers = 0, 2, 2
	s, _ := onSim(t, w, map[string]string{"service_time": "2ms", "lose_per_million": "10000"})
	sum := s.Run.Summary
	within(t, "achieved rate", sum.AchievedRate, 400, 0.01)
	if p50, _ := sum.Series(result.Publish).At(50); p50 < 2_000_000 || p50 > 2_300_000 {
		t.Errorf("publish p50 is %d ns", p50)
	}
	if sum.ReceivedRate != 0 || sum.MaxBacklog != 0 || s.Run.Counters.Received != 0 ||
		len(s.Run.Ledger.Subscriptions) != 0 || s.Run.Accounted() {
		t.Errorf("something was received: %+v %+v", sum, s.Run.Ledger)
	}
	verdict.JudgeSaved(s)
	all := judged(s)
	for _, name := range []string{verdict.Loss, verdict.Order, verdict.Duplicates,
		verdict.Receiving} {
		if all[name] != result.Unknown {
			t.Errorf("the verdict on %s is %s", name, all[name])
		}
	}
	for _, v := range s.Run.Verdicts {
		if v.Name == verdict.Loss && !strings.Contains(v.Sentence, "nothing read the messages") {
			t.Errorf("the reason is %s", v.Sentence)
		}
	}
	for _, c := range verdict.Stable(s, nil).Clauses {
		if c.Outcome == result.Broken {
			t.Errorf("a search would not take the rate: %+v", c)
		}
	}
	for _, name := range []string{verdict.Rate, verdict.Failures, verdict.Counts} {
		if all[name] != result.Holds {
			t.Errorf("the verdict on %s is %s", name, all[name])
		}
	}
}

// An audit reads back what producers alone have sent, and finds what was lost.
func TestTruthProducersAloneAreAudited(t *testing.T) {
	w := load(400, 3*time.Second)
	w.Subscriptions, w.Audit, w.Drain = 0, true, 30*time.Second
	s, planted := onSim(t, w, map[string]string{"lose_per_million": "10000"})
	if len(s.Run.Ledger.Subscriptions) != 1 || planted.Lost == 0 {
		t.Fatalf("%+v, %d planted", s.Run.Ledger, planted.Lost)
	}
	if l := s.Run.Ledger.Subscriptions[0]; l.Lost != planted.Lost || l.Acked != 1200 {
		t.Errorf("%d of %d are lost, want %d", l.Lost, l.Acked, planted.Lost)
	}
	verdict.JudgeSaved(s)
	if got := judged(s)[verdict.Loss]; got != result.Broken {
		t.Errorf("the verdict on loss is %s", got)
	}
}
