package bench_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
)

// priceOfMessage is what the priced system charges for a message.
const priceOfMessage = 0.0004

// priced is the simulated system with a provider that charges for each message.
type priced struct {
	*sim.System
	requests  atomic.Int64
	exhausted atomic.Bool
	most      int64 // requests that the limit pays for; 0: no limit
}

func (p *priced) Describe() system.Description {
	d := p.System.Describe()
	d.EstimateBill = estimateBill
	return d
}

func estimateBill(_ system.Settings, _ *target.Target, l system.Expected) (system.Bill, bool) {
	return system.Bill{Requests: l.Messages, USD: float64(l.Messages) * priceOfMessage,
		Price: "a price"}, true
}

func (p *priced) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if o.MaxUSD > 0 {
		p.most = int64(o.MaxUSD / priceOfMessage)
	}
	c, err := p.System.Connect(ctx, o)
	return &spending{c, p}, err
}

// spending is its cluster, which refuses messages at the limit.
type spending struct {
	system.Cluster
	of *priced
}

func (s *spending) Spent() (system.Bill, bool) {
	n := s.of.requests.Load()
	return system.Bill{Requests: n, USD: float64(n) * priceOfMessage, Price: "a price",
		Exhausted: s.of.exhausted.Load()}, true
}

func (s *spending) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	p, err := s.Cluster.OpenProducer(ctx, o)
	return &paying{p, s.of}, err
}

type paying struct {
	system.Producer
	of *priced
}

func (p *paying) Send(m *system.Message) {
	if p.of.most > 0 && p.of.requests.Load() == p.of.most {
		p.of.exhausted.Store(true)
		m.Done(system.ErrExhausted)
		return
	}
	p.of.requests.Add(1)
	p.Producer.Send(m)
}

// A run that reaches its limit of cost stops sending within an interval, receives what it sent,
// and says so. It counts as the run's own end, not as a request to stop.
func TestLimitOfCostEndsTheLoad(t *testing.T) {
	const rate, length, proofs = 1000, 10 * time.Second, 4 // a message proves each partition
	for name, c := range map[string]struct {
		warmup  time.Duration
		most    float64 // USD
		state   result.State
		total   int64 // paid messages, including the warm-up and the proofs
		refused bool  // some in the measured window
	}{
		"in the window":  {0, 1, result.Interrupted, 2500, true},
		"in the warm-up": {5 * time.Second, 1, result.Interrupted, 2500, false},
		"not reached":    {0, 4.1, result.Complete, 10_004, false},
		"no limit":       {0, 0, result.Complete, 10_004, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, root, dir := &priced{}, t.TempDir(), ""
			synctest.Test(t, func(t *testing.T) {
				s.System = sim.New(clock.Timers(), nil)
				w := load(rate, length)
				w.Warmup = c.warmup
				job := jobOn(t, s.System, root, w, nil)
				job.System, job.MaxUSD = s, c.most
				began := time.Now()
				var err error
				if dir, err = bench.Run(context.Background(), job, silent{}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); c.state != result.Complete && took > 4*time.Second {
					t.Errorf("it took %v", took)
				}
			})
			saved, err := verdict.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			checkSums(t, saved)
			checkBill(t, &saved.Run, c.most, c.total)
			r := &saved.Run
			if r.State != c.state || r.Counters.Acked+r.Warmup.Acked != c.total-proofs ||
				r.Counters.Failed > 0 != c.refused || r.Ledger.Subscriptions[0].Lost > 0 {
				t.Errorf("%s (%s): %+v, warm-up %+v, %+v", r.State, r.StateReason, r.Counters,
					r.Warmup, r.Ledger.Subscriptions)
			}
		})
	}
}

// checkBill checks what a run says about its cost.
func checkBill(t *testing.T, r *result.Run, most float64, requests int64) {
	t.Helper()
	want := ""
	if r.State != result.Complete {
		want = "sending stopped at --max-cost $1.0000, after 2500 requests for $1.0000"
	}
	if b := r.Bill; r.StateReason != want || b == nil || b.Requests != requests ||
		b.MaxUSD != most || b.EstimatedRequests < 10_000 || b.Price != "a price" {
		t.Errorf("%q, %+v", r.StateReason, r.Bill)
	}
}

// A run that is estimated above its limit is refused before it starts.
func TestEstimateAboveTheLimit(t *testing.T) {
	job := jobOn(t, sim.New(clock.Timers(), nil), t.TempDir(), load(1000, 10*time.Second), nil)
	if err := job.CheckBill(); err != nil {
		t.Errorf("a run that costs nothing: %v", err)
	}
	job.System = &priced{System: job.System.(*sim.System)}
	for most, allowed := range map[float64]bool{0: true, 3.9: false, 4: true} {
		job.MaxUSD = most
		err := job.CheckBill()
		if (err == nil) != allowed || !allowed && !strings.Contains(err.Error(),
			"about $4.0000 (a price), and --max-cost allows $3.9000: lower the rate") {
			t.Errorf("at most $%.2f: %v", most, err)
		}
	}
}
