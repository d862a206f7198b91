package verdict

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// AchievedBound is the share of the offered rate that must be reached.
const (
	AchievedBound = 0.99
	achievedBound = AchievedBound
)

// Read reads the run in a directory, or in the target of a link, and judges it by the rules
// of this plimsoll, which may differ from those of the plimsoll that measured it.
func Read(dir string) (*result.Saved, error) {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	saved, err := result.Read(dir)
	if err != nil {
		return nil, err
	}
	JudgeSaved(saved)
	return saved, nil
}

// Keep is Read, and stores the verdicts in the run directory.
func Keep(dir string) (*result.Saved, error) {
	saved, err := Read(dir)
	if err != nil {
		return nil, err
	}
	return saved, result.Save(dir, &saved.Run)
}

// JudgeSaved replaces the verdicts and warnings of a run, and the effects of its faults, by
// new ones from the saved data.
func JudgeSaved(s *result.Saved) {
	faultsOf(s)
	absencesOf(s)
	driftOf(s)
	fill(&s.Run, receiving(s), steady(s), s.Events)
	BySeverity(s.Run.Warnings)
}

func fill(r *result.Run, receiving, steady result.Verdict, events []result.Event) {
	if r.Imported != nil {
		r.Verdicts = imported(r, receiving)
		r.Warnings = importWarnings(r)
		return
	}
	markOwnErrors(r)
	r.Verdicts = []result.Verdict{generator(r), rate(r), receiving, steady,
		accounted(Loss, r, loss), accounted(Order, r, order), accounted(Duplicates, r, duplicates)}
	if exactlyOnce(r) {
		r.Verdicts = append(r.Verdicts, accounted(Aborted, r, aborted),
			accounted(Transactions, r, transactions))
	}
	if h := r.Load.Handling; h != nil && h.Fails > 0 {
		r.Verdicts = append(r.Verdicts, accounted(Redelivery, r, redelivery))
	}
	r.Verdicts = append(r.Verdicts, failures(r), durability(r), counts(r))
	if len(r.Ended) > 0 {
		r.Verdicts = append(r.Verdicts, servers(r))
	}
	if r.Rolling != nil {
		r.Verdicts = append(r.Verdicts, rolling(r))
	}
	if changes := resizes(r); len(changes) > 0 {
		r.Verdicts = append(r.Verdicts, resized(r, changes))
	}
	if at := slices.IndexFunc(r.Faults, addsPartitions); at >= 0 {
		r.Verdicts = append(r.Verdicts, discovered(r, r.Faults[at]))
	}
	if r.Trends != nil {
		r.Verdicts = append(r.Verdicts, drift(r.Trends, r.Summary.WindowNs))
	}
	if r.Backlog != nil {
		r.Verdicts = append(r.Verdicts, catchUp(r.Backlog))
	}
	r.Summary.Generator.Limited = r.Verdicts[0].Outcome == result.Broken
	r.Warnings = warnings(r, events)
}

// BrokenPromises returns the broken verdicts on what the system promised: that it loses and damages
// no acknowledged message, delivers none twice where it promised exactly once, delivers again what
// consumers gave back, has the requested durability level, lets its readers catch up with a
// backlog, acknowledges at least one message, and loses no server without a fault of the workload.
// Refused messages break no promise.
func BrokenPromises(r *result.Run) (out []result.Verdict) {
	if c := r.Counters; c.Scheduled > 0 && c.Acked == 0 && r.State == result.Complete {
		out = append(out, say(Failures, result.Broken, "nothing was acknowledged"))
	}
	promised := []string{Loss, Durability, CatchUp, Redelivery, Servers}
	if exactlyOnce(r) {
		promised = append(promised, Duplicates, Aborted, Transactions)
	}
	for _, v := range r.Verdicts {
		if v.Outcome == result.Broken && slices.Contains(promised, v.Name) {
			out = append(out, v)
		}
	}
	return out
}

// Sound reports whether the system kept its promises.
func Sound(r *result.Run) bool { return len(BrokenPromises(r)) == 0 }

// The names of the verdicts.
const (
	Generator    = "generator"
	Rate         = "rate"
	Receiving    = "receiving"
	Steady       = "steady"
	Loss         = "loss"
	Order        = "order"
	Duplicates   = "duplicates"
	Aborted      = "aborted_read" // of exactly_once delivery only
	Transactions = "transactions" // of exactly_once delivery only
	Redelivery   = "redelivery"   // of runs whose consumers give messages back
	Failures     = "failures"
	Durability   = "durability"
	Servers      = "servers"         // of runs in which one ended by itself
	Rolling      = "rolling_restart" // of runs with one
	Resized      = "resized"         // of runs in which servers joined or left
	Discovered   = "discovered"      // of runs in which partitions were added
	Trends       = "trends"          // of long windows
	Counts       = "counts"
)

func say(name, outcome, format string, args ...any) result.Verdict {
	return result.Verdict{Name: name, Outcome: outcome, Sentence: fmt.Sprintf(format, args...)}
}

// rate judges whether the system kept up with the offered rate.
func rate(r *result.Run) result.Verdict {
	s := r.Summary
	if why := lostWorker(r); why != "" {
		return say(Rate, result.Unknown, "%s", why)
	}
	if r.Load.Closed != nil {
		return say(Rate, result.Unknown,
			"%s was acknowledged: a closed loop offers only what the system answers, so whether "+
				"the system keeps up with a rate cannot be judged", quantity.Rate(s.AchievedRate))
	}
	if s.OfferedRate == 0 {
		return say(Rate, result.Unknown, "nothing was offered in the measured window")
	}
	share := s.AchievedRate / s.OfferedRate
	if share < achievedBound {
		return say(Rate, result.Broken, "%s was offered and %s acknowledged in time (%s)",
			quantity.Rate(s.OfferedRate), quantity.RateBeside(s.AchievedRate, s.OfferedRate),
			quantity.PercentBeside(share, achievedBound))
	}
	return say(Rate, result.Holds, "%s was offered and %s acknowledged",
		quantity.Rate(s.OfferedRate), quantity.Rate(s.AchievedRate))
}

// lostWorker says what is not known because a worker was lost; empty: none was. The counters have
// the worker's last report, and what the others did until the worker was given up.
func lostWorker(r *result.Run) string {
	for _, w := range r.Workers {
		if w.Lost != "" {
			return "worker " + w.Name + " was lost: what it offered and received is known " +
				"only in part"
		}
	}
	return ""
}

// loss judges whether every acknowledged message arrived undamaged. A message that did not arrive
// is lost as far as something shows that it will not come any more (see internal/measure,
// Evidence); otherwise the verdict is unknown.
func loss(r *result.Run, l result.SubscriptionLedger) result.Verdict {
	switch {
	case l.Corrupt > 0:
		return say(Loss, result.Broken, "%s messages arrived damaged", quantity.Count(l.Corrupt))
	case l.Acked == 0:
		return say(Loss, result.Unknown, "nothing was acknowledged: cannot judge")
	case l.Lost+l.Unread == 0:
		return say(Loss, result.Holds, "every acknowledged message arrived: %s of %s",
			quantity.Count(l.Acked), quantity.Count(l.Acked))
	case r.State == result.Interrupted || r.State == result.Failed:
		return say(Loss, result.Unknown,
			"%s acknowledged messages had not arrived when the run was cut short", quantity.Count(
				l.Lost+l.Unread))
	case l.Lost == 0:
		return say(Loss, result.Unknown, "%s", unreadSentence(r))
	}
	words := quantity.Count(l.Lost) + " acknowledged messages never arrived"
	if l.LostWarmup > 0 {
		words += fmt.Sprintf(" (%s of them are the warm-up's)", quantity.Count(l.LostWarmup))
	}
	if r.Load.Delivery == "at_most_once" {
		words += ", which at_most_once delivery allows"
	}
	if l.Unread > 0 {
		words += fmt.Sprintf("; %s more had not arrived when the run ended, and may be lost too",
			quantity.Count(l.Unread))
	}
	return say(Loss, result.Broken, "%s%s", words, GonePartitions(r))
}

// GonePartitions continues a sentence about lost messages where the servers say that partitions are
// gone; empty: they do not.
func GonePartitions(r *result.Run) string {
	if r.Ledger.GonePartitions == 0 {
		return ""
	}
	return fmt.Sprintf("; the servers say that they no longer have %s of the partitions",
		quantity.Count(int64(r.Ledger.GonePartitions)))
}

// unreadSentence says why messages are unread, not lost.
func unreadSentence(r *result.Run) string {
	t := r.Ledger.Total()
	n := quantity.Count(t.Unread)
	if t.AwaitedNs > 0 {
		return fmt.Sprintf("%s acknowledged messages did not arrive within %s after the last "+
			"arrival, and may be lost or late: write audit: true in the workload to read "+
			"everything again", n, quantity.Duration(t.AwaitedNs))
	}
	if waitedFor(r) > 0 {
		return fmt.Sprintf("%s acknowledged messages were unread when the drain ended, and "+
			"messages were still arriving: use a longer drain or a lower rate",
			quantity.Count(waitedFor(r)))
	}
	return fmt.Sprintf(
		"consumers that read late had not read %s acknowledged messages when the run ended", n)
}

// waitedFor returns how many messages had not reached the workload's own subscriptions when the
// run stopped waiting for them, and are not known to be lost.
func waitedFor(r *result.Run) (n int64) {
	if b := r.Backlog; b != nil && b.End != result.BacklogCaughtUp {
		return 0 // the run gave the readers up
	}
	own := r.Ledger.Subscriptions
	for _, l := range own[:min(len(own), r.Load.Subscriptions)] {
		n += l.Unread
	}
	return n
}

// failures judges whether the system refused messages or left them unanswered.
func failures(r *result.Run) result.Verdict {
	c := r.Counters
	if why := lostWorker(r); why != "" {
		return say(Failures, result.Unknown, "%s", why)
	}
	if c.Scheduled == 0 {
		return say(Failures, result.Unknown, "nothing was scheduled in the measured window")
	}
	switch whole := r.Counted() && c.Acked+c.Failed+c.Unknown+c.Unsent == c.Scheduled; {
	case !whole && c.Failed > 0:
		return say(Failures, result.Broken, "%s",
			unacknowledged(result.Counters{Failed: c.Failed}))
	case !whole:
		return say(Failures, result.Unknown, notAccounted)
	}
	if c.Failed+c.Unknown+c.Unsent == 0 {
		return say(Failures, result.Holds, "every message was sent and acknowledged")
	}
	return say(Failures, result.Broken, "%s", unacknowledged(c))
}

// unacknowledged counts the messages that were not acknowledged, by reason.
func unacknowledged(c result.Counters) string {
	return result.Missing{Unanswered: c.Unknown, Refused: c.Failed, Unsent: c.Unsent}.Words()
}

func durability(r *result.Run) result.Verdict {
	d := r.Durability
	switch {
	case d.Level == 0:
		return say(Durability, result.Unknown, "level %d was set and could not be read back",
			d.Asked)
	case d.Level != d.Asked:
		return say(Durability, result.Broken, "level %d was asked for, the cluster is at level %d",
			d.Asked, d.Level)
	case d.Stated:
		return say(Durability, result.Holds, "level %d, stated and not read back from the "+
			"servers alone: an acknowledged message is %s", d.Level, d.Meaning)
	}
	return say(Durability, result.Holds,
		"level %d, read back from the cluster: an acknowledged message is %s", d.Level, d.Meaning)
}
