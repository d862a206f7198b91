package bench_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// rejudged returns a verdict of a run, judged again.
func rejudged(t *testing.T, s *result.Saved, name string) result.Verdict {
	t.Helper()
	verdict.JudgeSaved(s)
	for _, v := range s.Run.Verdicts {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no verdict %s", name)
	return result.Verdict{}
}

// leaving is a load of two consumers, one of which leaves a second before its end.
func leaving() *workload.Workload {
	w := load(500, 10*time.Second)
	w.Consumers, w.Warmup = 2, 2*time.Second
	w.Scaling = []workload.GroupSize{{At: 9 * time.Second, Consumers: 1}}
	return w
}

// drainOf returns the length of a run's drain.
func drainOf(t *testing.T, s *result.Saved) time.Duration {
	t.Helper()
	for _, p := range s.Run.Phases {
		if p.Name == result.PhaseDrain {
			return time.Duration(p.EndNs - p.StartNs)
		}
	}
	t.Fatal("no drain")
	return 0
}

// A rebalance that outlasts the drain delays messages and loses none.
func TestTruthAPauseAtTheEndIsNoLoss(t *testing.T) {
	s, _ := onSim(t, leaving(), map[string]string{"rebalance_for": "45s"})
	l := s.Run.Ledger.Subscriptions[0]
	if l.Lost != 0 || l.Unread != 0 || l.Received != 6000 {
		t.Errorf("%+v", l)
	}
	if v := rejudged(t, s, verdict.Loss); v.Outcome != result.Holds {
		t.Errorf("%+v", v)
	}
	if took := drainOf(t, s); took < 43*time.Second || took > 46*time.Second {
		t.Errorf("the drain took %v, and the messages came 44s after the load", took)
	}
}

// A loss is told from a pause by later messages, also where consumers changed.
func TestTruthALossBesideAPauseIsALoss(t *testing.T) {
	s, planted := onSim(t, leaving(), map[string]string{"rebalance_for": "45s",
		"lose_per_million": "10000"})
	l := s.Run.Ledger.Subscriptions[0]
	if planted.Lost == 0 || l.Lost+l.Unread != planted.Lost || l.Lost < planted.Lost-4 {
		t.Errorf("%d lost, %d unread: want %d lost, the last of each partition excepted", l.Lost,
			l.Unread, planted.Lost)
	}
	if v := rejudged(t, s, verdict.Loss); v.Outcome != result.Broken {
		t.Errorf("%+v", v)
	}
}

// What never comes after a change of consumers is not known to be lost, and the run says for how
// long it waited.
func TestTruthAPauseWithoutEndIsUnknown(t *testing.T) {
	s, _ := onSim(t, leaving(), map[string]string{"rebalance_for": "4m"})
	l := s.Run.Ledger.Subscriptions[0]
	if l.Lost != 0 || l.Unread < 490 || l.Unread > 510 ||
		time.Duration(l.AwaitedNs) < time.Minute || time.Duration(l.AwaitedNs) > 63*time.Second {
		t.Errorf("%+v", l)
	}
	v := rejudged(t, s, verdict.Loss)
	if v.Outcome != result.Unknown || !strings.Contains(v.Sentence, "did not arrive within 1m") {
		t.Errorf("%+v", v)
	}
	if !verdict.Sound(&s.Run) {
		t.Error("the run fails")
	}
	if v := rejudged(t, s, verdict.Receiving); v.Outcome != result.Broken {
		t.Errorf("%+v", v)
	}
}

// Messages that the system withholds for longer than the drain are no loss, and count as a backlog
// that grows.
func TestTruthADelayedDeliveryIsNoLoss(t *testing.T) {
	w := load(700, 10*time.Second)
	w.Warmup, w.Drain = time.Second, 5*time.Second
	s, _ := onSim(t, w, map[string]string{"delivery_delay": "20s"})
	l := s.Run.Ledger.Subscriptions[0]
	if l.Lost != 0 || l.Unread != 0 || l.Received != 7700 {
		t.Errorf("%+v", l)
	}
	if v := rejudged(t, s, verdict.Loss); v.Outcome != result.Holds {
		t.Errorf("%+v", v)
	}
	if v := rejudged(t, s, verdict.Receiving); v.Outcome != result.Broken {
		t.Errorf("nothing was received in the window: %+v", v)
	}
}

// A run in which nothing is missing waits no longer than before.
func TestTruthACleanRunDoesNotWait(t *testing.T) {
	s, _ := onSim(t, load(500, 5*time.Second), nil)
	if took := drainOf(t, s); took > 300*time.Millisecond {
		t.Errorf("the drain took %v", took)
	}
}

// A loss that later messages show needs no wait beyond the drain.
func TestTruthAShownLossIsNotWaitedFor(t *testing.T) {
	w := load(500, 5*time.Second)
	w.Drain = 5 * time.Second
	s, planted := onSim(t, w, map[string]string{"lose_per_million": "10000"})
	if l := s.Run.Ledger.Subscriptions[0]; planted.Lost == 0 || l.Lost != planted.Lost {
		t.Errorf("%d lost, want %d", l.Lost, planted.Lost)
	}
	if took := drainOf(t, s); took > 6*time.Second {
		t.Errorf("the drain took %v", took)
	}
}

// told collects the sentences of a phase.
type told struct {
	silent
	said []string
	stop context.CancelFunc // called when a sentence says that the run waits for messages
}

func (w *told) Phase(_ result.PhaseName, sentence string) {
	w.said = append(w.said, sentence)
	if w.stop != nil && strings.Contains(sentence, "that may still come") {
		w.stop()
	}
}

// A request to stop ends the wait at once and keeps the figures.
func TestTruthAnInterruptEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	watch := &told{stop: cancel}
	s := onSimUntil(ctx, t, leaving(), map[string]string{"rebalance_for": "4m"}, watch, unchanged)
	if took := drainOf(t, s); took < 30*time.Second || took > 32*time.Second {
		t.Errorf("the drain took %v: %q", took, watch.said)
	}
	if s.Run.State != result.Interrupted || s.Run.Counters.Acked != 5000 ||
		!s.Run.Ledger.Accounted {
		t.Errorf("%s, %+v", s.Run.State, s.Run.Counters)
	}
	v := rejudged(t, s, verdict.Loss)
	if v.Outcome != result.Unknown || !strings.Contains(v.Sentence, "cut short") {
		t.Errorf("%+v", v)
	}
}

// An audit that finds a message shows that it is not lost, and one that does not that it is.
func TestTruthAnAuditDecidesWhatIsLost(t *testing.T) {
	w := leaving()
	w.Audit, w.Consumers, w.Scaling = true, 2, []workload.GroupSize{
		{At: 9500 * time.Millisecond, Consumers: 1}}
	s, planted := onSim(t, w, map[string]string{"shape": "queue", "lose_per_million": "10000",
		"retain": "true"})
	for _, l := range s.Run.Ledger.Subscriptions {
		if planted.Lost == 0 || l.Lost != planted.Lost || l.Unread != 0 {
			t.Errorf("%s: %d lost, %d unread, want %d lost", l.Subscription, l.Lost, l.Unread,
				planted.Lost)
		}
	}
}

// Consumers that share a queue show nothing about the messages that none of them received.
func TestTruthAQueueWithoutAnAuditDoesNotShowALoss(t *testing.T) {
	w := load(500, 5*time.Second)
	w.Consumers = 2
	s, planted := onSim(t, w, map[string]string{"shape": "queue", "lose_per_million": "10000"})
	l := s.Run.Ledger.Subscriptions[0]
	if planted.Lost == 0 || l.Lost != 0 || l.Unread != planted.Lost {
		t.Errorf("%d lost, %d unread, want %d unread", l.Lost, l.Unread, planted.Lost)
	}
}

// A message that consumers gave back is waited for beyond the drain.
func TestTruthALateRedeliveryIsNotMissing(t *testing.T) {
	w := load(100, 5*time.Second)
	w.Consumers, w.Drain = 2, 2*time.Second
	w.Handling = workload.Handling{Fails: 0.1}
	s, planted := onSim(t, w, map[string]string{"shape": "queue", "redelivery_delay": "20s"})
	l := s.Run.Ledger.Subscriptions[0]
	if planted.GivenBack == 0 || l.GivenBack != l.Redelivered {
		t.Errorf("%d given back, %d delivered again", l.GivenBack, l.Redelivered)
	}
	if v := rejudged(t, s, verdict.Redelivery); v.Outcome != result.Holds {
		t.Errorf("%+v", v)
	}
}

// Acknowledgements of the warm-up's messages do not make the rate exceed what was offered.
func TestTruthARateCountsTheWindowsOwnMessages(t *testing.T) {
	w := load(500, 10*time.Second)
	w.Warmup, w.Subscriptions = 5*time.Second, 2
	s, _ := onSim(t, w, map[string]string{"stall_every": "6s", "stall_for": "1500ms"})
	sum := s.Run.Summary
	if sum.WorkRate <= sum.OfferedRate {
		t.Fatalf("%v/s of %v/s: the warm-up left nothing to the window", sum.WorkRate,
			sum.OfferedRate)
	}
	if sum.AchievedRate > sum.OfferedRate || sum.ReceivedRate > sum.OfferedRate ||
		sum.LeastReceivedRate > sum.OfferedRate || sum.BytesPerS > 64*sum.OfferedRate {
		t.Errorf("%v/s acknowledged (%v bytes/s) and %v/s received of %v/s", sum.AchievedRate,
			sum.BytesPerS, sum.ReceivedRate, sum.OfferedRate)
	}
	if v := rejudged(t, s, verdict.Rate); v.Outcome != result.Holds {
		t.Errorf("%+v", v)
	}
}

// A system that carries half of what is offered achieves what it carries, although all that it
// answers in the window was due in the warm-up.
func TestTruthAnOverloadedRateIsTheCapacity(t *testing.T) {
	w := load(2_000, 5*time.Second)
	w.Warmup, w.MaxInFlight = 10*time.Second, 100
	s, _ := onSim(t, w, map[string]string{"capacity": "1k/s"})
	if got := s.Run.Summary.AchievedRate; got < 990 || got > 1010 {
		t.Errorf("achieved %v/s, want 1000/s", got)
	}
}

// Consumers that received nothing are named.
func TestTruthIdleConsumersAreNamed(t *testing.T) {
	w := load(500, 5*time.Second)
	w.Consumers = 8
	s, _ := onSim(t, w, nil)
	if of := s.Run.Ledger.Subscriptions[0].Sharing; of == nil || of.Idle != 4 {
		t.Fatalf("%+v", of)
	}
	verdict.JudgeSaved(s)
	for _, w := range s.Run.Warnings {
		if w.Code == "idle_consumers" && strings.Contains(w.Sentence, "4 of 8 consumers") {
			return
		}
	}
	t.Errorf("%+v", s.Run.Warnings)
}

// The account counts the losses of the warm-up by themselves: the others are the messages of the
// window that have no end-to-end latency.
func TestTruthLossesOfTheWarmupAreCountedApart(t *testing.T) {
	w := load(500, 10*time.Second)
	w.Warmup = 5 * time.Second
	s, planted := onSim(t, w, map[string]string{"lose_per_million": "10000"})
	l := s.Run.Ledger.Subscriptions[0]
	never := s.Run.Summary.Series(result.EndToEnd).Missing.NotReceived
	if l.Lost != planted.Lost || l.LostWarmup == 0 || l.Lost-l.LostWarmup != never {
		t.Errorf("%d lost of %d planted, %d of them in the warm-up; %d of the window never received",
			l.Lost, planted.Lost, l.LostWarmup, never)
	}
	v := rejudged(t, s, verdict.Loss)
	if want := quantity.Count(l.LostWarmup) + " of them are the warm-up's"; !strings.Contains(
		v.Sentence, want) {
		t.Errorf("%s: %q is missing", v.Sentence, want)
	}
}
