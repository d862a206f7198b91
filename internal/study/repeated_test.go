package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
)

// planned is planAt, with the cells at equal levels.
func planned(t *testing.T, name, scale string, only ...string) (*Study, *Plan) {
	t.Helper()
	s, p := planAt(t, name, scale, only...)
	if err := s.equalize(p, described, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return s, p
}

// A published study measures every cell in each round, also those at equal levels: one cluster
// after another, and each rate after the peaks that it is a share of.
func TestRoundsOfPublishedStudies(t *testing.T) {
	for name, starts := range map[string]int{"confluent-2020": 9 * 3, "streamnative-2020": 8 * 3,
		"softwaremill-2017": 0, "ufcg-2020": 8 * 3} {
		s, p := planned(t, name, Brief)
		times := map[string][]int{}
		for _, c := range p.Cells {
			times[c.Table+" "+c.Place()] = append(times[c.Table+" "+c.Place()], c.Round)
		}
		for place, rounds := range times {
			if !slices.Equal(rounds, []int{1, 2, 3}) {
				t.Errorf("%s: %s in rounds %v", name, place, rounds)
			}
		}
		got, last, done := 0, "", map[string]bool{}
		for _, i := range order(s, p) {
			c := &p.Cells[i]
			if key := c.grouped(); key != last {
				got, last = got+1, key
			}
			done[strings.TrimPrefix(c.Table+" "+c.Name(), " ")] = true
			if c.Rate == "" {
				continue
			}
			for _, at := range s.peaksOf(p, c) {
				peak := Cell{At: at, Round: c.Round}
				if !done[s.rate(c.Rate).Table+" "+peak.Name()] {
					t.Errorf("%s: %s in %s before its peak at %s", name, c.Name(), c.Table, at)
				}
			}
		}
		// Two rounds may meet on one cluster.
		if starts > 0 && (got > starts || got < starts-2) {
			t.Errorf("%s: %d starts, want %d", name, got, starts)
		}
	}
}

// Servers are seldom started again for other settings: cells with the same ones stand together.
func TestCellsOfTheSameSettingsStandTogether(t *testing.T) {
	s, p := planned(t, "streamnative-2020", Brief)
	left, last := map[string]bool{}, ""
	for _, i := range order(s, p) {
		c := &p.Cells[i]
		key := fmt.Sprint(c.grouped(), c.Round, stageOf(c), c.Target)
		if key != last && left[key] {
			t.Errorf("%s in %s comes after cells with other settings", c.Name(), c.Table)
		}
		left[last], last = true, key
	}
}

// A study whose rates are shares of peaks on other clusters measures those first.
func TestPeaksOfOtherClustersComeFirst(t *testing.T) {
	s := parsed(t, strings.NewReplacer("{name: half, share: 50%, table: peak, own: true}",
		`{name: half, published: 1k/s, share: 50%, table: peak, at: ["one, 2", "other, 4"]}`,
		"    figures: [peak]\n", "    figures: [peak]\n    published: {\"one, 2\": 9k/s}\n",
		"rounds: 3", "rounds: 2").Replace(rounded))
	for _, scale := range []string{Smoke, Small} {
		p := planOf(t, s, scale)
		peaks := map[int]int{}
		for _, i := range order(s, p) {
			c := &p.Cells[i]
			if c.Table == "peak" && (c.At == "one, 2" || c.At == "other, 4") {
				peaks[c.Round]++
			} else if c.Rate != "" && peaks[c.Round] != 2 {
				t.Errorf("%s: %s after %d peaks", scale, c.Name(), peaks[c.Round])
			}
		}
	}
}

// scattered returns a study of peaks with time for further rounds, after three whose scatter leaves
// some claims undecided, given the peak of Kafka, which is to be at least 1.5 times that of Pulsar,
// 20,000/s, and that of RabbitMQ without mirrors, which is to be at least twice that with them,
// 100/s.
func scattered(t *testing.T, kafka, classic float64) results {
	s, p := planned(t, "confluent-2020", Brief, "peak")
	s.AtMost = hour
	measured := make([]Measured, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		rate := map[string]float64{"kafka": kafka, "pulsar": 20_000, "rabbitmq-mirrored": 100,
			"rabbitmq-classic": classic}[c.At]
		if c.Absent || rate == 0 {
			continue
		}
		c.Set(experiment.Done, "run", "")
		by := []float64{0, 1, 1.1, 0.9}[c.Round]
		if c.At == "pulsar" {
			by = 2 - by
		}
		measured[i] = free(rate * by)
	}
	return results{s, p, measured}
}

// Only the cells of claims that their scatter leaves undecided are measured again, and of those the
// ones that few more rounds would decide.
func TestFurtherRoundsDecideClaims(t *testing.T) {
	for name, c := range map[string]struct {
		kafka, classic float64
		want           string
	}{
		"one pair":        {33_000, 1_000, "kafka kafka at level 1 pulsar"},
		"the nearer pair": {33_000, 250, "rabbitmq-classic rabbitmq-mirrored"},
		"pairs as near": {33_000, 225,
			"kafka kafka at level 1 pulsar rabbitmq-classic rabbitmq-mirrored"},
	} {
		r := scattered(t, c.kafka, c.classic)
		of, _ := r.study.Scale(Brief)
		cells, err := r.further(of)
		var got []string
		for _, c := range cells {
			got = append(got, strings.TrimSuffix(c.Name(), ", round 4"))
		}
		slices.Sort(got)
		if all := strings.Join(got, " "); err != nil || all != c.want {
			t.Errorf("%s: %s, %v, want %s", name, all, err, c.want)
		}
	}
	// A claim of unknown need, of which a side has one round left, leaves time for the others.
	r := scattered(t, 33_000, 250)
	for i := range r.plan.Cells {
		if c := &r.plan.Cells[i]; c.At == "rabbitmq-classic" && c.Round < 3 {
			c.Set(experiment.Failed, "", "no server")
			r.measured[i] = Measured{}
		}
	}
	of, _ := r.study.Scale(Brief)
	cells, err := r.further(of)
	for _, at := range []string{"rabbitmq-classic", "kafka"} {
		if err != nil || !slices.ContainsFunc(cells, func(c Cell) bool { return c.At == at }) {
			t.Errorf("no further round of %s beside a claim of unknown need: %v", at, err)
		}
	}
	r = scattered(t, 33_000, 1_000)
	o, err := Assess(r.study, r.plan, r.measured)
	if err != nil || len(o.Standings) != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	row := o.Tables[0].Rows[0]
	if row.At != "kafka" || row.Rounds != 3 || row.Ours != 33_000*1024 || row.Low >= row.Ours ||
		row.High <= row.Ours || row.Published != "605MB/s" {
		t.Errorf("%+v", row)
	}
}

// A claim is looked at between rounds: not while one of its sides waits for a further round.
func TestClaimsAreLookedAtBetweenRounds(t *testing.T) {
	r := scattered(t, 33_000, 1_000)
	claim := r.study.Claims[slices.IndexFunc(r.study.Claims, func(c Claim) bool {
		return c.Table == "peak" && c.Of == "kafka" && c.To == "pulsar"
	})]
	ours := func() string {
		reply := r.judge(claim).Published
		return fmt.Sprint(reply.Rounds, " ", reply.Ratio())
	}
	before := ours()
	of, _ := r.study.Scale(Brief)
	cells, err := r.further(of)
	if err != nil {
		t.Fatal(err)
	}
	r.plan.Cells = append(r.plan.Cells, cells...)
	r.measured = append(r.measured, make([]Measured, len(cells))...)
	for _, at := range []string{"kafka", "pulsar"} {
		if got := ours(); got != before {
			t.Errorf("while %s waits for its fourth round: %s, before it %s", at, got, before)
		}
		i := slices.IndexFunc(r.plan.Cells, func(c Cell) bool {
			return c.At == at && c.Round == 4 && c.Equal == 0
		})
		r.plan.Cells[i].Set(experiment.Done, "run", "")
		r.measured[i] = free(30_000)
	}
	if got := ours(); !strings.HasPrefix(got, "4 ") {
		t.Errorf("after the fourth round: %s", got)
	}
}
