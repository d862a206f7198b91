package sim_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func resolve(t *testing.T, settings map[string]string) system.Settings {
	t.Helper()
	var given []target.Setting
	for name, value := range settings {
		given = append(given, target.Setting{Name: name, Value: value})
	}
	s, err := system.Resolve(sim.New(clock.Timers(), nil).Describe().Settings, given)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"constant":  nil,
		"lognormal": {"service": "lognormal", "service_time": "500us", "service_sigma": "1"},
		"capacity":  {"capacity": "200k/s", "service_time": "0s"},
		"queue":     {"shape": "queue", "prefetch": "100"},
	} {
		t.Run(name, func(t *testing.T) {
			systemtest.Run(t, systemtest.Harness{
				System: sim.New(clock.Precise(), nil),
				Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
					return system.Options{Settings: resolve(t, settings), Durability: level}, nil
				},
			})
		})
	}
}

// sender sends messages one by one and records the time of each answer.
type sender struct {
	m       system.Message
	answers chan error
}

func (s *sender) Complete(err error) { s.answers <- err }

// answerTimes sends n messages, in virtual time, and returns the time of each answer. The messages
// are sent at once, except that a gap comes before each of the first ones.
func answerTimes(t *testing.T, settings map[string]string, n int,
	gaps ...time.Duration) []time.Duration {
	t.Helper()
	var times []time.Duration
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		c, err := sim.New(clock.Timers(), nil).Connect(ctx,
			system.Options{Settings: resolve(t, settings)})
		if err != nil {
			t.Fatal(err)
		}
		topic := system.Topic{Name: "t", Partitions: 1}
		if err := c.CreateTopic(ctx, topic); err != nil {
			t.Fatal(err)
		}
		p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, InFlight: n})
		if err != nil {
			t.Fatal(err)
		}
		start, answers := time.Now(), make(chan error, n)
		for i := range n {
			if i < len(gaps) {
				time.Sleep(gaps[i])
			}
			s := &sender{answers: answers}
			s.m.Bind(s)
			p.Send(&s.m)
		}
		for range n {
			if err := <-answers; err != nil {
				t.Error(err)
			}
			times = append(times, time.Since(start))
		}
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return times
}

func TestCapacityGivesTurns(t *testing.T) {
	times := answerTimes(t, map[string]string{"capacity": "1k/s", "service_time": "5ms"}, 100)
	for i, got := range times {
		if want := time.Duration(i+1)*time.Millisecond + 5*time.Millisecond; got != want {
			t.Fatalf("message %d is answered after %v, want %v", i, got, want)
		}
	}
}

// A batch leaves linger after its first message, with the messages that came meanwhile.
func TestLingerGathersMessages(t *testing.T) {
	times := answerTimes(t, map[string]string{"linger": "10ms", "service_time": "1ms"}, 4,
		0, 4*time.Millisecond, 5*time.Millisecond, 2*time.Millisecond)
	for i, wantMs := range []int64{11, 11, 11, 22} {
		if want := time.Duration(wantMs * 1e6); times[i] != want {
			t.Errorf("message %d is answered after %v, want %v", i, times[i], want)
		}
	}
}

func TestStallHoldsAnswersBack(t *testing.T) {
	times := answerTimes(t,
		map[string]string{"service_time": "950ms", "stall_every": "1s", "stall_for": "100ms"}, 1)
	if times[0] != time.Second {
		t.Errorf("answered after %v, want the end of the stall", times[0])
	}
	_, err := sim.New(clock.Timers(), nil).Connect(context.Background(),
		system.Options{
			Settings: resolve(t, map[string]string{"stall_every": "1s", "stall_for": "1s"})})
	if err == nil {
		t.Error("a stall as long as its period is taken")
	}
}

func TestBimodalHasTwoTimes(t *testing.T) {
	slow := 0
	for _, got := range answerTimes(t, map[string]string{
		"service": "bimodal", "service_time": "1ms", "service_slow": "20ms",
		"service_slow_share": "0.1",
	}, 10_000) {
		switch got {
		case time.Millisecond:
		case 20 * time.Millisecond:
			slow++
		default:
			t.Fatalf("answered after %v", got)
		}
	}
	if slow < 900 || slow > 1100 {
		t.Errorf("%d of 10,000 were slow, want a tenth", slow)
	}
}
