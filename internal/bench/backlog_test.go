package bench_test

import (
	"context"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// published is the number of messages sent per second, and waiting the size of the backlog.
const published, waiting = 250, 5_000

// withBacklog is a workload with a backlog, a second of warm-up included.
func withBacklog(then workload.BacklogThen) *workload.Workload {
	w := load(published, 5*time.Minute)
	w.Warmup = time.Second
	w.Backlog = &workload.Backlog{Messages: waiting, Then: then, Limit: 4 * time.Minute,
		After: 5 * time.Second}
	return w
}

// checkBacklog compares the figures of a backlog with those of the system: drain messages a second
// are read while others are published.
func checkBacklog(t *testing.T, s *result.Saved, drain float64) *result.Backlog {
	t.Helper()
	b := s.Run.Backlog
	if b == nil || b.End != result.BacklogCaughtUp {
		t.Fatalf("%+v", b)
	}
	within(t, "messages that wait", float64(b.Messages), waiting, 0.02)
	within(t, "catch-up throughput", b.ReadRate, drain, 0.02)
	within(t, "bytes read", b.ReadBytesPerS, drain*64, 0.02)
	within(t, "time to catch up", float64(b.CatchUpNs()), waiting/(drain-published)*1e9, 0.02)
	within(t, "published meanwhile", b.PublishedRate, published, 0.02)
	if l := len(b.Stretches); l != 3 {
		t.Fatalf("%d stretches", l)
	}
	after, _ := b.Stretch(result.After)
	within(t, "the stretch after", float64(after.EndNs-after.StartNs), 5e9, 0.02)
	var acked int64
	for _, one := range b.Stretches {
		acked += int64(one.AckedRate*float64(one.EndNs-one.StartNs)/1e9 + 0.5)
		if p99, ok := (result.Summary{Latency: one.Latency}).Series(result.Publish).At(99); !ok ||
			p99 > 300_000 {
			t.Errorf("publish p99 is %d %s, want the service time of 200us", p99, one.Name)
		}
	}
	if c := s.Run.Counters; acked < c.Acked-10 || acked > c.Acked ||
		c.Unsent+c.Unknown+c.Failed > 0 {
		t.Errorf("%d acknowledged in the stretches, %+v", acked, c)
	}
	if got := float64(s.Run.Summary.WindowNs) / 1e9; got-s.Run.Load.WindowSeconds > 0.01 ||
		s.Run.Load.WindowSeconds-got > 0.01 {
		t.Errorf("the window is said to be %v s and was %v", s.Run.Load.WindowSeconds, got)
	}
	for _, l := range s.Run.Ledger.Subscriptions {
		if l.Lost+l.Duplicate+l.Reordered+l.Corrupt > 0 ||
			l.Received != s.Run.Counters.Acked+s.Run.Warmup.Acked {
			t.Errorf("%+v of %+v", l, s.Run.Counters)
		}
	}
	verdict.JudgeSaved(s)
	for _, v := range s.Run.Verdicts {
		if v.Outcome == result.Broken || v.Name == verdict.CatchUp && v.Outcome != result.Holds {
			t.Errorf("%s is %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
	return b
}

// Consumers that open when a backlog is complete, and get 750 messages a second of each
// subscription, catch up in 10 seconds.
func TestTruthBacklogIsDrained(t *testing.T) {
	w := withBacklog(workload.BacklogDrain)
	w.Subscriptions, w.Consumers, w.Producers = 2, 3, 2
	s, _ := onSim(t, w, map[string]string{"drain_rate": "750/s", "delivery_delay": "1ms"})
	b := checkBacklog(t, s, 750)
	within(t, "the time of building", float64(b.BuiltNs-s.Run.Phases[2].StartNs), 19e9, 0.02)
	if s.Run.Summary.MaxBacklog < 2*19*published || s.Run.Summary.EndBacklog > 100 {
		t.Errorf("backlog of at most %d, and %d at the end", s.Run.Summary.MaxBacklog,
			s.Run.Summary.EndBacklog)
	}
	after, _ := b.Stretch(result.After)
	if p50, ok := (result.Summary{Latency: after.Latency}).Series(result.EndToEnd).At(50); !ok ||
		p50 > 2e6 {
		t.Errorf("end-to-end p50 after is %d", p50)
	}
}

// Consumers alone: producers stop when the backlog is complete, all that they sent is read at the
// rate of the readers, and the offered rate is that of the time in which there was a load.
func TestTruthBacklogIsReadAlone(t *testing.T) {
	w := withBacklog(workload.BacklogDrain)
	w.Backlog.Producers, w.Backlog.After = workload.ProducersStop, 0
	w.Producers, w.Consumers = 2, 3
	s, _ := onSim(t, w, map[string]string{"drain_rate": "750/s"})
	b := s.Run.Backlog
	if b == nil || b.End != result.BacklogCaughtUp {
		t.Fatalf("%+v", b)
	}
	c := s.Run.Counters
	if all := c.Acked + s.Run.Warmup.Acked; b.Messages != all || b.LeftMessages != 0 ||
		b.PublishedRate != 0 || all < waiting || all > waiting+2*published {
		t.Errorf("%d acknowledged in all, and %+v", all, b)
	}
	within(t, "the rate of reading", b.ReadRate, 750, 0.02)
	within(t, "time to catch up", float64(b.CatchUpNs()), float64(b.Messages)/750*1e9, 0.02)
	within(t, "offered rate", s.Run.Summary.OfferedRate, published, 0.02)
	within(t, "achieved rate", s.Run.Summary.AchievedRate, published, 0.02)
	for _, l := range s.Run.Ledger.Subscriptions {
		if l.Lost+l.Unread+l.Duplicate > 0 || l.Received != b.Messages {
			t.Errorf("%+v", l)
		}
	}
	verdict.JudgeSaved(s)
	for _, v := range s.Run.Verdicts {
		if v.Outcome == result.Broken || v.Name == verdict.CatchUp && v.Outcome != result.Holds {
			t.Errorf("%s is %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
}

// The rate of a class is that of the time in which there was a load, too.
func TestTruthRateOfAClassBeforeItsBacklogIsRead(t *testing.T) {
	w, err := workload.Parse("w.yaml", []byte("{partitions: 1, producers: 2, consumers: 1, "+
		"warmup: 1s, durability: 4, load: {rate: 250/s}, backlog: {messages: 5000, producers: "+
		"stop}, classes: [{name: a, share: 50%, size: 64B}, {name: b, share: 50%, size: 64B}]}"))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := onSim(t, w, map[string]string{"drain_rate": "750/s"})
	for _, c := range s.Run.Classes {
		within(t, "the rate of class "+c.Name, c.AckedRate, published/2, 0.02)
	}
	if len(s.Run.Classes) != 2 {
		t.Errorf("%+v", s.Run.Classes)
	}
}

// A system that carries less than is offered has its own rate, although the late messages of a
// backlog are sent after the load has ended.
func TestTruthRateOfASlowSystemBeforeItsBacklogIsRead(t *testing.T) {
	w := withBacklog(workload.BacklogDrain)
	w.Backlog.Producers, w.Backlog.After = workload.ProducersStop, 0
	w.Producers, w.MaxInFlight = 1, 1
	s, _ := onSim(t, w, map[string]string{"service_time": "5ms", "drain_rate": "750/s"})
	within(t, "offered rate", s.Run.Summary.OfferedRate, published, 0.02)
	within(t, "achieved rate", s.Run.Summary.AchievedRate, 200, 0.02)
	verdict.JudgeSaved(s)
	if got := judged(s)[verdict.Rate]; got != result.Broken {
		t.Errorf("the verdict on the rate is %s", got)
	}
}

// A subscription that replays a backlog beside one that keeps up: the
// latter's figures stand by themselves.
func TestTruthBacklogIsReplayed(t *testing.T) {
	w := withBacklog(workload.BacklogReplay)
	w.Consumers = 2
	s, _ := onSim(t, w, map[string]string{"drain_rate": "1250/s", "retain": "true"})
	b := checkBacklog(t, s, 1250)
	for _, one := range b.Stretches {
		if p99, ok := (result.Summary{Latency: one.Latency}).Series(result.EndToEnd).At(99); !ok ||
			p99 > 400_000 {
			t.Errorf("end-to-end p99 is %d %s: the replay is in it", p99, one.Name)
		}
	}
	if ratio, ok := b.Effect(result.EndToEnd, 99); !ok || ratio < 0.99 || ratio > 1.01 {
		t.Errorf("the effect is %v", ratio)
	}
	if n := len(s.Run.Ledger.Subscriptions); n != 2 ||
		s.Run.Ledger.Subscriptions[1].Subscription != "replay" {
		t.Errorf("ledger %+v", s.Run.Ledger.Subscriptions)
	}
	var replayed int64
	for _, i := range s.Intervals {
		replayed += i.Replayed
	}
	if all := s.Run.Counters.Acked + s.Run.Warmup.Acked; replayed != all {
		t.Errorf("%d messages were replayed, %d acknowledged", replayed, all)
	}
}

// A reader that is slower than the publish rate never catches up; the run says so after half a
// minute and ends.
func TestTruthBacklogThatGrowsIsNeverDrained(t *testing.T) {
	w := withBacklog(workload.BacklogDrain)
	s, _ := onSim(t, w, map[string]string{"drain_rate": "237.5/s"})
	b := s.Run.Backlog
	if b.End != result.BacklogNever || b.CaughtUpNs != 0 {
		t.Fatalf("%+v", b)
	}
	within(t, "what is read", b.ReadRate, 237.5, 0.02)
	within(t, "what is published", b.PublishedRate, published, 0.02)
	if got := s.Run.Summary.WindowNs; got < 48e9 || got > 54e9 {
		t.Errorf("the window is %v, want 19 s of building and 30 s or so", time.Duration(got))
	}
	if c := s.Run.Counters; s.Run.State != result.Complete || c.Unsent+c.Unknown > 0 {
		t.Errorf("the run is %s: %+v", s.Run.State, c)
	}
	verdict.JudgeSaved(s)
	if verdict.Sound(&s.Run) {
		t.Error("a backlog that is never read passes")
	}
	for _, v := range s.Run.Verdicts {
		if v.Name == verdict.CatchUp && v.Outcome != result.Broken || v.Name == verdict.Loss &&
			v.Outcome != result.Unknown {
			t.Errorf("%s is %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
}

// A reader that is hardly faster than the publish rate is given up at the limit.
func TestTruthBacklogIsGivenUpAtTheLimit(t *testing.T) {
	w := withBacklog(workload.BacklogDrain)
	w.SetRate(50)
	w.Backlog.Messages, w.Backlog.Limit = 250, 32*time.Second
	s, _ := onSim(t, w, map[string]string{"drain_rate": "52.5/s"})
	const left = 250 - 32*2.5
	if b := s.Run.Backlog; b.End != result.BacklogTooLong || b.LeftMessages < left-10 ||
		b.LeftMessages > left+10 {
		t.Errorf("%+v, and %v are left", b, left)
	}
}

// A system that acknowledges half of what is offered does not build the backlog
// in time.
func TestTruthBacklogThatIsNotBuilt(t *testing.T) {
	w := withBacklog(workload.BacklogDrain)
	w.MaxInFlight, w.Backlog.Messages = 100, 1_000
	s, _ := onSim(t, w, map[string]string{"capacity": "125/s"})
	if b := s.Run.Backlog; b.End != result.BacklogNotBuilt || len(b.Stretches) != 1 {
		t.Errorf("%+v", b)
	}
}

// A second delivery must not count as read.
func TestTruthBacklogWithCopies(t *testing.T) {
	skipUnderRace(t)
	w := withBacklog(workload.BacklogDrain)
	s, planted := onSim(t, w,
		map[string]string{"drain_rate": "750/s", "duplicate_per_million": "50000"})
	b := s.Run.Backlog
	if planted.Duplicated < 125 || b.End != result.BacklogCaughtUp {
		t.Fatalf("%+v, planted %+v", b, planted)
	}
	// The copies take their part of the drain rate.
	within(t, "catch-up throughput", b.ReadRate, 750/1.05, 0.02)
}

// stopping ends a run some time after reading has begun.
type stopping struct {
	silent
	stop func()
	left int
}

func (s *stopping) Interval(i result.Interval) {
	if i.Phase == result.PhaseMeasure && i.Received > 0 {
		if s.left--; s.left == 0 {
			s.stop()
		}
	}
}

// A run that is stopped while its backlog is read reports the messages read so far.
func TestTruthBacklogIsInterrupted(t *testing.T) {
	w := withBacklog(workload.BacklogDrain)
	ctx, stop := context.WithCancel(t.Context())
	s := onSimUntil(ctx, t, w, map[string]string{"drain_rate": "750/s"},
		&stopping{stop: stop, left: 4}, unchanged)
	b := s.Run.Backlog
	if s.Run.State != result.Interrupted || b.End != result.BacklogReading ||
		len(b.Stretches) != 2 {
		t.Fatalf("the run is %s: %+v", s.Run.State, b)
	}
	within(t, "what was read", b.ReadRate, 750, 0.02)
	verdict.JudgeSaved(s)
	if !verdict.Sound(&s.Run) || s.Run.Verdicts[len(s.Run.Verdicts)-1].Outcome != result.Unknown {
		t.Errorf("%+v", s.Run.Verdicts)
	}
}
