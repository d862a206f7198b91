package price

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

const prices = "currency: USD\ndate: 2026-11-01\ncore_hour: 0.36\nmemory_gb_hour: 0.036\n" +
	"disk_gb_month: 0.3\nretention: 3d\nnetwork_gb: 0.02\nzones: 2\n"

func parse(t *testing.T, src string) *List {
	t.Helper()
	l, err := Parse("prices.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func bytes(n int64) *int64 { return &n }

// run is a run of 10 s at 1,000/s of 1 kB, on two servers that write each byte three times and
// send it once to one another.
func run() *result.Run {
	server := func(name string) result.ProcessUse {
		return result.ProcessUse{Name: name, CPUSeconds: 5, RSSBytes: 1e9, WriteBytes: bytes(15e6),
			NetReceivedBytes: bytes(10e6), NetSentBytes: bytes(10e6)}
	}
	return &result.Run{
		Summary: result.Summary{AchievedRate: 1000}, Load: result.Load{MessageBytes: 1000},
		Observation: result.Observation{WindowNs: 10e9, Servers: []string{"n1", "n2"},
			Processes: []result.ProcessUse{server("n1"), server("n2"), {Name: result.Self,
				CPUSeconds: 100, NetSentBytes: bytes(10e6), NetReceivedBytes: bytes(10e6)}}},
	}
}

func TestPriceByHand(t *testing.T) {
	p := parse(t, prices).Of(run())
	// 10 CPU seconds, 2 GB for 10 s, 30 MB for a tenth of a month, and 10 MB of copies with
	// half of 20 MB of clients, for 10,000 messages.
	want := map[string]float64{
		"cpu": 0.36 / 3600 * 10 * 100, "memory": 0.036 / 3600 * 20 * 100,
		"disk": 0.03 * 0.1 * 0.3 * 100, "network": 0.02 * 0.02 * 100,
	}
	sum := 0.0
	for _, part := range p.Parts {
		if math.Abs(part.PerMillion-want[part.Resource]) > 1e-12 {
			t.Errorf("%s costs %v, want %v", part.Resource, part.PerMillion, want[part.Resource])
		}
		sum += part.PerMillion
	}
	// Messages of 1,000 bytes: a million of them are a GB.
	if len(p.Parts) != 4 || len(p.LeftOut) > 0 || math.Abs(p.PerMillion-sum) > 1e-12 ||
		math.Abs(p.PerGB-sum) > 1e-12 {
		t.Errorf("%+v", p)
	}
	for _, part := range []string{"USD per million messages, ", "at prices of 2026-11-01: ",
		"cpu 0.1 (1 core of the servers)", "3 bytes written per byte published, over all copies",
		"1 byte between servers per byte published, and 2 to and from clients, over 2 zones"} {
		if s := Sentence(p); !strings.Contains(s, part) {
			t.Errorf("%q lacks %q", s, part)
		}
	}
	// GB has one meaning in every output, and it is not that of prices.
	if s := Sentence(p); strings.Contains(s, "GB") ||
		!strings.Contains(s, "per 10^9 bytes published") {
		t.Error(s)
	}
}

// An unknown part is left out with its reason, and the rest is a lower bound.
func TestWhatIsNotKnownIsLeftOut(t *testing.T) {
	all := parse(t, prices)
	for name, change := range map[string]func(*result.Run){
		"inside plimsoll's process": func(r *result.Run) {
			r.Observation.Servers = []string{result.Self}
		},
		"no server was observed":     func(r *result.Run) { r.Observation.Servers = nil },
		"not every server":           func(r *result.Run) { r.Observation.Servers[1] = "n3" },
		"no message was":             func(r *result.Run) { r.Summary.AchievedRate = 0 },
		"disk: what was written is":  func(r *result.Run) { r.Observation.Processes[0].WriteBytes = nil },
		"network: what it sent":      func(r *result.Run) { r.Observation.Processes[2].NetSentBytes = nil },
		"what plimsoll did, is not":  func(r *result.Run) { r.Workers = []result.Worker{{}} },
		"the servers wrote nothing ": func(r *result.Run) { clearWritten(r) },
	} {
		r := run()
		change(r)
		p := all.Of(r)
		s := Sentence(p)
		if !strings.Contains(s, name) || len(p.Parts) > 0 != strings.HasPrefix(s, "at least ") ||
			len(p.Parts) == 0 != strings.HasPrefix(s, "not priced: ") {
			t.Errorf("%s: %s", name, s)
		}
	}
	few := parse(t, "currency: EUR\ndate: 2026-11-01\ncore_hour: 1\n").Of(run())
	if len(few.Parts) != 1 || len(few.LeftOut) != 3 ||
		!slices.Contains(few.LeftOut, "disk: the file gives no disk_gb_month") {
		t.Errorf("%+v", few)
	}
	if Sentence(nil) != "" {
		t.Error("no price has words")
	}
}

func clearWritten(r *result.Run) {
	for i := range r.Observation.Processes {
		r.Observation.Processes[i].WriteBytes = bytes(0)
	}
}

func TestWrongPricesAreNamed(t *testing.T) {
	for src, want := range map[string]string{
		"date: 2026-11-01\ncore_hour: 1\n":                         "currency is missing",
		"currency: USD\ncore_hour: 1\n":                            "date is missing",
		"currency: usd\ndate: 2026-11-01\ncore_hour: 1\n":          "three capitals",
		"currency: USD\ndate: 1.11.2026\ncore_hour: 1\n":           "write it as 2026-11-23",
		"currency: USD\ndate: 2026-11-01\n":                        "no price is given",
		"currency: USD\ndate: 2026-11-01\ncore_hour: -1\n":         "from 0 to 1,000,000",
		"currency: USD\ndate: 2026-11-01\ncore_hours: 1\n":         `did you mean "core_hour"`,
		"currency: USD\ndate: 2026-11-01\ndisk_gb_month: 1\n":      "retention is missing",
		"currency: USD\ndate: 2026-11-01\ncore_hour: .nan\n":       "not a number",
		"currency: USD\ndate: 2026-11-01\nnetwork_gb: 1\nzones: 0": "zones must be from 1",
		"- core_hour": "must be a mapping",
	} {
		if _, err := Parse("p.yaml", []byte(src)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
}

func TestTheExampleIsRead(t *testing.T) {
	l, err := Read("../../docs/examples/prices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if p := l.Of(run()); len(p.Parts) != 4 {
		t.Errorf("%+v", p)
	}
}

// Any file is either refused or gives prices that are numbers.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../../docs/examples/prices.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(prices))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := Parse("fuzz", src)
		if err != nil {
			return
		}
		p := l.Of(run())
		if !(p.PerMillion >= 0) || !(p.PerGB >= 0) || math.IsInf(p.PerMillion, 0) ||
			Sentence(p) == "" {
			t.Errorf("%+v", p)
		}
	})
}
