package study

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// claimed has every claim of the four studies: its table and its sides, the published loads of the
// sides as shares of their published peaks, what the claim varies and by how much, and its bounds.
// A claim of no effect has two.
var claimed = map[string][]string{
	"confluent-2020": {
		"peak: kafka / pulsar; at the peak; varies nothing; at least 1.50x",
		"peak: kafka / rabbitmq-mirrored; at the peak; varies nothing; at least 10x",
		"peak: kafka-fsync / kafka; at the peak; varies nothing; at least 0.90x, at most 1.10x",
		"peak: pulsar-tiered / pulsar; at the peak; varies nothing; at least 0.90x, at most 1.10x",
		"peak: rabbitmq-mirrored / rabbitmq-classic; at the peak; varies nothing; at most 0.50x",
		"figure-2: 1KB, default / 1KB, fsync; at the peak; varies nothing; at least 3.0x",
		"figure-2: 10KB, default / 10KB, fsync; at the peak; varies nothing; at least 3.0x",
		"figure-2: 1MB, default / 1MB, fsync; at the peak; varies nothing; " +
			"at least 0.67x, at most 1.50x",
		"figures-12-13: kafka / pulsar; at 32% and 64%; varies nothing; at most 0.50x",
		"figures-12-13: kafka-fsync / kafka; at 34% and 32%; varies nothing; at least 2.00x",
		"figures-12-13: rabbitmq-mirrored-38k / rabbitmq-mirrored; at 99.3% and 78%; " +
			"varies nothing; at least 100x",
		"figures-12-13: rabbitmq-mirrored / rabbitmq-classic; at 78% and 27%; varies nothing; " +
			"at least 2.00x",
	},
	"streamnative-2020": {
		"table-1: 1, 1, pulsar / 1, 1, kafka; at the peak; varies nothing; at least 1.50x",
		"table-1: 2, 100, pulsar / 2, 100, kafka; at the peak; varies nothing; " +
			"at least 0.90x, at most 1.10x",
		"table-1: 2, 2000, kafka / 2, 100, kafka; at the peak; varies partitions by 20; " +
			"at most 0.67x",
		"table-1: 2, 2000, pulsar / 2, 100, pulsar; at the peak; varies partitions by 20; " +
			"at least 0.90x, at most 1.10x",
		"table-1-catch-up: 1, pulsar / 1, kafka; at 65% and 47%; varies nothing; at least 1.50x",
		"table-2: 1, sync-2, kafka / 1, sync-2, pulsar; at 47% and 65%; varies nothing; " +
			"at least 3.0x",
		"table-2: 10, async-2, kafka / 1, async-2, kafka; at 32% and 32%; " +
			"varies subscriptions by 10; at least 10x",
		"table-2: 10, async-2, pulsar / 1, async-2, pulsar; at 32% and 32%; " +
			"varies subscriptions by 10; at least 0.67x, at most 1.50x",
		"table-3: 5000, async-2, kafka / 100, async-2, kafka; at 32% and 32%; " +
			"varies partitions by 50; at least 1000x",
		"table-3: 10000, async-2, kafka / 100, async-2, kafka; at 32% and 32%; " +
			"varies partitions by 100; at least 1.50x",
		"table-3: 10000, async-2, pulsar / 100, async-2, pulsar; at 32% and 32%; " +
			"varies partitions by 100; at least 0.67x, at most 1.50x",
		"table-4: sync-2, kafka / sync-2, pulsar; at 47% and 65%; varies nothing; at least 10x",
	},
	"softwaremill-2017": {
		"kafka-against-rabbitmq: 1 x 1, kafka / 1 x 1, rabbitmq; at the peak; varies nothing; " +
			"at least 2.00x",
		"kafka-against-rabbitmq: 1 x 25, kafka / 1 x 25, rabbitmq; at the peak; " +
			"varies nothing; at least 4.0x",
		"kafka: kafka, 1 x 25 / kafka, 1 x 1; at the peak; varies partitions by 25, " +
			"producers by 25, consumers by 25; at least 5.0x",
		"rabbitmq: rabbitmq, 1 x 25 / rabbitmq, 1 x 1; at the peak; varies partitions by 25, " +
			"producers by 25, consumers by 25; at least 4.0x",
		"rabbitmq: rabbitmq, 2 x 25 / rabbitmq, 1 x 25; at the peak; varies partitions by 2, " +
			"producers by 2, consumers by 2; at most 1.20x",
	},
	"ufcg-2020": {
		"throughput: kafka / rabbitmq-mirrored; at the peak; varies nothing; at least 10x",
		"throughput: kafka-fsync / kafka; at the peak; varies nothing; " +
			"at least 0.90x, at most 1.10x",
		"latency: kafka / rabbitmq; at 32% and 77%; varies nothing; at least 2.00x",
	},
	"equal-footing": nil,
}

// Every claim asks what was published: at the published shares of the peaks, over the published
// range, with all its sides. At each scale the study's file keeps them.
func TestEveryClaimKeepsItsLoadItsRangeAndItsSides(t *testing.T) {
	for _, name := range Names() {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Claims) != len(claimed[name]) {
			t.Errorf("%s has %d claims, and the table %d", name, len(s.Claims), len(claimed[name]))
		}
		for _, scale := range Scales() {
			if len(s.Claims) == 0 {
				break
			}
			of, _ := s.Scale(scale)
			p, err := NewPlan(s, of, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range s.Claims {
				f, _ := FindFigure(c.Figure)
				q := &question{s, c, f, p, make([]Measured, len(p.Cells))}
				got = append(got, asked(t, q, scale))
			}
			if diff := cmp.Diff(claimed[name], got); diff != "" {
				t.Errorf("%s at scale %s: %s", name, scale, diff)
			}
		}
	}
}

// asked is what a claim asks, in words. It is an error if the cells at a scale ask something else.
func asked(t *testing.T, q *question, scale string) string {
	t.Helper()
	c, loads, ranges := q.claim, "at the peak", "nothing"
	of, to := q.side(c.Of, 0), q.side(c.To, 0)
	if all, _ := q.loads(of, to); len(all) == 2 {
		loads = fmt.Sprintf("at %s and %s", percent(all[0].Theirs), percent(all[1].Theirs))
		for i, at := range []side{of, to} {
			r := q.study.rate(at.cells[0].Rate)
			if ours := q.study.shareOf(r, all[i].Peak); !sameLoad(all[i].Theirs, ours) {
				t.Errorf("%s: %s is asked at %s of its peak", c.Says, at.at, percent(ours))
			}
		}
	} else if len(all) > 0 {
		t.Errorf("%s: only one side is at a published rate", c.Says)
	}
	var varies []string
	for _, v := range q.rangesOf(of.cells[0], to.cells[0]) {
		varies = append(varies, v.name+" by "+times(v.theirs))
		if !near(v.theirs, v.ours) {
			t.Errorf("%s: at scale %s %s vary by %s", c.Says, scale, v.name, times(v.ours))
		}
	}
	if len(varies) > 0 {
		ranges = strings.Join(varies, ", ")
	}
	return fmt.Sprintf("%s: %s / %s; %s; varies %s; %s", c.Table, c.Of, c.To, loads, ranges,
		c.bound())
}

// ran is a run at a rate, with one latency for all percentiles.
func ran(rate float64, ns int64) Measured {
	r := result.Run{State: result.Complete}
	r.Summary = result.Summary{WindowNs: 6e9, OfferedRate: rate, AchievedRate: rate,
		Latency: []result.Latency{{Series: result.EndToEnd, Count: 1e5, MaxNs: ns,
			Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: ns}}}}}
	return Measured{Run: &result.Saved{Run: r}}
}

// peaked is a peak whose limit is not known.
func peaked(stable float64) Measured { return searched(stable, stable*1.02, verdict.NoneSeen) }

// example is a claim that was once answered by what it did not ask.
type example struct {
	study, says string
	once        bool                 // in one round, not in three
	measured    map[string]Measured  // by table and place
	rates       map[string]string    // of the cells' workloads
	partitions  map[string][2]string // at this scale, and then
	answer      Answer
	doubt       string // empty: there is none
}

var examples = map[string]example{
	"76% of the peak for 99%": {study: "confluent-2020", says: "mirrored RabbitMQ near its peak",
		measured: map[string]Measured{"peak rabbitmq-mirrored": peaked(3944),
			"figures-12-13 rabbitmq-mirrored":     ran(2400, 3.39e6),
			"figures-12-13 rabbitmq-mirrored-38k": ran(3000, 4.4e6)},
		rates:  map[string]string{"rabbitmq-mirrored": "2400/s", "rabbitmq-mirrored-38k": "3k/s"},
		answer: NotDecided,
		doubt: "rabbitmq-mirrored-38k is at 76% of its peak, theirs at 99.3%; rabbitmq-mirrored is " +
			"at 61% of its peak, theirs at 78%"},
	"99% and 78%": {study: "confluent-2020", says: "mirrored RabbitMQ near its peak",
		measured: map[string]Measured{"peak rabbitmq-mirrored": peaked(3944),
			"figures-12-13 rabbitmq-mirrored":     ran(3090, 3.39e6),
			"figures-12-13 rabbitmq-mirrored-38k": ran(3914, 39e6)},
		rates:  map[string]string{"rabbitmq-mirrored": "3090/s", "rabbitmq-mirrored-38k": "3914/s"},
		answer: Differs},
	"31% of Pulsar's peak for 64%": {study: "confluent-2020", says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": peaked(40_600), "peak pulsar": peaked(41_780),
			"figures-12-13 kafka": ran(13_000, 10e6), "figures-12-13 pulsar": ran(13_000, 100e6)},
		rates:  map[string]string{"kafka": "13k/s", "pulsar": "13k/s"},
		answer: NotDecided, doubt: "pulsar is at 31% of its peak, theirs at 64%"},
	"a Pulsar that fell behind": {study: "confluent-2020", says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": peaked(52_970), "peak pulsar": peaked(41_780),
			"figures-12-13 kafka": ran(17_100, 376e6), "figures-12-13 pulsar": ran(26_700, 4.96e9)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: NotDecided, doubt: "pulsar fell behind: a latency of 4.96s in a window of 6s"},
	"a Pulsar that kept up": {study: "confluent-2020", says: "Kafka's p99 is at most half",
		measured: map[string]Measured{"peak kafka": peaked(52_970), "peak pulsar": peaked(41_780),
			"figures-12-13 kafka": ran(17_100, 37e6), "figures-12-13 pulsar": ran(26_700, 496e6)},
		rates:  map[string]string{"kafka": "17100/s", "pulsar": "26700/s"},
		answer: Agrees},
	"12 to 60 partitions for 100 to 2000": {study: "streamnative-2020",
		says: "they do not change Pulsar's",
		measured: map[string]Measured{"table-1 2, 100, pulsar": peaked(10_000),
			"table-1 2, 2000, pulsar": peaked(20_700)},
		partitions: map[string][2]string{"2, 100, pulsar": {"4", "12"},
			"2, 2000, pulsar": {"80", "60"}},
		answer: NotDecided,
		doubt:  "partitions vary by 5, theirs by 20; to decide it: partitions in the ratio of 20"},
	"a rise by 2.07": {study: "streamnative-2020", says: "they do not change Pulsar's",
		measured: map[string]Measured{"table-1 2, 100, pulsar": peaked(10_000),
			"table-1 2, 2000, pulsar": peaked(20_700)},
		answer: Differs},
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
				if j := s.judge(claim, p, measured); j.Answer != c.answer ||
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
	j := s.judge(s.Claims[8], p, measured)
	if j.Answer != NotDecided ||
		!strings.Contains(j.Sentence, "no stable peak was measured for kafka") {
		t.Errorf("%+v", j)
	}
}
