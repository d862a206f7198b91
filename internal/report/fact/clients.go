package fact

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Clients says what the settings of clients aim at, and what that set; empty: it is not on
// record.
func Clients(c *result.Clients) string {
	if c == nil {
		return ""
	}
	out := document.Clean(c.Word) + " (" + document.Clean(c.Meaning) + ")"
	if set := settingWords(c.Set); set != "" {
		out += ": " + set
	}
	if how := document.Clean(c.How); how != "" {
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
		out = append(out, document.Clean(s.Name)+" "+document.Clean(s.Value))
	}
	return strings.Join(out, ", ")
}

// Wait says what a wait is a part of.
func Wait(w result.Wait) string {
	if w.Series == "" {
		return document.Clean(w.Sentence) + ", which no latency includes"
	}
	return "part of " + phrase.SeriesTitle(w.Series) + " latency: " + document.Clean(w.Sentence)
}

// WaitsIn returns the sentences of the waits that a latency includes. End-to-end latency is shown
// only with waits of its own: those of publish latency are in it too.
func WaitsIn(r *result.Run, series result.Series) (out []string) {
	own := false
	for _, w := range r.System.Waits {
		if w.Series == series || w.Series == result.Publish && series == result.EndToEnd {
			out, own = append(out, document.Clean(w.Sentence)), own || w.Series == series
		}
	}
	if !own {
		return nil
	}
	return out
}

// WaitWords are the longest waits of a latency, with their settings.
func WaitWords(r *result.Run, series result.Series) string {
	var out []string
	for _, w := range r.System.Waits {
		if w.Series == series {
			out = append(out, fmt.Sprintf("up to %s (%s)", quantity.Duration(w.MostNs),
				document.Clean(w.Setting)))
		}
	}
	return strings.Join(out, ", ")
}
