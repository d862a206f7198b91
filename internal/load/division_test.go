package load

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/internal/raced"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// lots says what happens to messages.
type lots struct {
	seed      uint64
	spoilt    int  // of 100 messages, the number with a fault
	elsewhere bool // copies and late messages may go to another consumer
}

// world is a system in which everything is a function of the seed and of a message's lane and
// sequence number: the answer and its time, the consumers that get the message, when, and how
// often.
type world struct {
	system.Cluster // of what no test calls
	lots
	plan    Plan
	startNs int64 // of the schedule
	mu      sync.Mutex
	readers map[string][]func(system.Received) // of a topic's subscription, by index
	kept    map[string][]system.Received       // of a topic
	dues    []int64
	flown   flown
}

func (w *world) at(topic, subscription string) string { return topic + " " + subscription }

func (w *world) CreateTopic(context.Context, system.Topic) error { return nil }
func (w *world) Close(context.Context) error                     { return nil }

func (w *world) OpenProducer(_ context.Context, o system.ProducerOptions) (system.Producer, error) {
	return &worldProducer{world: w, topic: o.Topic.Name}, nil
}

func (w *world) OpenConsumer(_ context.Context, o system.ConsumerOptions) (system.Consumer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.at(o.Topic.Name, o.Subscription)
	if w.readers[at] == nil {
		w.readers[at] = make([]func(system.Received), w.plan.Workload.Consumers)
	}
	again := w.readers[at][o.Index] != nil || o.Index > 0
	w.readers[at][o.Index] = o.Receive
	if o.Subscription == auditSubscription && again {
		// It is opened a second time to read the kept messages; with an index above 0, for the
		// first time.
		for _, m := range w.kept[o.Topic.Name] {
			if int(m.Partition)%w.plan.Workload.Consumers == o.Index {
				o.Receive(m)
			}
		}
	}
	return null{}, nil
}

type worldProducer struct {
	*world
	topic string
	sent  int64
}

// Send answers and delivers a message after 2 ms, unless its lot says otherwise.
func (p *worldProducer) Send(m *system.Message) {
	s, state := readStamp(m.Payload, p.plan.Run)
	wait, lot := 2*time.Millisecond, uint64(100)
	if state == stampGood {
		draw := mix(p.seed ^ mix(uint64(s.lane)<<40^uint64(s.seq)))
		if lot = draw % 100; lot < uint64(p.spoilt) {
			lot = draw / 100 % 8
		} else {
			lot = 100
		}
		wait += time.Duration(mix(draw) % 1_000_003)
		if lot == 6 {
			wait += time.Duration(draw % 97_000_001) // out of order, and overtaken
		}
		wait = p.alone(wait, s)
		p.sent++
		m.InTransaction(uint32(p.sent/5) + 1)
		p.mu.Lock()
		p.dues = append(p.dues, s.dueNs)
		p.flown = append(p.flown, change{clock.Now(), 1})
		p.mu.Unlock()
	}
	time.AfterFunc(wait, func() {
		if p.answer(m, lot); state == stampGood && lot != 7 {
			p.mu.Lock()
			p.flown = append(p.flown, change{clock.Now(), -1})
			p.mu.Unlock()
		}
	})
}

// alone lengthens a wait to a moment at which no other message is answered, so that only the seed
// decides the order of answers. The moment's remainder is unique to the message, among all lanes
// and among nearby messages of its lane.
func (w *world) alone(wait time.Duration, s stamp) time.Duration {
	const lanes, near = 64, 1024
	own := int64(s.lane)%lanes*near + s.seq%near
	short := (own - (clock.Now() + int64(wait) - w.startNs)) % (lanes * near)
	if short < 0 {
		short += lanes * near
	}
	return wait + time.Duration(short)
}

func (p *worldProducer) answer(m *system.Message, lot uint64) {
	shift := 0
	if p.elsewhere {
		shift = 1
	}
	var answer error
	switch lot {
	case 0: // acknowledged and lost
	case 1:
		answer = errors.New("no")
	case 2:
		answer = fmt.Errorf("gone: %w", system.ErrUnknown)
	case 3: // it arrives, and is not acknowledged
		answer = fmt.Errorf("late: %w", system.ErrUnknown)
		p.deliver(m, 0)
	case 4, 5:
		p.deliver(m, 0)
		p.deliver(m, shift)
	case 6:
		p.deliver(m, shift)
	case 7: // never answered, and delivered
		p.deliver(m, 0)
		return
	default:
		p.deliver(m, 0)
	}
	m.Done(answer)
}

// deliver hands a message to the consumer of its partition, or to another one, of each of
// the workload's own subscriptions.
func (p *worldProducer) deliver(m *system.Message, shift int) {
	r := system.Received{Payload: bytes.Clone(m.Payload), Partition: m.Partition}
	p.mu.Lock()
	p.kept[p.topic] = append(p.kept[p.topic], r)
	var receive []func(system.Received)
	for i := range p.plan.Workload.Subscriptions {
		sharing := p.readers[p.at(p.topic, Subscription(i))]
		receive = append(receive, sharing[(int(m.Partition)+shift)%len(sharing)])
	}
	p.mu.Unlock()
	for _, one := range receive {
		one(r)
	}
}

// told holds what a run can know from its workers.
type told struct {
	Dues     []int64
	Samples  []Sample
	Ledger   result.Ledger
	Arrived  int64
	Errors   []result.Error
	InFlight [2]float64 // the mean is within these
	Proofs   int64
}

// trial is a load and the actions during it.
type trial struct {
	w *workload.Workload
	lots
	cutAt time.Duration // since the load began; 0: never
	cut   string
	every time.Duration // between two samples
	// byTopic gives each worker whole topics.
	byTopic bool
}

// divide runs a trial with a number of workers; 0: in one process. Everything that crosses the
// seam goes over a wire.
func (tr *trial) divide(t *testing.T, workers int) (out told) {
	plan := Plan{Workload: *tr.w, Run: 7, Prefix: "t", Alone: true}
	plan.Share.ByTopic = tr.byTopic
	world := world{
		lots: tr.lots, plan: plan,
		readers: make(map[string][]func(system.Received)), kept: make(map[string][]system.Received),
	}
	all := opened(t, plan, &world, workers)
	ready, err := Prove(t.Context(), &plan, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	out.Proofs = ready.Messages
	world.kept = make(map[string][]system.Received)
	beganNs := clock.Now()
	startNs := beganNs + 1_000_000
	world.startNs = startNs
	course := NewCourse(&plan, startNs, 100*time.Millisecond)
	tell := func(what func(Worker, Window) error, w Window) {
		for _, one := range all {
			if err := what(one, overWire(t, w)); err != nil {
				t.Fatal(err)
			}
		}
	}
	sample := func() {
		out.Samples = append(out.Samples, sampled(t, all, startNs))
	}
	tell(Worker.Start, course.Window())
	cut := tr.cutAt
	for next := tr.every; ; next += tr.every {
		if cut > 0 && cut <= next {
			pass(startNs + int64(cut))
			tell(Worker.Cut, tr.apply(course, clock.Now()))
			cut = 0
		}
		pass(startNs + int64(next))
		if clock.Now() > course.Window().HaltNs {
			break
		}
		sample()
	}
	tell(Worker.Cut, course.Stop(clock.Now()))
	pass(clock.Now() + int64(200*time.Millisecond))
	if tr.w.Audit {
		tell(Worker.Cut, course.Read())
		pass(clock.Now() + int64(50*time.Millisecond))
	}
	for _, one := range all {
		if err := one.Close(time.Second); err != nil {
			t.Error(err)
		}
	}
	sample()
	account := accounted(t, all)
	out.judge(&plan, account, startNs)
	out.see(t, &world, account.MeanInFlight, beganNs, course.Window())
	return out
}

// see adds the world's observations, and compares the mean number in flight with them.
func (o *told) see(t *testing.T, w *world, meanInFlight float64, beganNs int64, in Window) {
	o.InFlight = w.flown.mean(w.plan.Workload.Seed, beganNs, in)
	if !holds(o.InFlight, meanInFlight) {
		t.Errorf("a mean of %v in flight, and it is %v", meanInFlight, o.InFlight)
	}
	for _, due := range w.dues {
		o.Dues = append(o.Dues, due-w.startNs)
	}
	slices.Sort(o.Dues)
}

// pass waits until a time, and until everything that happens at that time has happened.
func pass(untilNs int64) {
	time.Sleep(time.Duration(untilNs - clock.Now()))
	synctest.Wait()
}

// opened returns a number of workers on the world, with all clients open.
func opened(t *testing.T, plan Plan, on *world, workers int) (all []Worker) {
	for i := range max(workers, 1) {
		plan.Share = Share{Worker: i, Workers: workers, ByTopic: plan.Share.ByTopic}
		local := NewLocal(overWire(t, plan), Means{
			Clock: clock.Timers(), Name: "bubble", Cluster: on,
			Tell: func(e Event) {
				if e.Kind == Failure {
					t.Error(e.Sentence)
				}
			},
		})
		all = append(all, &checked{Worker: local, t: t, plan: &plan, last: Sample{Clock: "bubble",
			Counters: Counters{ReceivedWithin: make([]int64, plan.Workload.Subscriptions),
				FreshAt: make([]int64, plan.Workload.AllSubscriptions())}}})
		if err := all[i].Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// judge adds the results of the account. Times are since the load began.
func (o *told) judge(plan *Plan, account Account, startNs int64) {
	o.Ledger, o.Arrived = plan.Judge(account, Evidence{Passed: true})
	o.Ledger.MemoryBytes, o.Errors = 0, account.Errors
	for _, l := range o.Ledger.Subscriptions {
		for _, r := range l.LostRanges {
			if r.When != nil {
				r.When.Since(startNs)
			}
		}
	}
}

// apply cuts the window according to the trial.
func (tr *trial) apply(c *Course, now int64) (w Window) {
	switch tr.cut {
	case "settle":
		w, _ = c.Settle(now)
	case "end":
		w, _ = c.EndAt(now, now+int64(300*time.Millisecond))
	default:
		w = c.Stop(now)
	}
	return w
}

// sampled returns a sample of all workers, without the parts that differ for equal loads: the
// hiccups and the processes. Times are since the load began.
func sampled(t *testing.T, workers []Worker, startNs int64) Sample {
	var all []Sample
	for _, one := range workers {
		s, err := one.Sample(true)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, overWire(t, s))
	}
	s, err := MergeSamples(all...)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Processes) != 1 {
		t.Errorf("the workers of one process are %d", len(s.Processes))
	}
	s.Processes = nil
	sampled := len(s.Histograms)
	s.Histograms = slices.DeleteFunc(s.Histograms, func(h measure.Histogram) bool {
		return h.Series == result.Hiccup
	})
	if len(s.Histograms) == sampled {
		t.Error("the sample has no hiccups")
	}
	slices.SortFunc(s.Histograms, func(a, b measure.Histogram) int {
		return strings.Compare(fmt.Sprint(a.Series, a.Phase), fmt.Sprint(b.Series, b.Phase))
	})
	for _, at := range []*int64{
		&s.AtNs, &s.FirstAckNs, &s.LastAckNs,
		&s.Counters.FirstHandedNs, &s.Counters.FirstReadNs, &s.Counters.LastReceived,
	} {
		if *at != 0 {
			*at -= startNs
		}
	}
	return s
}

func accounted(t *testing.T, workers []Worker) Account {
	var all []Account
	for _, one := range workers {
		a, err := one.Account()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, overWire(t, a))
	}
	a, err := MergeAccounts(all...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// overWire returns data as another process gets it, and checks that it is unchanged.
func overWire[T any](t *testing.T, sent T) (got T) {
	t.Helper()
	var wire, back bytes.Buffer
	if err := gob.NewEncoder(&wire).Encode(sent); err != nil {
		t.Fatal(err)
	}
	raw := bytes.Clone(wire.Bytes())
	if err := gob.NewDecoder(&wire).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewEncoder(&back).Encode(got); err != nil || !bytes.Equal(raw, back.Bytes()) {
		t.Fatalf("%+v is not plain: it came as %+v, %v", sent, got, err)
	}
	return got
}

// Workers that share the producers and consumers offer the same messages at the same times as one
// process, and have the same counters, histograms and account, also when some have nothing to do.
func TestTruthAnyDivisionIsTheSameRun(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if raced.Detector && checks.Value.String() == checks.DefValue {
		// `make test` makes all of them without the detector.
		t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
		if err := checks.Value.Set("20"); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawTrial(rt)
		workers := rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(rt, "workers")
		var one, many told
		synctest.Test(t, func(t *testing.T) { one = tr.divide(t, 0) })
		synctest.Test(t, func(t *testing.T) { many = tr.divide(t, workers) })
		if tr.elsewhere && !tr.byTopic && divides(tr.w, workers) {
			checkOrder(rt, &one, &many)
			// What only a clock of all workers could tell.
			blur(&one)
			blur(&many)
		}
		if !reflect.DeepEqual(one, many) {
			rt.Fatalf("%d workers differ from one process: %s", workers, difference(one, many))
		}
	})
}

// drawClasses returns two classes with topics of their own.
func drawClasses(rt *rapid.T) []workload.Class {
	percent := rapid.IntRange(1, 99).Draw(rt, "percent")
	all := []workload.Class{{Name: "order", Share: float64(percent) / 100, Least: 100, Most: 200},
		{Name: "event", Share: float64(100-percent) / 100, Least: 64, Most: 64}}
	for i := range all {
		all[i].Topics = rapid.IntRange(1, 2).Draw(rt, "topics of a class")
		all[i].Partitions = rapid.IntRange(1, 3).Draw(rt, "partitions of a class")
	}
	return all
}

func drawTrial(rt *rapid.T) *trial {
	some := func(what string, least, most int) int {
		return rapid.IntRange(least, most).Draw(rt, what)
	}
	w := benchWorkload(float64(some("rate", 20, 200)), 2*time.Second, some("producers", 1, 4))
	w.Topics, w.Partitions = some("topics", 1, 3), some("partitions", 1, 5)
	w.Subscriptions, w.Consumers = some("subscriptions", 1, 2), some("consumers", 1, 3)
	w.Message.Size, w.Seed = 64, rapid.Uint64().Draw(rt, "seed")
	if rapid.Bool().Draw(rt, "sizes") {
		w.Message = workload.Message{Incompressible: 0.5,
			Sizes: &workload.Sizes{Median: 64, P99: 200, Most: 300}}
	}
	arrivals := []workload.Arrivals{workload.ArrivalsConstant, workload.ArrivalsPoisson}
	w.Load.Arrivals = rapid.SampledFrom(arrivals).Draw(rt, "arrivals")
	w.Warmup = time.Duration(some("warm-up", 0, 4)) * time.Second
	w.MaxInFlight = some("in flight", 2, 50)
	w.Audit = rapid.Bool().Draw(rt, "audit")
	if rapid.Bool().Draw(rt, "own topics") {
		w.Classes = drawClasses(rt)
		w.Topics = w.Classes[0].Topics + w.Classes[1].Topics
	}
	if rapid.Bool().Draw(rt, "faults") {
		w.Faults = []workload.Fault{{Do: workload.FaultKill}} // the times are kept
	}
	if some("closed", 0, 3) == 0 {
		closed := workload.Closed{InFlight: 2, Batch: workload.Batch{Least: 1, Most: 4}}
		w.Load = workload.Load{Closed: &closed}
		w.MaxInFlight, w.Warmup, w.Duration, w.Classes = 8, 0, time.Second, nil
	}
	return &trial{
		w: w, every: 777_777_777,
		byTopic: w.Producers == 1 && rapid.Bool().Draw(rt, "by topic"),
		cut:     rapid.SampledFrom([]string{"settle", "end", "stop"}).Draw(rt, "cut"),
		cutAt:   time.Duration(some("cut at ms", 0, 5000)) * 1_000_003,
		lots: lots{
			seed:      rapid.Uint64().Draw(rt, "lots"),
			spoilt:    rapid.SampledFrom([]int{0, 1, 20}).Draw(rt, "spoilt"),
			elsewhere: rapid.Bool().Draw(rt, "elsewhere"),
		},
	}
}
