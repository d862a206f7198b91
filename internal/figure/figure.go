package figure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Figure is one number of a run, or of a search.
type Figure struct {
	Name  string // in gates, CSV and studies: publish.p99
	Title string
	Unit  Unit
	// More is set if a greater value is better.
	More bool
	// Zero is set if 0 is a value like others, and not the sign of an unknown one.
	Zero bool
	// Means explains the figure in a few words.
	Means string
	// Series is that of a latency, and Percentile that of its histogram; 0: the figure is another
	// one of the latency, such as its greatest value.
	Series     result.Series
	Percentile float64
	// Class is the class of messages that the figure is of; empty: all messages.
	Class string

	of func(*result.Run) (Span, bool) // nil: of a search
}

// Value returns the figure of a run. It is false when the run does not have the figure, or has
// only a bound of it (see Span).
func (f Figure) Value(r *result.Run) (float64, bool) {
	v, ok := f.Span(r)
	return v.Least, ok && v.Exact()
}

// Span returns the bounds of the figure of a run, and whether the run has it.
func (f Figure) Span(r *result.Run) (Span, bool) {
	if f.of == nil {
		return Span{}, false
	}
	return f.of(r)
}

// IsLatency reports whether the figure is a latency of messages, which an overload or messages
// without a latency make incomparable.
func (f Figure) IsLatency() bool { return f.Series != "" }

// IsCount reports whether the figure is an exact number of messages, which is true of a run however
// it went.
func (f Figure) IsCount() bool { return f.Unit == Messages }

// OfSearch reports whether the figure is of a search for a peak, and not of runs.
func (f Figure) OfSearch() bool { return f.of == nil }

// Better reports whether the value a is better than b.
func (f Figure) Better(a, b float64) bool {
	if f.More {
		return a > b
	}
	return a < b
}

// known makes a figure of runs whose value is exact.
func known(f Figure, of func(*result.Run) (float64, bool)) Figure {
	f.of = func(r *result.Run) (Span, bool) {
		v, ok := of(r)
		return Exactly(v), ok
	}
	return f
}

// All returns the catalogue.
func All() []Figure {
	return slices.Concat(latencies(), rates(), costs(), counts(), faults(), minutes(), searches())
}

// OfRuns returns the figures of runs.
func OfRuns() []Figure { return slices.DeleteFunc(All(), Figure.OfSearch) }

// Find returns a figure by its name, those of classes of messages too. The error lists valid names.
func Find(name string) (Figure, error) {
	all := All()
	var names, plain []string
	for _, f := range all {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
		if f.Percentile == 0 {
			plain = append(plain, f.Name)
		}
	}
	if f, ok := ofClass(name); ok {
		return f, nil
	}
	series, rest, dotted := strings.Cut(name, ".")
	for _, s := range SeriesNames {
		if dotted && s.Name == series {
			return Figure{}, fmt.Errorf(
				"%q is not a percentile of %s: write %s.p50, .p75, .p90, .p95, .p99, .p99.9, "+
					".p99.99 or .p99.999", strict.Shorten(rest), s.Name, s.Name)
		}
	}
	if slices.Contains(names, "publish."+name) {
		return Figure{}, fmt.Errorf("there is no figure %[1]q: write publish.%[1]s or e2e.%[1]s",
			name)
	}
	if near := strict.Nearest(name, names); near != "" {
		return Figure{}, fmt.Errorf("there is no figure %q: did you mean %q?",
			strict.Shorten(name), near)
	}
	return Figure{}, fmt.Errorf("there is no figure %q: write publish.p99, e2e.p50, send.p99.9, %s",
		strict.Shorten(name), strings.Join(plain, ", "))
}

// Named returns a figure by a name that stands in the code. It panics if there is none.
func Named(name string) Figure {
	f, err := Find(name)
	if err != nil {
		panic(err)
	}
	return f
}

// List returns the figures of a list of names with commas between.
func List(names string) (out []Figure, err error) {
	for name := range strings.SplitSeq(names, ",") {
		f, err := Find(strings.TrimSpace(name))
		switch {
		case err != nil:
			return nil, err
		case slices.ContainsFunc(out, func(have Figure) bool { return have.Name == f.Name }):
			return nil, fmt.Errorf("%s is named twice", f.Name)
		}
		out = append(out, f)
	}
	return out, nil
}

// SeriesNames lists the latencies of figures by their names within a figure's name.
var SeriesNames = []struct {
	Name    string
	Series  result.Series
	Title   string
	Article string // in a sentence: without … latency
}{
	{"publish", result.Publish, "publish", "a publish"},
	{"e2e", result.EndToEnd, "end-to-end", "an end-to-end"},
	{"send", result.Send, "send", "a send"},
}

// latencies are percentiles, and the greatest values.
func latencies() (out []Figure) {
	means := map[result.Series]string{
		result.Publish:  "from the moment a message was due to its acknowledgement",
		result.EndToEnd: "from the moment a message was due to its arrival at a consumer",
		result.Send:     "from the call of the client to the acknowledgement, uncorrected",
	}
	for _, s := range SeriesNames {
		for _, p := range result.Percentiles {
			name := result.PercentileName(p)
			out = append(out, Figure{Name: s.Name + "." + name, Title: s.Title + " " + name,
				Unit: Nanoseconds, Means: means[s.Series], Series: s.Series, Percentile: p,
				of: latencySpan(s.Series, p)})
		}
		out = append(out, Figure{Name: s.Name + ".max",
			Title: "greatest " + s.Title + " latency", Unit: Nanoseconds,
			Means: means[s.Series], Series: s.Series, of: latencySpan(s.Series, 0)})
	}
	return out
}
