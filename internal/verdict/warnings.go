package verdict

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// hiccupBoundNs is the pause of this process that a reader must know of.
const hiccupBoundNs = 50_000_000

// list collects warnings.
type list []result.Warning

func (l *list) warn(code, format string, args ...any) {
	*l = append(*l, result.Warning{Code: code, Sentence: fmt.Sprintf(format, args...)})
}

// warnings are what a reader must know before the figures, worst first.
func warnings(r *result.Run, events []result.Event) []result.Warning {
	all := list{}
	warn := all.warn
	switch r.State {
	case result.Incomplete, result.Running:
		warn("incomplete",
			"this run did not finish (%s): the figures cover what was saved, and messages were "+
				"not accounted for", orElse(r.StateReason, "it is still running"))
	case result.Interrupted:
		warn("interrupted", "this run was stopped before its end: the figures cover %s",
			quantity.Duration(r.Summary.WindowNs))
	case result.Failed:
		warn("failed", "this run failed: %s", r.StateReason)
	}
	if r.Load.Closed != nil {
		warn("closed_loop",
			"a closed loop: the next send waits for the answer to an earlier one, so a stall is "+
				"charged to the few messages under way and not to all that it held up (coordinated "+
				"omission): compare these figures with other closed loops only")
	}
	faults(&all, r, events)
	for _, v := range r.Verdicts {
		if v.Outcome == result.Broken {
			warn(v.Name, "%s", v.Sentence)
		}
	}
	ofTheWindow(&all, r)
	ofMessages(&all, r)
	if worst := r.Summary.Series(result.Hiccup).MaxNs; worst > hiccupBoundNs {
		warn("hiccup",
			"plimsoll's own process stood still for up to %s: that is in the latencies too",
			quantity.Duration(worst))
	}
	machine(&all, r)
	if r.System.SharesHost {
		warn("shared_host",
			"servers and load shared one machine and its loopback: compare such figures with one "+
				"another, not with a cluster's")
	}
	if r.Load.DropPageCache {
		warn("page_cache", "%s", coldCache(r))
	}
	return all
}

// ofTheWindow warns of a window that is not of a steady state.
func ofTheWindow(all *list, r *result.Run) {
	warn := all.warn
	if b := r.Backlog; b != nil && b.Then == "drain" && b.FirstNs > 0 {
		warn("backlog",
			"end-to-end latencies hold the time that messages waited for their readers on "+
				"purpose: read those of the stretch after catching up")
	}
	if effect, known := effectOf(r.Backlog); known && effect < lessThanNone {
		warn("backlog_unsteady",
			"publish p99 was higher before the backlog was read than meanwhile: the system had "+
				"not settled, so these figures show no effect of the reading; warm it up for longer")
	}
	if s := r.Settling; s != nil && !s.Settled {
		warn("never_settled",
			"the figures never settled within the warm-up of %s: the measured window is of a "+
				"system still changing, and another run may differ", quantity.Duration(s.MostNs))
	}
}

// ofMessages warns of messages whose latencies are missing or bounded.
func ofMessages(all *list, r *result.Run) {
	warn := all.warn
	if c := r.Counters; c.Unsent+c.Unknown+c.Failed > 0 {
		warn("censored",
			"%s messages were never sent, %s never answered and %s refused: percentiles include "+
				"them, and are lower bounds, or not reached, where they fall among them",
			quantity.Count(c.Unsent), quantity.Count(c.Unknown), quantity.Count(c.Failed))
	}
	if l := ledger(r); l.RefusedReceived > 0 && !once(r) {
		warn("refused_received",
			"%s messages that the system had refused were delivered all the same",
			quantity.Count(l.RefusedReceived))
	}
	for _, l := range r.Summary.Latency {
		if l.Clamped > 0 || l.Negative > 0 {
			warn("range",
				"%s: %s values above an hour were counted as an hour, %s negative ones as 0",
				l.Series, quantity.Count(l.Clamped), quantity.Count(l.Negative))
		}
	}
}

// coldCache is the warning of a run whose page cache was dropped.
func coldCache(r *result.Run) string {
	when := "the run: what is read at its start"
	if r.Backlog != nil {
		when = "the run, and before its backlog was read: what is read then"
	}
	return "the machine's page cache was dropped before " + when +
		" comes from disk, as it would not on a machine long in use"
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
