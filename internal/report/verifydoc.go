package report

import (
	"bytes"
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// matrixOf is the table of verifications: a row for each system, level and delivery, a column
// for each fault.
func matrixOf(all []*verify.Saved) table {
	t := table{ID: "matrix", Title: "Systems, levels and faults", Words: true,
		Note: "Held: none of the acknowledged messages was lost, and the other promised " +
			"guarantees held too. In brackets: the greatest share of rounds that may fail, given " +
			"that number of rounds without a failure (95% confidence)."}
	cells := map[string][]*verify.Saved{}
	var names []string
	for _, s := range all {
		if len(s.Rounds) == 0 {
			continue
		}
		name, fault := rowOf(s), columnOf(s)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if !slices.Contains(t.Head, fault) {
			t.Head = append(t.Head, fault)
		}
		cells[name+"\n"+fault] = append(cells[name+"\n"+fault], s)
	}
	slices.Sort(names)
	slices.SortStableFunc(t.Head, func(a, b string) int { return placeOf(a) - placeOf(b) })
	for _, name := range names {
		r := row{Name: name}
		for _, fault := range t.Head {
			r.Values = append(r.Values, matrixCell(cells[name+"\n"+fault]))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func rowOf(s *verify.Saved) string {
	out := fmt.Sprintf("%s, level %d", clean(s.Name), s.Durability.Asked)
	if d := s.Load.Delivery; d != string(workload.AtLeastOnce) {
		out += ", " + strings.ReplaceAll(clean(d), "_", " ")
	}
	return out
}

// columnOf names the faults of a verification and their targets.
func columnOf(s *verify.Saved) string {
	var all []string
	for _, f := range s.Faults {
		words := strings.Fields(clean(f))
		all = append(all, strings.Join(words[:min(2, len(words))], " "))
	}
	return strings.Join(all, ", then ")
}

// placeOf is a column's place, by the kind of its fault.
func placeOf(column string) int {
	kind, _, _ := strings.Cut(column, " ")
	return slices.Index(workload.FaultKinds(), workload.FaultKind(kind))
}

// matrixCell is the outcome of the verifications of one kind.
func matrixCell(all []*verify.Saved) string {
	if len(all) == 0 {
		return none
	}
	var lost, of int64
	rounds, promised, unknown := 0, true, false
	var more []string
	for _, s := range all {
		rounds += len(s.Rounds)
		g := s.Guarantee(verify.NoLoss)
		lost, of, promised = lost+g.Count, of+g.Of, promised && g.Promised
		if g.Outcome == result.Unknown || s.State != result.Complete {
			unknown = true
		}
		for _, g := range s.Guarantees {
			switch {
			case g.Name == verify.NoLoss || !g.Promised || g.Outcome == result.Holds:
			case g.Outcome == result.Unknown:
				unknown = true
			default:
				word := map[string]string{verify.NoDuplicates: "twice",
					verify.Order: "reordered"}[g.Name]
				more = append(more, fmt.Sprintf("%s %s", word, quantity.Count(g.Count)))
			}
		}
	}
	out := fmt.Sprintf("lost %s of %s", quantity.Count(lost), quantity.Count(of))
	held := !unknown && lost == 0 && len(more) == 0
	switch {
	case unknown:
		// Missing messages may still be stored on servers that are not back.
		out = fmt.Sprintf("unknown%s: %s of %s did not arrive", unknownOf(all),
			quantity.Count(lost), quantity.Count(of))
	case held:
		out = fmt.Sprintf("held: %s", out)
	}
	if !promised {
		out += " (not promised)"
	}
	out = strings.Join(append([]string{out}, more...), ", ") + ", " +
		plural(int64(rounds), "round", "rounds")
	if held {
		out += fmt.Sprintf(" (at most %s fail)", verify.MostFailing(rounds))
	}
	return out
}

// unknownOf counts the unknown rounds; empty where none or all are unknown.
func unknownOf(all []*verify.Saved) string {
	unknown, rounds := 0, 0
	for _, s := range all {
		for _, r := range s.Rounds {
			rounds++
			if slices.ContainsFunc(r.Guarantees, func(g verify.Guarantee) bool {
				return g.Outcome == result.Unknown && (g.Promised || g.Name == verify.NoLoss)
			}) {
				unknown++
			}
		}
	}
	if unknown == 0 || unknown == rounds {
		return ""
	}
	return " in " + plural(int64(unknown), "round", "rounds")
}

// VerifyMarkdown writes verifications for a wiki: the table of all, then each.
func VerifyMarkdown(w io.Writer, all []*verify.Saved) error {
	var b bytes.Buffer
	b.WriteString(
		"# What an acknowledgement is worth\n\nWritten by `plimsoll report -f md`, from saved " +
			"runs of `plimsoll verify`; change nothing here.\n\n")
	if len(all) == 0 {
		b.WriteString("No verifications.\n")
	} else {
		m := matrixOf(all)
		b.WriteString(m.Note + "\n\n")
		markdownTable(&b, "system and level", m.Head, m.Rows)
	}
	for _, s := range all {
		fmt.Fprintf(&b, "### %s: %s\n\n%s. %s, %s.\n\n", md(rowOf(s)), md(columnOf(s)),
			md(verifiedSentence(s)), moment(s.StartedAt), s.State)
		markdownWarnings(&b, verifyWarnings(s))
		for _, g := range s.Guarantees {
			fmt.Fprintf(&b, "- **%s, %s (%s):** %s. %s.\n", md(guaranteeWords[g.Name]),
				md(g.Outcome), promiseWord(g), md(g.Sentence), md(g.Why))
		}
		b.WriteString("\n")
		markdownTable(&b, "round", roundHead, roundRows(s))
		for _, sentence := range evidenceSentences(s) {
			fmt.Fprintf(&b, "- %s\n", md(sentence))
		}
		fmt.Fprintf(&b, "- %s\n- %s\n- %s\n\n", md(lostSentence(s)),
			md(durabilitySentence(s.Durability)), md(repeatSentence(s)))
	}
	_, err := w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return err
}

//go:embed assets/verify.html.tmpl
var verifyTemplate string

var verifyHTML = template.Must(template.Must(pageHTML.Clone()).New("verify").Parse(verifyTemplate))

// verifyDocument is the data of the page's template.
type verifyDocument struct {
	Title, Policy string
	Style         template.CSS
	Script        template.JS
	Together      *table
	All           []verifyView
}

// verifyView is a verification in words and figures, as the page shows it.
type verifyView struct {
	Index                        int
	Name, Sentence               string
	Meta, Warnings               []string
	Guarantees                   []verdictView
	Rounds, Faults               table
	Reports                      []fact // of rounds: name and link
	Evidence                     []string
	Lost, Durable, Repeat        string
	Settings, DurabilityEvidence table
	Asked                        []fact
}

// VerifyHTML writes one page on verifications. Like that of runs it works
// offline.
func VerifyHTML(w io.Writer, all []*verify.Saved) error {
	style, script := pageStyle(), themeJS
	doc := verifyDocument{
		Title:  "what an acknowledgement is worth · plimsoll",
		Policy: policy(style, script),
		Style:  template.CSS(style), Script: template.JS(script),
	}
	if len(all) > 1 {
		m := matrixOf(all)
		doc.Together = &m
	}
	for i, s := range all {
		doc.All = append(doc.All, newVerifyView(i, s))
	}
	return writePage(w, verifyHTML, doc)
}

func newVerifyView(i int, s *verify.Saved) verifyView {
	v := verifyView{
		Index: i, Name: clean(s.Name), Sentence: verifiedSentence(s) +
			".", Warnings: verifyWarnings(s),
		Meta: []string{moment(s.StartedAt), string(s.State), "seed " + fmt.Sprint(s.Seed),
			"plimsoll " + clean(s.Plimsoll.Version)},
		Rounds: table{ID: "rounds", Title: "Rounds", Head: roundHead, Rows: roundRows(s),
			Empty: "No round was made.", Note: "Acked again and recovered: after the heal. " +
				lostSentence(s) + "."},
		Evidence: evidenceSentences(s), Durable: durabilitySentence(
			s.Durability), Repeat: repeatSentence(s),
		DurabilityEvidence: evidenceTable(s.Durability),
	}
	v.Settings = settingsTable(&result.Run{Settings: s.Settings})
	for _, g := range s.Guarantees {
		mark := map[string]string{result.Holds: "✓", result.Broken: "✗"}[g.Outcome]
		v.Guarantees = append(v.Guarantees,
			verdictView{Mark: orNone(mark), Outcome: clean(g.Outcome), Name: guaranteeWords[g.Name],
				Sentence: fmt.Sprintf("%s. %s: %s", clean(g.Sentence), promiseWord(g),
					clean(g.Why))})
	}
	v.Faults = table{ID: "timeline", Title: "Time line", Words: true,
		Head: []string{"since", "what happened"}, Empty: "No fault was injected."}
	for _, r := range s.Rounds {
		v.Reports = append(v.Reports,
			fact{fmt.Sprintf("round %d", r.Number), clean(r.Dir) + "/" + result.ReportFile})
		for _, f := range r.Faults {
			v.Faults.Rows = append(v.Faults.Rows,
				row{Name: fmt.Sprintf("round %d: %s", r.Number, faultTitle(f)),
					Values: []string{quantity.Duration(f.StartNs), clean(f.Sentence) + "; " +
						faultEffectSentence(f)}})
		}
	}
	for _, f := range []fact{{"Command", clean(commandLine(s.Asked.Command))},
		{"Workload", s.Asked.Workload}, {"Target", s.Asked.Target}} {
		if f.Value != "" {
			v.Asked = append(v.Asked, f)
		}
	}
	return v
}
