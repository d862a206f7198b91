package fleet

import (
	"context"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// liar joins as a worker that does its part of a run, and changes what it says of it. lie returns
// false when it has answered by itself.
func liar(t *testing.T, c *Coordinator, of system.System,
	lie func(say func(*word), call uint64, answer any) (any, bool)) {
	t.Helper()
	w := &workerEnd{words: make(chan *word, wordsRoom),
		running: make(map[uint64]context.CancelFunc),
		options: WorkerOptions{Coordinator: c.Address(), Token: c.Token(), Name: "rogue",
			Clock: clock.Precise(), Systems: system.NewRegistry(of)}}
	conn, stream := w.connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		_ = conn.Close()
		<-done
		w.orders.Wait()
		_ = w.share.finish()
	})
	go w.send(ctx, stream)
	go func() { _ = w.keepTime(ctx, conn) }()
	go func() {
		defer close(done)
		for {
			o := new(order)
			if stream.RecvMsg(o) != nil {
				cancel()
				return
			}
			if o.Do == actionCancel {
				continue
			}
			w.orders.Go(func() {
				answer, err := w.do(ctx, ctx, o)
				said := true
				if err == nil {
					answer, said = lie(func(one *word) { w.speak(ctx, one) }, o.Call, answer)
				}
				if said {
					w.answer(ctx, o.Call, answer, err)
				}
			})
		}
	}()
}

// A worker that lies is given up by name. The run is kept: it can be read, and has what honest
// workers measured.
func TestLyingWorker(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		lie  func(answer any) any
		want string
	}{
		"infinite mean": {func(answer any) any {
			if a, is := answer.(load.Account); is {
				a.MeanInFlight = math.Inf(1)
				return a
			}
			return answer
		}, "+Inf messages in flight"},
		"no number": {func(answer any) any {
			if s, is := answer.(sampled); is && len(s.Sample.Processes) > 0 {
				s.Sample.Processes[0].CPUSeconds = math.NaN()
				return s
			}
			return answer
		}, "NaN s of CPU"},
		"a count of all": {func(answer any) any {
			if s, is := answer.(sampled); is {
				s.Sample.Counters.Acked[1] = math.MaxInt64
				return s
			}
			return answer
		}, "9223372036854775807 acknowledged messages"},
		"another interval": {func(answer any) any {
			if s, is := answer.(sampled); is {
				s.Sample.Interval += 7
				return s
			}
			return answer
		}, "a sample is of interval"},
		"a long text": {func(answer any) any {
			if a, is := answer.(load.Account); is {
				a.Errors = []result.Error{{Message: strings.Repeat("x", 300_000), Count: 1}}
				return a
			}
			return answer
		}, "an error has 300000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkGivenUp(t, func(_ func(*word), _ uint64, answer any) (any, bool) {
				return of.lie(answer), true
			}, of.want)
		})
	}
}

// An account that is larger than the plan allows is refused before it is there.
func TestEndlessAccount(t *testing.T) {
	var told atomic.Int64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	part := make([]byte, wireMost)
	checkGivenUp(t, func(say func(*word), call uint64, answer any) (any, bool) {
		if _, is := answer.(load.Account); !is {
			return answer, true
		}
		for told.Load() < 1<<30 {
			say(&word{Call: call, Part: part})
			told.Add(wireMost)
		}
		return answer, true
	}, "its answer has more than")
	runtime.ReadMemStats(&after)
	// Words that wait to be sent are not with the coordinator.
	if most := int64(128 << 20); int64(after.TotalAlloc-before.TotalAlloc) > 4*most {
		t.Errorf("%d MB were allocated", (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

// An event whose sentence is long, or that no worker sends, costs a worker its place. Escape
// sequences in a text of a worker reach nobody.
func TestLyingEvents(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ kind, sentence, want string }{
		"long": {"failure", strings.Repeat("x", 900_000),
			"the sentence of an event has 900000"},
		"progress": {"progress", "1 of 2", "of the kind \"progress\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var once atomic.Bool
			checkGivenUp(t, func(say func(*word), _ uint64, answer any) (any, bool) {
				if _, is := answer.(sampled); is && once.CompareAndSwap(false, true) {
					say(&word{Event: &load.Event{Kind: load.EventKind(of.kind),
						Sentence: of.sentence}})
				}
				return answer, true
			}, of.want)
		})
	}
}

func checkGivenUp(t *testing.T, lie func(func(*word), uint64, any) (any, bool), want string) {
	t.Helper()
	of := newCommon()
	c := listen(t, 2)
	liar(t, c, of, lie)
	hire(t, c, of, "honest")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Await(ctx); err != nil {
		t.Fatal(err)
	}
	job := jobOn(t, of, 2*time.Second)
	job.Crew = c
	got, err := ran(t, job)
	if err == nil || !strings.Contains(err.Error(), "rogue") {
		t.Errorf("the error is %v", err)
	}
	workers := got.Run.Workers
	if len(workers) != 2 || workers[0].Lost != "" || !strings.Contains(workers[1].Lost, want) ||
		!strings.Contains(workers[1].Lost, "rogue") {
		t.Errorf("%+v, want %q", workers, want)
	}
	if len(workers) == 2 && len(workers[1].Lost) > 400 {
		t.Errorf("%d bytes say why", len(workers[1].Lost))
	}
	if got.Run.State != result.Failed || got.Run.Ledger.Accounted ||
		got.Run.Counters.Acked+got.Run.Warmup.Acked == 0 {
		t.Errorf("state %s: %+v", got.Run.State, got.Run.Counters)
	}
}

// Escape sequences in the error of a worker do not reach a terminal.
func TestEscapeSequencesOfAWorker(t *testing.T) {
	t.Parallel()
	m := newMember(hello{Name: "w", Host: "h"})
	var heard string
	m.listen(func(e load.Event) { heard = e.Sentence })
	if err := m.take(&word{Event: &load.Event{Kind: load.Failure,
		Sentence: "red \x1b[31m and\r gone\n"}}); err != nil {
		t.Fatal(err)
	}
	m.pending[1] = &call{done: make(chan struct{}), most: 10}
	one := m.pending[1]
	if err := m.take(&word{Call: 1, Last: true, Error: "red \x1b[31m\u009b2J"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{heard, one.failed.Error()} {
		if strings.ContainsAny(text, "\x1b\r\n\u009b") || !strings.Contains(text, "red") {
			t.Errorf("%q", text)
		}
	}
}
