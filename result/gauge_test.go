package result

import "testing"

func TestGaugesOverTheWindow(t *testing.T) {
	var o Observation
	for i, value := range []float64{3, 9, 4} {
		r := Resources{StartNs: int64(i), EndNs: int64(i + 1),
			Gauges: []Gauge{{Name: "dead rows", Value: value}}}
		if i == 1 {
			r.Gauges = append(r.Gauges, Gauge{Name: "size", Unit: "bytes", Value: 7})
		}
		o.Add(r)
	}
	want := []GaugeUse{{Name: "dead rows", First: 3, Last: 4, Greatest: 9},
		{Name: "size", Unit: "bytes", First: 7, Last: 7, Greatest: 7}}
	if len(o.Gauges) != 2 || o.Gauges[0] != want[0] || o.Gauges[1] != want[1] {
		t.Errorf("got %v", o.Gauges)
	}
}
