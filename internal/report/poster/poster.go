package poster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Gravest is the gravest of the sentences, or that one run is not many.
func Gravest(all []result.Warning) string {
	all = slices.DeleteFunc(slices.Clone(all), func(w result.Warning) bool {
		return strings.TrimRight(w.Sentence, ".") == ""
	})
	if len(all) == 0 {
		return "Measured once: other machines, or another day, may differ."
	}
	verdict.BySeverity(all)
	sentence := strings.TrimRight(all[0].Sentence, ".")
	out := sentence + "."
	if first, _, _ := strings.Cut(sentence, " "); !strings.HasSuffix(first, ":") {
		out = phrase.Upper(out)
	}
	if left := len(all) - 1; left > 0 {
		out += " And " + phrase.Plural(left, "more warning", "more warnings") + " in the report."
	}
	return out
}

// Command is the command that made results, or the first of several and the number of others.
func Command(commands [][]string) string {
	var out []string
	for _, c := range commands {
		if words := document.Clean(portable(c)); words != "" && !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	switch len(out) {
	case 0:
		return ""
	case 1:
		return out[0]
	}
	others := phrase.Plural(len(out)-1, "other", "others")
	return fmt.Sprintf("%s   # and %s like it", out[0], others)
}

// portable is a command without the paths of this machine, that of the program and that of its
// results, and without the part of a study, which is measured part by part.
func portable(command []string) string {
	if len(command) == 0 {
		return ""
	}
	out := []string{"plimsoll"}
	for i := 1; i < len(command); i++ {
		switch name, _, whole := strings.Cut(command[i], "="); {
		case name != "--runs" && name != "--only":
			out = append(out, command[i])
		case !whole:
			i++
		}
	}
	return phrase.CommandLine(out)
}

// Source is the build that measured, and when.
func Source(b result.Build, when string) string {
	return strings.TrimSpace("plimsoll "+document.Clean(b.Version)) + ", measured " + when
}

// Missed counts the messages that every card, picture and post shows if there are any.
type Missed struct {
	counts        [7]int64
	runs, unknown int // how many there are, and of how many it is unknown what was lost
}

// MissedNames are the names of the counts.
var MissedNames = [7]string{
	"Lost", "Corrupt", "Unread", "Unanswered", "Duplicate", "Refused", "Never sent",
}

// Add adds the counts of others.
func (m *Missed) Add(n Missed) {
	for k := range n.counts {
		m.counts[k] += n.counts[k]
	}
	m.runs, m.unknown = m.runs+n.runs, m.unknown+n.unknown
}

// MissedOf has the counts of a run.
func MissedOf(r *result.Run) Missed {
	t, c := r.Ledger.Total(), r.Counters
	m := Missed{[7]int64{t.Lost, t.Corrupt, t.Unread, c.Unknown, t.Duplicate, c.Failed, c.Unsent},
		1, 0}
	if !r.Accounted() || t.Unread > 0 {
		m.unknown = 1
	}
	return m
}

// MissedIn sums the counts over all trials of a search. Of those above its peak it is no news that
// messages were refused or never sent.
func MissedIn(s *peak.Saved) (sum Missed) {
	for _, p := range s.Trials {
		sum.Add(Missed{[7]int64{p.Lost, 0, 0, p.Unanswered, p.Duplicate}, 1, 0})
	}
	return sum
}

// MissedAt sums the counts over all measurements of a cell.
func MissedAt(m study.Measured) (sum Missed) {
	if m.Run != nil {
		sum.Add(MissedOf(&m.Run.Run))
	}
	if m.Search != nil {
		sum.Add(MissedIn(m.Search))
	}
	return sum
}

// MissedRows has a row for each count that any column has, and one of lost messages also where
// their number is unknown; suffix ends their names.
func MissedRows(suffix string, columns []Missed) (rows []document.Figure) {
	for k, name := range MissedNames {
		f, some := document.Figure{Name: name + suffix}, false
		for _, m := range columns {
			words := quantity.Count(m.counts[k])
			switch {
			case m.counts[k] > 0:
				some = true
			case m.runs == 0:
				words = document.None
			case m.unknown > 0 && k == 0:
				words, some = result.Unknown, true
			}
			f.Values = append(f.Values, words)
		}
		if some {
			rows = append(rows, f)
		}
	}
	return rows
}

// AddMissed adds a line for each count that there is any of.
func AddMissed(c *document.Card, m Missed) {
	for k, n := range m.counts {
		if n > 0 {
			c.Add(strings.ToLower(MissedNames[k]), quantity.Count(n))
		}
	}
}
