package table

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// terminalPercentiles are the percentiles that a terminal shows.
var terminalPercentiles = []float64{50, 90, 99, 99.9, 99.99}

// Percentiles is every figure of every latency series; a terminal has the most important.
func Percentiles(r *result.Run) document.Table {
	s := r.Summary
	t := document.Table{
		ID: "latency", Title: fact.OfArrivals("Latency", r.Load),
		Empty: "No message was measured.",
		Note: "Over the measured window, from one histogram of all messages: percentiles are " +
			"never averaged. A percentile is left out (–) when fewer than ten messages lie " +
			"beyond it.",
		Head: percentileHead(),
	}
	odd := outOfRange(s)
	if odd {
		t.Head = append(t.Head, document.Column{Name: "clamped", For: document.OnPage},
			document.Column{Name: "negative", For: document.OnPage})
		t.Note += " Clamped values were above one hour and count as one hour; negative values, " +
			"from clocks that disagree, count as zero."
	} else {
		t.Note += " No value was out of range."
	}
	for _, sentence := range append(latency.Missing(s), fact.Clocks(s)...) {
		t.Note += " " + phrase.Upper(sentence) + "."
	}
	if latency.Marked(s) {
		t.Note += " " + latency.OwnNote + "."
	}
	for _, l := range latency.Rows(s) {
		v := []string{quantity.Count(l.Count), document.None, document.None}
		if l.Count > 0 {
			v[1], v[2] = phrase.Nanoseconds(l.MeanNs), quantity.Duration(l.MinNs)
		}
		for _, p := range result.Percentiles {
			v = append(v, latency.At(l.Latency, p))
		}
		v = append(v, latency.Greatest(l.Latency))
		if odd {
			v = append(v, quantity.Count(l.Clamped), quantity.Count(l.Negative))
		}
		t.Add(l.Title, v...)
	}
	return t
}

func percentileHead() []document.Column {
	out := document.Heads("messages", "mean", "min")
	for i := range out {
		out[i].For = document.OnPage
	}
	for _, p := range result.Percentiles {
		c := document.Column{Name: phrase.Percentile(p), For: document.OnPage}
		if slices.Contains(terminalPercentiles, p) {
			c.For, c.Keep = "", map[float64]int{50: 2, 99: 2, 99.9: 1}[p]
		}
		out = append(out, c)
	}
	return append(out, document.Column{Name: "max", Keep: 2})
}

func outOfRange(s result.Summary) bool {
	return slices.ContainsFunc(s.Latency,
		func(l result.Latency) bool { return l.Clamped > 0 || l.Negative > 0 })
}
