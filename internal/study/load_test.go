package study

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// ran is a run at a rate, with one latency for all percentiles.
func ran(rate float64, ns int64) Measured {
	r := result.Run{State: result.Complete}
	r.Summary = result.Summary{WindowNs: 6e9, OfferedRate: rate, AchievedRate: rate,
		Latency: []result.Latency{{Series: result.EndToEnd, Count: 1e5, MaxNs: ns,
			Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: ns}}}}}
	return Measured{Run: &result.Saved{Run: r}}
}

// beside returns a run beside which a system that takes no time had an end-to-end p99 of ns.
func beside(m Measured, ns int64) Measured {
	saved := *m.Run
	saved.Run.Summary.Generator.Limited = true
	saved.Run.Summary.Instrument = &result.Instrument{EndToEnd: result.Latency{Count: 1e5,
		Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: ns}}}}
	return Measured{Run: &saved}
}

// example is a claim that was once answered by what it did not ask.
type example struct {
	study, says string
	once        bool                 // in one round, not in three
	alone       bool                 // only the first round of pulsar has a figure
	measured    map[string]Measured  // by table and place
	rates       map[string]string    // of the cells' workloads
	partitions  map[string][2]string // at this scale, and then
	answer      Answer
	doubt       string // empty: there is none
}

var examples = map[string]example{
	"76% of the peak for 99%": {study: "confluent-2020", says: "mirrored RabbitMQ near its peak",
		measured: map[string]Measured{"peak rabbitmq-mirrored": free(3944),
			"figures-12-13 rabbitmq-mirrored":     ran(2400, 3.39e6),
			"figures-12-13 rabbitmq-mirrored-38k": ran(3000, 4.4e6)},
		rates:  map[string]string{"rabbitmq-mirrored": "2400/s", "rabbitmq-mirrored-38k": "3k/s"},
		answer: NotDecided,
		doubt: "rabbitmq-mirrored-38k is at 76% of its peak, theirs at 99.3%; rabbitmq-mirrored is " +
			"at 61% of its peak, theirs at 78%"},
	"99% and 78%": {study: "confluent-2020", says: "mirrored RabbitMQ near its peak",
		measured: map[string]Measured{"peak rabbitmq-mirrored": free(3944),
			"figures-12-13 rabbitmq-mirrored":     ran(3090, 3.39e6),
			"figures-12-13 rabbitmq-mirrored-38k": ran(3914, 39e6)},
		rates:  map[string]string{"rabbitmq-mirrored": "3090/s", "rabbitmq-mirrored-38k": "3914/s"},
		answer: Differs},
	"31% of Pulsar's peak for 64%": {study: "confluent-2020", says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": free(40_600), "peak pulsar": free(41_780),
			"figures-12-13 kafka": ran(13_000, 10e6), "figures-12-13 pulsar": ran(13_000, 100e6)},
		rates:  map[string]string{"kafka": "13k/s", "pulsar": "13k/s"},
		answer: NotDecided, doubt: "pulsar is at 31% of its peak, theirs at 64%"},
	"a Pulsar that fell behind": {study: "confluent-2020", says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": free(52_970), "peak pulsar": free(41_780),
			"figures-12-13 kafka": ran(17_100, 376e6), "figures-12-13 pulsar": ran(26_700, 4.96e9)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: NotDecided, doubt: "pulsar fell behind: a latency of 4.96s in a window of 6s"},
	"a Pulsar that kept up": {study: "confluent-2020", says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": free(52_970), "peak pulsar": free(41_780),
			"figures-12-13 kafka": ran(17_100, 37e6), "figures-12-13 pulsar": ran(26_700, 496e6)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: Agrees},
	"a Pulsar beside plimsoll's own error": {study: "confluent-2020",
		says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": free(52_970), "peak pulsar": free(41_780),
			"figures-12-13 kafka":  ran(17_100, 37e6),
			"figures-12-13 pulsar": beside(ran(26_700, 496e6), 200e6)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: Agrees, doubt: "without plimsoll's own error it would be 0.07x to 0.12x"},
	"one that this error may have slowed": {study: "confluent-2020",
		says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": free(52_970), "peak pulsar": free(41_780),
			"figures-12-13 kafka":  ran(17_100, 170e6),
			"figures-12-13 pulsar": beside(ran(26_700, 496e6), 200e6)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: NotDecided, doubt: "the interval contains the bound"},
	"one that is mostly this error": {study: "confluent-2020", says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": free(52_970), "peak pulsar": free(41_780),
			"figures-12-13 kafka":  ran(17_100, 3e6),
			"figures-12-13 pulsar": beside(ran(26_700, 496e6), 300e6)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: NotDecided, doubt: "pulsar was limited by plimsoll itself"},
	"one that kept up in one round of three": {study: "confluent-2020",
		says: "Kafka's p99 is at most half", alone: true,
		measured: map[string]Measured{"peak kafka": free(52_970), "peak pulsar": free(41_780),
			"figures-12-13 kafka": ran(17_100, 3e6), "figures-12-13 pulsar": ran(26_700, 496e6)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: NotDecided, doubt: "a side has the figure in only one of 3 rounds"},
	"a share of a rate that is not the peak": {study: "confluent-2020",
		says: "Kafka's p99 is at most half",
		measured: map[string]Measured{
			"peak kafka":          searched(52_970, 54_000, verdict.SideGenerator),
			"peak pulsar":         searched(41_780, 0, verdict.NoneSeen),
			"figures-12-13 kafka": ran(17_100, 37e6), "figures-12-13 pulsar": ran(26_700, 496e6)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: NotDecided, doubt: "no peak of the system was measured for kafka; no peak of the " +
			"system was measured for pulsar"},
	"12 to 60 partitions for 100 to 2000": {study: "streamnative-2020",
		says: "without fsync 2000 partitions in place of 100 do not change Pulsar's peak",
		measured: map[string]Measured{"table-1 pulsar-2, 100": free(10_000),
			"table-1 pulsar-2, 2000": free(20_700)},
		partitions: map[string][2]string{"pulsar-2, 100": {"4", "12"},
			"pulsar-2, 2000": {"80", "60"}},
		answer: NotDecided,
		doubt:  "partitions vary by 5, theirs by 20; to decide it: partitions in the ratio of 20"},
	"a rise by 2.07": {study: "streamnative-2020",
		says: "without fsync 2000 partitions in place of 100 do not change Pulsar's peak",
		measured: map[string]Measured{"table-1 pulsar-2, 100": free(10_000),
			"table-1 pulsar-2, 2000": free(20_700)},
		answer: Differs},
	"a claim that their own figures contradict": {study: "streamnative-2020",
		says: "the durability level does not change Pulsar's peak on 100",
		measured: map[string]Measured{"table-1 pulsar-1, 100": free(10_000),
			"table-1 pulsar-2, 100": free(20_000)},
		answer: Differs,
		doubt:  "theirs 0.50x (300MB/s to 605MB/s), which contradicts the claim"},
	"partitions that they did not vary": {study: "softwaremill-2017",
		says: "MongoDB takes at least",
		measured: map[string]Measured{"best mongodb-w1": ran(3000, 1e6),
			"best mongodb": ran(1000, 1e6)},
		partitions: map[string][2]string{"mongodb": {"10", "5"}},
		answer:     NotDecided, doubt: "partitions vary by 2, theirs by 1"},
	"1.96 times from one run each": {study: "softwaremill-2017", says: "twenty-five senders",
		measured: map[string]Measured{"kafka-against-rabbitmq 1 x 25, kafka": ran(1960, 1e6),
			"kafka-against-rabbitmq 1 x 25, rabbitmq": ran(1000, 1e6)},
		once: true, answer: NotDecided, doubt: "too few rounds to show how they scatter"},
	"1.96 times in three rounds": {study: "softwaremill-2017", says: "twenty-five senders",
		measured: map[string]Measured{"kafka-against-rabbitmq 1 x 25, kafka": ran(1960, 1e6),
			"kafka-against-rabbitmq 1 x 25, rabbitmq": ran(1000, 1e6)},
		answer: Differs},
}

// A claim has an answer only if its cells were what it asks.
func TestClaimsThatWereAnsweredByOtherLoads(t *testing.T) {
	for name, c := range examples {
		t.Run(name, func(t *testing.T) {
			s, p := equalized(t, c.study)
			s.AtMost = 0 // intervals of a number of rounds that was fixed before
			if !c.once {
				p = repeated(p)
			}
			measured := make([]Measured, len(p.Cells))
			for i := range p.Cells {
				cell := &p.Cells[i]
				m, is := c.measured[cell.Table+" "+cell.At]
				if !is || cell.Equal > 0 {
					continue
				}
				cell.State = experiment.Done
				if measured[i] = m; m.Run != nil || c.rates == nil {
					measured[i] = wobbling(m, cell.Round)
				}
				if c.alone && cell.At == "pulsar" && cell.Round > 1 && m.Run != nil {
					measured[i] = beside(m, 300e6)
				}
				if rate := c.rates[cell.At]; rate != "" && cell.Rate != "" {
					cell.Workload = replaced(t, cell.Workload, "rate: 2k/s", "rate: "+rate)
				}
				if n := c.partitions[cell.At]; n[0] != "" {
					cell.Workload = replaced(t, cell.Workload, "partitions: "+n[0]+"\n",
						"partitions: "+n[1]+"\n")
				}
			}
			for _, claim := range s.Claims {
				if !strings.HasPrefix(claim.Says, c.says) {
					continue
				}
				if j := (results{s, p, measured}).judge(claim); j.Answer != c.answer ||
					!strings.Contains(j.Sentence, c.doubt) || c.doubt == "" &&
					len(j.Published.Doubts) > 0 {
					t.Errorf("%s: %s", j.Answer, j.Sentence)
				}
				return
			}
			t.Error("there is no such claim")
		})
	}
}

// Two figures of one cell are compared in each run: rounds that scatter leave their ratio known.
func TestTwoFiguresOfOneCell(t *testing.T) {
	for _, c := range []struct {
		received float64 // of what was sent
		answer   Answer
	}{{1, Agrees}, {0.99, Agrees}, {0.6, Differs}, {0.952, NotDecided}} {
		s, p := equalized(t, "softwaremill-2017")
		s.AtMost, p = 0, repeated(p)
		measured := make([]Measured, len(p.Cells))
		for i := range p.Cells {
			if cell := &p.Cells[i]; cell.At == "rabbitmq, 2 x 25" {
				cell.State = experiment.Done
				m := ran(1000*float64(cell.Round*cell.Round), 1e6)
				m.Run.Run.Summary.ReceivedRate = m.Run.Run.Summary.AchievedRate * c.received *
					(1 + 0.005*float64(cell.Round%2))
				measured[i] = m
			}
		}
		claim := s.Claims[slices.IndexFunc(s.Claims, func(c Claim) bool { return c.ID == "M24" })]
		j := results{s, p, measured}.judge(claim)
		if j.Answer != c.answer || j.Theirs < 1 || j.Equal != nil ||
			math.Abs(j.Published.Ours/c.received-1) > 0.01 {
			t.Errorf("%g of what was sent: %s: %s", c.received, j.Answer, j.Sentence)
		}
	}
	q := &question{claim: Claim{ToFigure: "rate"}}
	var r Reply
	q.within(&r, side{rounds: asRounds(ran(1, 1))}, side{rounds: asRounds(ran(1, 1))})
	if r.Ours != 0 || len(r.Doubts) != 1 {
		t.Errorf("no round has both: %+v", r)
	}
}

// wobbling is a measurement in a round: that of the third is 1% greater than the others.
func wobbling(m Measured, round int) Measured {
	by := 1 + 0.01*float64(max(round, 2)-2)
	if m.Run == nil {
		return m.times(by)
	}
	saved := *m.Run
	s := &saved.Run.Summary
	s.AchievedRate *= by
	l := s.Latency[0]
	l.Percentiles = []result.Percentile{{Percentile: 99,
		LatencyNs: int64(by * float64(l.Percentiles[0].LatencyNs))}}
	s.Latency = []result.Latency{l}
	return Measured{Run: &saved}
}

func replaced(t *testing.T, text, from, to string) string {
	t.Helper()
	if !strings.Contains(text, from) {
		t.Fatalf("%q is not in:\n%s", from, text)
	}
	return strings.Replace(text, from, to, 1)
}

// Loads are alike when the queues before them are.
func TestSharesOfAPeakThatAreAlike(t *testing.T) {
	for _, c := range []struct {
		theirs, ours float64
		same         bool
	}{
		{0.32, 0.32, true}, {0.32, 0.30, true}, {0.32, 0.36, true}, {0.32, 0.24, false},
		{0.64, 0.30, false}, {0.64, 0.66, true}, {0.78, 0.60, false}, {0.99, 0.76, false},
		{0.99, 0.989, true}, {0.99, 0.98, false}, {1.04, 1.1, true}, {1.04, 0.8, false},
		{0.8, 1.04, false},
	} {
		if sameLoad(c.theirs, c.ours) != c.same {
			t.Errorf("%v for %v: %v", c.ours, c.theirs, !c.same)
		}
	}
}

// A load without a peak is not known to be a share of one.
func TestALoadWithoutAPeakIsNotDecided(t *testing.T) {
	s, p := equalized(t, "confluent-2020")
	measured := make([]Measured, len(p.Cells))
	for i := range p.Cells {
		if c := &p.Cells[i]; c.Table == "figures-12-13" {
			c.State, measured[i] = experiment.Done, ran(13_000, 1e6)
		}
	}
	at := slices.IndexFunc(s.Claims, func(c Claim) bool { return c.ID == "C11" })
	j := results{s, p, measured}.judge(s.Claims[at])
	if j.Answer != NotDecided ||
		!strings.Contains(j.Sentence, "no peak of the system was measured for kafka") {
		t.Errorf("%+v", j)
	}
}

// A side that was not measured leaves a claim without an answer, for a reason that is not in its
// figures.
func TestAClaimWithoutAMeasurement(t *testing.T) {
	for name, leave := range map[string]func(c *Cell) bool{
		"waits":       func(c *Cell) bool { c.State = experiment.Pending; return false },
		"failed":      func(c *Cell) bool { c.State = experiment.Failed; return false },
		"not in plan": func(*Cell) bool { return true },
	} {
		s, p := equalized(t, "confluent-2020", "peak")
		for i := range p.Cells {
			p.Cells[i].State = experiment.Done
		}
		p.Cells = slices.DeleteFunc(p.Cells,
			func(c Cell) bool { return c.At == "pulsar" && leave(&c) })
		measured := make([]Measured, len(p.Cells))
		for i := range p.Cells {
			if c := &p.Cells[i]; c.At == "pulsar" && name != "not in plan" {
				leave(c)
			} else {
				measured[i] = searched(100_000, 101_000, "")
			}
		}
		j := results{s, p, measured}.judge(s.Claims[0])
		if j.Answer != NotMeasured || !strings.Contains(j.Sentence, "it is not measured: pulsar") ||
			!strings.Contains(j.Sentence, "to decide it: a measurement of pulsar") {
			t.Errorf("%s: %s", name, j.Sentence)
		}
	}
}

// A page says how long its searches and windows were, and not how long they would be today.
func TestLengthsAreThoseOfTheMeasurements(t *testing.T) {
	scale, err := (&Study{}).Scale(Brief)
	if err != nil {
		t.Fatal(err)
	}
	of := func(seconds float64) Measured {
		search, run := free(1000), ran(1000, 1)
		search.Search.MaxSeconds, run.Run.Run.Load.WindowSeconds = seconds, seconds
		return Measured{Search: search.Search, Run: run.Run}
	}
	for want, measured := range map[string][]Measured{
		"": {{}}, "45s": {of(45), {}}, "45s to 1m30s": {of(90), of(45)},
	} {
		search := asMade(scale.Search, measured, Measured.searchSeconds)
		window := asMade(scale.Window, measured, Measured.windowSeconds)
		if search != cmp.Or(want, scale.Search.String()) ||
			window != cmp.Or(want, scale.Window.String()) {
			t.Errorf("%q and %q, want %q", search, window, want)
		}
	}
}
