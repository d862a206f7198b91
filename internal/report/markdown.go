package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
)

// markdownSpecial keeps text from outside from becoming markup.
var markdownSpecial = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "|", `\|`, "[", `\[`, "]", `\]`,
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
		markdownWarnings(&b, append(incomparable(runs), sharedWarnings(runs)...))
		markdownComparison(&b, runs, all)
	}
	for i, s := range runs {
		markdownRun(&b, all[i], s)
	}
	_, err := w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return err
}

// markdownComparison writes what differs, what is equal (folded, where a reader
// of Markdown can fold) and the figures.
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
	fmt.Fprintf(b, "### %s\n\n%s. %s, %s.\n\n", md(name), md(loadSentence(r)), moment(r.StartedAt), md(stateSentence(r)))
	markdownWarnings(b, warnings(s))
	fmt.Fprintf(b, "- **Throughput:** %s\n", md(throughputSentence(r)))
	if minutes := minuteSentence(r.Summary.Minutes); minutes != "" {
		fmt.Fprintf(b, "- **p95:** %s\n", md(minutes))
	}
	for _, of := range []struct{ label, sentence string }{{"Backlog", backlogSentence(r.Backlog)}, {"Effect", effectSentence(r.Backlog)}} {
		if of.sentence != "" {
			fmt.Fprintf(b, "- **%s:** %s\n", of.label, md(of.sentence))
		}
	}
	fmt.Fprintf(b, "- **Account:** %s\n", md(accountLine(r)))
	if !imported(r) {
		fmt.Fprintf(b, "- **Messages:** %s\n", md(countersSentence(r.Counters)))
	}
	fmt.Fprintf(b, "- **Durability:** %s\n", md(durabilitySentence(r.Durability)))
	if within := withinSentence(s); within != "" {
		fmt.Fprintf(b, "- **Intervals:** %s\n", md(within))
	}
	if cost := costSentence(r); cost != "" {
		fmt.Fprintf(b, "- **Cost:** %s\n", md(cost))
	}
	if limit := limitSentence(r); limit != "" {
		fmt.Fprintf(b, "- **Limit:** %s\n", md(limit))
	}
	for _, e := range errorSentences(r.Errors) {
		fmt.Fprintf(b, "- **Error:** %s\n", md(e))
	}
	for _, v := range r.Verdicts {
		fmt.Fprintf(b, "- **%s %s:** %s\n", md(verdictName(v)), outcomeWord(v), md(v.Sentence))
	}
	b.WriteString("\n")
	markdownStretches(b, r.Backlog)
	var columns []string
	for _, p := range terminalColumns {
		columns = append(columns, percentileName(p))
	}
	var rows []row
	for _, word := range seriesWords {
		l := r.Summary.Series(word.series)
		if l.Count == 0 {
			continue
		}
		out := row{Name: word.title}
		for _, p := range terminalColumns {
			out.Values = append(out.Values, at(l, p))
		}
		out.Values = append(out.Values, greatest(l))
		rows = append(rows, out)
	}
	if len(rows) == 0 {
		b.WriteString("No message was measured.\n\n")
		return
	}
	markdownTable(b, "latency", append(columns, "max"), rows)
}
