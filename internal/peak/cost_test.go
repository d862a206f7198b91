package peak_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// priceOfMessage is the price that the estimate of a run assumes, in USD.
const priceOfMessage = 0.001

// priced is the simulated system with a provider that charges for each message.
type priced struct {
	*sim.System
	factor float64 // cost of a message, as a multiple of its estimate
}

func (p priced) Describe() system.Description {
	d := p.System.Describe()
	d.EstimateBill = estimateBill
	return d
}

func estimateBill(_ system.Settings, _ *target.Target, l system.Expected) (system.Bill, bool) {
	return system.Bill{Requests: l.Messages, USD: float64(l.Messages) * priceOfMessage,
		Price: "a price"}, true
}

func (p priced) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := p.System.Connect(ctx, o)
	return &spending{Cluster: c, price: priceOfMessage * p.factor, most: o.MaxUSD}, err
}

// spending is the connection of one run, which refuses messages at the limit.
type spending struct {
	system.Cluster
	price, most float64
	requests    atomic.Int64
	exhausted   atomic.Bool
}

func (s *spending) Spent() (system.Bill, bool) {
	n := s.requests.Load()
	return system.Bill{Requests: n, USD: float64(n) * s.price, Price: "a price",
		Exhausted: s.exhausted.Load()}, true
}

func (s *spending) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	p, err := s.Cluster.OpenProducer(ctx, o)
	return &paying{p, s}, err
}

type paying struct {
	system.Producer
	of *spending
}

func (p *paying) Send(m *system.Message) {
	if float64(p.of.requests.Load()+1)*p.of.price > p.of.most {
		p.of.exhausted.Store(true)
		m.Done(system.ErrExhausted)
		return
	}
	p.of.requests.Add(1)
	p.Producer.Send(m)
}

// searchFor is a search with a cost limit for each run, given as a number of messages.
func searchFor(messages, factor float64) trial {
	return trial{settings: map[string]string{"capacity": "20k/s"},
		change: func(w *workload.Workload, o *peak.Options) {
			o.Plan.StartRate, o.Plan.MaxTrials = 500, 8
		},
		job: func(s *sim.System, job *bench.Job) {
			job.System, job.MaxUSD = priced{s, factor}, messages*priceOfMessage
		}}
}

// Rates whose runs are estimated above --max-cost are not tried: the search finds a stable rate
// below them, and says why it did not try higher ones.
func TestSearchWithinTheLimitOfCost(t *testing.T) {
	// A confirmation at 1,000/s has 4,500 messages with its warm-up, and one at 2,000/s twice.
	s := searchFor(6_000, 1).run(t)
	if s.End != peak.Refused || !strings.Contains(s.StateReason, "could not be tried") ||
		!strings.Contains(s.StateReason, "--max-cost allows $6.0000") {
		t.Errorf("%q: %s", s.StateReason, story(s))
	}
	if b := s.Bracket; b.StableRate < 1000 || b.UnstableRate != 0 {
		t.Errorf("bracket %+v: %s", b, story(s))
	}
	for _, p := range s.Trials {
		if !p.Judged || !p.Verdict.Stable {
			t.Errorf("a trial at %.0f/s did not end by itself: %s", p.TargetRate, story(s))
		}
	}
}

// A search that goes on after a rate was too dear, and a lower one was confirmed, still says so.
func TestSearchWithinTheLimitOfCostGoesOn(t *testing.T) {
	// A trial at 2,000/s has 5,000 messages with its warm-up, and a confirmation at 1,000/s 4,500.
	search := func(stopAt int, resume string) *peak.Saved {
		one := searchFor(4_800, 1)
		change := one.change
		one.change = func(w *workload.Workload, o *peak.Options) {
			change(w, o)
			o.Plan.Confirmations, o.Resume = 2, resume
		}
		if stopAt > 0 {
			ctx, cancel := context.WithCancel(context.Background())
			one.ctx, one.watch = ctx, &stopper{stop: cancel, at: stopAt}
		}
		return one.run(t)
	}
	whole := search(0, "")
	part := search(len(whole.Trials), "")
	rest := search(0, part.Dir)
	if whole.End != peak.Refused || rest.End != peak.Refused ||
		!strings.Contains(rest.StateReason, "could not be tried") ||
		len(rest.Trials) != len(whole.Trials) {
		t.Errorf("%s, %q: %s", rest.End, rest.StateReason, story(rest))
	}
}

// A trial that costs more than its estimate stops at the limit. The search ends there, because a
// repetition would cost as much again, and keeps its findings.
func TestSearchThatReachesTheLimitOfCost(t *testing.T) {
	s := searchFor(6_000, 2).run(t)
	last := s.Trials[len(s.Trials)-1]
	if s.End != peak.Refused || last.Judged ||
		!strings.Contains(s.StateReason, "could not be tried: sending stopped at --max-cost") {
		t.Errorf("%q: %s", s.StateReason, story(s))
	}
	for _, p := range s.Trials[:len(s.Trials)-1] {
		if !p.Judged || p.TargetRate >= last.TargetRate {
			t.Errorf("a trial before the limit: %s", story(s))
		}
	}
	if s.Bracket.StableRate != 1000 {
		t.Errorf("bracket %+v: %s", s.Bracket, story(s))
	}
}

// Where a longer window would cost too much, the search goes on with what the shorter one showed.
func TestTruthSearchThatMayNotStretch(t *testing.T) {
	million(t)
	s := trial{
		settings: map[string]string{"capacity": "5k/s", "stall_every": "4s", "stall_for": "1s"},
		change: func(_ *workload.Workload, o *peak.Options) {
			o.Trial, o.Plan.Tolerance, o.Plan.Confirmations = 3*time.Second, 0.1, 0
			o.Plan.StartRate = 1_500
		},
		job: func(s *sim.System, job *bench.Job) {
			job.System, job.MaxUSD = priced{s, 1}, 8_000*priceOfMessage // 3.5 s of 2,286/s
		},
	}.run(t)
	if b := s.Bracket; b.StableRate == 0 || b.UnstableRate == 0 {
		t.Error(story(s))
	}
}
