package report

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// ClientsSentence says what the settings of clients aim at, and what that set; empty: it is not on
// record.
func ClientsSentence(c *result.Clients) string {
	if c == nil {
		return ""
	}
	out := clean(c.Word) + " (" + clean(c.Meaning) + ")"
	if set := settingWords(c.Set); set != "" {
		out += ": " + set
	}
	if how := clean(c.How); how != "" {
		out += "; " + how
	}
	if kept := settingWords(c.Kept); kept != "" {
		out += "; the target's own values hold instead: " + kept
	}
	return out
}

func settingWords(all []result.Setting) string {
	var out []string
	for _, s := range all {
		out = append(out, clean(s.Name)+" "+clean(s.Value))
	}
	return strings.Join(out, ", ")
}

// aimWords names the aim of a run's clients; empty: the default.
func aimWords(l result.Load) string {
	if word := workload.Clients(clean(l.Clients)).Word(); word != workload.ClientsDefault {
		return "clients for " + string(word)
	}
	return ""
}

// waitSentences say how much of each latency is waiting on purpose.
func waitSentences(r *result.Run) []string {
	var out []string
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		waits := waitsIn(r, series)
		if len(waits) == 0 {
			continue
		}
		begin := seriesTitle(series) + " latency, of which "
		if ns, ok := exactAt(r.Summary.Series(series), 50); ok {
			begin = fmt.Sprintf("%s p50 %s, of which ", seriesTitle(series), quantity.Duration(ns))
		}
		out = append(out, begin+strings.Join(waits, ", and "))
	}
	if ns, ok := exactAt(r.Summary.Series(result.Request), 50); ok {
		out = append(out, fmt.Sprintf("the servers answer a request after %s (p50, each request "+
			"once): the rest of publish latency is waiting in the client", quantity.Duration(ns)))
	}
	for _, w := range r.System.Waits {
		if w.Series == "" {
			out = append(out, WaitSentence(w))
		}
	}
	return out
}

// WaitSentence says what a wait is a part of.
func WaitSentence(w result.Wait) string {
	if w.Series == "" {
		return clean(w.Sentence) + ", which no latency includes"
	}
	return "part of " + seriesTitle(w.Series) + " latency: " + clean(w.Sentence)
}

// waitsIn returns the sentences of the waits that a latency includes. End-to-end latency is shown
// only with waits of its own: those of publish latency are in it too.
func waitsIn(r *result.Run, series result.Series) (out []string) {
	own := false
	for _, w := range r.System.Waits {
		if w.Series == series || w.Series == result.Publish && series == result.EndToEnd {
			out, own = append(out, clean(w.Sentence)), own || w.Series == series
		}
	}
	if !own {
		return nil
	}
	return out
}

// waitFigure is the row of the waits that begin in a latency.
func waitFigure(section string, series result.Series) figureRow {
	return figureRow{section, seriesTitle(series) + ", waits on purpose",
		func(r *result.Run) string { return waitWords(r, series) }, nil}
}

// waitWords are the longest waits of a latency, with their settings.
func waitWords(r *result.Run, series result.Series) string {
	var out []string
	for _, w := range r.System.Waits {
		if w.Series == series {
			out = append(out, fmt.Sprintf("up to %s (%s)", quantity.Duration(w.MostNs),
				clean(w.Setting)))
		}
	}
	return strings.Join(out, ", ")
}

// waitFacts say for several runs what the waits of their latencies are.
func waitFacts(runs []*result.Saved) []document.Fact {
	var out []document.Fact
	all := names(runs)
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		var each []string
		for i, s := range runs {
			if words := waitWords(&s.Run, series); words != "" {
				each = append(each, all[i]+" "+words)
			}
		}
		if len(each) > 0 {
			out = append(out, factsOf("waits", "", "part of "+seriesTitle(series)+
				" latency on purpose: "+strings.Join(each, ", "))...)
		}
	}
	return out
}
