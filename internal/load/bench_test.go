package load

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// null is a system that acknowledges at once and delivers nothing, to measure the cost of the
// engine alone.
type null struct {
	system.Cluster // of what no test calls
}

func (null) Send(m *system.Message)      { m.Done(nil) }
func (null) Close(context.Context) error { return nil }

func (null) CreateTopic(context.Context, system.Topic) error { return nil }
func (null) OpenProducer(context.Context, system.ProducerOptions) (system.Producer, error) {
	return null{}, nil
}
func (null) OpenConsumer(context.Context, system.ConsumerOptions) (system.Consumer, error) {
	return null{}, nil
}

func benchWorkload(rate float64, length time.Duration, producers int) *workload.Workload {
	return &workload.Workload{
		Name: "bench", Topics: 1, Partitions: 100, Producers: producers, Subscriptions: 1,
		Consumers: 1,
		Message: workload.Message{Size: 1024,
			Incompressible: 0.5}, Keys: workload.Keys{Kind: workload.KeysNone},
		Load: workload.Load{Arrivals: workload.ArrivalsConstant,
			Segments: []workload.Segment{{From: rate, To: rate, For: length}}},
		Duration: length, MaxInFlight: 1024, Seed: 1,
	}
}

// BenchmarkEnginePath measures one message through schedule, key, payload, stamp, pool, hand-over,
// answer, four histograms and ledger, on a system that does nothing. The schedule lies in the
// past, so the pacer never waits.
func BenchmarkEnginePath(b *testing.B) {
	b.Run("one size", func(b *testing.B) { benchmarkEnginePath(b, func(*workload.Workload) {}) })
	b.Run("sizes", func(b *testing.B) {
		benchmarkEnginePath(b, func(w *workload.Workload) {
			w.Message.Sizes = &workload.Sizes{Median: 700, P99: 4000, Most: 10_000}
		})
	})
	b.Run("own topics", func(b *testing.B) {
		benchmarkEnginePath(b, func(w *workload.Workload) {
			w.Topics, w.Classes = 2, []workload.Class{
				{Name: "order", Share: 0.2, Least: 1024, Most: 1024, Topics: 1, Partitions: 12},
				{Name: "event", Share: 0.8, Least: 1024, Most: 1024, Topics: 1}}
		})
	})
}

func benchmarkEnginePath(b *testing.B, change func(*workload.Workload)) {
	const rate = 1e9
	w := benchWorkload(rate, time.Duration(b.N)*time.Second/rate, 1)
	change(w)
	e := New(Plan{Workload: *w, Run: 1, Prefix: "bench", Alone: true}, clock.Precise(), nil)
	if err := e.Open(b.Context(), null{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	begin(e, clock.Now()-int64(w.Duration))
	<-e.Sent()
	b.StopTimer()
	if f := e.counters(); f.Acked[1] < int64(b.N)-1 {
		b.Fatalf("acked %d of %d", f.Acked[1], b.N)
	}
	b.SetBytes(int64(w.Message.Mean()))
}

// BenchmarkClosedPath measures one message of a closed loop, in sends of ten, on the same system.
// It answers at once, so the loop never waits.
func BenchmarkClosedPath(b *testing.B) {
	w := benchWorkload(1, time.Hour, 1)
	w.Load, w.MaxInFlight = workload.Load{
		Closed: &workload.Closed{InFlight: 1, Batch: workload.Batch{Least: 10, Most: 10}}}, 10
	e := New(Plan{Workload: *w, Run: 1, Prefix: "bench", Alone: true}, clock.Precise(), nil)
	if err := e.Open(b.Context(), null{}); err != nil {
		b.Fatal(err)
	}
	e.startNs = clock.Now()
	l := newLoop(e.newPacer(e.producers[:1], 0), w.Load.Closed, 1)
	l.send(l.take(), clock.Now())
	b.ReportAllocs()
	b.ResetTimer()
	for range (b.N + 9) / 10 {
		c, now := l.await()
		l.send(c, now)
	}
	b.SetBytes(w.Message.Size)
}

// BenchmarkReceivePath measures one message from bytes to histogram and ledger, with the check of
// its payload.
func BenchmarkReceivePath(b *testing.B) {
	w := benchWorkload(1000, time.Second, 1)
	w.Partitions = 1
	e := New(Plan{Workload: *w, Run: 1, Prefix: "bench", Alone: true}, clock.Precise(), nil)
	if err := e.Open(b.Context(), null{}); err != nil {
		b.Fatal(err)
	}
	p, c := e.producers[0], e.consumers[0]
	flights := make([]*flight, 1024)
	for i := range flights {
		flights[i] = p.fresh()
	}
	b.ReportAllocs()
	for seq := int64(0); b.Loop(); seq++ {
		i := int(seq) % len(flights)
		if i == 0 {
			b.StopTimer()
			for k, f := range flights {
				p.nextSeq[0] = seq + int64(k)
				p.prepare(f, p.nextSeq[0], clock.Now(), 1)
			}
			b.StartTimer()
		}
		c.receive(system.Received{Payload: flights[i].Payload})
	}
}

// BenchmarkScheduleLag offers 100,000 messages a second for a second an
// iteration and reports how late they were handed over.
func BenchmarkScheduleLag(b *testing.B) {
	for b.Loop() {
		runtime.GC()
		w := benchWorkload(100_000, time.Second, 1)
		e := New(Plan{Workload: *w, Run: 1, Prefix: "bench", Alone: true}, clock.Precise(), nil)
		if err := e.Open(b.Context(), null{}); err != nil {
			b.Fatal(err)
		}
		begin(e, clock.Now()+int64(20*time.Millisecond))
		<-e.Sent()
		cells := measure.NewCells(result.Lag)
		cells.Add(e.Collect())
		lag := cells.Of(result.Lag, 1).Histogram
		b.ReportMetric(float64(lag.ValueAtPercentile(50))/1e3, "p50-us")
		b.ReportMetric(float64(lag.ValueAtPercentile(99))/1e3, "p99-us")
		b.ReportMetric(float64(lag.ValueAtPercentile(99.9))/1e3, "p99.9-us")
	}
}

// BenchmarkTwin offers 10,000 messages a second for a second an iteration, with the twin
// and without it in turn, and reports the CPU time of the process for each.
func BenchmarkTwin(b *testing.B) {
	var spent [2]time.Duration
	for b.Loop() {
		for alone := range 2 {
			w := benchWorkload(10_000, time.Second, 2)
			plan := Plan{Workload: *w, Run: 1, Prefix: "bench", Alone: alone == 1}
			e := New(plan, clock.Precise(), nil)
			if err := e.Open(b.Context(), null{}); err != nil {
				b.Fatal(err)
			}
			before := cpu(b)
			begin(e, clock.Now()+int64(20*time.Millisecond))
			<-e.Sent()
			if err := e.Close(time.Second); err != nil {
				b.Fatal(err)
			}
			spent[alone] += cpu(b) - before
		}
	}
	perS := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 / float64(b.N) }
	b.ReportMetric(perS(spent[0]), "with-ms/s")
	b.ReportMetric(perS(spent[1]), "without-ms/s")
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
