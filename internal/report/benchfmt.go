package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// benchUnits says which way each unit is better, as benchstat understands it.
var benchUnits = []struct{ unit, better string }{
	{"achieved-msgs/s", "higher"},
	{"publish-p50-ns", "lower"}, {"publish-p99-ns", "lower"}, {"publish-p99.9-ns", "lower"},
	{"publish-max-ns", "lower"},
	{"e2e-p50-ns", "lower"}, {"e2e-p99-ns", "lower"}, {"e2e-p99.9-ns", "lower"},
	{"e2e-max-ns", "lower"},
	{"publish-missing-msgs", "lower"}, {"e2e-missing-msgs", "lower"},
	{"instrument-publish-p50-ns", "lower"}, {"instrument-publish-p99-ns", "lower"},
	{"instrument-e2e-p50-ns", "lower"}, {"instrument-e2e-p99-ns", "lower"},
	{"lost-msgs", "lower"}, {"duplicate-msgs", "lower"}, {"reordered-msgs", "lower"},
	{"failed-msgs", "lower"}, {"unknown-msgs", "lower"}, {"unsent-msgs", "lower"},
	{"cpu-ns/msg", "lower"}, {"server-cpu-ns/msg", "lower"}, {"own-cpu-ns/msg", "lower"},
	{"fsyncs/msg", "lower"},
}

// benchCosts are the units of the fields of a message's cost.
var benchCosts = []struct{ field, unit string }{
	{"cpu_ns_per_msg", "cpu-ns/msg"}, {"server_cpu_ns_per_msg", "server-cpu-ns/msg"},
	{"own_cpu_ns_per_msg", "own-cpu-ns/msg"}, {"syncs_per_msg", "fsyncs/msg"},
}

// Benchfmt writes the Go benchmark format, for benchstat. Runs of one system under one load share a
// benchmark name, so benchstat takes them for repetitions. Only the machine and plimsoll are
// configuration lines: benchstat puts runs of different configurations into different tables, and
// systems belong in one. CPU time is given for servers and plimsoll together, and for each
// unless the servers live inside plimsoll. All else is a comment. A run that did not complete,
// that plimsoll itself limited, or that another tool measured is only a comment, because it must
// not be ranked; one that was overloaded has no latencies.
func Benchfmt(w io.Writer, runs []*result.Saved) error {
	var b bytes.Buffer
	for _, u := range benchUnits {
		fmt.Fprintf(&b, "Unit %s better=%s\n", u.unit, u.better)
	}
	all := names(runs)
	for i, s := range runs {
		r := &s.Run
		b.WriteString("\n")
		ranked, why := verdict.RankingOf(r)
		if ranked == verdict.Unranked {
			fmt.Fprintf(&b, "# %s is left out: %s\n", all[i], clean(why.Sentence))
			continue
		}
		about := []string{
			all[i], "run " + r.ID, strings.Join(repeated(r.System.Servers), ", "), r.System.Client,
			durabilitySentence(r.Durability), plural(len(warnings(s)), "warning", "warnings"),
		}
		if why.Sentence != "" {
			about = append(about, "not ranked: "+why.Sentence)
		}
		about = append(about, missingSentences(r.Summary)...)
		if lacks := lacksSentence(r); lacks != "" {
			about = append(about, lacks)
		}
		fmt.Fprintf(&b, "# %s\n", clean(strings.Join(about, "; ")))
		fmt.Fprintf(&b, "cpu: %s\nplimsoll: %s\n", clean(r.Environment.CPU),
			clean(r.Plimsoll.Version))
		fmt.Fprintf(&b, "%s 1%s\n", benchName(r), benchValues(r))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func benchName(r *result.Run) string {
	offered := strings.ReplaceAll(exact(r.Load.TargetRate), "-", "_")
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
		out += "/arrivals=" + benchWord(arrivals(r.Load))
	}
	if aimWords(r.Load) != "" {
		out += "/clients=" + benchWord(r.Load.Clients)
	}
	return out
}

// benchWord makes text one word of a benchmark name: a space would end the
// name, a slash the word, and a hyphen before digits at the name's end would
// be read as GOMAXPROCS.
func benchWord(s string) string {
	s = strings.Join(strings.FieldsFunc(clean(s),
		func(r rune) bool { return r == ' ' || r == '/' || r == '=' }), "_")
	if s == "" {
		return "unnamed"
	}
	return s
}

func benchValues(r *result.Run) string {
	var out strings.Builder
	value := func(v, unit string) { fmt.Fprintf(&out, " %s %s", v, unit) }
	value(exact(r.Summary.AchievedRate), "achieved-msgs/s")
	if rankable(r) {
		benchLatency(value, "publish", r.Summary.Series(result.Publish), 50, 99, 99.9)
		benchLatency(value, "e2e", r.Summary.Series(result.EndToEnd), 50, 99, 99.9)
	}
	benchLatency(value, "instrument-publish", instrument(r, result.Twin), 50, 99)
	benchLatency(value, "instrument-e2e", instrument(r, result.TwinReceive), 50, 99)
	if r.Ledger.Accounted {
		t := r.Ledger.Total()
		if t.Unread == 0 {
			value(integer(t.Lost), "lost-msgs")
		}
		value(integer(t.Duplicate), "duplicate-msgs")
		value(integer(t.Reordered), "reordered-msgs")
	}
	value(integer(r.Counters.Failed), "failed-msgs")
	if r.Counted() {
		value(integer(r.Counters.Unknown), "unknown-msgs")
		value(integer(r.Counters.Unsent), "unsent-msgs")
	}
	cost := newMessageCost(r)
	for _, f := range benchCosts {
		if v, known := cost[f.field].(float64); known {
			value(exact(v), f.unit)
		}
	}
	return out.String()
}

// benchLatency writes percentiles of a series. A lower bound has a unit of its own, so that it is
// never averaged with exact figures; a percentile that is not reached is left out.
func benchLatency(value func(v, unit string), word string, l result.Latency,
	percentiles ...float64) {
	for _, p := range percentiles {
		point, ok := l.Point(p)
		unit := word + "-" + percentileName(p)
		switch {
		case ok && point.Bound == result.Exact:
			value(integer(point.LatencyNs), unit+"-ns")
		case ok && point.Bound == result.AtLeast:
			value(integer(point.LatencyNs), unit+"-at-least-ns")
		}
	}
	if ns, ok := exactMax(l); ok && l.Series != result.Twin && l.Series != result.TwinReceive {
		value(integer(ns), word+"-max-ns")
	}
	if n := l.Missing.Total(); n > 0 {
		value(integer(n), word+"-missing-msgs")
	}
}
