package study

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// described makes jobs of which only the descriptions are used.
func described(w *workload.Workload, t *target.Target, runs string) (*bench.Job, error) {
	s, err := systems.Registry().Get(t.System)
	if err != nil {
		return nil, err
	}
	settings, err := system.Resolve(s.Describe().Settings, t.Settings)
	return &bench.Job{Workload: w, Target: t, System: s, Settings: settings, Runs: runs,
		Clock: clock.Precise()}, err
}

// equalized returns the plan of a built-in study, with the cells at equal levels.
func equalized(t *testing.T, name string, only ...string) (*Study, *Plan) {
	t.Helper()
	s, p := planAt(t, name, Smoke, only...)
	for range 2 { // the second time adds nothing
		if err := s.equalize(p, described, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	return s, p
}

// equalLevels are the cells that the claims of a study add, and the footings of those claims.
var equalLevels = map[string]struct{ cells, footings string }{
	"confluent-2020": {"peak kafka at level 1, figures-12-13 kafka at level 1, " +
		"peak rabbitmq-classic at level 3, peak pulsar at level 3",
		"peak kafka/pulsar level 1, peak kafka-fsync/kafka about the levels, " +
			"peak rabbitmq-mirrored/rabbitmq-classic no equal level, figure-2 1KB, " +
			"default/1KB, fsync about the levels, figure-2 10KB, default/10KB, " +
			"fsync about the levels, figure-2 1MB, default/1MB, fsync about the levels, " +
			"figure-2 100KB, default/100KB, fsync about the levels, " +
			"figures-12-13 kafka/pulsar level 1, " +
			"figures-12-13 kafka-fsync/kafka about the levels, " +
			"figures-12-13 rabbitmq-mirrored/rabbitmq-classic no equal level, figure-14 40K, " +
			"classic/30K, mirrored no equal level, peak rabbitmq-classic/pulsar level 3, " +
			"peak pulsar-async/pulsar about the levels, figures-12-13 pulsar/kafka level 1"},
	"softwaremill-2017": {"kafka-against-rabbitmq 1 x 1, kafka at level 1, " +
		"kafka-against-rabbitmq 1 x 25, " +
		"kafka at level 1, best kafka at level 1, best activemq at level 1",
		"kafka-against-rabbitmq 1 x 1, kafka/1 x 1, rabbitmq level 1, " +
			"kafka-against-rabbitmq 1 x 25, kafka/1 x 25, rabbitmq level 1, " +
			"best kafka/rabbitmq level 1, best activemq/rabbitmq level 1, activemq activemq, " +
			"quorum_disk 4 x 5/activemq, 4 x 5 about the levels, " +
			"best mongodb-w1/mongodb about the levels, " +
			"best rabbitmq-classic/rabbitmq no equal level"},
	"streamnative-2020": {"table-1 kafka-2, 100 at level 1, table-2 1, async-2, kafka at level 1",
		"table-1 pulsar-1, 1/pulsar-2, 1 about the levels, table-1 pulsar-1, " +
			"100/pulsar-2, 100 about the levels, table-1 kafka-1, 100/kafka-2, " +
			"100 about the levels, table-2 1, sync-2, kafka/1, async-2, " +
			"kafka about the levels, table-1-catch-up pulsar-2/pulsar-1 about the levels, " +
			"table-1-catch-up kafka-2/kafka-1 about the levels, table-1 pulsar-1, " +
			"100/kafka-2, 100 level 1, table-2 1, sync-2, pulsar/1, async-2, kafka level 1"},
	"ufcg-2020": {"",
		"throughput kafka-fsync/kafka about the levels, " +
			"throughput rabbitmq-classic/rabbitmq-mirrored no equal level, " +
			"throughput rabbitmq-disk/rabbitmq-mirrored about the levels"},
}

// The cells at equal levels follow from the claims and from the levels that the systems give.
func TestEqualLevelsArePlanned(t *testing.T) {
	for name, want := range equalLevels {
		s, p := equalized(t, name)
		var cells, footings []string
		for _, c := range p.Cells {
			if c.Equal == 0 {
				continue
			}
			cells = append(cells, c.Table+" "+c.Name())
			if c.level() != c.Equal {
				t.Errorf("%s is at level %d", c.Name(), c.level())
			}
		}
		for _, f := range p.Footings {
			what := map[bool]string{true: "about the levels", false: "no equal level"}[strings.
				HasPrefix(f.Why, "the claim compares the levels themselves")]
			if f.Level > 0 {
				what = "level " + string(rune('0'+f.Level))
			}
			footings = append(footings, f.Table+" "+f.Of+"/"+f.To+" "+what)
		}
		if got := strings.Join(cells, ", "); got != want.cells {
			t.Errorf("%s: cells %s", name, got)
		}
		if got := strings.Join(footings, ", "); got != want.footings {
			t.Errorf("%s: footings %s", name, got)
		}
		if len(order(s, p)) > len(p.Cells) {
			t.Errorf("%s: a cell is measured twice", name)
		}
	}
	_, p := equalized(t, "confluent-2020")
	// Kafka at level 1 is a cell of the study already, and is measured once.
	a, b := p.find("peak", "kafka", 1), p.find("peak", "kafka-fsync", 0)
	if a.identity() != b.identity() {
		t.Errorf("%s\n%s", a.Workload, b.Workload)
	}
	for _, f := range p.Footings {
		if f.Table == "peak" && strings.HasPrefix(f.Why, "no level") && f.Why != "no level is common, "+
			"rabbitmq-mirrored has 1, 2 and rabbitmq-classic has 3, 4" {
			t.Error(f.Why)
		}
	}
}

// searched returns a peak between two rates, limited by a side or a resource, with a given number
// of messages per second of the servers' CPU time.
func searched(stable, unstable float64, limit string, perCore ...float64) Measured {
	m := Measured{Search: &peak.Saved{Record: experiment.Record{State: result.Complete},
		Bracket: peak.Bracket{StableRate: stable, UnstableRate: unstable},
		Load:    result.Load{MessageBytes: 1024},
		Side:    &verdict.Side{Name: verdict.SidePublish, Resource: limit}}}
	if ofLoad(limit) {
		m.Search.Side = &verdict.Side{Name: limit}
	}
	for _, per := range perCore {
		r := &result.Run{Load: m.Search.Load,
			Environment: result.Environment{Cores: 2, Apart: &result.Apart{Servers: []int{0},
				Load: []int{1}}}}
		r.Summary.AchievedRate, r.Observation.MsgsPerCoreSecond = stable, per
		r.Observation.Shares = []result.Share{{Resource: result.ResourceDisk, Used: stable / per}}
		m.Trials = append(m.Trials, r)
	}
	return m
}

// planted is a result of the claim that Kafka's rate is at least one and a half times Pulsar's,
// published at levels 2 and 1, and measured again with Kafka at level 1.
type planted struct {
	kafka, pulsar, equal Measured
	answers              [2]Answer
	say                  []string
	once                 bool     // in one round, not in three
	limits               []string // of Kafka by round, if they differ
	without              int      // the round in which Kafka had no stable rate; 0: none
}

const servers, shared, disk = result.ResourceServers, result.ResourceCPU, result.ResourceDisk

// free is a peak that no known resource limited.
func free(stable float64) Measured { return searched(stable, stable*1.02, verdict.NoneSeen) }

// filled is a search in whose trials the servers' own cores were full.
func filled(m Measured) Measured {
	for _, r := range m.Trials {
		r.Observation.WindowNs, r.Observation.Host.ServersCPUSeconds = 1e9, 1
		r.Observation.Servers = []string{"n1"}
	}
	return m
}

// times returns a search with its rates multiplied, at the same use of resources.
func (m Measured) times(by float64) (out Measured) {
	if m.Search == nil {
		return m
	}
	s := *m.Search
	s.Bracket.StableRate *= by
	s.Bracket.UnstableRate *= by
	out.Search = &s
	for _, r := range m.Trials {
		c := *r
		c.Observation.MsgsPerCoreSecond *= by
		c.Observation.Shares = slices.Clone(r.Observation.Shares)
		for i := range c.Observation.Shares {
			c.Observation.Shares[i].Used /= by
		}
		out.Trials = append(out.Trials, &c)
	}
	return out
}

// repeated returns the plan with every cell in three rounds.
func repeated(p *Plan) *Plan {
	out := *p
	out.Cells = nil
	for round := 1; round <= 3; round++ {
		for _, c := range p.Cells {
			c.Round = round
			out.Cells = append(out.Cells, c)
		}
	}
	return &out
}

var answered = map[string]planted{
	"agrees, and the other way round": {kafka: free(40_000), pulsar: free(20_000),
		equal: free(10_000), answers: [2]Answer{Agrees, Differs},
		say: []string{"As published (level 2 against level 1) it agrees: ours is 2.00x (1.9",
			"theirs 1.98x (605MB/s to 305.69MB/s). At level 1 on both sides it differs: ours is " +
				"0.50x (0.4"}},
	"agrees twice": {kafka: free(40_000), pulsar: free(20_000), equal: free(39_000),
		answers: [2]Answer{Agrees, Agrees}},
	"differs, still faster": {kafka: free(24_000), pulsar: free(20_000), equal: free(24_000),
		answers: [2]Answer{Differs, Differs}},
	"per core": {kafka: searched(40_000, 41_000, shared, 60_000, 61_000, 59_000),
		pulsar:  searched(20_000, 21_000, shared, 30_000, 29_500, 30_500),
		equal:   searched(19_000, 20_000, shared, 14_000, 14_500, 14_100),
		answers: [2]Answer{Agrees, Differs},
		say: []string{"it agrees: per core of the servers ours is 2.00x (1.9",
			"theirs 1.98x",
			"it differs: per core of the servers ours is 0.47x (0.4"}},
	"per core, on cores of their own": {
		kafka:   searched(20_000, 21_000, servers, 60_000, 61_000, 59_000),
		pulsar:  searched(20_000, 21_000, servers, 30_000, 29_500, 30_500),
		equal:   searched(20_000, 21_000, servers, 60_000, 20_000),
		answers: [2]Answer{Agrees, Differs},
		say:     []string{"per core of the servers ours is 2.00x (1.9", "as a whole 1.00x"}},
	"per byte of the disk": {kafka: searched(40_000, 41_000, disk, 3, 3.01, 2.99),
		pulsar: searched(20_000, 21_000, disk, 1, 1.01, 0.99), equal: free(60_000),
		answers: [2]Answer{Agrees, NotDecided},
		say: []string{"per byte written to the disk ours is 3.0x (2.9",
			"the limits differ: no known resource in kafka, the disk in pulsar; to decide it: a " +
				"machine on which one resource limits both"}},
	"the bound of messages in flight, behind full cores": {
		kafka:  filled(searched(40_000, 41_000, verdict.SideWorkload, 60_000, 61_000, 59_000)),
		pulsar: searched(20_000, 21_000, servers, 30_000, 29_500, 30_500), equal: free(9),
		answers: [2]Answer{Agrees, Differs},
		say:     []string{"it agrees: per core of the servers ours is 2.00x (1.9"}},
	"a limit that works against the answer": {
		kafka: searched(60_000, 61_000, shared, 1, 1), pulsar: free(20_000),
		equal: searched(20_000, 21_000, shared, 1, 1), answers: [2]Answer{Agrees, NotDecided},
		say: []string{"the CPU that servers and load share was the limit in kafka alone, and with " +
			"more of it the ratio could only be greater",
			"the limits differ: the CPU that servers and load share in kafka, no known resource " +
				"in pulsar"}},
	"a limit of the other side, against the answer": {kafka: free(10_000),
		pulsar: searched(20_000, 21_000, disk, 1, 1), equal: free(60_000),
		answers: [2]Answer{Differs, NotDecided},
		say: []string{"the disk was the limit in pulsar alone, and with more of it the ratio " +
			"could only be smaller"}},
	"use not observed": {kafka: searched(40_000, 41_000, shared),
		pulsar: searched(20_000, 21_000, shared), equal: searched(40_000, 41_000, servers),
		answers: [2]Answer{Agrees, Agrees},
		say: []string{"with the CPU that servers and load share near its limit on both sides " +
			"ours is 2.00x (1.8"}},
	"one round": {kafka: free(100_000), pulsar: free(20_000), equal: free(9), once: true,
		answers: [2]Answer{Agrees, Differs}},
	"scatter": {kafka: free(30_000), pulsar: free(20_000), equal: free(60_000),
		answers: [2]Answer{NotDecided, Agrees},
		say: []string{"it is not decided: ours is 1.50x (1.4",
			"the interval contains the bound; to decide it: longer searches. At level 1 on both " +
				"sides it agrees"}},
	"one round, too near": {kafka: free(40_000), pulsar: free(20_000), equal: free(9),
		answers: [2]Answer{NotDecided, Differs}, once: true,
		say: []string{"too few rounds to show how they scatter: it must pass the bound by " +
			"3.0x; to decide it: more rounds"}},
	"rounds of unlike limits": {kafka: searched(60_000, 61_000, shared, 1, 1),
		pulsar: searched(20_000, 20_400, shared, 1, 1), equal: free(9), limits: []string{shared,
			servers + "x", disk}, answers: [2]Answer{NotDecided, Differs},
		say: []string{"the limits differ: several resources in kafka, "}},
	"a search without a limit": {kafka: searched(60_000, 0, verdict.NoneSeen),
		pulsar: free(20_000), equal: searched(9, 0, verdict.NoneSeen),
		answers: [2]Answer{NotDecided, NotDecided},
		say: []string{"kafka met no limit in the time of its search; to decide it: a longer " +
			"search"}},
	"a round without a stable rate": {kafka: free(60_000), pulsar: free(20_000), equal: free(9),
		without: 2, answers: [2]Answer{NotDecided, Differs},
		say: []string{"is 0/s (in 1 of 3 rounds); to decide it: a load that it carries in each round",
			"is 0/s (in 1 of 3 rounds), with which the ratio could only be smaller"}},
	"the generator": {kafka: searched(40_000, 41_000, shared, 1, 1),
		pulsar: searched(20_000, 21_000, verdict.SideGenerator), equal: free(9),
		answers: [2]Answer{NotDecided, NotDecided},
		say:     []string{"pulsar was limited by plimsoll itself"}},
	"the workload": {kafka: searched(40_000, 41_000, verdict.SideWorkload),
		pulsar: searched(20_000, 21_000, shared), equal: free(9),
		answers: [2]Answer{NotDecided, Differs},
		say: []string{"kafka was limited by the workload's bound of messages in flight",
			"to decide it: a greater max_in_flight"}},
	"unlike limits": {kafka: searched(40_000, 41_000, servers, 1, 1),
		pulsar: searched(20_000, 21_000, disk, 1, 1), equal: searched(9, 10, disk, 1, 1),
		answers: [2]Answer{NotDecided, Differs},
		say:     []string{"the limits differ: the servers' CPU in kafka, the disk in pulsar"}},
	"a limit of one side, the other not observed": {kafka: searched(60_000, 61_000, shared, 1, 1),
		pulsar: searched(20_000, 20_400, verdict.NotKnown), equal: free(60_000),
		answers: [2]Answer{NotDecided, NotDecided},
		say:     []string{"the resources of pulsar were not observed, as those of kafka were"}},
	"not measured": {pulsar: free(20_000), answers: [2]Answer{NotDecided, NotDecided},
		say: []string{"As published (level 2 against level 1) it is not decided: kafka: " +
			"measured, without this figure; to decide it: a measurement of kafka"}},
}

// Planted results get their known answers.
func TestPlantedAnswers(t *testing.T) {
	s, once := equalized(t, "confluent-2020", "peak")
	s.AtMost = 0 // intervals of a number of rounds that was fixed before
	for i := range once.Cells {
		once.Cells[i].State = experiment.Done
	}
	for name, planted := range answered {
		t.Run(name, func(t *testing.T) {
			p := once
			if !planted.once {
				p = repeated(once)
			}
			measured := make([]Measured, len(p.Cells))
			for i := range p.Cells {
				c, m := &p.Cells[i], Measured{}
				switch {
				case c.At == "kafka" && c.Equal == 1:
					m = planted.equal
				case c.At == "kafka":
					m = planted.kafka
				case c.At == "pulsar":
					m = planted.pulsar
				}
				if n := c.Round - 1; c.At == "kafka" && c.Equal == 0 && planted.limits != nil {
					m.Search = &peak.Saved{Record: m.Search.Record, Bracket: m.Search.Bracket,
						Load: m.Search.Load, Side: &verdict.Side{Name: verdict.SidePublish,
							Resource: planted.limits[n]}}
				}
				if n := planted.without; n > 0 && c.At == "kafka" && c.Round == n {
					m = m.times(0)
				}
				measured[i] = m.times(1 + 0.01*float64(c.Round-2)*map[string]float64{"kafka": 1,
					"pulsar": -1}[c.At])
			}
			j := results{s, p, measured}.judge(s.Claims[0])
			if got := [2]Answer{j.Published.Answer, j.Equal.Answer}; got != planted.answers ||
				j.Answer != got[0] {
				t.Errorf("%v, %v: %s", j.Answer, got, j.Sentence)
			}
			for _, say := range planted.say {
				if !strings.Contains(j.Sentence, say) {
					t.Errorf("%q is not in: %s", say, j.Sentence)
				}
			}
		})
	}
}

// A plan of an earlier plimsoll has no cells at equal levels, and its claims are still answered.
func TestPlansWithoutEqualLevels(t *testing.T) {
	s, p := equalized(t, "confluent-2020", "peak")
	p.Footings = nil
	measured := make([]Measured, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		c.State = experiment.Done
		if rate := map[string]float64{"kafka": 100_000, "pulsar": 20_000}[c.At]; rate > 0 {
			measured[i] = searched(rate, rate+1000, "")
		}
	}
	j := results{s, p, measured}.judge(s.Claims[0])
	if j.Answer != Agrees || j.Published.Answer != Agrees || j.Equal.Answer != NotMeasured ||
		!strings.Contains(j.Sentence, "At equal levels it is not measured: the plan has no cells") {
		t.Errorf("%+v", j)
	}
}

// The equal levels of an earlier plan, which had answers of their own, are read.
func TestEqualLevelsOfEarlierPlansAreRead(t *testing.T) {
	var p Plan
	err := json.Unmarshal([]byte(`{"equal_levels": [{"table": "peak", "of": "a", "to": "b", `+
		`"answer": "no equal level", "why": "no level is common"}]}`), &p)
	f := p.footing(Claim{Table: "peak", Of: "a", To: "b"})
	if err != nil || f == nil || f.Level != 0 || f.Why != "no level is common" {
		t.Errorf("%+v, %v", f, err)
	}
}

// An answer is settled in a direction if no ratio further on has another.
func TestSettledAnswersStay(t *testing.T) {
	for _, bounds := range []Claim{{AtLeast: 1.5}, {AtMost: 0.5}, {AtLeast: 0.9, AtMost: 1.1}} {
		for ratio := 0.1; ratio < 4; ratio += 0.1 {
			for _, grows := range []bool{true, false} {
				same, factor := true, 0.99
				if grows {
					factor = 1.01
				}
				for further := ratio; further > 0.01 && further < 100; further *= factor {
					same = same && bounds.holds(further) == bounds.holds(ratio)
				}
				if bounds.settled(ratio, grows) != same {
					t.Errorf("%s, %.1f, grows %t: settled %t", bounds.bound(), ratio, grows, !same)
				}
			}
		}
	}
}

// A row says how many of its rounds are missing, beside the figure of the others.
func TestRowsCountMissingRounds(t *testing.T) {
	s, once := equalized(t, "confluent-2020", "peak")
	p := repeated(once)
	measured := make([]Measured, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		c.State = experiment.Pending
		if c.Round == 1 && c.At == "kafka" {
			c.State, measured[i] = experiment.Done, searched(1000, 1020, disk)
		}
	}
	o, err := Assess(s, p, measured)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range o.Tables[0].Rows {
		want := "not measured: pending"
		if strings.HasPrefix(r.At, "kafka") && !strings.HasPrefix(r.At, "kafka-fsync") {
			want = "the disk was the limit; 2 rounds are still to be measured"
		}
		if r.Remark != want && !strings.Contains(r.Remark, "needs a second disk") {
			t.Errorf("%s: %q, want %q", r.At, r.Remark, want)
		}
	}
}
