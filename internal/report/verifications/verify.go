package verifications

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/table"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Report reports on verifications.
func Report(all []*verify.Saved) form.Report {
	return form.Report{
		Document: func() document.Document { return verifyDocument(all) },
		Kind:     "a verification", Parts: "each of its rounds", OfParts: export.Formats(),
		Forms: []form.Form{form.JSON(all)},
	}
}

// verifiedSentence names the faults, the number of rounds and the load.
func verifiedSentence(s *verify.Saved) string {
	return fmt.Sprintf("%s, in %s; %s of %s offered for %s, level %d, %s",
		strings.Join(s.Faults, ", then "), phrase.Plural(s.Wanted, "round", "rounds"),
		phrase.Rate(s.Load.TargetRate), phrase.Messages(s.Load),
		phrase.Seconds(s.Load.WindowSeconds),
		s.Durability.Asked, strings.ReplaceAll(s.Load.Delivery, "_", " "))
}

// verifyWarnings are the warnings that come before the judgements.
func verifyWarnings(s *verify.Saved) []string {
	var out []string
	switch s.State {
	case result.Complete:
	case result.Running:
		out = append(out,
			"this verification is still running: the judgements cover the rounds made so far")
	default:
		out = append(out, fmt.Sprintf("this verification is %s (%s): %d of %d rounds were made",
			s.State, s.StateReason, len(s.Rounds), s.Wanted))
	}
	for _, r := range s.Rounds {
		if ended := verdict.EndedServers(&result.Run{Ended: r.Ended}); ended != "" {
			out = append(out, fmt.Sprintf(
				"round %d: %s ended without a fault: see the servers' logs", r.Number, ended))
		}
		for _, f := range r.Faults {
			if f.Error != "" {
				out = append(out, fmt.Sprintf("round %d: %s", r.Number, f.Error))
			}
		}
	}
	return out
}

// roundTable has a row for each round and subscription.
func roundTable(s *verify.Saved) document.Table {
	t := document.Table{ID: "rounds", Title: "Rounds", Corner: "round",
		Head: []document.Column{{Name: "acked", Keep: 2}, {Name: "not acked"},
			{Name: "lost", Keep: 3}, {Name: "unacked, arrived"}, {Name: "twice", Keep: 3},
			{Name: "reordered", Keep: 3}, {Name: "corrupt"}, {Name: "unavailable", Keep: 3},
			{Name: "acked again", Keep: 1}, {Name: "recovered", Keep: 2}},
		Empty: "No round was made.", Note: "Acked again and recovered: after the heal."}
	var accounts []result.SubscriptionLedger
	for _, r := range s.Rounds {
		gap, again, recovered := document.None, document.None, document.None
		for _, f := range r.Faults {
			if f.InjectedNs == 0 {
				continue
			}
			// The last fault counts.
			gap, again = table.Unavailable(f.Effect), afterHeal(f, f.Effect.AckedAgainNs)
			recovered = afterHeal(f, f.Effect.RecoveredNs)
		}
		notAcked := r.Counters.Failed + r.Counters.Unknown + r.Counters.Unsent
		for i, l := range r.Ledger {
			out := document.Row{Name: fmt.Sprint(r.Number), Link: r.Dir + "/" + result.ReportFile}
			if len(r.Ledger) > 1 {
				out.Name += " " + l.Subscription
			}
			if i > 0 {
				gap, again, recovered = "", "", ""
			}
			out.Values = document.Cells(quantity.Count(l.Acked), quantity.Count(notAcked),
				fact.Lost(l), quantity.Count(l.Unacked), quantity.Count(l.Duplicate),
				quantity.Count(l.Reordered), quantity.Count(l.Corrupt), gap, again, recovered)
			if l.Lost > 0 {
				out.Values[2].Tone = document.Bad
			}
			t.Rows, accounts = append(t.Rows, out), append(accounts, l)
		}
	}
	table.AddRare(&t, accounts)
	return t
}

// afterHeal prints a moment relative to the heal; it is negative before the heal.
func afterHeal(f result.Fault, atNs int64) string {
	switch {
	case atNs == 0 || f.HealedNs == 0:
		return document.None
	case atNs < f.HealedNs:
		return "-" + quantity.Duration(f.HealedNs-atNs)
	}
	return "+" + quantity.Duration(atNs-f.HealedNs)
}

// shownRanges bounds the messages that are named for each kind, subscription and round.
const shownRanges = 3

// evidenceSentences name the messages that were lost, came twice or came out of order, and
// when the lost ones were due and acknowledged.
func evidenceSentences(s *verify.Saved) []string {
	var out []string
	for _, r := range s.Rounds {
		for _, l := range r.Ledger {
			for _, e := range []struct {
				what string
				all  []result.Range
			}{{"lost", l.LostRanges}, {"twice", l.DuplicateRanges},
				{"reordered", l.ReorderedRanges}} {
				out = append(out, evidenceOf(r,
					fmt.Sprintf("round %d, %s, %s: ", r.Number, l.Subscription, e.what), e.all)...)
			}
		}
	}
	return out
}

func evidenceOf(r verify.Round, which string, all []result.Range) []string {
	var out []string
	for i, messages := range all {
		if i == shownRanges {
			return append(out, which+"more of them are in "+r.Dir+"/"+result.RunFile)
		}
		out = append(out, which+rangeWords(messages, r.Faults))
	}
	return out
}

func rangeWords(lost result.Range, faults []result.Fault) string {
	which := fmt.Sprintf("message %d", lost.First)
	if lost.Last > lost.First {
		which = fmt.Sprintf("messages %d to %d", lost.First, lost.Last)
	}
	out := fmt.Sprintf("%s of producer %d in partition %d of %s", which, lost.Producer,
		lost.Partition, lost.Topic)
	w := lost.When
	if w == nil {
		return out
	}
	f := nearest(faults, w.LastAckNs)
	if f == nil {
		return out
	}
	return out + fmt.Sprintf(", due from %s to %s %s began, and acknowledged from %s to %s",
		besides(w.FirstDueNs-f.StartNs), besides(w.LastDueNs-f.StartNs),
		fact.Fault(*f), besides(w.FirstAckNs-f.StartNs), besides(w.LastAckNs-f.StartNs))
}

// besides prints a time before or after an event.
func besides(ns int64) string {
	if ns < 0 {
		return quantity.Duration(-ns) + " before"
	}
	return quantity.Duration(ns) + " after"
}

// nearest is the injected fault that began nearest to a time.
func nearest(faults []result.Fault, ns int64) (best *result.Fault) {
	away := func(f *result.Fault) int64 { return max(ns-f.StartNs, f.StartNs-ns) }
	for i := range faults {
		if f := &faults[i]; f.InjectedNs != 0 && (best == nil || away(f) < away(best)) {
			best = f
		}
	}
	return best
}

// repeatSentence says how to repeat the worst round.
func repeatSentence(s *verify.Saved) string {
	if len(s.Rounds) == 0 {
		return ""
	}
	again := s.Rounds[0]
	for _, r := range s.Rounds {
		if slices.ContainsFunc(r.Guarantees,
			func(g verify.Guarantee) bool { return g.Outcome == result.Broken }) {
			again = r
			break
		}
	}
	out := fmt.Sprintf("to repeat round %d, run the same command with --rounds 1 --seed %d",
		again.Number, again.Seed)
	if len(s.Asked.Command) > 0 {
		out += "; it was " + phrase.CommandLine(s.Asked.Command)
	}
	return out
}
