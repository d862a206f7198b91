package verdict

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
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

// loadDiffers names the parts of the load in which runs differ.
func loadDiffers(runs []*result.Run) []string {
	var out []string
	for _, part := range []struct {
		name  string
		value func(result.Load) any
	}{
		{"rate", func(l result.Load) any { return []any{l.TargetRate, rates(l.Segments)} }},
		{"duration", func(l result.Load) any {
			if l.Backlog != "" {
				return nil // it lasts as long as the readers take
			}
			return l.WindowSeconds
		}},
		{"backlog", func(l result.Load) any { return l.Backlog }},
		{"sends in flight, or messages of a send", func(l result.Load) any { return closed(l) }},
		{"arrivals", func(l result.Load) any { return l.Arrivals }},
		{"message size", func(l result.Load) any { return l.MessageBytes }},
		{"compressibility", func(l result.Load) any { return l.IncompressiblePct }},
		{"keys", func(l result.Load) any { return l.Keys }},
		{"topics", func(l result.Load) any { return l.Topics }},
		{"partitions", func(l result.Load) any { return l.Partitions }},
		{"producers", func(l result.Load) any { return l.Producers }},
		{"subscriptions", func(l result.Load) any { return l.Subscriptions }},
		{"consumers", func(l result.Load) any { return l.Consumers }},
		{"messages in flight", func(l result.Load) any { return l.MaxInFlight }},
	} {
		if slices.ContainsFunc(runs, func(r *result.Run) bool {
			return !reflect.DeepEqual(part.value(r.Load), part.value(runs[0].Load))
		}) {
			out = append(out, part.name)
		}
	}
	return out
}

// closed is the closed loop of a load, its zero value of an open one.
func closed(l result.Load) (c result.Closed) {
	if l.Closed != nil {
		c = *l.Closed
	}
	return c
}

// rates are the rates of a curve without how long each was offered.
func rates(segments []result.Segment) []float64 {
	var out []float64
	for _, s := range segments {
		out = append(out, s.From, s.To)
	}
	return out
}
