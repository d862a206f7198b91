package fact

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Name is what tables call a run.
func Name(r *result.Run) string {
	for _, s := range []string{r.Name, r.System.Name, r.ID} {
		if s := document.Clean(s); s != "" {
			return s
		}
	}
	return "a run without a name"
}

// Names are the names of runs, made distinct by a number where they are not.
func Names(runs []*result.Saved) []string {
	seen := map[string]int{}
	out := make([]string, len(runs))
	for i, s := range runs {
		out[i] = Name(&s.Run)
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

// Processors names a machine's processors, or the machine, with the number of its cores.
func Processors(name string, cores int) string {
	return name + ", " + quantity.Plural(cores, "core", "cores")
}

// State describes the state of the run.
func State(r *result.Run) string {
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
	if ended := document.Clean(verdict.EndedServers(r)); ended != "" && r.State == result.Complete {
		return "over: " + ended + " ended meanwhile, which no fault of the workload asked for"
	}
	if reason := document.Clean(r.StateReason); reason != "" && r.State != result.Complete {
		return words + ": " + reason
	}
	return words
}

// StateWord is the state in a word.
func StateWord(r *result.Run) string {
	switch r.State {
	case result.Running, result.Complete, result.Interrupted, result.Failed, result.Incomplete:
		return string(r.State)
	}
	return "unknown"
}

// VerdictName is a verdict's name as people spell it.
func VerdictName(v result.Verdict) string {
	return strings.ReplaceAll(document.Clean(v.Name), "_", " ")
}

// OutcomeWord is one of the outcomes that a verdict can have.
func OutcomeWord(v result.Verdict) string {
	if v.Outcome == result.Holds || v.Outcome == result.Broken {
		return v.Outcome
	}
	return result.Unknown
}

// Errors lists the errors that the system returned.
func Errors(errs []result.Error) []string {
	var out []string
	for _, e := range errs {
		out = append(out, fmt.Sprintf("%s × %s", quantity.Count(e.Count),
			document.Clean(e.Message)))
	}
	return out
}

// maxEvents bounds the events that are listed; more are in events.jsonl.
const maxEvents = 200

// Events are the events of a run, in order with their times, without the phases. Their
// number is bounded like that of the marks on the time lines.
func Events(s *result.Saved) []document.Fact {
	var out []document.Fact
	for _, e := range s.Events {
		if e.Kind != "phase" && len(out) < maxEvents {
			out = append(out, document.Fact{
				Name: quantity.Duration(e.AtNs), Value: e.Sentence})
		}
	}
	return out
}

// Bill states the price of a run; empty if it cost nothing.
func Bill(b *result.Bill) string {
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

// Runs are the runs without their saved intervals, events and histograms.
func Runs(runs []*result.Saved) []*result.Run {
	out := make([]*result.Run, len(runs))
	for i, s := range runs {
		out[i] = &s.Run
	}
	return out
}

// Running reports whether a run is under way. Its report has no place for what is known only at
// its end.
func Running(r *result.Run) bool { return r.State == result.Running }

// AtTheEnd returns a sentence, or nothing for a run under way, of which it would say too much.
func AtTheEnd(r *result.Run, sentence string) string {
	if Running(r) {
		return ""
	}
	return sentence
}

// A run that another tool measured has zeros for figures that the tool did not record. They
// are shown as unknown.

// Imported reports whether another tool measured the run.
func Imported(r *result.Run) bool { return r.Imported != nil }

// UnlessUnknown is the text of a figure, or none where it is zero because the tool did not
// record it.
func UnlessUnknown(r *result.Run, zero bool, text string) string {
	if zero && Imported(r) {
		return document.None
	}
	return text
}

// Unrecorded reports whether a figure is zero because the tool did not record it.
func Unrecorded(r *result.Run, figure string, zero bool) bool {
	return zero && Imported(r) && !r.Imported.Knows(figure)
}

// PublishSeries is the series of publishing: publish latency, or for other tools send latency,
// which starts when a message is handed over.
func PublishSeries(r *result.Run) result.Series {
	if Imported(r) {
		return result.Send
	}
	return result.Publish
}

// Fault names a fault, its target and the nodes that it hit.
func Fault(f result.Fault) string {
	out := document.Clean(f.Do)
	if f.Do != string(workload.FaultAddPartitions) { // which has no target
		out += " " + document.Clean(f.Target)
	}
	if nodes := document.Clean(strings.Join(f.Nodes, ", ")); nodes != "" &&
		nodes != document.Clean(f.Target) {
		out += " (" + nodes + ")"
	}
	return out
}

// Window is the start of the measured window, in ns since the run started.
func Window(r *result.Run) int64 {
	from, _, _ := r.Window()
	return from
}
