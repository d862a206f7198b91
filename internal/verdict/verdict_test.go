package verdict

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

// good is a run without faults.
func good() *result.Run {
	at := func(s result.Series, p50, p99 int64) result.Latency {
		return result.Latency{Series: s, Count: 10_000,
			Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: p50},
				{Percentile: 99, LatencyNs: p99}}}
	}
	return &result.Run{
		SchemaVersion: result.SchemaVersion, Environment: result.Environment{
			ThreadStates: "schedstat"},
		State: result.Complete, Durability: result.Durability{Asked: 2, Level: 2, Meaning: "m"},
		System:   result.System{Redelivery: &result.Redelivery{Never: true}},
		Load:     result.Load{Subscriptions: 1, Delivery: "at_least_once"},
		Counters: result.Counters{Scheduled: 10_000, Acked: 10_000, Received: 10_000},
		Ledger: result.Ledger{Accounted: true,
			Subscriptions: []result.SubscriptionLedger{{Acked: 10_000, Received: 10_000}}},
		Summary: result.Summary{
			OfferedRate: 1000, AchievedRate: 999, ReceivedRate: 999, WindowNs: 1e10,
			Latency: []result.Latency{at(result.Publish, 2e6, 8e6), at(result.Lag, 5e4, 2e5),
				at(result.Send, 2e6, 8e6)},
			Generator: result.Generator{OwnLagP99Ns: 2e5, OwnLagCount: 10_000, CPUShare: 0.2},
			Instrument: &result.Instrument{Publish: at(result.Twin, 3e4, 2e5),
				EndToEnd: at(result.TwinReceive, 4e4, 3e5)},
		},
	}
}

func TestAGoodRunHolds(t *testing.T) {
	r := good()
	Judge(r)
	for _, v := range r.Verdicts {
		if v.Name == Steady {
			continue // it has no intervals
		}
		if v.Outcome != result.Holds {
			t.Errorf("%s: %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
	if len(r.Warnings) != 0 || !Sound(r) || r.Summary.Generator.Limited {
		t.Errorf("warnings %v, sound %v", r.Warnings, Sound(r))
	}
}

func TestNothingAcknowledgedIsNotSound(t *testing.T) {
	r := good()
	r.Counters = result.Counters{Scheduled: 500, Failed: 500}
	r.Ledger.Subscriptions[0] = result.SubscriptionLedger{}
	Judge(r)
	if Sound(r) {
		t.Error("a system that refused everything is sound")
	}
}

// A generator that shares its cores with the servers is not blamed for using them, but a warning
// says so.
func TestStandInIsTold(t *testing.T) {
	r := good()
	r.Durability.Evidence = []result.Fact{{Where: "a:1", Name: system.StandIn, Value: "Other 1"}}
	Judge(r)
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "stand_in" ||
		!strings.Contains(r.Warnings[0].Sentence, "Other 1 at a:1") {
		t.Errorf("%+v", r.Warnings)
	}
}

func TestSingleCopyIsTold(t *testing.T) {
	r := good()
	r.Durability.Copies = 1
	Judge(r)
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "single_copy" ||
		!strings.Contains(r.Warnings[0].Sentence, "a single copy of each message") {
		t.Errorf("%+v", r.Warnings)
	}
}

func TestSharedHostIsTold(t *testing.T) {
	r := good()
	r.System.SharesHost, r.Summary.Generator.CPUShare = true, 0.99
	Judge(r)
	if r.Summary.Generator.Limited || len(r.Warnings) != 1 || r.Warnings[0].Code != "shared_host" {
		t.Errorf("limited %v, warnings %v", r.Summary.Generator.Limited, r.Warnings)
	}
}

func TestUnfinishedRunsSaySo(t *testing.T) {
	for state, want := range map[result.State]string{
		result.Incomplete: "did not finish", result.Running: "still running",
		result.Interrupted: "stopped before its end", result.Failed: "failed: disk",
	} {
		r := &result.Run{State: state,
			StateReason: map[bool]string{true: "disk"}[state == result.Failed]}
		Judge(r)
		if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0].Sentence, want) {
			t.Errorf("%s: %v", state, r.Warnings)
		}
		for _, v := range r.Verdicts {
			if v.Outcome == result.Holds {
				t.Errorf("%s: %s holds for a run of nothing", state, v.Name)
			}
		}
	}
}

// With too few messages for a p99 the generator is compared with their median, not with a
// millisecond.
func TestGeneratorIsJudgedByWhatFewMessagesTell(t *testing.T) {
	r := good()
	r.Summary.Latency[2] = result.Latency{Series: result.Send, Count: 200,
		Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 100e6}}}
	r.Summary.Generator.OwnLagP99Ns = 40e6
	if v := generator(r); v.Outcome != result.Holds {
		t.Error(v.Sentence)
	}
	r.Summary.Generator.OwnLagP99Ns = 60e6
	if v := generator(r); v.Outcome != result.Broken {
		t.Error(v.Sentence)
	}
}

// A run of an earlier format does not record for how many messages own lag is known. If lag itself
// is short, so is own lag.
func TestGeneratorOfAnOlderRun(t *testing.T) {
	r := good()
	r.SchemaVersion, r.Summary.Instrument = 1, nil
	r.Summary.Generator.OwnLagCount, r.Summary.Generator.OwnLagP99Ns = 0, 0
	if v := generator(r); v.Outcome != result.Holds {
		t.Error(v.Sentence)
	}
	r.Summary.Latency[1].Percentiles[1].LatencyNs = 586e6
	if v := generator(r); v.Outcome != result.Unknown {
		t.Error(v.Sentence)
	}
}

// Copies and order hold only if the consumers were watched for the system's redelivery time.
func TestNothingIsClaimedBeforeCopiesCouldCome(t *testing.T) {
	for name, c := range map[string]struct {
		redelivery *result.Redelivery
		watchedNs  int64
		want       string
	}{
		"never":       {&result.Redelivery{Never: true}, 0, result.Holds},
		"sat out":     {&result.Redelivery{AfterNs: 15e9}, 15e9, result.Holds},
		"not sat out": {&result.Redelivery{AfterNs: 15e9}, 14e9, result.Unknown},
		"no limit":    {&result.Redelivery{}, 1e12, result.Unknown},
		"not known":   {nil, 1e12, result.Unknown},
	} {
		r := good()
		r.System.Redelivery, r.Ledger.WatchedNs = c.redelivery, c.watchedNs
		Judge(r)
		if got := outcomes(r); got[Duplicates] != c.want || got[Order] != c.want {
			t.Errorf("%s: duplicates %s, order %s, want %s", name, got[Duplicates], got[Order],
				c.want)
		}
	}
	for watchedNs, want := range map[int64]string{WatchAfterFaultNs - 1: result.Unknown,
		WatchAfterFaultNs: result.Holds} {
		r := good()
		r.Faults, r.Ledger.WatchedNs = []result.Fault{{Do: "kill"}}, watchedNs
		Judge(r)
		if got := outcomes(r); got[Duplicates] != want || got[Order] != want {
			t.Errorf("a fault, watched for %d ns: duplicates %s, order %s, want %s", watchedNs,
				got[Duplicates], got[Order], want)
		}
	}
	r := good()
	r.SchemaVersion = 1
	Judge(r)
	if got := outcomes(r); got[Duplicates] != result.Unknown || got[Order] != result.Unknown {
		t.Errorf("an older run: %v", got)
	}
}

// What is not known of copies and order is said as a fact and its bound: how long the consumers were
// watched, and how long the system may take. The system's reason stands once, with the copies.
func TestUnwatchedDeliveriesSayHowLongTheyWereWatched(t *testing.T) {
	r := good()
	r.System.Name, r.Ledger.WatchedNs = "nats", 219e6
	r.System.Redelivery = &result.Redelivery{AfterNs: 31e9, Why: "ack_wait is 30s"}
	Judge(r)
	const watched = "watched 219ms of the 31s in which nats may redeliver"
	for _, v := range r.Verdicts {
		want := map[string]string{Order: "in order so far; " + watched,
			Duplicates: "none so far; " + watched + ": ack_wait is 30s"}[v.Name]
		if want != "" && v.Sentence != want {
			t.Errorf("%s: %s", v.Name, v.Sentence)
		}
	}
}

// Copies break no promise of deliveries without a promise about them, and the sentence says which
// delivery allows copies.
func TestCopiesByDelivery(t *testing.T) {
	for delivery, c := range map[string]struct {
		says  string
		sound bool
	}{
		"at_least_once": {"3 duplicates, which at_least_once allows", true},
		"at_most_once": {"3 duplicates, which at_most_once excludes; they do not count as a " +
			"broken promise", true},
		"exactly_once": {"3 duplicates, which exactly_once forbids", false},
	} {
		r := good()
		r.Load.Delivery, r.Ledger.Subscriptions[0].Duplicate = delivery, 3
		v := accounted(Duplicates, r, duplicates)
		Judge(r)
		if v.Outcome != result.Broken || v.Sentence != c.says || Sound(r) != c.sound {
			t.Errorf("%s: %+v, sound %v", delivery, v, Sound(r))
		}
	}
}

func TestExactlyOnceVerdicts(t *testing.T) {
	once := func(spoil func(*result.SubscriptionLedger)) *result.Run {
		r := good()
		r.Load.Delivery, r.Counters.Failed, r.Counters.Scheduled = "exactly_once", 100, 10_100
		l := &r.Ledger.Subscriptions[0]
		l.Transactions, l.AbortedTransactions, l.WholeTransactions = 200, 2, 190
		spoil(l)
		Judge(r)
		return r
	}
	for name, c := range map[string]struct {
		spoil                 func(*result.SubscriptionLedger)
		aborted, transactions string
		sound                 bool
	}{
		"kept": {func(*result.SubscriptionLedger) {}, result.Holds, result.Holds,
			true},
		"aborted and read": {func(l *result.SubscriptionLedger) { l.RefusedReceived = 440 },
			result.Broken, result.Holds, false},
		"seen in part": {func(l *result.SubscriptionLedger) { l.PartialTransactions = 1 },
			result.Holds, result.Broken, false},
		"not known which are": {func(l *result.SubscriptionLedger) { l.Transactions = 0 },
			result.Holds, result.Unknown, true},
		"one message each": {func(l *result.SubscriptionLedger) { l.WholeTransactions = 0 },
			result.Holds, result.Unknown, true},
	} {
		r := once(c.spoil)
		if got := outcomes(r); got[Aborted] != c.aborted || got[Transactions] != c.transactions ||
			Sound(r) != c.sound {
			t.Errorf("%s: %v, sound %v", name, got, Sound(r))
		}
	}
}

// A percentile that falls among messages without a latency does not keep an objective.
func TestObjectivesUseTheBound(t *testing.T) {
	for name, c := range map[string]struct {
		p99  result.Percentile
		want string
	}{
		"exact and kept":   {result.Percentile{LatencyNs: 19e6}, result.Holds},
		"exact and missed": {result.Percentile{LatencyNs: 20e6}, result.Broken},
		"at least, and missed": {result.Percentile{LatencyNs: 20e6, Bound: result.AtLeast},
			result.Broken},
		"at least, not decided": {result.Percentile{LatencyNs: 1e6, Bound: result.AtLeast},
			result.Unknown},
		"not reached": {result.Percentile{LatencyNs: 1e6, Bound: result.NotReached},
			result.Broken},
	} {
		c.p99.Percentile = 99
		s := &result.Saved{Run: *good()}
		s.Run.Summary.Latency[0].Percentiles = []result.Percentile{c.p99}
		o, err := ParseObjective("p99<20ms")
		if err != nil {
			t.Fatal(err)
		}
		if got := o.judge(s); got.Outcome != c.want {
			t.Errorf("%s: %s: %s", name, got.Outcome, got.Sentence)
		}
	}
}

// A run that lost a worker judges nothing by what it knows in part.
func TestLostWorkerLeavesRatesOpen(t *testing.T) {
	r := good()
	r.Workers = []result.Worker{{Name: "w0"}, {Name: "w1", Lost: "the worker is lost: w1"}}
	r.State, r.Ledger = result.Failed, result.Ledger{}
	r.Counters.Unknown, r.Counters.Acked = 200, 9800
	Judge(r)
	got := outcomes(r)
	for _, name := range []string{Rate, Receiving, Failures, Loss, Order} {
		if got[name] != result.Unknown && got[name] != "" {
			t.Errorf("%s is %s", name, got[name])
		}
	}
}

// Consumers that share partitions overtake one another; where each partition is one
// consumer's, none may.
func TestOrderAcrossConsumers(t *testing.T) {
	for owned, want := range map[bool]string{true: result.Broken, false: result.Holds} {
		r := good()
		r.System.PartitionsOwned, r.Ledger.Subscriptions[0].Overtaken = owned, 3
		Judge(r)
		if got := outcomes(r); got[Order] != want {
			t.Errorf("partitions owned %v: order %s, want %s", owned, got[Order], want)
		}
	}
}

// What consumers of a shared subscription give back when they leave may come again in any order.
func TestOrderWhenConsumersLeave(t *testing.T) {
	steps := func(consumers ...int) (all []result.ScaleStep) {
		for _, n := range consumers {
			all = append(all, result.ScaleStep{Consumers: n})
		}
		return all
	}
	other := append(steps(2), result.ScaleStep{Consumers: 3, Subscription: 2},
		result.ScaleStep{Consumers: 2, Subscription: 1})
	for name, c := range map[string]struct {
		steps []result.ScaleStep
		owned bool
		want  string
	}{
		"nobody left":            {steps(2, 2, 3), false, result.Broken},
		"all left and came back": {steps(2, 0, 2), false, result.Unknown},
		"the second one left":    {steps(1, 2, 1), false, result.Unknown},
		"none of their own left": {other, false, result.Broken},
		"partitions are owned":   {steps(2, 0, 2), true, result.Broken},
	} {
		r := good()
		r.Scaling, r.System.PartitionsOwned = c.steps, c.owned
		r.Ledger.Subscriptions[0].Reordered = 257
		if v := order(r, r.Ledger.Subscriptions[0]); v.Outcome != c.want ||
			!strings.HasPrefix(v.Sentence, "257 messages came out of order") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// The messages waiting for consumers in a run of 10 s, one reading per second, and the verdict.
func TestReceiving(t *testing.T) {
	flat, rising, late := make([]int64, 11), make([]int64, 11), make([]int64, 11)
	for i := range rising {
		flat[i] = 40 + int64(i%3)
		rising[i] = int64(i) * 50
		late[i] = max(0, int64(i)-8) * 1000
	}
	for name, c := range map[string]struct {
		waits  []int64
		change func(*result.Run)
		want   string
	}{
		"flat":   {flat, func(*result.Run) {}, result.Holds},
		"rising": {rising, func(*result.Run) {}, result.Broken},
		// Copies are not part of the received rate, so they do not hide waiting messages.
		"rising, and lost": {rising, func(r *result.Run) { r.Ledger.Subscriptions[0].Lost = 500 },
			result.Holds},
		"late in the window": {late, func(r *result.Run) { r.Summary.LeastReceivedRate = 800 },
			result.Broken},
		"one of ten, and as many wait on average": {flat, func(r *result.Run) {
			r.Load.Subscriptions, r.Summary.LeastReceivedRate = 10, 976
		}, result.Broken},
	} {
		s := &result.Saved{Run: *good()}
		c.change(&s.Run)
		for i, n := range c.waits {
			phase := result.PhaseMeasure
			if i == 0 {
				phase = result.PhaseWarmup
			}
			s.Intervals = append(s.Intervals, result.Interval{
				StartNs: int64(i) * 1e9, EndNs: int64(
					i+1) * 1e9, Phase: phase, Backlog: n, Scheduled: 1000, Sent: 1000,
			})
		}
		if v := receiving(s); v.Outcome != c.want {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Sentence)
		}
	}
}

// A server that ended without a fault breaks a promise, whatever else the run shows.
func TestServersThatEnded(t *testing.T) {
	r := &result.Run{State: result.Complete, Counters: result.Counters{Scheduled: 9, Acked: 9}}
	Judge(r)
	if !Sound(r) || EndedServers(r) != "" {
		t.Errorf("%+v", r.Verdicts)
	}
	for _, name := range []string{"n1", "n2", "n1", "n3"} {
		r.Ended = append(r.Ended, result.ServerEnd{Node: name, AtNs: 3_100_000_000})
	}
	Judge(r)
	want := "n1, n2 and n3 ended without a fault of the workload, the first 3.1s after"
	if v := last(r); Sound(r) || v.Name != Servers || !strings.HasPrefix(v.Sentence, want) {
		t.Errorf("sound %t, %+v", Sound(r), v)
	}
	for _, name := range []string{"n4", "n5", "n6", "n7"} {
		r.Ended = append(r.Ended, result.ServerEnd{Node: name})
	}
	if got := EndedServers(r); got != "n1, n2, n3, n4, n5 and 2 more" {
		t.Error(got)
	}
}

func last(r *result.Run) result.Verdict { return r.Verdicts[len(r.Verdicts)-1] }
