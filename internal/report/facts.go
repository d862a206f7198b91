package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// seriesWords says what each latency series is, in the order of tables.
var seriesWords = []struct {
	series result.Series
	title  string
}{
	{result.SendCall, "send call"},
	{result.Publish, "publish"},
	{result.Request, "request to the servers"},
	{result.EndToEnd, "end-to-end"},
	{result.Copies, "copies"},
	{result.CatchUp, "catch-up"},
	{result.Redelivered, "redelivery"},
	{result.Send, "send (uncorrected)"},
	{result.Lag, "schedule lag"},
	{result.Hiccup, "hiccup"},
}

// name is what tables call a run.
func name(r *result.Run) string {
	for _, s := range []string{r.Name, r.System.Name, r.ID} {
		if s := clean(s); s != "" {
			return s
		}
	}
	return "a run without a name"
}

// names are the names of runs, made distinct by a number where they are not.
func names(runs []*result.Saved) []string {
	seen := map[string]int{}
	out := make([]string, len(runs))
	for i, s := range runs {
		out[i] = name(&s.Run)
		seen[out[i]]++
	}
	given := map[string]int{}
	for i, n := range out {
		if seen[n] > 1 {
			given[n]++
			out[i] = fmt.Sprintf("%s #%d", n, given[n])
		}
	}
	return out
}

// stateSentence describes the state of the run.
func stateSentence(r *result.Run) string {
	words := map[result.State]string{
		result.Running:     "still running",
		result.Complete:    "complete",
		result.Interrupted: "interrupted: the figures until then are complete",
		result.Failed:      "failed",
		result.Incomplete:  "incomplete",
	}[r.State]
	if words == "" {
		words = "in an unknown state"
	}
	if ended := clean(verdict.EndedServers(r)); ended != "" && r.State == result.Complete {
		return "over: " + ended + " ended meanwhile, which no fault of the workload asked for"
	}
	if reason := clean(r.StateReason); reason != "" && r.State != result.Complete {
		return words + ": " + reason
	}
	return words
}

// stateWord is the state in a word.
func stateWord(r *result.Run) string {
	switch r.State {
	case result.Running, result.Complete, result.Interrupted, result.Failed, result.Incomplete:
		return string(r.State)
	}
	return "unknown"
}

// verdictName is a verdict's name as people spell it.
func verdictName(v result.Verdict) string { return strings.ReplaceAll(clean(v.Name), "_", " ") }

// outcomeWord is one of the outcomes that a verdict can have.
func outcomeWord(v result.Verdict) string {
	if v.Outcome == result.Holds || v.Outcome == result.Broken {
		return v.Outcome
	}
	return result.Unknown
}

// durabilityWords is durabilitySentence, and why the run is at a weaker level than its workload.
func durabilityWords(r *result.Run) string {
	if running(r) && r.Durability.Level == 0 {
		return "not read back from the cluster yet"
	}
	out := durabilitySentence(r.Durability)
	if weaker := clean(r.Asked.Weaker); weaker != "" {
		out += "; " + weaker
	}
	return out
}

// durabilitySentence gives the level asked for and the level read back from the cluster.
func durabilitySentence(d result.Durability) string {
	out := level(d.Asked) + " asked, "
	switch {
	case d.Asked == 0 && d.Level == 0:
		return "no level is on record"
	case d.Level == 0:
		out += "not read back from the cluster"
	case d.Stated:
		out += "stated and not read back from the servers alone"
	case d.Asked == 0:
		out = level(d.Level) + " read back from the cluster, none asked"
	case d.Asked != d.Level:
		out += "but " + level(d.Level) + " read back from the cluster"
	default:
		out += level(d.Level) + " read back from the cluster"
	}
	if m := clean(d.Meaning); m != "" {
		out += ": " + m
	}
	return out
}

// throughputSentence compares the achieved rate with the offered rate.
func throughputSentence(r *result.Run) string {
	s := r.Summary
	switch {
	case s.WindowNs <= 0 && running(r):
		return "nothing is measured yet"
	case s.WindowNs <= 0:
		return "nothing was measured"
	}
	out := rate(s.AchievedRate) + " acknowledged"
	switch {
	case r.Load.Closed != nil:
		out += " in a closed loop"
	// Acknowledged messages were offered: without an offered rate, that rate is unknown.
	case s.OfferedRate > 0 || s.AchievedRate == 0 && !imported(r):
		out += fmt.Sprintf(" of %s offered (%s)", rate(s.OfferedRate),
			achievedShare(s))
	}
	if s.BytesPerS > 0 || s.AchievedRate == 0 && !imported(r) {
		out += ", " + bytesPerSecond(s.BytesPerS)
	}
	if received := printed(figure.Received)(r); received != none {
		out += "; " + received + " received"
	}
	if s.Generator.Limited {
		out += "; limited by plimsoll itself, so not to be ranked"
	} else if _, is := verdict.Overloaded(r); is {
		out += "; overloaded, so its latencies are not to be ranked"
	} else if _, why := verdict.RankingOf(r); why.Code == verdict.Steady {
		out += "; " + why.Sentence + ", so not to be ranked"
	}
	return out
}

// notAccounted is printed for a run without an account.
const notAccounted = "not accounted: the run ended before its messages were counted"

// accountSentence counts lost, duplicate and reordered messages.
func accountSentence(l result.Ledger) string {
	if !l.Accounted {
		return notAccounted
	}
	t := l.Total()
	out := fmt.Sprintf("lost %s, duplicate %s, reordered %s",
		lostOf(t), quantity.Count(t.Duplicate), quantity.Count(t.Reordered))
	for _, more := range []struct {
		n    int64
		name string
	}{
		{t.ReorderedOrCopies, "reordered or copies"},
		{t.BetweenWorkers, "order between workers not watched of"},
		{t.LostWarmup, "lost of the warm-up"}, {t.Unread, "unread"}, {t.Corrupt, "corrupt"},
		{t.Misplaced, "misplaced"},
		{t.RefusedReceived, "refused and received"},
		{t.PartialTransactions, "transactions received in part"}, {t.Foreign, "foreign"},
		{t.Unacked, "received without acknowledgement"},
	} {
		if more.n > 0 {
			out += fmt.Sprintf(", %s %s", more.name, quantity.Count(more.n))
		}
	}
	out += fmt.Sprintf(" (of %s acknowledged", quantity.Count(t.Acked))
	if n := len(l.Subscriptions); n > 1 {
		out += fmt.Sprintf(", over %d subscriptions", n)
	}
	return out + ")"
}

// countersSentence is the sum of the counters in which each scheduled message ends.
func countersSentence(r *result.Run) string {
	c, equals := r.Counters, "="
	n := counts(c.Scheduled, c.Acked, c.Failed, c.Unknown, c.Unsent)
	if !r.Counted() {
		return fmt.Sprintf("%s scheduled, %s acked, %s failed; the run ended before the others "+
			"were counted", n[0], n[1], n[2])
	}
	if c.Scheduled != c.Acked+c.Failed+c.Unknown+c.Unsent {
		equals = "≠"
	}
	return fmt.Sprintf("%s scheduled %s %s acked + %s failed + %s unknown + %s unsent", n[0],
		equals, n[1], n[2], n[3], n[4])
}

// errorSentences lists the errors that the system returned.
func errorSentences(errs []result.Error) []string {
	var out []string
	for _, e := range errs {
		out = append(out, fmt.Sprintf("%s × %s", quantity.Count(e.Count), clean(e.Message)))
	}
	return out
}

// warningsOf returns the warnings of the run, its state when it is not complete, and the parts of
// it that could not be read, the gravest first.
func warningsOf(s *result.Saved) []result.Warning {
	var out []result.Warning
	told := false
	for _, w := range s.Run.Warnings {
		out = append(out, result.Warning{Code: w.Code, Sentence: clean(w.Sentence)})
		told = told || slices.Contains([]string{"incomplete", verdict.CodeRunning, "interrupted",
			"failed"}, w.Code)
	}
	if s.Run.State != result.Complete && !told {
		out = append(out, result.Warning{Code: string(s.Run.State),
			Sentence: "this run is " + stateSentence(&s.Run)})
	}
	for _, d := range s.Damage {
		out = append(out, result.Warning{Code: string(result.Incomplete),
			Sentence: "part of this run could not be read: " + clean(d)})
	}
	verdict.BySeverity(out)
	return out
}

// sentences are those of warnings.
func sentences(all []result.Warning) (out []string) {
	for _, w := range all {
		out = append(out, w.Sentence)
	}
	return out
}

func warnings(s *result.Saved) []string { return sentences(warningsOf(s)) }

// maxEvents bounds the events that are listed; more are in events.jsonl.
const maxEvents = 200

// happened are the events of a run, in order with their times, without the phases. Their
// number is bounded like that of the marks on the time lines.
func happened(s *result.Saved) []document.Fact {
	var out []document.Fact
	for _, e := range s.Events {
		if e.Kind != "phase" && len(out) < maxEvents {
			out = append(out, document.Fact{
				Name: quantity.Duration(e.AtNs), Value: e.Sentence})
		}
	}
	return out
}

// uncorrectedSentence says how much coordinated omission would hide.
func uncorrectedSentence(r *result.Run) string {
	if r.Load.Closed != nil {
		return "A closed loop: a message is due when an earlier send has been answered, so " +
			"publish latency is send latency and the time to begin. Messages that a stall kept " +
			"from being sent have no latency (coordinated omission)."
	}
	s := r.Summary
	publish, send := s.Series(result.Publish), s.Series(result.Send)
	for _, p := range []float64{99, 50} {
		due, ok1 := exactAt(publish, p)
		handed, ok2 := exactAt(send, p)
		if !ok1 || !ok2 || handed <= 0 {
			continue
		}
		out := fmt.Sprintf("At %s the uncorrected send latency, the figure most tools print, is %s",
			percentileName(p), quantity.Duration(handed))
		if float64(due)/float64(handed) >= 1.1 {
			return out + fmt.Sprintf(". Counted from the moment each message was due it is %s: "+
				"the difference is time that messages waited before they could be handed over, "+
				"which the uncorrected figure leaves out (coordinated omission).",
				quantity.Duration(due))
		}
		return out + fmt.Sprintf(", and counted from the moment each message was due it is %s: "+
			"here the two agree, because producers rarely had to wait.", quantity.Duration(due))
	}
	return ""
}

// billSentence states the price of a run; empty if it cost nothing.
func billSentence(b *result.Bill) string {
	if b == nil {
		return ""
	}
	limit := ""
	if b.MaxUSD > 0 {
		limit = ", of " + result.Dollars(b.MaxUSD) + " allowed"
	}
	return fmt.Sprintf("%s requests for %s%s; estimated were %s for %s; %s",
		quantity.Count(b.Requests), result.Dollars(b.USD), limit,
		quantity.Count(b.EstimatedRequests), result.Dollars(b.EstimatedUSD), b.Price)
}
