package poster

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

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
			c.Add(phrase.Lower(MissedNames[k]), quantity.Count(n))
		}
	}
}
