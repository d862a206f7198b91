package report

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/result"
)

// missed counts the messages that every card, picture and post shows if there are any.
type missed struct {
	counts        [5]int64
	runs, unknown int // how many there are, and of how many it is unknown what was lost
}

// missedNames are the names of the counts.
var missedNames = [5]string{"Lost", "Corrupt", "Unread", "Unanswered", "Duplicate"}

func (m *missed) add(n missed) {
	for k := range n.counts {
		m.counts[k] += n.counts[k]
	}
	m.runs, m.unknown = m.runs+n.runs, m.unknown+n.unknown
}

func missedOf(r *result.Run) missed {
	t := r.Ledger.Total()
	m := missed{[5]int64{t.Lost, t.Corrupt, t.Unread, r.Counters.Unknown, t.Duplicate}, 1, 0}
	if !r.Ledger.Accounted || t.Unread > 0 {
		m.unknown = 1
	}
	return m
}

// missedIn sums the counts over all trials of a search.
func missedIn(s *peak.Saved) (sum missed) {
	for _, p := range s.Trials {
		sum.add(missed{[5]int64{p.Lost, 0, 0, p.Unanswered, p.Duplicate}, 1, 0})
	}
	return sum
}

// missedAt sums the counts over all measurements of a cell.
func missedAt(m study.Measured) (sum missed) {
	if m.Run != nil {
		sum.add(missedOf(&m.Run.Run))
	}
	if m.Search != nil {
		sum.add(missedIn(m.Search))
	}
	return sum
}

// missedRows has a row for each count that any column has, and one of lost messages also where
// their number is unknown; suffix ends their names.
func missedRows(suffix string, columns []missed) (rows []document.Figure) {
	for k, name := range missedNames {
		f, some := document.Figure{Name: name + suffix}, false
		for _, m := range columns {
			words := quantity.Count(m.counts[k])
			switch {
			case m.counts[k] > 0:
				some = true
			case m.runs == 0:
				words = none
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

// addMissed adds a line for each count that there is any of.
func addMissed(c *card, m missed) {
	for k, n := range m.counts {
		if n > 0 {
			c.Add(lower(missedNames[k]), quantity.Count(n))
		}
	}
}
