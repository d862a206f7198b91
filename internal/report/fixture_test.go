package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// shape describes a synthetic run.
type shape struct {
	name    string
	system  string
	seconds int     // of the measured window, after 3 s of warm-up
	rate    float64 // messages per second
	medianU float64 // of the service time, us
	stallAt int     // second of the run in which the system stood still; 0: never
	lost    int64
	tail    float64 // by which the slowest take longer; 0: no difference

	spends spending
	level  int    // of durability; 0: 2
	fault  string // what happened at 400 ms into the stall, in place of a pause
}

// small is the run that golden files show.
var small = shape{name: "nats-3", system: "nats", seconds: 8, rate: 20_000, medianU: 600,
	stallAt: 6}

// noise is a fixed sequence of numbers between 0 and 1.
type noise uint64

func (n *noise) next() float64 {
	*n = *n*6364136223846793005 + 1442695040888963407
	return float64(*n>>33) / (1 << 31)
}

func (n *noise) normal() float64 {
	u := n.next() + n.next() + n.next() + n.next() + n.next() + n.next()
	return (u - 3) * math.Sqrt2
}

// record fills the histograms of one interval: service times are log-normal,
// and the messages due in a stall wait for its end.
func (sh shape) record(n *noise, stalled bool) map[result.Series]*hdr.Histogram {
	out := map[result.Series]*hdr.Histogram{}
	for _, s := range result.AllSeries {
		out[s] = result.NewHistogram()
	}
	const samples = 1000
	each := max(int64(sh.rate)/samples, 1)
	for i := range samples {
		service := sh.medianU * math.Exp(0.35*n.normal())
		if n.next() > 0.995 {
			service *= 6
		}
		if sh.tail > 0 && service > 1.7*sh.medianU {
			service *= sh.tail
		}
		waited := 20 + 40*n.next()
		if stalled {
			waited += 900_000 * float64(samples-i) / samples
		}
		put := func(s result.Series, us float64, times int64) {
			_ = out[s].RecordValues(int64(us*1000), times)
		}
		put(result.Send, service, each)
		put(result.Publish, service+waited, each)
		put(result.EndToEnd, (service+waited)*1.2+80*n.next(), each)
		put(result.Lag, waited, each)
		put(result.Hiccup, 15+30*n.next()*n.next(), 1)
	}
	return out
}

func (sh shape) phases() []result.Phase {
	end := int64(sh.seconds+3) * 1e9
	return []result.Phase{
		{Name: result.PhaseWarmup, StartNs: 0, EndNs: 3e9},
		{Name: result.PhaseMeasure, StartNs: 3e9, EndNs: end},
		{Name: result.PhaseDrain, StartNs: end, EndNs: end + 1e9},
	}
}

// interval makes one second's interval with its histograms.
func (sh shape) interval(k int, phase result.PhaseName, h map[result.Series]*hdr.Histogram,
	n *noise) result.Interval {
	i := result.Interval{
		StartNs: int64(k) * 1e9, EndNs: int64(k+1) * 1e9, Phase: phase,
		InFlight: int64(10 + 20*n.next()), Backlog: int64(20 + 30*n.next()),
		CPUSeconds: 0.4 + 0.1*n.next(), RSSBytes: 120 << 20, HeapBytes: 60 << 20,
		GCPauseNs: int64(60e3 + 90e3*n.next()), GCCount: 2, Goroutines: 40,
	}
	if phase != result.PhaseDrain {
		i.Scheduled = int64(sh.rate)
		i.Sent, i.Acked, i.Received = i.Scheduled, i.Scheduled-int64(
			40*n.next()), i.Scheduled-int64(60*n.next())
	}
	switch k {
	case sh.stallAt:
		if sh.stallAt > 0 {
			i.Sent, i.Acked, i.Received, i.Backlog, i.InFlight = i.Sent/10, i.Acked/10,
				i.Received/10, 900, 4000
		}
	case sh.stallAt + 1:
		if sh.stallAt > 0 {
			i.Sent, i.Acked, i.Received = i.Sent*19/10, i.Acked*19/10, i.Received*19/10
		}
	}
	for _, s := range result.AllSeries {
		i.Latency = append(i.Latency, result.Summarize(s, h[s], 0, 0))
	}
	return i
}

func (sh shape) run() result.Run {
	var waits []result.Wait
	var clients *result.Clients
	own := []result.Setting{{Group: sh.system, Name: "replicas", Value: "3"},
		{Group: sh.system, Name: "storage", Value: "file"},
		{Group: sh.system, Name: "sync_interval", Value: "2m0s"}}
	if sh.system == "kafka" {
		own = []result.Setting{{Group: "kafka", Name: "acks", Value: "all"},
			{Group: "kafka", Name: "linger", Value: "5ms"},
			{Group: "kafka", Name: "min.insync.replicas", Value: "2"},
			{Group: "kafka", Name: "flush.messages", Value: "1"}}
		clients = &result.Clients{Word: "default", How: "a batch waits 5ms for more records",
			Meaning: "each system's clients have their own defaults"}
		waits = []result.Wait{{Series: result.Publish, MostNs: 5e6, Setting: "linger",
			Sentence: "the client waits up to 5ms for more messages (linger)"}}
	}
	level, how := cmp.Or(sh.level,
		2), "JetStream with 3 replicas: a message is acknowledged when a majority of the servers "+
		"holds it"
	return result.Run{
		SchemaVersion: result.SchemaVersion, ID: "2026-11-21T101502-" +
			sh.name, Name: sh.name, State: result.Running,
		StartedAt: time.Date(2026, 11, 21, 10, 15, 2, 0, time.UTC),
		Plimsoll:  result.Build{Version: "0.1.0", Commit: "abc1234", Go: "go1.26"},
		Environment: result.Environment{
			Hostname: "bench-1", OS: "linux", Kernel: "6.12.0", CPU: "Example CPU @ 3.00GHz",
			Cores: 8, MemoryBytes: 32 << 30,
			GoMaxProcs: 8, Clock: "CLOCK_MONOTONIC (tsc), clock_nanosleep", DataFS: "ext4",
		},
		Asked: result.Asked{Command: []string{"plimsoll", "run", "-w", "1kb.yaml"},
			Workload: "name: 1kb\nrate: 20k/s\n", Target: "system: " + sh.system + "\n"},
		Load: result.Load{
			Workload: "1kb", Model: "open", Arrivals: "poisson", TargetRate: sh.rate,
			MessageBytes: 1024, Topics: 1, Partitions: 3,
			Segments:  []result.Segment{{From: sh.rate, To: sh.rate, Seconds: float64(sh.seconds)}},
			Producers: 2, Subscriptions: 1, Consumers: 3, Keys: "none", Delivery: "at_least_once",
			MaxInFlight:   4000,
			WarmupSeconds: 3, WindowSeconds: float64(sh.seconds), IncompressiblePct: 50,
		},
		System: result.System{
			Name: sh.system, Client: sh.system + ".go v1.55.0",
			Servers: slices.Repeat([]string{sh.system + "-server 2.15.2"}, 3),
			Endpoints: []string{"127.0.0.2:4222", "127.0.0.3:4222",
				"127.0.0.4:4222"}, SharesHost: true, Provisioned: true, Nodes: sh.spends.servers(),
			Clients: clients, Waits: waits,
		},
		Settings: append([]result.Setting{
			{Group: "workload", Name: "arrivals", Value: "poisson"},
			{Group: "workload", Name: "max_in_flight", Value: "4000"},
		}, own...),
		Durability: result.Durability{
			Asked: level, Level: level, Meaning: "replicated to a majority, in memory", How: how,
			Evidence: []result.Fact{
				{Where: "stream plimsoll-0", Name: "replicas", Value: "3", Source: "stream info"},
				{Where: "node1", Name: "sync_interval", Value: "2m0s", Source: "server options"},
			},
		},
		Seed: 42,
	}
}

// finish makes the run's summary from the recorded intervals, as a run does.
func (sh shape) finish(run *result.Run, totals map[result.Series]*hdr.Histogram, acked int64) {
	n := int64(sh.rate) * int64(sh.seconds)
	run.State, run.EndedAt = result.Complete, run.StartedAt.Add(
		time.Duration(sh.seconds+4)*time.Second)
	run.Warmup = result.Counters{Scheduled: int64(sh.rate) * 3, Acked: int64(sh.rate) * 3,
		Received: int64(sh.rate) * 3}
	run.Counters = result.Counters{Scheduled: n, Acked: n - 12, Failed: 8, Unknown: 3, Unsent: 1,
		Received: n - 12 - sh.lost}
	run.Errors = []result.Error{
		{Message: "no responders: the leader of the stream is changing", Count: 8}}
	run.Ledger = result.Ledger{Accounted: true, MemoryBytes: 1 << 20,
		Subscriptions: []result.SubscriptionLedger{{
			Subscription: "plimsoll-0/sub-0", Acked: n + int64(sh.rate)*3 - 12,
			Received: n +
				int64(sh.rate)*3 - 12 - sh.lost, Lost: sh.lost, Duplicate: sh.lost * 2, Unacked: 2,
		}}}
	if sh.lost > 0 {
		run.Ledger.Subscriptions[0].LostRanges = []result.Range{
			{Topic: "plimsoll-0", Partition: 1, Producer: 0, First: 4711, Last: 4711 + sh.lost - 1},
		}
	}
	seconds := float64(sh.seconds)
	run.Summary = result.Summary{
		WindowNs: int64(sh.seconds) * 1e9, OfferedRate: sh.rate, AchievedRate: float64(
			acked) / seconds,
		ReceivedRate: float64(acked-20) / seconds,
		BytesPerS:    float64(acked) / seconds * 1024, MaxBacklog: 900, EndBacklog: 31,
		Generator: result.Generator{OwnLagP99Ns: 92_000, BlockedSeconds: 0.9,
			CPUSeconds: 0.45 * seconds, CPUShare: 0.056,
			GCPauseMaxNs: 148_000, GCCount: 2 * int64(
				sh.seconds), PeakRSSBytes: 120 << 20, HeapPeakBytes: 60 << 20},
		InFlight:       12.9,
		FirstMessageNs: 412_000_000,
	}
	for _, s := range result.AllSeries {
		run.Summary.Latency = append(run.Summary.Latency, result.Summarize(s, totals[s], 0, 0))
	}
	run.Verdicts = []result.Verdict{
		{Name: "stable", Outcome: result.Holds,
			Sentence: "the backlog did not grow: slope 0.4 messages/s, 95% interval -2.1 to 3.0"},
		{Name: "achieved", Outcome: result.Holds,
			Sentence: "99.9% of the target rate was acknowledged, at least 99% was asked"},
		{Name: "no failures", Outcome: result.Broken, Sentence: "8 messages were refused"},
		{Name: "slo", Outcome: result.Unknown, Sentence: "no objective was given"},
	}
	run.Warnings = []result.Warning{
		{Code: "shared-host",
			Sentence: "the load generator and the servers share one machine: they take CPU from " +
				"each other, and no network is in between"},
	}
}

// reconcile makes the counts of a run consistent, so that it can be judged.
func reconcile(r *result.Run) {
	c, l := &r.Counters, &r.Ledger.Subscriptions[0]
	c.Acked = r.Summary.Series(result.Publish).Count
	c.Scheduled = c.Acked + c.Failed + c.Unknown + c.Unsent
	l.Acked = c.Acked + r.Warmup.Acked
	l.Received = l.Acked - l.Lost
	c.Received = l.Received + l.Duplicate - r.Warmup.Received
	r.Summary.Generator.OwnLagCount = c.Scheduled
	r.System.Redelivery = &result.Redelivery{Never: true, Why: "nothing comes again"}
}

// write makes the run's directory below root and returns its path.
func (sh shape) write(t testing.TB, root string) string {
	t.Helper()
	run := sh.run()
	run.Phases = sh.phases()
	w, err := result.Create(root, &run)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	seed, totals, acked := noise(
		len(sh.name)+sh.seconds), map[result.Series]*hdr.Histogram{}, int64(0)
	for _, s := range result.AllSeries {
		totals[s] = result.NewHistogram()
	}
	for k := range sh.seconds + 4 {
		phase := result.PhaseMeasure
		if k < 3 {
			phase = result.PhaseWarmup
		} else if k == sh.seconds+3 {
			phase = result.PhaseDrain
		}
		h := sh.record(&seed, sh.stallAt > 0 && k == sh.stallAt)
		if phase == result.PhaseDrain {
			h = map[result.Series]*hdr.Histogram{result.Hiccup: h[result.Hiccup]}
		}
		i := sh.interval(k, phase, h, &seed)
		var all []*hdr.Histogram
		for _, s := range result.AllSeries {
			if h[s] == nil {
				continue
			}
			tag := string(s)
			if phase == result.PhaseWarmup {
				tag = result.WarmupPrefix + tag
			} else {
				totals[s].Merge(h[s])
			}
			h[s].SetTag(tag)
			h[s].SetStartTimeMs(run.StartedAt.UnixMilli() + int64(k)*1000)
			h[s].SetEndTimeMs(run.StartedAt.UnixMilli() + int64(k+1)*1000)
			all = append(all, h[s])
		}
		must(w.Interval(i, result.LoggedOf(all)))
		if phase == result.PhaseMeasure {
			acked += i.Acked
		}
	}
	must(sh.rest(w))
	run.Observation = sh.observe()
	sh.finish(&run, totals, acked)
	must(w.Close(&run))
	return w.Dir()
}

// rest writes the events and the resource use.
func (sh shape) rest(w *result.Writer) error {
	errs := []error{w.Event(result.Event{AtNs: 0, Kind: "phase", Sentence: "warm-up began"})}
	for _, line := range sh.resources() {
		errs = append(errs, w.Resources(line))
	}
	if sh.fault != "" {
		errs = append(errs, w.Event(
			result.Event{AtNs: int64(sh.stallAt)*1e9 + 400e6, Kind: "fault", Sentence: sh.fault}))
	} else if sh.stallAt > 0 {
		errs = append(errs, w.Event(result.Event{AtNs: int64(sh.stallAt) * 1e9, Kind: "fault",
			Sentence: "node2 was paused"}),
			w.Event(result.Event{AtNs: int64(sh.stallAt)*1e9 + 900e6, Kind: "fault",
				Sentence: "node2 goes on"}))
	}
	return errors.Join(errs...)
}

// madeRuns caches the runs by shape, because making their histograms takes long.
var madeRuns = map[shape]*result.Saved{}

// load makes and reads a run. The caller may change everything but its histograms.
func (sh shape) load(t testing.TB) *result.Saved {
	t.Helper()
	if madeRuns[sh] == nil {
		madeRuns[sh] = sh.make(t)
	}
	made := madeRuns[sh]
	type figures struct {
		Run       *result.Run
		Intervals *[]result.Interval
		Events    *[]result.Event
		Resources *[]result.Resources
	}
	src, err := json.Marshal(figures{&made.Run, &made.Intervals, &made.Events, &made.Resources})
	if err != nil {
		t.Fatal(err)
	}
	s := &result.Saved{Dir: made.Dir, Latency: slices.Clone(made.Latency)}
	if err := json.Unmarshal(src,
		&figures{&s.Run, &s.Intervals, &s.Events, &s.Resources}); err != nil {
		t.Fatal(err)
	}
	return s
}

// make makes and reads a run.
func (sh shape) make(t testing.TB) *result.Saved {
	t.Helper()
	s, err := result.Read(sh.write(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Damage) > 0 {
		t.Fatal("the fixture is damaged:", s.Damage)
	}
	return s
}

// crashed is a run whose process ended before anything was measured.
func crashed(t testing.TB) *result.Saved {
	t.Helper()
	root := t.TempDir()
	run := result.Run{SchemaVersion: result.SchemaVersion, ID: "crashed", State: result.Running,
		StartedAt: time.Date(2026, 11, 21, 10, 15, 2, 0, time.UTC)}
	w, err := result.Create(root, &run)
	if err != nil {
		t.Fatal(err)
	}
	run.State = result.Incomplete
	run.StateReason = "the process that measured it ended without finishing"
	if err := w.Close(&run); err != nil {
		t.Fatal(err)
	}
	s, err := result.Read(filepath.Join(root, "crashed"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
