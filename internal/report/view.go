package report

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// runView is a run in words and figures, as the page shows it.
type runView struct {
	Index                 int
	Name                  string
	Sentence              string
	Meta                  []string
	Warnings              []string
	Cards                 []card
	Verdicts              []verdictView
	Throughput            []chart
	Cost                  costView
	Charts                []chart // the others
	Thinned               string  // how the charts of a long run are thinned
	Lacks                 string  // the figures that a run of an earlier format lacks
	Happened              []fact
	Tables                []table
	Durability            durabilityView
	Settings, Environment table
	Asked                 []fact
}

// card is a headline figure.
type card struct {
	Label, Number, Unit string
	Details             []fact
	Bad                 bool
	Word                bool // the number is a text, which may wrap
}

type fact struct{ Name, Value string }

type verdictView struct{ Mark, Outcome, Name, Sentence string }

// table is a table with a first column of names.
type table struct {
	ID, Title, Note string
	Head            []string
	Marks           []string // below each head, the reason why its run is not ranked
	Rows            []row
	// Words is set when the columns hold words rather than figures.
	Words bool
	// Runs is set when each column is a run: its head then shows the colour that
	// the run has in the charts.
	Runs bool
	// Empty says why the table is empty.
	Empty string
}

// Starts is the section that begins at a row, or nothing.
func (t table) Starts(i int) string {
	if i > 0 && t.Rows[i-1].Section == t.Rows[i].Section {
		return ""
	}
	return t.Rows[i].Section
}

// Few reports whether the columns have room to be equally wide, so that bars in different
// columns can be compared.
func (t table) Few() bool { return t.Runs && len(t.Head) <= 4 }

// Lines are a value's lines, when it has several.
func (row) Lines(value string) []string {
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		return lines
	}
	return nil
}

// Columns is how many columns the table has, the names among them.
func (t table) Columns() int { return len(t.Head) + 1 }

// The charts have this number of colours, and of patterns: further lines are dashed.
const (
	runColors = 6
	runDashes = 4
)

// Color is the place of a column's run among the colours.
func (table) Color(i int) int { return i % runColors }

// Dash is the pattern of a run's line in the charts; 0: none.
func (table) Dash(i int) int { return i / runColors % runDashes }

// Many reports whether the columns are more runs than fit a page, which then scrolls.
func (t table) Many() bool { return t.Runs && len(t.Head) >= manyRuns }

// Bar is the length of the bar below a value, of 100; below 0: no bar.
func (r row) Bar(i int) int {
	if i >= len(r.Bars) {
		return -1
	}
	return r.Bars[i]
}

type durabilityView struct {
	Sentence, How string
	Evidence      table
}

func newRunView(index int, name string, s *result.Saved) runView {
	r, all, sure := &s.Run, charts(index, s), newWithin(s)
	v := runView{
		Index: index, Name: name, Sentence: headline(r), Warnings: warnings(s),
		Cards: cards(r, sure), Happened: happened(s), Throughput: all[:1],
		Cost: newCostView(index, s), Charts: all[1:], Thinned: thinnedSentence(s),
		Lacks:  lacksSentence(r),
		Tables: []table{percentileTable(r)},
		Durability: durabilityView{
			Sentence: durabilityWords(r), How: clean(
				r.Durability.How), Evidence: evidenceTable(r.Durability),
		},
	}
	v.Tables = append(v.Tables, faultTables(r)...)
	if sentence := sure.sentence(); sentence != "" {
		v.Tables[0].Note += " Intervals: " + micro(sentence) + "."
	}
	if b := r.Backlog; b != nil {
		t := stretchTable(b)
		for _, sentence := range []string{effectSentence(b), backlogSentence(b)} {
			if sentence != "" {
				t.Note = strings.ToUpper(sentence[:1]) + sentence[1:] + ". " + t.Note
			}
		}
		v.Tables = append([]table{t}, v.Tables...)
	}
	if len(r.Summary.Minutes) > 0 {
		v.Tables = append(v.Tables, minuteTable(r.Summary))
	}
	if imported(r) {
		v.Tables = append(v.Tables, importedTable(r))
	} else {
		v.Tables = append(v.Tables, countersTable(r), ledgerTable(r))
	}
	for _, t := range []table{lostTable(r.Ledger), errorTable(r.Errors), gaugeTable(r)} {
		if len(t.Rows) > 0 {
			v.Tables = append(v.Tables, t)
		}
	}
	if !imported(r) {
		v.Tables = append(v.Tables, generatorTable(r))
	}
	v.Verdicts = verdictViews(r.Verdicts)
	for _, a := range []fact{
		{"command", strings.Join(r.Asked.Command, " ")}, {"workload", r.Asked.Workload},
		{"target", r.Asked.Target},
		{"how it was read", strings.Join(r.Asked.Notes, "\n")},
		{"targets left out", strings.Join(r.Asked.LeftOut, "\n")},
	} {
		if strings.TrimSpace(a.Value) != "" {
			v.Asked = append(v.Asked, a)
		}
	}
	v.Settings, v.Environment = settingsTable(r), environmentTable(r)
	v.Meta = metaWords(r)
	return v
}

// verdictViews are a run's verdicts with their marks.
func verdictViews(verdicts []result.Verdict) []verdictView {
	var out []verdictView
	for _, v := range verdicts {
		mark := map[string]string{result.Holds: "✓", result.Broken: "✗"}[v.Outcome]
		if mark == "" {
			mark = "?"
		}
		out = append(out, verdictView{mark, outcomeWord(v), verdictName(v), clean(v.Sentence)})
	}
	return out
}

// headline describes the run in one sentence.
func headline(r *result.Run) string {
	system := clean(r.System.Name)
	if system == "" {
		system = "An unnamed system"
	}
	at := ", with no durability level on record"
	if d := r.Durability; d.Asked > 0 || d.Level > 0 {
		shown := d.Level
		if shown == 0 {
			shown = d.Asked
		}
		at = fmt.Sprintf(" at durability level %d", shown)
		if m := clean(d.Meaning); m != "" {
			at += " (" + m + ")"
		}
	}
	offered := ""
	switch l := r.Load; {
	case l.Closed != nil:
		offered = ", in " + closedSentence(l)
	case l.TargetRate > 0 && finite(l.TargetRate):
		offered = fmt.Sprintf(", offered %s of %s messages", rate(l.TargetRate),
			quantity.Bytes(l.MessageBytes))
		if l.WindowSeconds > 0 {
			offered += " for " + seconds(l.WindowSeconds)
		}
	}
	when := "on " + moment(r.StartedAt)
	if r.StartedAt.IsZero() {
		when = moment(r.StartedAt)
	}
	return fmt.Sprintf("%s%s%s, %s. The run is %s.", system, at, offered, when, stateSentence(r))
}

// metaWords are the circumstances in a few words each.
func metaWords(r *result.Run) []string {
	l, out := r.Load, []string{}
	if w := clean(l.Workload); w != "" {
		out = append(out, "workload "+w)
	}
	out = append(out, modelWords(l)...)
	if l.Topics > 0 {
		out = append(out,
			fmt.Sprintf("%s × %s", plural(int64(l.Topics), "topic", "topics"),
				plural(int64(l.Partitions), "partition", "partitions")),
			plural(int64(l.Topics*l.Producers), "producer", "producers"))
		if l.Subscriptions > 0 || !imported(r) {
			out[len(out)-1] += ", " +
				plural(int64(l.Topics*l.Subscriptions*l.Consumers), "consumer", "consumers")
		}
	}
	if l.Delivery != "" {
		out = append(out, strings.ReplaceAll(clean(l.Delivery), "_", " "))
	}
	if r.Plimsoll.Version != "" {
		out = append(out, "plimsoll "+clean(r.Plimsoll.Version))
	}
	return out
}

// unit splits a printed quantity into its number and its unit.
func unit(printed string) (string, string) {
	i := strings.IndexFunc(printed,
		func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' && r != '-' })
	if i <= 0 {
		return printed, ""
	}
	return printed[:i], micro(printed[i:])
}

// micro writes microseconds with the sign µ.
func micro(printed string) string { return strings.ReplaceAll(printed, "us", "µs") }
