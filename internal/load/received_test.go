package load

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// checked is a worker whose every word is checked as another process's is.
type checked struct {
	Worker
	t    *testing.T
	plan *Plan
	last Sample
}

func (c *checked) Sample(histograms bool) (Sample, error) {
	s, err := c.Worker.Sample(histograms)
	if refused := c.plan.CheckSample(&s, &c.last, s.AtNs); refused != nil {
		c.t.Errorf("an honest sample is refused: %v", refused)
	}
	c.last = s
	return s, err
}

func (c *checked) Account() (Account, error) {
	a, err := c.Worker.Account()
	if raw, _ := cbor.Marshal(a); int64(len(raw)) > c.plan.AccountBytes(&c.last.Counters, 1<<30) {
		c.t.Errorf("an honest account has %d bytes", len(raw))
	}
	if refused := c.plan.CheckAccount(&a); refused != nil {
		c.t.Errorf("an honest account is refused: %v", refused)
	}
	return a, err
}

// honest are a plan, and what a worker says in the middle of it.
func honest() (*Plan, Sample, Account) {
	w := benchWorkload(1000, 10*time.Second, 2)
	w.Topics, w.Partitions, w.Subscriptions, w.Consumers = 1, 3, 2, 2
	w.Faults = []workload.Fault{{Do: workload.FaultKill}}
	s := Sample{Clock: "c", AtNs: 5e9, Interval: 3, FirstAckNs: 4e9, LastAckNs: 5e9,
		Counters: Counters{Handed: [2]int64{0, 5000}, Acked: [2]int64{0, 4000},
			Received: [2]int64{0, 8000}, InFlight: 100, ReceivedWithin: []int64{4000, 4000},
			FreshAt: []int64{4000, 4000}, FirstHandedNs: 1, AckedWithin: 4000},
		Histograms: measure.Histograms{{Series: result.Publish, Phase: measure.Measured}},
		Processes:  []Process{{ID: "1", CPUSeconds: 3, GCCount: 7}}}
	var numbers measure.Numbers
	for n := range int64(1000) {
		numbers.Add(n)
	}
	lane := measure.SentLane{Acked: numbers.Set(), Times: []measure.Moment{{DueNs: 1, AckNs: 2}}}
	a := Account{Clock: "c", MeanInFlight: 90, Errors: []result.Error{{Message: "no", Count: 1}},
		Sent: []measure.SentAccount{{Lanes: []measure.SentLane{lane, lane, lane}}},
		Arrived: []measure.ArrivedAccount{{Consumer: 1, Lanes: []measure.ArrivedLane{
			{Lane: 0, Seen: numbers.Set()}, {Lane: 4, Seen: numbers.Set()}}}}}
	return &Plan{Workload: *w}, s, a
}

// far is a set of one page far away, without a number.
func far() measure.Set { return measure.Set{Part: []measure.Page{{Number: 1 << 22}}} }

// long is a text that is too long.
var long = strings.Repeat("x", 900_000)

func TestLyingSamples(t *testing.T) {
	type sample = *Sample
	for want, lie := range map[string]func(sample){
		"":                      func(sample) {},
		"-1 messages handed":    func(s sample) { s.Counters.Handed[0] = -1 },
		"acknowledged messages": func(s sample) { s.Counters.Acked[1] = math.MaxInt64 },
		"3999 acknowledged messages are fewer than the 4000 before": func(s sample) {
			s.Counters.Acked[1] = 3999
		},
		"fresh messages":        func(s sample) { s.Counters.Fresh = math.MinInt64 },
		"nanoseconds blocked":   func(s sample) { s.Counters.BlockedNs = math.MaxInt64 },
		"messages in flight":    func(s sample) { s.Counters.InFlight = math.MaxInt64 },
		"by a subscription":     func(s sample) { s.Counters.FreshAt = []int64{4000, -5} },
		"and the plan has 2":    func(s sample) { s.Counters.FreshAt = nil },
		"on the clock":          func(s sample) { s.Clock = "another" },
		"from now":              func(s sample) { s.AtNs = math.MinInt64 },
		"not of this run":       func(s sample) { s.Counters.LastReceived = math.MaxInt64 },
		"later than the last":   func(s sample) { s.FirstAckNs = s.LastAckNs + 1 },
		"an error has 900000":   func(s sample) { s.Counters.Unopened = long },
		"an own lag of":         func(s sample) { s.OwnLag.P99Ns = -1 },
		`a histogram "\x1b[2J"`: func(s sample) { s.Histograms[0].Series = "\x1b[2J" },
		`a histogram "publish"`: func(s sample) { s.Histograms = slices.Repeat(s.Histograms, 2) },
		"of 2 processes":        func(s sample) { s.Processes = slices.Repeat(s.Processes, 2) },
		"+Inf s of CPU":         func(s sample) { s.Processes[0].CPUSeconds = math.Inf(1) },
		"NaN s of CPU":          func(s sample) { s.Processes[0].CPUSeconds = math.NaN() },
		"2 s of CPU after 3 s":  func(s sample) { s.Processes[0].CPUSeconds = 2 },
		"a figure of 6":         func(s sample) { s.Processes[0].GCCount = 6 },
		"the name of a process": func(s sample) { s.Processes[0].ID = strings.Repeat("x", 5000) },
		"of NaN cores":          func(s sample) { s.Processes[0].CPULimitCores = math.NaN() },
		"a figure of -1 where":  func(s sample) { s.Processes[0].RSSBytes = -1 },
		"received messages":     func(s sample) { s.Counters.Received[1] = math.MaxInt64 },
		"-7 unsent messages":    func(s sample) { s.Counters.Unsent[0] = -7 },
		"unsent messages are":   func(s sample) { s.Counters.Unsent[0] = 1e12 },
	} {
		p, before, _ := honest()
		_, s, _ := honest()
		lie(&s)
		err := p.CheckSample(&s, &before, 5e9)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%q is long", err.Error()[:300])
		}
	}
}

func TestLyingAccounts(t *testing.T) {
	type account = *Account
	for want, lie := range map[string]func(account){
		"":                        func(account) {},
		"+Inf messages in flight": func(a account) { a.MeanInFlight = math.Inf(1) },
		"NaN messages in flight":  func(a account) { a.MeanInFlight = math.NaN() },
		"-1 messages in flight":   func(a account) { a.MeanInFlight = -1 },
		"lacks 1 workers":         func(a account) { a.Missing = []string{"another"} },
		"has -1 bytes":            func(a account) { a.MemoryBytes = -1 },
		"has 900000 bytes":        func(a account) { a.Errors[0].Message = long },
		"of a kind: -1":           func(a account) { a.Errors[0].Count = -1 },
		"5001 kinds of errors":    func(a account) { a.Errors = make([]result.Error, 5001) },
		"2 changes of the number": func(a account) { a.Scaling = make([]result.ScaleStep, 2) },
		"impossible figure: -1": func(a account) {
			a.Scaling = []result.ScaleStep{{Copies: -1}}
		},
		"the error of a change": func(a account) {
			a.Scaling = []result.ScaleStep{{Failure: strings.Repeat("x", 5000)}}
		},
		"producer 9":       func(a account) { a.Sent[0].Producer = 9 },
		"producer 0":       func(a account) { a.Sent = append(a.Sent, a.Sent...) },
		"beyond the 12250": func(a account) { a.Sent[0].Lanes[1].Refused = far() },
		"a message due at": func(a account) {
			a.Sent[0].Lanes[0].Times[0].AckNs = math.MaxInt64
		},
		"transaction of -1 messages": func(a account) {
			a.Sent[0].Transactions = []measure.Transaction{{Messages: -1}}
		},
		"consumer 1 of":               func(a account) { a.Arrived = slices.Repeat(a.Arrived, 2) },
		"consumer with a count of -1": func(a account) { a.Arrived[0].Duplicate = -1 },
		"a message that arrived at":   func(a account) { a.Arrived[0].Lanes[0].LastNs = math.MaxInt64 },
		"lane 6 after 0":              func(a account) { a.Arrived[0].Lanes[1].Lane = 6 },
		"beyond the 12250 of":         func(a account) { a.Arrived[0].Lanes[0].Seen = far() },
		"transaction of -2 messages": func(a account) {
			a.Arrived[0].Transactions = [][]int32{{-2}}
		},
		"message -1 of lane 0": func(a account) {
			a.Arrived[0].Late = []measure.Sighting{{Seq: -1}}
		},
	} {
		p, _, a := honest()
		lie(&a)
		err := p.CheckAccount(&a)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestLyingReadinessAndEvents(t *testing.T) {
	p, _, _ := honest()
	for _, r := range []Readiness{{Messages: -1}, {Connections: -1}, {Connections: math.MaxInt64},
		{Received: []measure.Set{far()}},
		{Received: make([]measure.Set, 3)}} {
		if p.CheckReadiness(&r) == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
	for _, e := range []Event{{Kind: Progress, Sentence: "1 of 2"}, {Kind: "else"},
		{Kind: Failure, Sentence: strings.Repeat("x", 5000)}} {
		if CheckEvent(&e) == nil {
			t.Errorf("an event of %d bytes and the kind %q is accepted", len(e.Sentence), e.Kind)
		}
	}
	if err := CheckEvent(&Event{Kind: Failure, Sentence: "gone"}); err != nil {
		t.Error(err)
	}
}

// The bound of an account follows from the plan and from what was counted.
func TestAccountBytes(t *testing.T) {
	const limit = 1 << 30
	p, s, _ := honest()
	if n := p.AccountBytes(&s.Counters, limit); n < 1<<16 || n > 8<<20 {
		t.Errorf("%d bytes of 12,250 messages", n)
	}
	p.Workload.Load = workload.Load{Closed: &workload.Closed{InFlight: 1}}
	s.Counters.Handed[1] = 1e9
	s.Counters.Received[1] = 1e9
	if n := p.AccountBytes(&s.Counters, limit); n < 2e9/8 || n > limit {
		t.Errorf("%d bytes of a billion messages", n)
	}
}

func TestBoundText(t *testing.T) {
	long := strings.Repeat("ä", TextMost)
	for text, want := range map[string]string{"short": "short",
		long: strings.Repeat("ä", TextMost/2-2) + "…"} {
		if got := BoundText(text); got != want {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
	}
	if !slices.Contains([]int{TextMost, TextMost - 1}, len(BoundText(long))) {
		t.Errorf("%d bytes", len(BoundText(long)))
	}
}
