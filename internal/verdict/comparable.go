package verdict

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Comparable says in warnings why runs must not be ranked against one another:
// they gave different guarantees, or carried different loads. It is empty when
// nothing speaks against it. The name of a workload does not matter, what it
// offered does; how long it warmed up and what was done to the page cache
// before are differences to be told, and no other load.
func Comparable(runs []*result.Run) []result.Warning {
	var out []result.Warning
	warn := func(code, format string, args ...any) {
		out = append(out, result.Warning{Code: code, Sentence: fmt.Sprintf(format, args...)})
	}
	if slices.ContainsFunc(runs, func(r *result.Run) bool { return r.Imported != nil }) {
		warn("imported", "these runs are not comparable: another tool measured some of them, and it did not record their rate, durability and settings")
	}
	if levels := distinct(runs, guaranteed); len(levels) > 1 {
		warn("durability_differs", "these runs are not comparable: their durability differs (%s), and an acknowledgement that promises less is cheaper to give",
			strings.Join(levels, ", "))
	}
	if models := distinct(runs, func(r *result.Run) string { return r.Load.Delivery }); len(models) > 1 {
		warn("delivery_differs", "these runs are not comparable: their delivery guarantees differ (%s)", strings.Join(models, ", "))
	}
	if models := distinct(runs, func(r *result.Run) string { return r.Load.Model }); len(models) > 1 {
		warn("model_differs", "these runs are not comparable: their load models differ (%s): a closed loop offers no more than the system answers, and its latencies leave out what waited meanwhile",
			strings.Join(models, " and ")+" loop")
	}
	if names := loadDiffers(runs); len(names) > 0 {
		warn("workload_differs", "these runs are not comparable: their workloads differ in %s", strings.Join(names, ", "))
	}
	return out
}

// guaranteed is the level that a run was at: as read back, or else as asked.
func guaranteed(r *result.Run) string {
	switch d := r.Durability; {
	case d.Level > 0:
		return fmt.Sprintf("level %d", d.Level)
	case d.Asked > 0:
		return fmt.Sprintf("level %d, not read back", d.Asked)
	}
	return "no level on record"
}

func distinct(runs []*result.Run, value func(*result.Run) string) []string {
	var out []string
	for _, r := range runs {
		if v := value(r); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// loadDiffers names the parts of the load in which runs differ, among those that
// recorded the part.
func loadDiffers(runs []*result.Run) []string {
	var out []string
	for _, part := range slices.Concat(parts, partsOfVersion2) {
		var first any
		for _, r := range runs {
			value := part.value(r)
			if first == nil {
				first = value
			} else if value != nil && !reflect.DeepEqual(value, first) {
				out = append(out, part.name)
				break
			}
		}
	}
	return out
}

// part is a part of the load by which runs are compared; its value is nil where
// the run did not record it.
type part struct {
	name  string
	value func(*result.Run) any
}

// of is a part that every run records.
func of[T any](name string, value func(result.Load) T) part {
	return part{name, func(r *result.Run) any { return value(r.Load) }}
}

var parts = []part{
	of("rate", func(l result.Load) any { return []any{l.TargetRate, curve(l.Segments)} }),
	of("duration", func(l result.Load) float64 {
		if l.Backlog != "" {
			return 0 // it lasts as long as the readers take
		}
		return l.WindowSeconds
	}),
	of("backlog", func(l result.Load) string { return l.Backlog }),
	of("sends in flight, or messages of a send", closed),
	of("arrivals", func(l result.Load) string { return l.Arrivals }),
	of("message size", func(l result.Load) int64 { return l.MessageBytes }),
	of("compressibility", func(l result.Load) float64 { return l.IncompressiblePct }),
	of("keys", func(l result.Load) string { return l.Keys }),
	of("topics", func(l result.Load) int { return l.Topics }),
	of("partitions", func(l result.Load) int { return l.Partitions }),
	of("producers", func(l result.Load) int { return l.Producers }),
	of("subscriptions", func(l result.Load) int { return l.Subscriptions }),
	of("consumers", func(l result.Load) int { return l.Consumers }),
	of("messages in flight", func(l result.Load) int { return l.MaxInFlight }),
}

// partsOfVersion2 are not known of runs of an older schema.
var partsOfVersion2 = []part{
	recorded("number of keys", func(l result.Load) int { return l.KeyCount }),
	recorded("exponent of the keys", func(l result.Load) float64 { return l.KeyExponent }),
	{"spread of messages without a key", func(r *result.Run) any { return dealt(r) }},
	recorded("audit", func(l result.Load) bool { return l.Audit }),
}

// recorded is a part that runs record since version 2 of the schema.
func recorded[T any](name string, value func(result.Load) T) part {
	return part{name, func(r *result.Run) any {
		if r.Lacks() {
			return nil
		}
		return value(r.Load)
	}}
}

// dealt is how messages without a key went to partitions. Before version 2 of the
// schema they always went one by one, in turn.
func dealt(r *result.Run) string {
	if r.Lacks() && r.Load.Keys == string(workload.KeysNone) {
		return string(workload.SpreadRoundRobin)
	}
	return r.Load.Spread
}

// closed is the closed loop of a load, its zero value of an open one.
func closed(l result.Load) (c result.Closed) {
	if l.Closed != nil {
		c = *l.Closed
	}
	return c
}

// curve is the rates of a load and which share of its length each has. The length
// itself is another part.
func curve(segments []result.Segment) []float64 {
	total := 0.0
	for _, s := range segments {
		total += s.Seconds
	}
	var out []float64
	for _, s := range segments {
		out = append(out, s.From, s.To)
		if len(segments) > 1 {
			// Rounded: a share is a quotient.
			out = append(out, math.Round(s.Seconds/max(total, 1e-9)*1e6))
		}
	}
	return out
}
