package table

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// faultTimes gives the time and the length of a fault.
func faultTimes(r *result.Run, f result.Fault) string {
	out := "after " + quantity.Duration(f.StartNs-fact.Window(r))
	switch {
	case f.Do == string(workload.FaultRollingRestart) && f.HealedNs > 0:
		out += ", stopped in " + quantity.Duration(f.InjectedNs-f.StartNs)
		if f.InSyncNs > 0 {
			out += ", in sync again " + quantity.Duration(f.InSyncNs-f.StartNs) +
				" after the stop began"
		}
	case f.Do == string(workload.FaultAddPartitions) && f.InjectedNs > 0:
		out += ", ready in " + quantity.Duration(f.InjectedNs-f.StartNs)
		if f.FoundNs > 0 {
			out += ", found within " + quantity.Duration(f.FoundNs-f.UsedNs)
		}
	case f.InSyncNs > 0:
		out += ", all copies complete " + quantity.Duration(f.InSyncNs-f.StartNs) + " later"
	case workload.FaultKind(f.Do).Resizes() && f.HealedNs > 0:
		out += ", copies not seen complete"
	case f.InjectedNs == 0:
		out += ", never injected"
	case f.HealStartNs > 0:
		out += ", for " + quantity.Duration(f.HealStartNs-f.InjectedNs)
	}
	if f.Error != "" {
		return out + ": " + document.Clean(f.Error)
	}
	if f.HealedNs-f.HealStartNs > 1_000_000 && !workload.FaultKind(f.Do).Stays() {
		out += ", the heal took " + quantity.Duration(f.HealedNs-f.HealStartNs)
	}
	return out
}

// Unavailable prints the longest time without an acknowledgement.
func Unavailable(e result.Effect) string {
	if e.ResolutionNs == 0 {
		return document.None
	}
	return verdict.Silence(e)
}

// sinceFault prints a moment after a fault: how long after the heal and after
// the injection.
func sinceFault(f result.Fault, atNs int64, never string) string {
	if atNs == 0 {
		return never
	}
	if workload.FaultKind(f.Do).Stays() {
		return quantity.Duration(atNs-f.StartNs) + " after its beginning"
	}
	injected := quantity.Duration(atNs-f.InjectedNs) + " after the injection"
	switch heal := f.HealedNs; {
	case heal == 0:
		return injected
	case atNs < heal:
		return injected + ", " + quantity.Duration(heal-atNs) + " before the heal"
	default:
		return quantity.Duration(atNs-heal) + " after the heal, " + injected
	}
}

// FaultEffect describes the effect of a fault on acknowledgements.
func FaultEffect(f result.Fault) string {
	e := f.Effect
	if f.InjectedNs == 0 || e.ResolutionNs == 0 {
		return "its effect is not known"
	}
	out := "no acknowledgement for " + Unavailable(e)
	if e.Seen() {
		out += "; the first again " + sinceFault(f, e.AckedAgainNs, notAgain(e))
	}
	unseen := "not seen while load was offered"
	if f.Do == string(workload.FaultRollingRestart) {
		unseen = "not seen before the next restart or the end of the load"
	}
	return out + "; recovered " + sinceFault(f, e.RecoveredNs, unseen)
}

// notAgain says that no acknowledgement came after a gap.
func notAgain(e result.Effect) string {
	if e.UnavailableBound == result.AtLeast {
		return "not before the end of the load"
	}
	return "never came"
}

// FaultSentences has a sentence for each fault.
func FaultSentences(r *result.Run) []string {
	var out []string
	for _, f := range r.Faults {
		out = append(out,
			fmt.Sprintf("%s %s: %s", fact.Fault(f), faultTimes(r, f), FaultEffect(f)))
	}
	return out
}

// Impact has the figures before, during and after the faults of a run; without faults it has no
// rows.
func Impact(r *result.Run) document.Table {
	if r.Impact == nil {
		return document.Table{}
	}
	t := document.Table{ID: "impact", Title: "Before, during and after the faults",
		Note: phrase.Upper(r.Impact.Rule) + ".", Head: document.Heads("acked", "publish p50",
			"publish p99",
			"publish max", "e2e p50", "e2e p99", "e2e max")}
	for _, s := range []struct {
		name string
		result.Part
	}{{"before faults", r.Impact.Before}, {"during", r.Impact.During}, {"after", r.Impact.After}} {
		acked := float64(s.Acked) * 1e9 / float64(s.LengthNs)
		t.Add(s.name, figure.PerSecond.Known(acked, s.LengthNs > 0), latency.At(s.Publish, 50),
			latency.At(s.Publish, 99), latency.Greatest(s.Publish), latency.At(s.EndToEnd, 50),
			latency.At(s.EndToEnd, 99), latency.Greatest(s.EndToEnd))
	}
	return t
}

// Faults is the table of faults and their effects.
func Faults(r *result.Run) document.Table {
	t := document.Table{ID: "faults", Title: "Faults", Words: true,
		Head: document.Heads("when", "no acknowledgement for", "acknowledged again", "recovered",
			"what was done"),
		Note: "Times without an acknowledgement are from one acknowledgement to the next, of any " +
			"producer, while load was offered; those shorter than the reading of the run are not " +
			"seen."}
	for _, f := range r.Faults {
		again := document.None
		if f.Effect.Seen() {
			again = sinceFault(f, f.Effect.AckedAgainNs, notAgain(f.Effect))
		}
		t.Add(fact.Fault(f), faultTimes(r, f), Unavailable(f.Effect), again,
			sinceFault(f, f.Effect.RecoveredNs, "not seen"), cmp.Or(f.Sentence, document.None))
	}
	return t
}

// Scaling has the effects of each change of the number of consumers.
func Scaling(r *result.Run) document.Table {
	t := document.Table{ID: "scaling", Title: "Consumers over time",
		Note: "Standing still: the longest time between two arrivals from one partition, in the " +
			"stretch that the change begins; of the median partition, and of the slowest. ≥: it " +
			"had not ended with the stretch. It includes what is usual between two messages: " +
			"compare it with the first row.",
		Head: document.Heads("subscription", "consumers", "changed within",
			"standing still, median", "longest", "copies", "failure")}
	for _, s := range r.Scaling {
		t.Add(quantity.Duration(s.AtNs), scaled(s), strconv.Itoa(s.Consumers),
			figure.Nanoseconds.Known(float64(s.TookNs), s.TookNs != 0),
			phrase.BoundedTime(s.MedianGapNs, s.MedianGapBound),
			phrase.BoundedTime(s.LongestGapNs, s.LongestGapBound),
			quantity.Count(s.Copies), cmp.Or(s.Failure, document.None))
	}
	return t
}

// Returns has what consumers found that came back to subscriptions without any.
func Returns(r *result.Run) document.Table {
	t := document.Table{ID: "returns", Title: "Catching up",
		Note: "Consumers that came back to a subscription without any. Unread: acknowledged and " +
			"not received when they came back. Caught up within: the time from then until they " +
			"had received as many messages as had been acknowledged 100 ms before. Counts are " +
			"for each subscription.",
		Head: document.Heads("subscription", "unread", "caught up within", "read until then",
			"rate", "left unread")}
	for _, s := range r.Scaling {
		back := s.Return
		if back == nil {
			continue
		}
		within := "not in the window"
		if back.CaughtUpNs > 0 {
			within = quantity.Duration(back.CaughtUpNs)
		}
		t.Add(quantity.Duration(s.AtNs), scaled(s), quantity.Count(back.UnreadMessages), within,
			quantity.Count(back.ReadMessages), phrase.Rate(back.Rate()),
			quantity.Count(back.LeftMessages))
	}
	return t
}

// scaled is the subscription whose consumers change.
func scaled(s result.ScaleStep) string {
	if s.Subscription > 0 {
		return strconv.Itoa(s.Subscription)
	}
	return "all"
}

// Absences has the latencies before, while and after consumers were away.
func Absences(r *result.Run) document.Table {
	t := document.Table{ID: "absences", Title: "Latency beside consumers that leave",
		Note: "By the time of the acknowledgement or of the arrival. End-to-end: at " +
			"subscriptions that kept reading. Catch-up: at those that had no consumers, until " +
			"they had caught up.",
		Head: document.Heads("from", "to", "publish p50", "p99", "end-to-end p50", "p99",
			"catch-up p50", "p99")}
	for _, a := range r.Absences {
		cells := []string{quantity.Duration(a.StartNs), quantity.Duration(a.EndNs)}
		for _, l := range []result.Latency{a.Publish, a.EndToEnd, a.CatchUp} {
			cells = append(cells, latency.At(l, 50), latency.At(l, 99))
		}
		t.Add(string(a.State), cells...)
	}
	return t
}
