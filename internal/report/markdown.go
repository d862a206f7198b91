package report

import (
	"bytes"
	"fmt"
	"io"
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
		markdownWarnings(&b, sharedWarnings(runs))
		if rows := differing(runs); len(rows) > 0 {
			markdownTable(&b, "what differs", all, rows)
		}
		markdownTable(&b, "figure", all, figureRows(runs))
	}
	for i, s := range runs {
		markdownRun(&b, all[i], s)
	}
	_, err := w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return err
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

func markdownRun(b *bytes.Buffer, name string, s *result.Saved) {
	r := &s.Run
	fmt.Fprintf(b, "### %s\n\n%s. %s, %s.\n\n", md(name), md(loadSentence(r)), moment(r.StartedAt), md(stateSentence(r)))
	markdownWarnings(b, warnings(s))
	fmt.Fprintf(b, "- **Throughput:** %s\n", md(throughputSentence(r.Summary)))
	fmt.Fprintf(b, "- **Account:** %s\n", md(accountSentence(r.Ledger)))
	fmt.Fprintf(b, "- **Messages:** %s\n", md(countersSentence(r.Counters)))
	fmt.Fprintf(b, "- **Durability:** %s\n", md(durabilitySentence(r.Durability)))
	for _, e := range errorSentences(r.Errors) {
		fmt.Fprintf(b, "- **Error:** %s\n", md(e))
	}
	for _, v := range r.Verdicts {
		fmt.Fprintf(b, "- **%s %s:** %s\n", md(verdictName(v)), outcomeWord(v), md(v.Sentence))
	}
	b.WriteString("\n")
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
		rows = append(rows, row{out.Name, append(out.Values, greatest(l))})
	}
	if len(rows) == 0 {
		b.WriteString("No message was measured.\n\n")
		return
	}
	markdownTable(b, "latency", append(columns, "max"), rows)
}
