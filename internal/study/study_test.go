package study

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Every table and figure of the four studies, with its number of cells.
var published = map[string]map[string]int{
	"confluent-2020": {"peak": 9, "figure-2": 8, "figures-12-13": 7, "figure-14": 8},
	"streamnative-2020": {"table-1": 12, "one-to-100": 4, "journal": 2, "table-1-catch-up": 4,
		"table-2": 16, "table-3": 48, "table-4": 8, "entry-delay": 2},
	"softwaremill-2017": {"mongodb": 7, "sqs": 3, "rabbitmq": 11, "activemq": 7, "artemis": 9,
		"kafka": 13, "eventstore": 7, "kafka-against-rabbitmq": 6,
		"best": 7},
	"ufcg-2020": {"throughput": 6, "latency": 6, "loops": 11},
}

func TestTheLibraryIsWhole(t *testing.T) {
	if want := []string{"confluent-2020", "equal-footing", "softwaremill-2017",
		"streamnative-2020", "ufcg-2020"}; !slices.Equal(Names(), want) {
		t.Fatalf("%v", Names())
	}
	for name, tables := range published {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for table, cells := range tables {
			of := s.Table(table)
			if of == nil || len(of.places()) != cells {
				t.Errorf("%s has no table %s of %d cells: %+v", name, table, cells, of)
			}
		}
		if len(s.Tables) != len(tables) {
			t.Errorf("%s has %d tables, want %d", name, len(s.Tables), len(tables))
		}
		if len(s.Claims) == 0 || len(s.Testbed) == 0 || len(s.Missing) == 0 {
			t.Errorf("%s lacks claims, testbed or what is missing", name)
		}
	}
	s, _ := Find("ufcg-2020")
	if len(s.Qualities) != 14 {
		t.Errorf("%d qualities", len(s.Qualities))
	}
}

// contradicted are the claims that the articles' own figures contradict.
const contradicted = "S11 S12 S33 S33"

// The published figures must support the studies' own claims.
func TestClaimsHoldOfWhatWasPublished(t *testing.T) {
	var against, unfigured []string
	for _, name := range Names() {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Claims {
			if c.NotAsked != "" {
				continue
			}
			switch ratio := c.theirs(s.Table(c.Table)); {
			case ratio == 0:
				unfigured = append(unfigured, c.ID)
			case !c.holds(ratio):
				against = append(against, c.ID)
			}
		}
	}
	if got := strings.Join(against, " "); got != contradicted {
		t.Errorf("the published figures contradict %s", got)
	}
	// Claims of charts and of words.
	if got := strings.Join(unfigured, " "); got != "C6 C7 C8 C9 C10 C10 C18 C20 C22 C26 C30 M10 "+
		"M23 M25 S17 S17 S32 S32 S38 S38 S39 U4 U7 U8 U10 U11 U12 U13 U14 U14 U15 U15 U17 U17" {
		t.Errorf("claims %s are on cells without published figures", got)
	}
}

func TestScalesOfACell(t *testing.T) {
	s, err := Find("streamnative-2020")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{Full: "partitions: 10000", Small: "partitions: 1000",
		Smoke: "partitions: 400"}
	for name, line := range want {
		p := planOf(t, s, name, "table-3", "kafka")
		at := slices.IndexFunc(p.Cells,
			func(c Cell) bool { return c.Table == "table-3" && c.At == "10000, async-1, kafka" })
		if at < 0 {
			t.Fatalf("%s: %+v", name, p.Cells)
		}
		c := p.Cells[at]
		if !strings.Contains(c.Workload, line) || c.level() != 4 ||
			!strings.Contains(c.Target, `linger: "1ms"`) {
			t.Errorf("%s: %s\n%s", name, c.Workload, c.Target)
		}
		if got := strings.Contains(c.Workload, "200k/s"); got != (name == Full) {
			t.Errorf("%s: the published rate: %v\n%s", name, got, c.Workload)
		}
		// The peaks for the rate are included, and no other system's.
		peaks := slices.ContainsFunc(p.Cells,
			func(c Cell) bool { return c.Table == "table-1" && c.At == "kafka-1, 100" })
		if peaks != (name != Full) || slices.ContainsFunc(p.Cells,
			func(c Cell) bool { return strings.HasSuffix(c.At, "pulsar") }) ||
			slices.ContainsFunc(p.Cells, func(c Cell) bool { return c.Table == "table-2" }) {
			t.Errorf("%s: peaks %v", name, peaks)
		}
	}
}

// The warm-up of a search's trial is short beside its window, at each scale, and no longer than
// that of a run.
func TestTrialsHaveShortWarmUps(t *testing.T) {
	s, err := Find("confluent-2020")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{Brief: "peak 1s, run 3s", Smoke: "peak 1s, run 2s",
		Small: "peak 3s, run 10s", Full: "peak 40s, run 1m"} {
		var got []string
		for _, c := range planOf(t, s, name, "kafka").Cells {
			w := c.workload()
			if w == nil {
				t.Fatalf("%s has no workload", c.Name())
			}
			words := string(c.Measure) + " " + quantity.Duration(int64(w.Warmup))
			if !slices.Contains(got, words) {
				got = append(got, words)
			}
		}
		if slices.Sort(got); strings.Join(got, ", ") != want {
			t.Errorf("at scale %s: %s, want %s", name, strings.Join(got, ", "), want)
		}
	}
}

func TestOnlyRefusesWhatIsNotThere(t *testing.T) {
	s, _ := Find("confluent-2020")
	scale, _ := s.Scale(Smoke)
	for only, want := range map[string]string{
		"figure-3": `unknown table, system or value "figure-3": did you mean "figure-2"?`,
		"kafkaa":   `did you mean "kafka"?`,
	} {
		if _, err := NewPlan(s, scale, []string{only}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", only, err)
		}
	}
	if _, err := NewPlan(s, scale, []string{"figure-2", "rabbitmq"}); err == nil ||
		!strings.Contains(err.Error(), "leaves no cell") {
		t.Error(err)
	}
	if _, err := s.Scale("smok"); err == nil ||
		!strings.Contains(err.Error(), `did you mean "smoke"?`) {
		t.Error(err)
	}
}

// Named rows are taken together, whether they are systems, targets or values that have a target.
// Other values restrict them.
func TestOnlyTakesNamedRowsTogether(t *testing.T) {
	for only, want := range map[string]string{
		"peak,kafka-fsync,rabbitmq": "kafka-fsync; rabbitmq-mirrored; rabbitmq-classic",
		"figure-2,kafka,1KB":        "1KB, default; 1KB, fsync",
		"peak,pulsar":               "pulsar; pulsar-async; pulsar-100ms",
		"figure-2,1KB,10KB,fsync":   "1KB, fsync; 10KB, fsync",
	} {
		_, p := planAt(t, "confluent-2020", Smoke, strings.Split(only, ",")...)
		var at []string
		for _, c := range p.Cells {
			at = append(at, c.At)
		}
		if got := strings.Join(at, "; "); got != want {
			t.Errorf("%s: %s, want %s", only, got, want)
		}
	}
}

// No claim of a study is missing, also if its table was not asked for.
func TestClaimsOfOtherTablesAreLeftOut(t *testing.T) {
	for _, only := range [][]string{nil, {"table-1"}} {
		s, p := planAt(t, "streamnative-2020", Brief, only...)
		o, err := Assess(s, p, make([]Measured, len(p.Cells)))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(o.Claims) + len(o.LeftOut) + len(o.NotAsked); n != len(s.Claims) ||
			(len(o.LeftOut) > 0) != (only != nil) {
			t.Errorf("%v: %d claims of %d, %d left out", only, n, len(s.Claims), len(o.LeftOut))
		}
	}
}

// A cluster's cells are together, with the peaks that give their rates first.
func TestOrderStartsClustersSeldom(t *testing.T) {
	s, p := planAt(t, "confluent-2020", Smoke)
	all := order(s, p)
	starts, last := 0, ""
	peaks := map[string]bool{}
	for _, i := range all {
		c := &p.Cells[i]
		if key := c.grouped(); key != last {
			starts, last = starts+1, key
		}
		if peaks[c.At] = peaks[c.At] || c.Table == "peak"; c.Rate != "" {
			if at := s.ownPeak(p, c); !peaks[at] {
				t.Errorf("%s in %s before its peak", c.At, c.Table)
			}
		}
	}
	if len(all) != len(p.Cells)-1 || starts != 7 {
		t.Errorf("%d cells of %d, %d starts", len(all), len(p.Cells), starts)
	}
}

func TestRatesAreSharesOfTheLowestPeak(t *testing.T) {
	if got, err := lowest([]float64{90_000, 41_234.5}); err != nil || math.Abs(got-41_230) > 1e-6 {
		t.Error(got, err)
	}
	if _, err := lowest(nil); err == nil {
		t.Error("a share of nothing")
	}
	s := &peak.Saved{Trials: []peak.Trial{{AchievedRate: 200}, {AchievedRate: 300}}}
	if mostCarried(s) != 300 {
		t.Error(mostCarried(s))
	}
	if s.Bracket.StableRate = 100; mostCarried(s) != 100 {
		t.Error(mostCarried(s))
	}
}

func TestReferences(t *testing.T) {
	got, err := references("~305.69MB/s / - / 5.434ms / 618991/s",
		[]string{"peak_bytes", "e2e.p99", "e2e.p99", "peak"})
	bytes := 305.69 * (1 << 20)
	want := []Reference{{true, bytes, "305.69MB/s"}, {}, {false, 5_434_000, "5.434ms"},
		{false, 618_991, "618991/s"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for text, want := range map[string]string{"1ms": "holds 1 values",
		"1 / 2 / 3": "holds 3 values", "fast / -": "not a rate", "605MB / 1ms": "605MB"} {
		if _, err := references(text, []string{"peak", "e2e.p99"}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if Times(0) != "–" || Times(1.234) != "1.23x" || Times(4.44) != "4.4x" ||
		Times(1234) != "1234x" {
		t.Error(Times(1.234), Times(4.44), Times(1234))
	}
}

func TestWhatIsWrongIsSaidAtOnce(t *testing.T) {
	golden.Each(t, "testdata/*.yaml", func(name string, src []byte) string {
		if _, err := Parse(name, src); err != nil {
			return err.Error() + "\n"
		}
		return "right\n"
	})
}

func FuzzParse(f *testing.F) {
	ufcg, _, err := library.Read("ufcg-2020")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ufcg)
	golden.Seeds(f, "testdata/*.yaml")
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Parse("fuzzed", src)
		if err != nil {
			return
		}
		// Every accepted study has a plan and a report at every scale.
		for _, scale := range Scales() {
			p := planOf(t, s, scale)
			if _, err := Assess(s, p, make([]Measured, len(p.Cells))); err != nil {
				t.Fatal(err)
			}
			order(s, p)
		}
	})
}
