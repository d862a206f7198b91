package bench_test

import (
	"math"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// Each class has its own sizes, its part of every latency, and its part of what was lost.
func TestTruthOfClasses(t *testing.T) {
	w := load(1000, 10*time.Second)
	w.Producers = 5
	w.Classes = []workload.Class{{Name: "order", Share: 0.2, Least: 1000, Most: 1000,
		Keys: workload.Keys{Kind: workload.KeysZipf, Count: 9, Exponent: 1.2}},
		{Name: "event", Share: 0.8, Least: 100, Most: 200}}
	w.Message.Size, w.Message.Sizes = 0, &workload.Sizes{Parts: []workload.SizePart{
		{Share: 0.2, Least: 1000, Most: 1000}, {Share: 0.8, Least: 100, Most: 200}}}
	saved, planted := onSim(t, w, map[string]string{"lose_per_million": "50000", "service_time": "3ms"})
	r := saved.Run
	if len(r.Classes) != 2 || planted.Lost == 0 || r.Ledger.Total().Corrupt > 0 ||
		r.Ledger.Total().Misplaced > 0 {
		t.Fatalf("%+v, planted %+v, corrupt %d", r.Classes, planted, r.Ledger.Total().Corrupt)
	}
	var lost, received int64
	for i, acked := range []int64{2000, 8000} {
		c := r.Classes[i]
		lost, received = lost+c.Lost+c.Unread, received+c.EndToEnd.Count
		if c.Acked != acked || c.Publish.Count != acked || c.Publish.MinNs < 2.99e6 ||
			math.Abs(c.AckedRate-float64(acked)/10) > 1 {
			t.Errorf("%s: %+v, want %d messages", c.Name, c, acked)
		}
		if c.EndToEnd.Count+c.EndToEnd.Missing.NotReceived != acked ||
			c.EndToEnd.Missing.NotReceived != c.Lost+c.Unread {
			t.Errorf("%s: %d received, %+v missing, %d lost", c.Name, c.EndToEnd.Count,
				c.EndToEnd.Missing, c.Lost)
		}
	}
	if lost != planted.Lost || received != 10_000-planted.Lost {
		t.Errorf("lost %d and received %d, planted are %d lost", lost, received, planted.Lost)
	}
	if mean := r.Summary.BytesPerS / r.Summary.AchievedRate; math.Abs(mean-(200+0.8*150)) > 2 {
		t.Errorf("the mean message has %v bytes", mean)
	}
}

// What an overloaded system acknowledges after the window is no part of the classes' rates.
func TestTruthRatesOfClassesUnderOverload(t *testing.T) {
	w := load(1000, 10*time.Second)
	w.Producers = 2
	w.Classes = []workload.Class{{Name: "order", Share: 0.5, Least: 100, Most: 100},
		{Name: "event", Share: 0.5, Least: 100, Most: 100}}
	saved, _ := onSim(t, w, map[string]string{"capacity": "600/s", "service_time": "0s"})
	r, sum := &saved.Run, 0.0
	for _, c := range r.Classes {
		sum += c.AckedRate
	}
	if len(r.Classes) != 2 || r.Summary.AchievedRate > 610 ||
		math.Abs(sum-r.Summary.AchievedRate) > 1 {
		t.Errorf("%v/s of %v/s: %+v", sum, r.Summary.AchievedRate, r.Classes)
	}
}
