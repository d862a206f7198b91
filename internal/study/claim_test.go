package study

import (
	"maps"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
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
	s, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	scale, _ := FindScale(Smoke)
	p, err := NewPlan(s, scale, only)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time adds nothing
		if err := s.equalize(p, described, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	return s, p
}

// The cells at equal levels follow from the claims and from the levels that the systems give.
func TestEqualLevelsArePlanned(t *testing.T) {
	for name, want := range map[string]struct{ cells, footings string }{
		"confluent-2020": {"peak kafka at level 1, figures-12-13 kafka at level 1",
			"peak kafka/pulsar level 1, peak kafka-fsync/kafka about the levels, " +
				"peak rabbitmq-mirrored/rabbitmq-classic no equal level, " +
				"figure-2 1KB, default/1KB, fsync about the levels, " +
				"figure-2 10KB, default/10KB, fsync about the levels, " +
				"figure-2 1MB, default/1MB, fsync about the levels, " +
				"figures-12-13 kafka/pulsar level 1, " +
				"figures-12-13 kafka-fsync/kafka about the levels, " +
				"figures-12-13 rabbitmq-mirrored/rabbitmq-classic no equal level"},
		"softwaremill-2017": {"kafka-against-rabbitmq 1 x 1, kafka at level 1, " +
			"kafka-against-rabbitmq 1 x 25, kafka at level 1",
			"kafka-against-rabbitmq 1 x 1, kafka/1 x 1, rabbitmq level 1, " +
				"kafka-against-rabbitmq 1 x 25, kafka/1 x 25, rabbitmq level 1"},
		"streamnative-2020": {"", ""},
		"ufcg-2020":         {"", "throughput kafka-fsync/kafka about the levels"},
	} {
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
			what := string(f.Answer)
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
	if p.Cells[a].identity() != p.Cells[b].identity() {
		t.Errorf("%s\n%s", p.Cells[a].Workload, p.Cells[b].Workload)
	}
	for _, f := range p.Footings {
		if f.Answer == NoLevel && f.Why != "no level is common, rabbitmq-mirrored has 1, 2 "+
			"and rabbitmq-classic has 3, 4" {
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

var answered = map[string]planted{
	"agrees, and the other way round": {free(40_000), free(20_000), free(10_000),
		[2]Answer{Agrees, Opposite},
		[]string{"As published (level 2 against level 1) it agrees; at level 1 on both sides " +
			"it is the other way round. As published: ours is 2.00x (1.96x to 2.04x), theirs " +
			"1.98x. At level 1: ours is 0.50x (0.49x to 0.51x)"}},
	"agrees twice": {free(40_000), free(20_000), free(39_000), [2]Answer{Agrees, Agrees},
		[]string{"it agrees; at level 1 on both sides it agrees"}},
	"differs, still faster": {free(24_000), free(20_000), free(24_000),
		[2]Answer{Differs, Differs}, []string{"it differs; at level 1"}},
	"per core": {searched(40_000, 41_000, shared, 60_000, 61_000, 59_000),
		searched(20_000, 21_000, shared, 30_000, 29_500, 30_500),
		searched(19_000, 20_000, shared, 14_000, 14_500, 14_100),
		[2]Answer{Agrees, Opposite},
		[]string{"As published: per core of the servers: 2.00x (1.9", "as a whole 2.00x, " +
			"theirs 1.98x; this does not say what the study's machines would show",
			"At level 1: per core of the servers: 0.47x (0.4"}},
	"per core, on cores of their own": {
		searched(20_000, 21_000, servers, 60_000, 61_000, 59_000),
		searched(20_000, 21_000, servers, 30_000, 29_500, 30_500),
		searched(20_000, 21_000, servers, 60_000, 40_000), [2]Answer{Agrees, Forbidden},
		[]string{"per core of the servers: 2.00x (1.9", "as a whole 1.00x",
			"the interval contains the bound: measure at a larger scale"}},
	"per byte of the disk": {searched(40_000, 41_000, disk, 3, 3.01, 2.99),
		searched(20_000, 21_000, disk, 1, 1.01, 0.99), free(10_000),
		[2]Answer{Agrees, Forbidden},
		[]string{"per byte written to the disk: 3.0x (2.9",
			"the limits differ: no known resource in kafka, the disk in pulsar"}},
	"the bound of messages in flight, behind full cores": {
		filled(searched(40_000, 41_000, verdict.SideWorkload, 60_000, 61_000, 59_000)),
		searched(20_000, 21_000, servers, 30_000, 29_500, 30_500), free(9),
		[2]Answer{Agrees, Forbidden},
		[]string{"As published: per core of the servers: 2.00x (1.9"}},
	"use not observed": {searched(40_000, 41_000, shared), searched(20_000, 21_000, shared),
		searched(40_000, 41_000, servers), [2]Answer{Agrees, Agrees},
		[]string{"with the CPU that servers and load share near its limit on both sides: " +
			"2.00x (1.90x to 2.05x), theirs"}},
}

var withoutAnswer = map[string]planted{
	"scatter": {searched(30_000, 36_000, ""), searched(20_000, 24_000, ""), free(60_000),
		[2]Answer{Forbidden, Agrees},
		[]string{"it has no answer on this machine; at level 1 on both sides it agrees",
			"the interval contains the bound: measure at a larger scale"}},
	"the generator": {searched(40_000, 41_000, shared, 1, 1),
		searched(20_000, 21_000, verdict.SideGenerator), free(9),
		[2]Answer{Forbidden, Forbidden},
		[]string{"in pulsar plimsoll itself was the limit"}},
	"the workload": {searched(40_000, 41_000, verdict.SideWorkload),
		searched(20_000, 21_000, shared), free(9), [2]Answer{Forbidden, Forbidden},
		[]string{"in kafka the workload's bound of messages in flight was the limit"}},
	"unlike limits": {searched(40_000, 41_000, servers, 1, 1),
		searched(20_000, 21_000, disk, 1, 1), searched(9, 10, disk, 1, 1),
		[2]Answer{Forbidden, Differs},
		[]string{"the limits differ: the servers' CPU in kafka, the disk in pulsar"}},
	"no upper end, too near": {searched(40_000, 0, ""), free(20_000), free(9),
		[2]Answer{Forbidden, Opposite},
		[]string{"it must pass the bound by 2.00x: measure at a larger scale"}},
	"no upper end": {searched(80_000, 0, ""), free(20_000), free(9),
		[2]Answer{Agrees, Opposite},
		[]string{"its scatter is not known"}},
	"not measured": {Measured{}, free(20_000), Measured{}, [2]Answer{NoAnswer, NoAnswer},
		[]string{"it was not measured; at level 1 on both sides it was not measured",
			"kafka: measured, without this figure"}},
}

// Planted results get their known answers.
func TestPlantedAnswers(t *testing.T) {
	s, p := equalized(t, "confluent-2020", "peak")
	for i := range p.Cells {
		p.Cells[i].State = experiment.Done
	}
	all := maps.Clone(answered)
	maps.Copy(all, withoutAnswer)
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			measured := make([]Measured, len(p.Cells))
			for at, m := range map[string]Measured{"kafka": c.kafka, "pulsar": c.pulsar} {
				measured[p.find("peak", at, 0)] = m
			}
			measured[p.find("peak", "kafka", 1)] = c.equal
			j := s.judge(s.Claims[0], p, measured)
			if got := [2]Answer{j.Published.Answer, j.Equal.Answer}; got != c.answers {
				t.Errorf("%v: %s", got, j.Sentence)
			}
			for _, say := range c.say {
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
	measured[p.find("peak", "kafka", 0)] = searched(40_000, 41_000, "")
	measured[p.find("peak", "pulsar", 0)] = searched(20_000, 21_000, "")
	for i := range p.Cells {
		p.Cells[i].State = experiment.Done
	}
	j := s.judge(s.Claims[0], p, measured)
	if j.Published.Answer != Agrees || j.Equal.Answer != NoAnswer || j.Final() != Agrees ||
		!strings.Contains(j.Sentence, "at equal levels there is no answer: the plan has no cells") {
		t.Errorf("%+v", j)
	}
}
