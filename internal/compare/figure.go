package compare

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Unit is what a figure is counted in.
type Unit string

// The units of figures.
const (
	Nanoseconds Unit = "ns"
	PerSecond   Unit = "msgs_per_s"
	Messages    Unit = "msgs" // a count: exact, of which any two values differ
)

// Figure is one number of a run.
type Figure struct {
	Name string // as gates and --primary name it: publish.p99
	Unit Unit

	series     result.Series // of a latency
	percentile float64
	of         func(*result.Run) (float64, bool)
}

// Value is the figure of a run, and whether the run has it.
func (f Figure) Value(r *result.Run) (float64, bool) { return f.of(r) }

// Primary is the figure that decides when nobody names another.
const Primary = "publish.p99"

// compared are the figures of every comparison, the primary one among them.
// There are seven on purpose: with five runs on each side the least possible p
// is 2/252, which is below 5% of six others and above that of more.
var compared = []string{"publish.p50", "publish.p99", "publish.p99.9", "e2e.p50", "e2e.p99", "rate", "cpu"}

// seriesNames are the latencies that a figure can be of, by their names in a
// figure's.
var seriesNames = []struct {
	name   string
	series result.Series
}{{"publish", result.Publish}, {"e2e", result.EndToEnd}, {"send", result.Send}}

// plain are the figures that are no latency.
func plain() []Figure {
	ledger := func(of func(result.SubscriptionLedger) int64) func(*result.Run) (float64, bool) {
		return func(r *result.Run) (float64, bool) {
			var sum int64
			for _, l := range r.Ledger.Subscriptions {
				sum += of(l)
			}
			return float64(sum), r.Ledger.Accounted
		}
	}
	return []Figure{
		{Name: "rate", Unit: PerSecond, of: func(r *result.Run) (float64, bool) {
			return r.Summary.AchievedRate, r.Summary.WindowNs > 0
		}},
		{Name: "cpu", Unit: Nanoseconds, of: cpuPerMessage},
		{Name: "lost", Unit: Messages, of: ledger(func(l result.SubscriptionLedger) int64 { return l.Lost })},
		{Name: "duplicate", Unit: Messages, of: ledger(func(l result.SubscriptionLedger) int64 { return l.Duplicate })},
		{Name: "reordered", Unit: Messages, of: ledger(func(l result.SubscriptionLedger) int64 { return l.Reordered })},
		{Name: "failed", Unit: Messages, of: func(r *result.Run) (float64, bool) {
			return float64(r.Counters.Failed), r.Counters.Scheduled > 0
		}},
	}
}

// cpuPerMessage is nanoseconds of CPU time, of the servers and of plimsoll
// together, for a message acknowledged. Servers inside plimsoll are one process
// with it.
func cpuPerMessage(r *result.Run) (float64, bool) {
	o := r.Observation
	seconds, seen := 0.0, 0
	for _, p := range o.Processes {
		server := slices.Contains(o.Servers, p.Name)
		if server {
			seen++
		}
		if server || p.Name == result.Self {
			seconds += p.CPUSeconds
		}
	}
	messages := r.Summary.AchievedRate * float64(o.WindowNs) / 1e9
	if messages <= 0 || seen == 0 || seen < len(o.Servers) {
		return 0, false
	}
	return seconds * 1e9 / messages, true
}

// latency returns a percentile of a series as a figure.
func latency(name string, series result.Series, percentile float64) Figure {
	return Figure{
		Name: name + ".p" + strconv.FormatFloat(percentile, 'f', -1, 64), Unit: Nanoseconds, series: series, percentile: percentile,
		of: func(r *result.Run) (float64, bool) {
			ns, ok := r.Summary.Series(series).At(percentile)
			return float64(ns), ok
		},
	}
}

// all is every figure by which runs can be compared.
func all() []Figure {
	var out []Figure
	for _, s := range seriesNames {
		for _, p := range result.Percentiles {
			out = append(out, latency(s.name, s.series, p))
		}
	}
	return append(out, plain()...)
}

// Find returns the figure of a name. The error says which names there are.
func Find(name string) (Figure, error) {
	figures := all()
	names := make([]string, len(figures))
	for i, f := range figures {
		if f.Name == name {
			return f, nil
		}
		names[i] = f.Name
	}
	series, rest, dotted := strings.Cut(name, ".")
	for _, s := range seriesNames {
		if dotted && s.name == series {
			return Figure{}, fmt.Errorf("%q is no percentile of %s: write %s.p50, .p75, .p90, .p95, .p99, .p99.9, .p99.99 or .p99.999", shorten(rest), s.name, s.name)
		}
	}
	if near := strict.Nearest(name, names); near != "" {
		return Figure{}, fmt.Errorf("there is no figure %q: did you mean %q?", shorten(name), near)
	}
	return Figure{}, fmt.Errorf("there is no figure %q: write publish.p99, e2e.p50, send.p99.9, rate, cpu, lost, duplicate, reordered or failed", shorten(name))
}

// FindPrimary returns the figure that is to decide: one of those compared, or
// another that is no count.
func FindPrimary(name string) (Figure, error) {
	f, err := Find(name)
	if err == nil && f.Unit == Messages {
		return f, errors.New(name + " is a count and has no spread: hold it by --fail-if '" + name + " > 0'")
	}
	return f, err
}

// shorten bounds how much of what somebody wrote an error repeats.
func shorten(s string) string {
	if runes := []rune(s); len(runes) > 40 {
		return string(runes[:40]) + "..."
	}
	return s
}
