package verdict

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// hiccupBoundNs is the greatest pause of this process without a warning.
const hiccupBoundNs = 50_000_000

// SharedHost is the warning about servers on the machine of the load generator.
const SharedHost = "servers and load generator shared one machine and its loopback network: " +
	"compare these figures only with others measured this way, not with those of a cluster"

// list collects warnings.
type list []result.Warning

func (l *list) warn(code, format string, args ...any) {
	*l = append(*l, result.Warning{Code: code, Sentence: fmt.Sprintf(format, args...)})
}

// warnings returns what a reader must know before the figures.
func warnings(r *result.Run, events []result.Event) []result.Warning {
	all := list{}
	warn := all.warn
	switch r.State {
	case result.Running:
		warn(CodeRunning, "this run is still running: the figures cover what is saved so far, and "+
			"messages are not accounted for yet")
	case result.Incomplete:
		warn(codeIncomplete,
			"this run did not finish (%s): the figures cover only the saved part, and messages "+
				"were not accounted for", r.StateReason)
	case result.Interrupted:
		warn(codeInterrupted, "this run was stopped before its end: the figures cover %s",
			quantity.Duration(r.Summary.WindowNs))
	case result.Failed:
		warn(codeFailed, "this run failed: %s", r.StateReason)
	}
	if r.Load.Closed != nil {
		warn(codeClosedLoop,
			"a closed loop: the next send waits for the answer to an earlier one, so a stall "+
				"lengthens the latencies of the few messages in flight and not those of all "+
				"messages that it delayed (coordinated omission): compare these figures with "+
				"other closed loops only")
	}
	faults(&all, r, events)
	for _, v := range r.Verdicts {
		if v.Outcome == result.Broken {
			warn(codeOf(r, v), "%s", v.Sentence)
		}
	}
	windowWarnings(&all, r)
	messageWarnings(&all, r)
	if worst := r.Summary.Series(result.Hiccup).MaxNs; worst > hiccupBoundNs {
		warn("hiccup",
			"plimsoll's own process paused for up to %s: the latencies include that pause",
			quantity.Duration(worst))
	}
	standstills(&all, r)
	for _, f := range r.Durability.Evidence {
		if f.Name == system.StandIn {
			warn(codeStandIn, "%s at %s: the figures say nothing of the system itself",
				f.Value, f.Where)
		}
	}
	if r.Durability.Single() {
		warn("single_copy", "%s of each message: it is lost with its server's disk, and out of "+
			"reach while that server is down", result.SingleCopy)
	}
	machine(&all, r)
	if r.System.SharesHost {
		warn(CodeSharedHost, "%s", SharedHost)
	}
	if r.Load.DropPageCache {
		warn(codePageCache, "%s", coldCache(r))
	}
	return all
}

// codeOf returns the code of the warning of a broken verdict.
func codeOf(r *result.Run, v result.Verdict) string {
	if v.Name == Duplicates && !exactlyOnce(r) {
		return codeCopies
	}
	return v.Name
}

// windowWarnings warns of a window without a steady state.
func windowWarnings(all *list, r *result.Run) {
	warn := all.warn
	if b := r.Backlog; b != nil && b.Then == "drain" && b.FirstNs > 0 {
		warn("backlog",
			"end-to-end latencies include the time that messages waited for their readers on "+
				"purpose: use the latencies of the stretch after catching up")
	}
	if effect, known := effectOf(r.Backlog); known && effect < leastSteadyEffect {
		warn("backlog_unsteady",
			"publish p99 was higher before the backlog was read than while it was read: the "+
				"system was not in a steady state, so these figures show no effect of the "+
				"reading; use a longer warm-up")
	}
	var longer []string
	for _, p := range r.System.Periods {
		if r.Summary.WindowNs > 0 && r.Summary.WindowNs < p.Ns {
			longer = append(longer, p.What+" ("+quantity.Duration(p.Ns)+")")
		}
	}
	if len(longer) > 0 {
		warn(codePeriods,
			"the window of %s is shorter than a period of %s: it does not include all of the "+
				"period's cost",
			quantity.Duration(r.Summary.WindowNs), strings.Join(longer, " or of "))
	}
	if s := r.Settling; s != nil && !s.Settled {
		warn("never_settled",
			"the system did not reach a steady state within the warm-up of %s: it was still "+
				"changing in the measured window, and another run may differ",
			quantity.Duration(s.MostNs))
	}
}

// messageWarnings warns of messages whose latencies are missing or bounded.
func messageWarnings(all *list, r *result.Run) {
	warn := all.warn
	c := r.Counters
	if !r.Counted() {
		c = result.Counters{Failed: c.Failed} // the others are known at the end
	}
	if without := unacknowledged(c); without != "" {
		warn(codeCensored, "%s: percentiles include these messages, and a percentile that falls "+
			"among them is a lower bound or not reached", without)
	}
	if waitedFor(r) > 0 {
		warn(codeUnread, "%s", unreadSentence(r))
	}
	if l := r.Ledger.Total(); l.RefusedReceived > 0 && !exactlyOnce(r) {
		warn("refused_received",
			"%s refused messages were delivered anyway",
			quantity.Count(l.RefusedReceived))
	}
	for _, l := range r.Ledger.Subscriptions {
		if s := l.Sharing; s != nil && s.Idle > 0 {
			warn(CodeIdle, "%s", idleSentence(r, l.Subscription, *s))
		}
	}
	for _, l := range r.Summary.Latency {
		if l.Clamped > 0 || l.Negative > 0 {
			warn("range",
				"%s: %s values above an hour were counted as an hour, %s negative ones as 0",
				l.Series, quantity.Count(l.Clamped), quantity.Count(l.Negative))
		}
	}
}

// idleSentence says that consumers of a subscription received nothing, and why if that is known.
func idleSentence(r *result.Run, subscription string, s result.Sharing) string {
	out := fmt.Sprintf("%d of %d consumers of %s received nothing (fairness %.2f)", s.Idle,
		s.Consumers, subscription, s.Fairness)
	if least := r.Load.LeastPartitions(); r.System.PartitionsOwned && least < s.Consumers {
		of := "the topic has"
		if len(r.Load.TopicKinds) > 0 {
			of = "some topics have"
		}
		out += fmt.Sprintf(": each partition belongs to one consumer, and %s %s", of,
			quantity.Count(int64(least)))
	}
	return out
}

// coldCache returns the warning of a run whose page cache was dropped.
func coldCache(r *result.Run) string {
	when := "the run: messages read at its start"
	if r.Backlog != nil {
		when = "the run, and before its backlog was read: messages read then"
	}
	return "the machine's page cache was dropped before " + when +
		" come from disk, unlike on a machine that has been in use for long"
}
