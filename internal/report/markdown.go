package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/result"
)

// markdownSpecial keeps text from outside from becoming markup.
var markdownSpecial = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "|", `\|`, "[", `\[`,
	"]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "~", `\~`)

func md(s string) string { return markdownSpecial.Replace(clean(s)) }

// Markdown writes tables for a pull request or a wiki.
func Markdown(w io.Writer, runs []*result.Saved) error {
	var b bytes.Buffer
	if len(runs) == 0 {
		b.WriteString("No runs.\n")
	}
	all := names(runs)
	if len(runs) > 1 {
		fmt.Fprintf(&b, "## %d runs side by side\n\n", len(runs))
		markdownWarnings(&b, slices.Concat(incomparable(runs), exceptions(runs),
			sharedWarnings(runs)))
		markdownComparison(&b, runs, all)
	}
	for i, s := range runs {
		markdownRun(&b, all[i], s)
	}
	_, err := w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return err
}

// markdownComparison writes the settings that differ, the equal settings (folded, where the
// viewer can fold) and the figures.
func markdownComparison(b *bytes.Buffer, runs []*result.Saved, all []string) {
	if rows := differing(runs); len(rows) > 0 {
		markdownTable(b, "what differs", all, rows)
	}
	if rows := equal(runs); len(rows) > 0 {
		for i := range rows {
			rows[i].Values = rows[i].Values[:1]
		}
		fmt.Fprintf(b, "<details><summary>What is equal in all runs (%d)</summary>\n\n", len(rows))
		markdownTable(b, "what is equal", []string{"in all runs"}, rows)
		b.WriteString("</details>\n\n")
	}
	heads := slices.Clone(all)
	for i, mark := range marks(runs) {
		if mark != "" {
			heads[i] += " (not ranked: " + mark + ")"
		}
	}
	markdownTable(b, "figure", heads, figureRows(runs))
}

func markdownTable(b *bytes.Buffer, corner string, columns []string, rows []row) {
	fmt.Fprintf(b, "| %s |", corner)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", md(c))
	}
	b.WriteString("\n|:--|" + strings.Repeat("--:|", len(columns)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s |", md(r.Name))
		for _, v := range r.Values {
			fmt.Fprintf(b, " %s |", md(v))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

func markdownWarnings(b *bytes.Buffer, sentences []string) {
	for i, w := range sentences {
		if i > 0 {
			b.WriteString(">\n")
		}
		fmt.Fprintf(b, "> **Warning:** %s\n", md(w))
	}
	if len(sentences) > 0 {
		b.WriteString("\n")
	}
}

func markdownStretches(b *bytes.Buffer, of *result.Backlog) {
	if of != nil && len(of.Stretches) > 0 {
		t := stretchTable(of)
		markdownTable(b, "while a backlog was read", t.Head, t.Rows)
	}
}

func markdownRun(b *bytes.Buffer, name string, s *result.Saved) {
	r := &s.Run
	fmt.Fprintf(b, "### %s\n\n%s. %s, %s.\n\n", md(name), md(loadSentence(r)), moment(r.StartedAt),
		md(stateSentence(r)))
	markdownWarnings(b, warnings(s))
	sure := newWithin(s)
	markdownFacts(b, s, sure)
	b.WriteString("\n")
	markdownStretches(b, r.Backlog)
	if rows := impactRows(r); len(rows) > 0 {
		markdownTable(b, "around faults", impactHead, rows)
		fmt.Fprintf(b, "%s\n\n", md(r.Impact.Rule))
	}
	markdownLatency(b, r, sure)
}

// markdownLatency writes the table of latencies and its notes.
func markdownLatency(b *bytes.Buffer, r *result.Run, sure within) {
	var heads []string
	for _, p := range terminalColumns {
		heads = append(heads, percentileName(p))
	}
	var rows []row
	for _, l := range latencyRows(r.Summary) {
		out := row{Name: l.title}
		for _, p := range terminalColumns {
			value := at(l.Latency, p)
			if span, ok := sure.of(l.Series, p); ok && p == 99 && l.whole {
				value += " (95%: " + span.String() + ")"
			}
			out.Values = append(out.Values, value)
		}
		out.Values = append(out.Values, greatest(l.Latency))
		rows = append(rows, out)
	}
	if len(rows) == 0 {
		b.WriteString("No message was measured.\n\n")
		return
	}
	markdownTable(b, md(ofArrivals("latency", r.Load)), append(heads, "max"), rows)
	for _, sentence := range missingSentences(r.Summary) {
		fmt.Fprintf(b, "%s.\n\n", md(sentence))
	}
}

// markdownFacts writes the facts of a run as sentences, without the unknown ones.
func markdownFacts(b *bytes.Buffer, s *result.Saved, sure within) {
	r := &s.Run
	say := func(name string, sentences ...string) {
		for _, sentence := range sentences {
			if sentence != "" {
				fmt.Fprintf(b, "- **%s:** %s\n", name, md(sentence))
			}
		}
	}
	say("Throughput", throughputSentence(r))
	say("p95", minuteSentence(r.Summary.Minutes))
	say("Backlog", backlogSentence(r.Backlog))
	say("Effect", effectSentence(r.Backlog))
	say("Fault", faultSentences(r)...)
	say("Account", accountLine(r), boundSentence(r))
	if !imported(r) {
		say("Messages", countersSentence(r.Counters))
	}
	say("Durability", durabilityWords(r))
	say("Intervals", sure.sentence())
	say("Instrument", instrumentSentence(r.Summary))
	say("Proved", proofSentence(r.Environment.Proof))
	say("Format", lacksSentence(r))
	say("Start-up", startupSentence(r))
	say("Cost", costSentence(r))
	say("Price", price.Sentence(s.Price))
	say("Bill", billSentence(r.Bill))
	say("Limit", limitSentence(r))
	say("Error", errorSentences(r.Errors)...)
	for _, v := range r.Verdicts {
		fmt.Fprintf(b, "- **%s %s:** %s\n", md(verdictName(v)), outcomeWord(v), md(v.Sentence))
	}
}
