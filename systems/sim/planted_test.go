package sim_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// sent is the result of one message.
type sent struct {
	m           system.Message
	seq         int
	beganAt     time.Duration // of its Send
	returned    time.Duration // when Send returned
	answered    time.Duration // 0: not before the producer closed
	err         error
	transaction uint32
	came        []came
	closing     *bool
	start       time.Time
}

// came is one delivery.
type came struct {
	at        time.Duration
	partition int32
}

func (s *sent) Enlist(transaction uint32) { s.transaction = transaction }

func (s *sent) Complete(err error) {
	s.err = err
	if !*s.closing {
		s.answered = time.Since(s.start)
	}
}

// offering is the load of a trial: n messages, one per gap, to the partitions in turn.
type offering struct {
	n          int
	gap        time.Duration
	partitions int32
	delivery   workload.Delivery
	wait       time.Duration // after the last one
	late       func(int64)
}

// offered sends messages to a simulated system in virtual time and returns the result of each.
func offered(t *testing.T, o offering, settings map[string]string) (all []*sent,
	planted sim.Planted) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := sim.New(clock.Timers(), func(p sim.Planted) { planted = p })
		c, err := s.Connect(ctx, system.Options{Settings: resolve(t, settings)})
		must(t, err)
		c.(system.Simulation).ReportLateness(o.late)
		topic := system.Topic{Name: "t", Partitions: int(o.partitions)}
		must(t, c.CreateTopic(ctx, topic))
		start, closing := time.Now(), false
		for i := range o.n {
			one := &sent{seq: i, start: start, closing: &closing}
			one.m.Partition = int32(i) % o.partitions
			one.m.Payload = binary.LittleEndian.AppendUint64(nil, uint64(i))
			one.m.Bind(one)
			all = append(all, one)
		}
		_, err = c.OpenConsumer(ctx, system.ConsumerOptions{Topic: topic, Subscription: "s",
			Receive: func(m system.Received) {
				one := all[binary.LittleEndian.Uint64(m.Payload)]
				one.came = append(one.came, came{at: time.Since(start), partition: m.Partition})
			}})
		must(t, err)
		p, err := c.OpenProducer(ctx,
			system.ProducerOptions{Topic: topic, InFlight: o.n, Delivery: o.delivery})
		must(t, err)
		for i, one := range all {
			one.beganAt = time.Since(start)
			p.Send(&one.m)
			one.returned = time.Since(start)
			time.Sleep(time.Duration(i+1)*o.gap - time.Since(start))
		}
		time.Sleep(o.wait)
		synctest.Wait()
		closing = true
		must(t, c.Close(context.Background()))
	})
	return all, planted
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count returns the number of messages that satisfy a condition.
func count(all []*sent, holds func(*sent) bool) (n int64) {
	for _, s := range all {
		if holds(s) {
			n++
		}
	}
	return n
}

func TestUnansweredMessagesGetNoAnswerBeforeClose(t *testing.T) {
	for delivered, setting := range map[bool]string{true: "true", false: "false"} {
		all, planted := offered(t,
			offering{n: 2_000, gap: time.Millisecond, partitions: 2, wait: time.Minute},
			map[string]string{"unanswered_per_million": "200k", "unanswered_delivered": setting})
		silent := count(all, func(s *sent) bool { return s.answered == 0 })
		if silent == 0 || silent != planted.NeverAnswered {
			t.Errorf("%d were not answered, %d planted", silent, planted.NeverAnswered)
		}
		for _, s := range all {
			switch {
			case s.answered != 0 && (s.err != nil || len(s.came) != 1):
				t.Errorf("message %d: %v, came %v", s.seq, s.err, s.came)
			case s.answered == 0 && !errors.Is(s.err, system.ErrUnknown):
				t.Errorf("message %d ends with %v when its producer closes", s.seq, s.err)
			case s.answered == 0 && (len(s.came) == 1) != delivered:
				t.Errorf("message %d came %d times, unanswered_delivered %v", s.seq, len(s.came),
					delivered)
			}
		}
	}
}

// A producer that closes must not wait for answers that never come.
func TestCloseDoesNotWaitForUnansweredMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		c, err := sim.New(clock.Timers(), nil).Connect(ctx, system.Options{Settings: resolve(t,
			map[string]string{"service": "bimodal", "service_slow_share": "1",
				"service_slow_outcome": "unanswered"})})
		must(t, err)
		topic := system.Topic{Name: "t", Partitions: 1}
		must(t, c.CreateTopic(ctx, topic))
		p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, InFlight: 100})
		must(t, err)
		answers := make(chan error, 100)
		for range 100 {
			s := &sender{answers: answers}
			s.m.Bind(s)
			p.Send(&s.m)
		}
		began := time.Now()
		must(t, p.Close(ctx))
		if took := time.Since(began); took > 10*time.Millisecond || len(answers) != 100 {
			t.Errorf("closed after %v with %d of 100 answers", took, len(answers))
		}
		must(t, c.Close(ctx))
	})
}

func TestSlowMessagesCanBeRefusedLostOrLeft(t *testing.T) {
	settings := func(outcome string) map[string]string {
		return map[string]string{
			"service": "bimodal", "service_time": "1ms", "service_slow": "50ms",
			"service_slow_share":   "0.1",
			"service_slow_outcome": outcome,
		}
	}
	o := offering{n: 3_000, gap: time.Millisecond, partitions: 1, wait: time.Minute}
	answered, _ := offered(t, o, settings("answered"))
	isSlow := func(s *sent) bool {
		return answered[s.seq].answered-answered[s.seq].beganAt == 50*time.Millisecond
	}
	const proofs = 64 // none of the first messages is refused, lost or left
	slow := count(answered[proofs:], isSlow)
	if slow < 200 || slow > 400 {
		t.Fatalf("%d of 3,000 are slow, want a tenth", slow)
	}
	for outcome, is := range map[string]func(*sent) bool{
		"refused": func(s *sent) bool {
			return s.err != nil && s.answered-s.beganAt == time.Millisecond && len(s.came) == 0
		},
		"lost": func(s *sent) bool {
			return s.err == nil && s.answered-s.beganAt == time.Millisecond && len(s.came) == 0
		},
		"unanswered": func(s *sent) bool { return s.answered == 0 && len(s.came) == 1 },
	} {
		all, planted := offered(t, o, settings(outcome))
		for _, s := range all[proofs:] {
			if is(s) != isSlow(s) {
				t.Fatalf("%s: message %d (slow: %v) was answered after %v with %v and came %d times",
					outcome, s.seq, isSlow(s), s.answered-s.beganAt, s.err, len(s.came))
			}
		}
		if n := planted.Failed + planted.Lost + planted.NeverAnswered; n != slow {
			t.Errorf("%s: planted %+v, want %d", outcome, planted, slow)
		}
	}
}

func TestCopiesComeSoMuchLater(t *testing.T) {
	o := offering{n: 1_000, gap: time.Millisecond, partitions: 2, wait: 30 * time.Second}
	all, planted := offered(t, o,
		map[string]string{"duplicate_per_million": "100k", "copy_after": "15s"})
	copies := count(all, func(s *sent) bool { return len(s.came) == 2 })
	if copies == 0 || copies != planted.Duplicated {
		t.Errorf("%d came twice, %d planted", copies, planted.Duplicated)
	}
	for _, s := range all {
		if len(s.came) == 2 && s.came[1].at-s.came[0].at != 15*time.Second {
			t.Errorf("message %d came after %v and %v", s.seq, s.came[0].at, s.came[1].at)
		}
		if first := s.came[0].at - s.answered; first != 50*time.Microsecond {
			t.Errorf("message %d came first %v after its answer", s.seq, first)
		}
	}
}

func TestRedeliveryFollowsTheSettings(t *testing.T) {
	for name, test := range map[string]struct {
		settings map[string]string
		never    bool
		after    time.Duration
	}{
		"no copies":      {nil, true, 0},
		"copies at once": {map[string]string{"duplicate_per_million": "1"}, true, 0},
		"late copies": {map[string]string{"duplicate_per_million": "1", "copy_after": "15s"},
			false, 15 * time.Second},
		"late copies and stalls": {map[string]string{
			"duplicate_per_million": "1", "copy_after": "15s", "stall_every": "10s",
			"stall_for": "1s",
		}, false, 16 * time.Second},
		"late copies of a fault": {map[string]string{"fault_duplicate": "1", "copy_after": "2s"},
			false, 2 * time.Second},
		"behind other messages": {map[string]string{
			"duplicate_per_million": "1", "copy_after": "15s", "drain_rate": "1k/s",
		}, false, 0},
	} {
		got := sim.New(clock.Timers(), nil).Describe().Redelivery(
			resolve(t, test.settings), workload.AtLeastOnce)
		if got.Never != test.never || got.After != test.after || got.Why == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSendBlocksUntilTheStretchEnds(t *testing.T) {
	o := offering{n: 300, gap: 10 * time.Millisecond, partitions: 1, wait: time.Second}
	all, _ := offered(t, o, map[string]string{"send_block_every": "1s", "send_block_for": "50ms"})
	blocked := 0
	for _, s := range all {
		within := s.beganAt % time.Second
		want := s.beganAt
		if within >= 950*time.Millisecond {
			blocked++
			want = s.beganAt - within + time.Second
		}
		if s.returned != want || s.answered != want+200*time.Microsecond {
			t.Errorf("message %d, sent at %v: Send returned at %v and it was answered at %v, "+
				"want %v and 200us later",
				s.seq, s.beganAt, s.returned, s.answered, want)
		}
	}
	if blocked != 3 {
		t.Errorf("Send blocked %d times, want once a second", blocked)
	}
}

func TestMisplacedMessagesSayAnotherPartition(t *testing.T) {
	o := offering{n: 2_000, gap: time.Millisecond, partitions: 4, wait: time.Second}
	all, planted := offered(t, o, map[string]string{"misplace_per_million": "50k"})
	wrong := count(all, func(s *sent) bool { return s.came[0].partition != s.m.Partition })
	if wrong == 0 || wrong != planted.Misplaced {
		t.Errorf("%d said another partition, %d planted", wrong, planted.Misplaced)
	}
	o.partitions = 1
	if _, planted := offered(t, o,
		map[string]string{"misplace_per_million": "50k"}); planted.Misplaced != 0 {
		t.Errorf("%d planted on a topic of one partition", planted.Misplaced)
	}
}

// On virtual time nothing is late.
func TestLatenessIsToldOfEachAnswerAndDelivery(t *testing.T) {
	told, late := 0, int64(0)
	o := offering{n: 1_000, gap: time.Millisecond, partitions: 2, wait: time.Second,
		late: func(ns int64) { told++; late = max(late, ns) }}
	offered(t, o,
		map[string]string{"service": "lognormal", "stall_every": "500ms", "stall_for": "100ms"})
	if told != 2*o.n || late != 0 {
		t.Errorf("told %d times, at most %d ns late; want 2,000 times and 0", told, late)
	}
}

func TestWhatCannotBeSimulatedIsRefused(t *testing.T) {
	for _, test := range []struct {
		settings map[string]string
		says     string
	}{
		{map[string]string{"send_block_every": "1s", "send_block_for": "1s"}, "send_block_for"},
		{map[string]string{"abort_share": "1.5"}, "abort_share"},
		{map[string]string{"partial_share": "-0.1"}, "partial_share"},
		{map[string]string{"aborted_visible_share": "2"}, "aborted_visible_share"},
		{map[string]string{"service_slow_outcome": "refused"}, "bimodal"},
		{map[string]string{"transaction_interval": "0s"}, "transaction_interval"},
		{map[string]string{"transaction_interval": "1m"}, "transaction_interval"},
		{map[string]string{"unanswered_per_million": "1M"}, "unanswered_per_million"},
		{map[string]string{"misplace_per_million": "1M"}, "misplace_per_million"},
	} {
		err := sim.New(clock.Timers(), nil).Check(system.Check{Settings: resolve(t, test.settings)})
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: %v", test.settings, err)
		}
	}
}
