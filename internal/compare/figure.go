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

// Unit is the unit of a figure.
type Unit string

// The units of figures.
const (
	Nanoseconds Unit = "ns"
	PerSecond   Unit = "msgs_per_s"
	Messages    Unit = "msgs" // an exact count: any two different values differ
)

// Figure is one number of a run.
type Figure struct {
	Name string // in gates and --primary: publish.p99
	Unit Unit

	series     result.Series // of a latency
	percentile float64
	of         func(*result.Run) (Span, bool)
}

// Value returns the figure of a run. It is false when the run does not have the figure, or has
// only a bound of it (see Span).
func (f Figure) Value(r *result.Run) (float64, bool) {
	v, ok := f.of(r)
	return v.Least, ok && v.Exact()
}

// IsLatency reports whether the figure is a percentile of a latency.
func (f Figure) IsLatency() bool { return f.series != "" }

// Span returns the bounds of the figure of a run, and whether the run has it.
func (f Figure) Span(r *result.Run) (Span, bool) { return f.of(r) }

// The names of some figures.
const (
	achieved = "rate"   // acknowledged messages per second
	lost     = "lost"   // messages that were acknowledged and never arrived
	failed   = "failed" // messages that the system refused
)

// PerCore is the figure of acknowledged messages per second of the servers' CPU time.
const PerCore = "per_core"

// Primary names the default primary figures.
const Primary = "publish.p99,e2e.p99"

// compared names the figures of every comparison, including the default primary figures. There
// are eight on purpose: with five runs on each side the least possible p is 2/252, which is low
// enough for six other figures at 5% and too high for more.
var compared = []string{"publish.p50", "publish.p99", "publish.p99.9", "e2e.p50", "e2e.p99",
	"rate", "received", "cpu"}

// seriesNames lists the latencies of figures by their names within a figure's name.
var seriesNames = []struct {
	name    string
	series  result.Series
	article string // in a sentence: without … latency
}{
	{"publish", result.Publish, "a publish"},
	{"e2e", result.EndToEnd, "an end-to-end"},
	{"send", result.Send, "a send"},
}

// plain returns the figures that are not latencies.
func plain() []Figure {
	type account = result.SubscriptionLedger
	ledger := func(of func(account) int64) func(*result.Run) (float64, bool) {
		return func(r *result.Run) (float64, bool) {
			var sum int64
			for _, l := range r.Ledger.Subscriptions {
				sum += of(l)
			}
			return float64(sum), r.Ledger.Accounted
		}
	}
	figure := func(name string, unit Unit, of func(*result.Run) (float64, bool)) Figure {
		return Figure{Name: name, Unit: unit, of: func(r *result.Run) (Span, bool) {
			v, ok := of(r)
			return exactly(v), ok
		}}
	}
	return []Figure{
		figure(achieved, PerSecond, func(r *result.Run) (float64, bool) {
			return r.Summary.AchievedRate, r.Summary.WindowNs > 0
		}),
		figure("received", PerSecond, func(r *result.Run) (float64, bool) {
			return r.Summary.ReceivedRate, r.Summary.WindowNs > 0
		}),
		figure("cpu", Nanoseconds, cpuPerMessage),
		figure(PerCore, PerSecond, func(r *result.Run) (float64, bool) {
			return r.Observation.MsgsPerCoreSecond, r.Observation.MsgsPerCoreSecond > 0
		}),
		{Name: lost, Unit: Messages, of: func(r *result.Run) (Span, bool) {
			unread, _ := ledger(func(l account) int64 { return l.Unread })(r)
			lost, accounted := ledger(func(l account) int64 { return l.Lost })(r)
			// Messages that were not received may be lost, and may still come.
			return Span{lost, lost + unread}, accounted && (unread == 0 || lost > 0)
		}},
		figure("duplicate", Messages, ledger(func(l account) int64 { return l.Duplicate })),
		figure("reordered", Messages, ledger(func(l account) int64 { return l.Reordered })),
		figure(failed, Messages, counter(result.RecordedRefused,
			func(c result.Counters) int64 { return c.Failed })),
		figure("unknown", Messages,
			counter("", func(c result.Counters) int64 { return c.Unknown })),
		figure("unsent", Messages, counter("", func(c result.Counters) int64 { return c.Unsent })),
	}
}

// counter takes a count of the scheduled messages. In an imported run it is known if the other tool
// recorded it. No other tool records messages without an answer; plimsoll counts them when the run
// has ended.
func counter(recorded string, of func(result.Counters) int64) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) {
		known := r.Counters.Scheduled > 0 && (r.Counted() || recorded != "")
		if r.Imported != nil {
			known = r.Imported.Knows(recorded)
		}
		return float64(of(r.Counters)), known
	}
}

// cpuPerMessage returns the CPU time in nanoseconds, of servers and plimsoll together, per
// acknowledged message. Servers inside plimsoll share its process.
func cpuPerMessage(r *result.Run) (float64, bool) {
	o := r.Observation
	servers, whole := o.OfServers()
	seconds := 0.0
	for _, p := range servers {
		seconds += p.CPUSeconds
	}
	if own := o.Own(); own != nil {
		seconds += own.CPUSeconds
	}
	messages := r.Summary.Work() * float64(o.WindowNs) / 1e9
	if messages <= 0 || !whole {
		return 0, false
	}
	return seconds * 1e9 / messages, true
}

// latency returns a percentile of a series as a figure.
func latency(name string, series result.Series, percentile float64) Figure {
	return Figure{
		Name: name + ".p" + strconv.FormatFloat(percentile, 'f', -1, 64),
		Unit: Nanoseconds, series: series, percentile: percentile,
		of: func(r *result.Run) (Span, bool) {
			p, ok := r.Summary.Series(series).Point(percentile)
			return spanOf(p), ok
		},
	}
}

// all returns every figure by which runs can be compared.
func all() []Figure {
	var out []Figure
	for _, s := range seriesNames {
		for _, p := range result.Percentiles {
			out = append(out, latency(s.name, s.series, p))
		}
	}
	return append(out, plain()...)
}

// Find returns a figure by its name. The error lists the valid names.
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
			return Figure{}, fmt.Errorf(
				"%q is not a percentile of %s: write %s.p50, .p75, .p90, .p95, .p99, .p99.9, "+
					".p99.99 or .p99.999", shorten(rest), s.name, s.name)
		}
	}
	if near := strict.Nearest(name, names); near != "" {
		return Figure{}, fmt.Errorf("there is no figure %q: did you mean %q?", shorten(name), near)
	}
	return Figure{}, fmt.Errorf("there is no figure %q: write publish.p99, e2e.p50, send.p99.9, "+
		"rate, received, cpu, per_core, lost, duplicate, reordered, failed, unknown or unsent",
		shorten(name))
}

// FindPrimary returns the primary figures of a list of names with commas between. A count cannot
// be primary.
func FindPrimary(names string) ([]Figure, error) {
	var out []Figure
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		f, err := Find(name)
		switch {
		case err != nil:
			return nil, err
		case f.Unit == Messages:
			return nil, errors.New(name + " is a count and has no spread: check it with " +
				"--fail-if '" + name + " > 0'")
		case slices.ContainsFunc(out, func(have Figure) bool { return have.Name == name }):
			return nil, fmt.Errorf("%s is named twice", name)
		}
		out = append(out, f)
	}
	return out, nil
}

// shorten bounds the length of user input in an error.
func shorten(s string) string {
	if runes := []rune(s); len(runes) > 40 {
		return string(runes[:40]) + "..."
	}
	return s
}
