package figure

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestEachFigureIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if seen[f.Name] || f.Title == "" || f.Unit == "" || f.Means == "" {
			t.Errorf("%+v is named twice, or lacks something", f)
		}
		seen[f.Name] = true
		found, err := Find(f.Name)
		if err != nil || found.Title != f.Title {
			t.Errorf("%s: %v, %v", f.Name, found.Title, err)
		}
		if v, ok := f.Value(&result.Run{}); ok {
			t.Errorf("%s of a run that measured nothing is %v", f.Name, v)
		}
	}
}

func TestUnknownNamesAreAnsweredWithNearOnes(t *testing.T) {
	for name, want := range map[string]string{
		"publish.99":  "is not a percentile of publish: write publish.p50",
		"serves_cpu":  `did you mean "servers_cpu"?`,
		"no such one": "write publish.p99, e2e.p50, send.p99.9, publish.max",
	} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestUnitsReadWhatTheyPrint(t *testing.T) {
	for unit, texts := range map[Unit][]string{
		Nanoseconds: {"5.4ms", "210us"}, PerSecond: {"200k/s"}, BytesPerSecond: {"605MB/s"},
		Bytes: {"12MB", "1.5KB"}, Messages: {"36,000", "3"}, PerMessage: {"0.5", "3"},
	} {
		for _, text := range texts {
			v, err := unit.Parse(strings.ReplaceAll(text, ",", ""))
			if err != nil || unit.Print(v) != text {
				t.Errorf("%s: %s is read as %v (%v) and printed as %s", unit, text, v, err,
					unit.Print(v))
			}
		}
		if _, err := unit.Parse("x"); err == nil {
			t.Errorf("%s reads x", unit)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e30} {
		if got := PerSecond.Print(v); got != "–" {
			t.Errorf("%v is printed as %s", v, got)
		}
	}
}

// Latencies are told from other times, and messages without a latency leave a greatest value open.
func TestLatenciesKnowTheirBounds(t *testing.T) {
	for name, latency := range map[string]bool{"publish.p99": true, "e2e.max": true,
		"e2e.p95_minutes": true, "catch_up.publish.p99": true, "start": false, "cpu": false} {
		f, err := Find(name)
		if err != nil || f.IsLatency() != latency {
			t.Errorf("%s: %v, %v", name, f.IsLatency(), err)
		}
	}
	f, err := Find("publish.max")
	if err != nil {
		t.Fatal(err)
	}
	r := &result.Run{}
	r.Summary.Latency = []result.Latency{{Series: result.Publish, Count: 10, MaxNs: 5e6}}
	if v, known := f.Value(r); !known || v != 5e6 {
		t.Errorf("the greatest is %v, %v", v, known)
	}
	r.Summary.Latency[0].Missing.Refused = 1
	if _, known := f.Value(r); known {
		t.Error("a refused message does not open the greatest latency")
	}
	if span, has := f.Span(r); !has || !span.NotReached() {
		t.Errorf("%+v, %v", span, has)
	}
}

func TestGreaterRatesAndLesserLatenciesAreBetter(t *testing.T) {
	for name, more := range map[string]bool{"rate": true, "peak": true, "per_core": true,
		"catch_up": true, "publish.p99": false, "servers_cpu": false, "lost": false} {
		f, err := Find(name)
		if err != nil || f.Better(2, 1) != more {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where the operating system tells nothing, as on macOS, a run still has the system's own gauges.
func TestGaugesAloneAreNoCost(t *testing.T) {
	r := &result.Run{Observation: result.Observation{WindowNs: 1e9,
		Gauges: []result.GaugeUse{{}}}}
	if NewCost(r).Observed() {
		t.Error("a run of which no process was observed has a cost")
	}
	r.Observation.Processes = []result.ProcessUse{{Name: result.Self}}
	if !NewCost(r).Observed() {
		t.Error("a run of which a process was observed has no cost")
	}
}

func TestListsOfFigures(t *testing.T) {
	all, err := List("publish.p99, cpu")
	if err != nil || len(all) != 2 || all[1].Name != "cpu" {
		t.Errorf("%v, %v", all, err)
	}
	for names, want := range map[string]string{"cpu,cpu": "cpu is named twice",
		"cpu,": "there is no figure"} {
		if _, err := List(names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", names, err)
		}
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0.012345: "0.0123", 1.5: "1.5", 12345: "12,300",
		999.9: "1,000"} {
		if got := Number.Known(v, true); got != want {
			t.Errorf("%v is printed as %s, want %s", v, got, want)
		}
	}
	if got := Number.Known(1, false) + Bytes.Print(-1); got != "––" {
		t.Errorf("unknown and impossible values are printed as %s", got)
	}
}

// Another tool's run has zeros for what the tool did not record.
func TestRatesThatNobodyRecorded(t *testing.T) {
	r := &result.Run{Imported: &result.Import{}}
	r.Summary.WindowNs = 1e9
	if v, known := Named(Received).Value(r); known {
		t.Errorf("a rate that was not recorded is %v", v)
	}
	r.Summary.ReceivedRate = 5
	if _, known := Named(Received).Value(r); !known {
		t.Error("a rate that was recorded is unknown")
	}
}

// Each class of messages has latencies, a rate and a loss of its own.
func TestFiguresOfClasses(t *testing.T) {
	r := &result.Run{Load: result.Load{Subscriptions: 1}, Ledger: result.Ledger{Accounted: true},
		Classes: []result.Class{{Name: "event"}, {Name: "order", AckedRate: 200,
			Lost:     3,
			Publish:  result.Latency{Count: 9, MaxNs: 5e6},
			EndToEnd: result.Latency{Count: 9, MaxNs: 7e6}}}}
	for name, want := range map[string]float64{"order.publish.max": 5e6, "order.e2e.max": 7e6,
		"order.rate": 200, "order.lost": 3, "event.lost": 0} {
		f, err := Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if v, known := f.Value(r); !known || v != want || f.Name != name || f.Class == "" {
			t.Errorf("%s is %v, %v, of %q", name, v, known, f.Class)
		}
	}
	r.Load.Subscriptions = 0
	if f, _ := Find("order.lost"); f.Name != "" {
		if v, known := f.Value(r); known {
			t.Errorf("nothing read the messages, and %v are lost", v)
		}
	}
	f, err := Find("order.publish.p99")
	if err != nil || f.Series != "publish_of_order" || f.Percentile != 99 ||
		f.Title != "publish p99 of order" {
		t.Errorf("%+v, %v", f, err)
	}
	for _, name := range []string{"other.rate", "other.lost", "other.publish.p99"} {
		if f, err := Find(name); err != nil {
			t.Error(err)
		} else if v, known := f.Value(r); known {
			t.Errorf("%s of a run without the class is %v", name, v)
		}
	}
	for _, name := range []string{"order.send.p99", "order.cpu", "order.publish.99", "Order.rate",
		".rate", "order"} {
		if _, err := Find(name); err == nil {
			t.Errorf("%s is a figure", name)
		}
	}
}
