package export

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// benchRate is the only unit of which more is better.
const benchRate = "achieved-msgs/s"

// Benchfmt writes the Go benchmark format, for benchstat. Runs of one system under one load share a
// benchmark name, so benchstat takes them for repetitions. Only the machine and plimsoll are
// configuration lines: benchstat puts runs of different configurations into different tables, and
// systems belong in one. CPU time is given for servers and plimsoll together, and for each
// unless the servers live inside plimsoll. All else is a comment. A run that did not complete,
// that plimsoll itself limited, or that another tool measured is only a comment, because it must
// not be ranked; one that was overloaded has no latencies.
func Benchfmt(w io.Writer, runs []*result.Saved) error {
	var units, b bytes.Buffer
	known := map[string]bool{}
	all := fact.Names(runs)
	for i, s := range runs {
		r := &s.Run
		b.WriteString("\n")
		ranked, why := verdict.RankingOf(r)
		if ranked == verdict.Unranked {
			fmt.Fprintf(&b, "# %s is left out: %s\n", all[i], document.Clean(why.Sentence))
			continue
		}
		about := []string{
			all[i], "run " + r.ID, strings.Join(phrase.Repeated(r.System.Servers), ", "),
			r.System.Client,
			fact.Durability(r.Durability), phrase.Plural(len(fact.WarningSentences(s)), "warning",
				"warnings"),
		}
		if why.Sentence != "" {
			about = append(about, "not ranked: "+why.Sentence)
		}
		about = append(about, fact.Sentences(fact.Damage(s))...)
		about = append(about, latency.Missing(r.Summary)...)
		if lacks := latency.Lacks(r); lacks != "" {
			about = append(about, lacks)
		}
		fmt.Fprintf(&b, "# %s\n", document.Clean(strings.Join(about, "; ")))
		fmt.Fprintf(&b, "cpu: %s\nplimsoll: %s\n", document.Clean(r.Environment.CPU),
			document.Clean(r.Plimsoll.Version))
		fmt.Fprintf(&b, "%s 1", benchName(r))
		benchValues(r, func(v any, unit string) {
			fmt.Fprintf(&b, " %s %s", printed(v), unit)
			if known[unit] {
				return
			}
			known[unit] = true
			better := "lower"
			if unit == benchRate {
				better = "higher"
			}
			fmt.Fprintf(&units, "Unit %s better=%s\n", unit, better)
		})
		b.WriteString("\n")
	}
	_, err := w.Write(append(units.Bytes(), b.Bytes()...))
	return err
}

func benchName(r *result.Run) string {
	offered := strings.ReplaceAll(printed(r.Load.TargetRate), "-", "_")
	if c := r.Load.Closed; c != nil {
		offered = fmt.Sprintf("closed%dx%d..%d", c.InFlight, c.BatchLeast, c.BatchMost)
	}
	out := fmt.Sprintf("BenchmarkPlimsoll/system=%s/workload=%s/level=%d/size=%d/rate=%s",
		benchWord(r.System.Name), benchWord(
			r.Load.Workload), r.Durability.Asked, r.Load.MessageBytes, offered)
	if r.Load.MessageSizes != "" {
		out += "/sizes=" + benchWord(r.Load.MessageSizes)
	}
	if r.Load.Closed == nil && r.Load.Arrivals != "" {
		out += "/arrivals=" + benchWord(fact.Arrivals(r.Load))
	}
	if fact.Aim(r.Load) != "" {
		out += "/clients=" + benchWord(r.Load.Clients)
	}
	return out
}

// benchWord makes text one word of a benchmark name: a space would end the
// name, a slash the word, and a hyphen before digits at the name's end would
// be read as GOMAXPROCS.
func benchWord(s string) string {
	s = strings.Join(strings.FieldsFunc(document.Clean(s),
		func(r rune) bool { return r == ' ' || r == '/' || r == '=' }), "_")
	if s == "" {
		return "unnamed"
	}
	return s
}

// benchValues calls value with each figure of a run and its unit.
func benchValues(r *result.Run, value func(v any, unit string)) {
	value(r.Summary.AchievedRate, benchRate)
	if fact.Rankable(r) {
		benchLatency(value, "publish", r.Summary.Series(result.Publish), 50, 99, 99.9)
		benchLatency(value, "e2e", r.Summary.Series(result.EndToEnd), 50, 99, 99.9)
	}
	benchLatency(value, "instrument-publish", latency.Instrument(r, result.Twin), 50, 99)
	benchLatency(value, "instrument-e2e", latency.Instrument(r, result.TwinReceive), 50, 99)
	for _, name := range []string{figure.Lost, "duplicate", "reordered", figure.Failed, "unknown",
		"unsent"} {
		if n, known := figure.Named(name).Value(r); known {
			value(n, name+"-msgs")
		}
	}
	for _, f := range row.CostFigures {
		if v, known := f.Value(r); known && f.Bench != "" {
			value(v, f.Bench)
		}
	}
}

// benchLatency writes percentiles of a series. A lower bound has a unit of its own, so that it is
// never averaged with exact figures; a percentile that is not reached is left out.
func benchLatency(value func(v any, unit string), word string, l result.Latency,
	percentiles ...float64) {
	for _, p := range percentiles {
		point, ok := l.Point(p)
		unit := word + "-" + result.PercentileName(p)
		switch {
		case ok && point.Bound == result.Exact:
			value(point.LatencyNs, unit+"-ns")
		case ok && point.Bound == result.AtLeast:
			value(point.LatencyNs, unit+"-at-least-ns")
		}
	}
	if ns, ok := latency.ExactMax(l); ok && l.Series != result.Twin &&
		l.Series != result.TwinReceive {
		value(ns, word+"-max-ns")
	}
	if n := l.Missing.Total(); n > 0 {
		value(n, word+"-missing-msgs")
	}
}
