package report

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/result"
)

// missed counts the messages that every card, picture and post shows if there are any.
type missed struct {
	lost, duplicate, unanswered int64
	accounted                   bool // lost and duplicate are known
}

// missedNames are the names of the counts, in the order of missed.counts.
var missedNames = []string{"Lost", "Duplicate", "Unanswered"}

func (m missed) counts() []int64 { return []int64{m.lost, m.duplicate, m.unanswered} }

func (m *missed) add(n missed) {
	m.lost, m.duplicate, m.unanswered = m.lost+n.lost, m.duplicate+n.duplicate,
		m.unanswered+n.unanswered
	m.accounted = m.accounted || n.accounted
}

func missedOf(r *result.Run) missed {
	t := r.Ledger.Total()
	return missed{t.Lost, t.Duplicate, r.Counters.Unknown, r.Ledger.Accounted}
}

// missedIn sums the counts over all trials of a search.
func missedIn(s *peak.Saved) (sum missed) {
	for _, p := range s.Trials {
		sum.add(missed{p.Lost, p.Duplicate, p.Unanswered, true})
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

// missedRows has a row for each count that any column has; suffix ends their names.
func missedRows(suffix string, columns []missed) (rows []document.Figure) {
	for k, name := range missedNames {
		f := document.Figure{Name: name + suffix}
		for _, m := range columns {
			words := quantity.Count(m.counts()[k])
			if !m.accounted && m.counts()[k] == 0 {
				words = none
			}
			f.Values = append(f.Values, words)
		}
		if slices.ContainsFunc(columns, func(m missed) bool { return m.counts()[k] > 0 }) {
			rows = append(rows, f)
		}
	}
	return rows
}

// addMissed adds a line for each count that there is any of.
func addMissed(c *card, m missed) {
	for k, n := range m.counts() {
		if n > 0 {
			c.Add(lower(missedNames[k]), quantity.Count(n))
		}
	}
}
