package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
)

// VerifyFormats are the forms that verifications can be written in.
func VerifyFormats() []string { return []string{"table", "html", "md", "json"} }

// RenderVerifications writes verifications in the named format.
func RenderVerifications(w io.Writer, format string, all []*verify.Saved) error {
	switch format {
	case "table":
		return VerifyTerminal(w, all, defaultWidth, false)
	case "html":
		return VerifyHTML(w, all)
	case "md":
		return VerifyMarkdown(w, all)
	case "json":
		return VerifyJSON(w, all)
	}
	if slices.Contains(Formats(), format) {
		return fmt.Errorf(
			"a verification is written as table, html, md or json, not as %s: each of its rounds "+
				"is a run directory that can be", format)
	}
	return errors.New(strict.Unknown("report format", format, VerifyFormats()))
}

// VerifyJSON writes each verification's experiment.json, in one array.
func VerifyJSON(w io.Writer, all []*verify.Saved) error {
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode verifications as JSON: %w", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// guaranteeWords are the guarantees in words.
var guaranteeWords = map[string]string{
	verify.NoLoss:       "no acknowledged message is lost",
	verify.NoDuplicates: "no message is received twice",
	verify.Order:        "messages come in the order of their topic, producer and partition",
}

// promiseWord says whether a guarantee is promised.
func promiseWord(g verify.Guarantee) string {
	if g.Promised {
		return "promised"
	}
	return "not promised"
}

// guaranteeCode is the colour of an outcome. A guarantee that was not promised is neither good
// nor bad.
func guaranteeCode(g verify.Guarantee) string {
	if !g.Promised {
		return ""
	}
	return map[string]string{result.Holds: good, result.Broken: bad,
		result.Unknown: warn}[g.Outcome]
}

// verifiedSentence names the faults, the number of rounds and the load.
func verifiedSentence(s *verify.Saved) string {
	return fmt.Sprintf("%s, in %s; %s of %s messages offered for %s, level %d, %s",
		clean(strings.Join(s.Faults, ", then ")),
		plural(int64(s.Wanted), "round",
			"rounds"), rate(s.Load.TargetRate), quantity.Bytes(s.Load.MessageBytes),
		seconds(s.Load.WindowSeconds),
		s.Durability.Asked, strings.ReplaceAll(clean(s.Load.Delivery), "_", " "))
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
			s.State, clean(s.StateReason), len(s.Rounds), s.Wanted))
	}
	for _, r := range s.Rounds {
		for _, f := range r.Faults {
			if f.Error != "" {
				out = append(out, fmt.Sprintf("round %d: %s", r.Number, clean(f.Error)))
			}
		}
	}
	return out
}

// lostSentence says how lost messages were told from late ones.
func lostSentence(s *verify.Saved) string {
	return fmt.Sprintf(
		"lost messages were acknowledged and had not arrived when no message had come for %s "+
			"after the heal, or %s after the load; unacknowledged messages may legally arrive",
		seconds(s.QuietSeconds), seconds(s.DrainSeconds))
}

// roundHead is the head of the table of rounds.
var roundHead = []string{"acked", "not acked", "lost", "unacked, arrived", "twice", "reordered",
	"unavailable", "acked again", "recovered"}

// roundRows is a row for each round and subscription.
func roundRows(s *verify.Saved) []row {
	var rows []row
	for _, r := range s.Rounds {
		gap, again, recovered := none, none, none
		for _, f := range r.Faults {
			if f.InjectedNs == 0 {
				continue
			}
			// The last fault counts.
			gap, again, recovered = unavailable(f.Effect), afterHeal(f,
				f.Effect.AckedAgainNs), afterHeal(f, f.Effect.RecoveredNs)
		}
		for i, l := range r.Ledger {
			out := row{Name: fmt.Sprint(r.Number),
				Values: []string{quantity.Count(l.Acked),
					quantity.Count(r.Counters.Failed + r.Counters.Unknown +
						r.Counters.Unsent), lostOf(l), quantity.Count(l.Unacked),
					duplicateOf(l), reorderedOf(l), gap, again, recovered}}
			if len(r.Ledger) > 1 {
				out.Name += " " + clean(l.Subscription)
			}
			if i > 0 {
				copy(out.Values[6:], []string{"", "", ""})
			}
			rows = append(rows, out)
		}
	}
	return rows
}

// afterHeal prints a moment relative to the heal; it is negative before the heal.
func afterHeal(f result.Fault, atNs int64) string {
	if atNs == 0 || f.HealedNs == 0 {
		return none
	}
	return signedDuration(atNs - f.HealedNs)
}

func signedDuration(ns int64) string {
	if ns < 0 {
		return "-" + quantity.Duration(-ns)
	}
	return "+" + quantity.Duration(ns)
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
					fmt.Sprintf("round %d, %s, %s: ", r.Number, clean(l.Subscription),
						e.what), e.all)...)
			}
		}
	}
	return out
}

func evidenceOf(r verify.Round, which string, all []result.Range) []string {
	var out []string
	for i, messages := range all {
		if i == shownRanges {
			return append(out, which+"more of them are in "+clean(r.Dir)+"/"+result.RunFile)
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
		lost.Partition, clean(lost.Topic))
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
		faultTitle(*f), besides(w.FirstAckNs-f.StartNs), besides(w.LastAckNs-f.StartNs))
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
		again.Number,
		again.Seed)
	if len(s.Asked.Command) > 0 {
		out += "; it was " + clean(commandLine(s.Asked.Command))
	}
	return out
}

// commandLine is a command as a shell reads it.
func commandLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsFunc(w, quoted) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// quoted reports whether a rune may have a special meaning in a shell.
func quoted(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._/=:,@%+-", r)
}

// VerifyTerminal writes verifications for a terminal of the given width.
func VerifyTerminal(w io.Writer, all []*verify.Saved, width int, color bool) error {
	p := newPage(orDefault(width), color)
	if len(all) == 0 {
		p.line("no verifications")
	}
	for i, s := range all {
		if i > 0 {
			p.line("")
		}
		p.verification(s)
	}
	if len(all) > 1 {
		p.line("")
		p.matrix(matrixOf(all))
	}
	_, err := w.Write(p.Bytes())
	return err
}

// matrix writes one cell per line, because few terminals are as wide as its columns.
func (p *page) matrix(m table) {
	p.line(p.paint.as(strong, "together"))
	names, faults := 0, 0
	for _, r := range m.Rows {
		names = max(names, columns(r.Name))
	}
	for _, f := range m.Head {
		faults = max(faults, columns(f))
	}
	for _, r := range m.Rows {
		for i, v := range r.Values {
			if v != none {
				p.line("  " + pad(r.Name, names+2) + pad(m.Head[i], faults+2) + v)
			}
		}
	}
}

func (p *page) verification(s *verify.Saved) {
	when := "  " + moment(s.StartedAt) + "  " + string(s.State)
	p.line(p.paint.as(strong, cut(clean(s.Name)+": what an acknowledgement is worth",
		max(p.width-columns(when), 10))) + p.paint.as(faint, when))
	for _, l := range wrap(verifiedSentence(s), p.width) {
		p.line(l)
	}
	p.line("")
	for _, sentence := range verifyWarnings(s) {
		p.said("warning", warn, sentence)
	}
	for _, g := range s.Guarantees {
		label := g.Outcome
		if !g.Promised {
			label = "no promise"
		}
		p.said(label, guaranteeCode(g),
			fmt.Sprintf("%s (%s): %s", guaranteeWords[g.Name], promiseWord(g), clean(g.Sentence)))
		p.said("", faint, clean(g.Why))
	}
	p.line("")
	rows := [][]string{append([]string{"round"}, roundHead...)}
	for _, r := range roundRows(s) {
		rows = append(rows, append([]string{r.Name}, r.Values...))
	}
	for i, l := range columnsOf(rows) {
		if i == 0 {
			l = p.paint.as(faint, l)
		}
		p.line(l)
	}
	p.line("")
	label := "evidence"
	for _, sentence := range evidenceSentences(s) {
		p.said(label, "", sentence)
		label = ""
	}
	p.said("lost", faint, lostSentence(s))
	p.said("durability", "", durabilitySentence(s.Durability))
	p.said("repeat", "", repeatSentence(s))
}
