package verify

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// survived returns a round on three nodes that lost nothing.
func survived() *result.Saved {
	const second = 1_000_000_000
	return &result.Saved{
		Run: result.Run{
			SchemaVersion: result.SchemaVersion, State: result.Complete,
			Load:       result.Load{Delivery: "at_least_once"},
			Durability: result.Durability{Asked: 1},
			System: result.System{
				Nodes: []result.Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}},
			},
			Faults: []result.Fault{{
				Do: "kill", Target: "leader", Nodes: []string{"n1"},
				StartNs: 10 * second, InjectedNs: 10 * second, HealedNs: 15 * second,
				Effect: result.Effect{
					UnavailableNs: 2 * second, ResolutionNs: second / 10, AckedAgainNs: 12 * second,
				},
			}},
			Impact: &result.Impact{Before: result.Part{Acked: 1000}},
			Ledger: result.Ledger{Accounted: true, Subscriptions: []result.SubscriptionLedger{
				{Acked: 3000, Received: 3000},
			}},
			Verdicts: []result.Verdict{{
				Name: verdict.Generator, Outcome: result.Holds, Sentence: "the load generator",
			}},
		},
		Intervals: []result.Interval{{EndNs: 16 * second, Received: 10}},
	}
}

// A guarantee did not hold under a fault that was asked for and never injected; a loss counts.
func TestJudgeOfAFaultThatWasLeftOut(t *testing.T) {
	both := func(s *result.Saved) {
		second := s.Run.Faults[0]
		second.Do, second.Target = "power-cut", "all"
		s.Run.Faults = slices.Insert(s.Run.Faults, 0, second)
	}
	for want, change := range map[string]func(*result.Saved){
		result.Unknown: func(*result.Saved) {},
		result.Broken:  func(s *result.Saved) { s.Run.Ledger.Subscriptions[0].Lost = 1 },
		result.Holds:   both,
	} {
		s := survived()
		s.Run.Resolved.Workload = "duration: 30s\nfaults: [{do: kill, target: leader, at: 5s, " +
			"for: 3s}, {do: power-cut, target: all, at: 12s, for: 3s}]\n"
		change(s)
		g := Judge(s)[0]
		if g.Outcome != want || strings.Contains(g.Sentence,
			"a fault was not injected (power-cut all at 12s for 3s)") != (want == result.Unknown) {
			t.Errorf("%s: %+v", want, g)
		}
	}
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*result.Saved)
		outcome  string // of the guarantee no_loss
		promised bool
		says     string
	}{
		"unchanged": {func(*result.Saved) {}, result.Holds, true, "0 of 3,000"},
		"lost": {func(s *result.Saved) { s.Run.Ledger.Subscriptions[0].Lost = 3 },
			result.Broken, true, "3 of 3,000 acknowledged messages never arrived"},
		"damaged": {func(s *result.Saved) { s.Run.Ledger.Subscriptions[0].Corrupt = 1 },
			result.Broken, true, "damaged (1)"},
		"not acknowledged again": {func(s *result.Saved) {
			s.Run.Faults[0].Effect.AckedAgainNs, s.Intervals[0].Received = 0, 0
			s.Run.Ledger.Subscriptions[0].Lost = 3
		}, result.Unknown, true, "may not have come back"},
		"nothing missing, and no recovery": {func(s *result.Saved) {
			s.Run.Faults[0].Effect.AckedAgainNs, s.Intervals[0].Received = 0, 0
		}, result.Unknown, true, "proves nothing"},
		"not delivered again": {func(s *result.Saved) {
			s.Intervals[0].Received, s.Run.Ledger.Subscriptions[0].Lost = 0, 3
		}, result.Unknown, true, "nothing was delivered after the heal"},
		"not delivered again, and partitions are gone": {func(s *result.Saved) {
			s.Intervals[0].Received, s.Run.Ledger.Subscriptions[0].Lost = 0, 3
			s.Run.Ledger.GonePartitions = 2
		}, result.Broken, true, "no longer have 2 of the partitions"},
		"unread": {func(s *result.Saved) { s.Run.Ledger.Subscriptions[0].Unread = 3 },
			result.Unknown, true, "were not all read"},
		"nothing before": {func(s *result.Saved) { s.Run.Impact.Before.Acked = 0 },
			result.Unknown, true, "before the fault"},
		"failed": {func(s *result.Saved) {
			s.Run.State, s.Run.StateReason = result.Failed, "no disk"
		}, result.Unknown, true, "failed (no disk)"},
		"no account": {func(s *result.Saved) { s.Run.Ledger.Accounted = false },
			result.Unknown, true, "account"},
		"no fault": {func(s *result.Saved) { s.Run.Faults = nil },
			result.Unknown, true, "no fault"},
		"generator": {func(s *result.Saved) { s.Run.Verdicts[0].Outcome = result.Broken },
			result.Holds, true, ""},
		"generator, and lost": {func(s *result.Saved) {
			s.Run.Verdicts[0].Outcome, s.Run.Ledger.Subscriptions[0].Lost = result.Broken, 1
		}, result.Broken, true, ""},
		"at most once": {func(s *result.Saved) { s.Run.Load.Delivery = "at_most_once" },
			result.Holds, false, ""},
	} {
		s := survived()
		c.change(s)
		g := Judge(s)[0]
		if g.Name != NoLoss || g.Outcome != c.outcome || g.Promised != c.promised ||
			!strings.Contains(g.Sentence, c.says) || g.Why == "" {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// Order between workers, which nobody watched, is not said to have held.
func TestJudgeOrderOfAFleet(t *testing.T) {
	s := survived()
	s.Run.System.Redelivery = &result.Redelivery{Never: true}
	s.Run.Ledger.WatchedNs = verdict.WatchAfterFaultNs
	l := &s.Run.Ledger.Subscriptions[0]
	s.Run.System.PartitionsOwned, l.BetweenWorkers = true, 7
	judged := func() Guarantee { return Judge(s)[2] }
	if g := judged(); g.Name != Order || g.Outcome != result.Unknown ||
		!strings.Contains(g.Sentence, "7 are of partitions that several workers received") {
		t.Errorf("%+v", g)
	}
	if l.Reordered = 1; judged().Outcome != result.Broken {
		t.Errorf("%+v", judged())
	}
	if l.Reordered, l.BetweenWorkers = 0, 0; judged().Outcome != result.Holds {
		t.Errorf("%+v", judged())
	}
}

// All guarantees of exactly_once delivery are promised, and each can be broken.
func TestJudgeExactlyOnce(t *testing.T) {
	s := survived()
	l := &s.Run.Ledger.Subscriptions[0]
	s.Run.Load.Delivery, l.Duplicate, l.Reordered = "exactly_once", 2, 1
	s.Run.Counters.Failed, l.RefusedReceived, l.Transactions = 440, 440, 20
	l.PartialTransactions = 1
	all := Judge(s)
	for _, g := range all[1:] {
		if !g.Promised || g.Outcome != result.Broken {
			t.Errorf("%+v", g)
		}
	}
	if len(all) != len(Promises) {
		t.Errorf("%d guarantees of exactly once: %+v", len(all), all)
	}
	// The messages that were not read may complete the transaction.
	l.Unread = 1
	for _, g := range Judge(s) {
		if g.Name == WholeTransactions && (g.Outcome != result.Unknown ||
			!strings.Contains(g.Sentence, "each unread message may complete one")) {
			t.Errorf("%+v", g)
		}
	}
}

// A fault without a visible effect proves nothing. No duplicates is unknown while copies may
// still arrive.
func TestInvisibleFaultsProveNothing(t *testing.T) {
	part := func(p99 int64, acked int64) result.Part {
		return result.Part{LengthNs: 1e9, Acked: acked, Publish: result.Latency{
			Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: p99}},
		}}
	}
	for name, c := range map[string]struct {
		change       func(*result.Saved)
		loss, copies string
	}{
		"a pause without an effect": {func(*result.Saved) {}, result.Unknown, result.Unknown},
		"a gap": {func(s *result.Saved) { s.Run.Faults[0].Effect.UnavailableNs = 1e9 },
			result.Holds, result.Holds},
		"slower": {func(s *result.Saved) { s.Run.Impact.During = part(5e6, 1000) },
			result.Holds, result.Holds},
		"less": {func(s *result.Saved) { s.Run.Impact.During = part(2e6, 890) },
			result.Holds, result.Holds},
		"a refusal": {func(s *result.Saved) { s.Run.Impact.During.Failed = 1 },
			result.Holds, result.Holds},
		"a kill": {func(s *result.Saved) { s.Run.Faults[0].Do = "kill" },
			result.Holds, result.Holds},
		"a gap, and copies may come later": {func(s *result.Saved) {
			s.Run.Faults[0].Effect.UnavailableNs = 1e9
			s.Run.System.Redelivery = &result.Redelivery{AfterNs: 15e9, Why: "ack_wait is 15s"}
		}, result.Holds, result.Unknown},
		"a gap, and copies had time to come": {func(s *result.Saved) {
			s.Run.Faults[0].Effect.UnavailableNs = 1e9
			s.Run.System.Redelivery = &result.Redelivery{AfterNs: 15e9}
			s.Run.Ledger.WatchedNs = 16e9
		}, result.Holds, result.Holds},
	} {
		s := survived()
		s.Run.System.Redelivery = &result.Redelivery{Never: true}
		s.Run.Ledger.WatchedNs = 11e9
		s.Run.Faults[0].Do, s.Run.Faults[0].Effect.UnavailableNs = "pause", 1e8
		s.Run.Impact = &result.Impact{Before: part(2e6, 1000), During: part(2e6, 1000)}
		c.change(s)
		got := Judge(s)
		if got[0].Outcome != c.loss || got[1].Outcome != c.copies || got[2].Outcome != c.copies {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The promises of each level for each kind of fault and target.
func TestPromised(t *testing.T) {
	const no, yes = false, true
	for _, c := range []struct {
		do, target string
		nodes      int     // hit, of three
		levels     [4]bool // with three nodes
		alone      [4]bool // with one node
	}{
		{"kill", "leader", 1, [4]bool{yes, yes, no, no}, [4]bool{yes, no, yes, no}},
		{"kill", "minority", 1, [4]bool{yes, yes, no, no}, [4]bool{yes, no, yes, no}},
		{"kill", "majority", 2, [4]bool{yes, no, no, no}, [4]bool{yes, no, yes, no}},
		{"power-cut", "all", 3, [4]bool{yes, no, no, no}, [4]bool{yes, no, yes, no}},
		{"power-cut", "n2", 1, [4]bool{yes, yes, no, no}, [4]bool{yes, no, yes, no}},
		{"pause", "all", 3, [4]bool{yes, yes, no, no}, [4]bool{yes, yes, yes, yes}},
		{"partition", "leader", 1, [4]bool{yes, yes, no, no}, [4]bool{yes, yes, yes, yes}},
		{"slow-disk", "all", 3, [4]bool{yes, yes, yes, yes}, [4]bool{yes, yes, yes, yes}},
	} {
		for level := 1; level <= 4; level++ {
			r := &survived().Run
			r.Durability.Asked = level
			f := &r.Faults[0]
			f.Do, f.Target = c.do, c.target
			f.Nodes = []string{"n1", "n2", "n3"}[:c.nodes]
			if got, why := promised(r, NoLoss); got != c.levels[level-1] {
				t.Errorf("level %d, %s %s: %v, %s", level, c.do, c.target, got, why)
			}
			r.System.Nodes, f.Nodes = r.System.Nodes[:1], []string{"n1"}
			if got, why := promised(r, NoLoss); got != c.alone[level-1] {
				t.Errorf("level %d, %s %s of one node: %v, %s",
					level, c.do, c.target, got, why)
			}
		}
	}
}

// What a round left behind on a cluster is told, though the round counts.
func TestWhatARoundLeftBehindIsTold(t *testing.T) {
	f, err := Folders.Create(t.TempDir(), &Saved{Rounds: []Round{}}, "verify")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	left := &bench.Leftover{Err: errors.New("delete the run's topics: no answer")}
	v := &verifier{Options: Options{Watch: untold{}}, folder: f}
	if err := v.Take(t.Context(), experiment.Outcome{Run: survived(), Err: left}); err != nil {
		t.Fatal(err)
	}
	if len(f.Saved.Rounds) != 1 || !errors.Is(v.remains, left) {
		t.Errorf("%d rounds, told: %v", len(f.Saved.Rounds), v.remains)
	}
}

type untold struct{ Watch }

func (untold) Rounded(*Saved) {}
