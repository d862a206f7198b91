package result

import "slices"

// Gauge is a figure that a system's servers have of their own, such as the dead rows of a
// table.
type Gauge struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"` // bytes, s; empty: a count
	Value float64 `json:"value"`
	// Counter says that it counts events since a start.
	Counter bool `json:"counter,omitempty"`
}

// GaugeUse is a gauge over the measured window.
type GaugeUse struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit,omitempty"`
	First    float64 `json:"first"`
	Last     float64 `json:"last"`
	Greatest float64 `json:"greatest"`
}

// addGauges adds the figures of an interval.
func (o *Observation) addGauges(all []Gauge) {
	for _, g := range all {
		at := slices.IndexFunc(o.Gauges, func(have GaugeUse) bool { return have.Name == g.Name })
		if at < 0 {
			o.Gauges = append(o.Gauges, GaugeUse{Name: g.Name, Unit: g.Unit, First: g.Value,
				Last: g.Value, Greatest: g.Value})
			continue
		}
		o.Gauges[at].Last = g.Value
		o.Gauges[at].Greatest = max(o.Gauges[at].Greatest, g.Value)
	}
}
