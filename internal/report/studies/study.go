package studies

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Read reads a study's folder.
func Read(dir string) (Result, error) {
	p, s, err := study.Read(dir)
	if err != nil {
		return Result{}, err
	}
	return New(s, p, study.Measurements(dir, p))
}

// Result has the results of a study so far: the source of its reports.
type Result struct {
	Study    *study.Study
	Plan     *study.Plan
	Measured []study.Measured // of the plan's cells
	Outcome  study.Outcome
}

// New sets the measured figures beside the published ones.
func New(s *study.Study, p *study.Plan, measured []study.Measured) (Result, error) {
	outcome, err := study.Assess(s, p, measured)
	return Result{s, p, measured, outcome}, err
}

// Report reports on studies.
func Report(all []Result) form.Report {
	json := make([]any, len(all))
	for i, r := range all {
		warnings, _ := r.warnings()
		json[i] = struct {
			Name   string   `json:"name"`
			Title  string   `json:"title"`
			Source string   `json:"source"`
			Scale  string   `json:"scale"`
			Only   []string `json:"only,omitempty"`
			// Own are the targets that clusters of the user's replaced.
			Own   []study.Own  `json:"own_targets,omitempty"`
			Cells []study.Cell `json:"cells"`
			// Warnings are those of the runs and searches, the gravest first.
			Warnings []fact.Counted `json:"warnings,omitempty"`
			study.Outcome
		}{r.Study.Name, r.Study.Title, r.Study.Source, r.Plan.Scale, r.Plan.Only, r.Plan.Own,
			r.Plan.Cells, warnings, r.Outcome}
	}
	machines := form.JSON(json)
	if len(json) == 1 {
		machines = form.JSON(json[0])
	}
	ways := []form.Form{machines}
	if len(all) == 1 {
		ways = append(ways, forms(all[0])...)
	}
	return form.Report{
		Document: func() document.Document { return studyDocument(all) },
		Kind:     "a study", Parts: "each of its cells", OfParts: export.Formats(), Forms: ways,
	}
}

// scaleWords are the scale of a study and its time.
func scaleWords(p *study.Plan) string {
	return "scale " + p.Scale + ", " + phrase.Moment(p.StartedAt)
}

// studyNote limits the use of a study's figures.
const studyNote = "Their figures come from other machines, versions and years: compare ratios " +
	"and shapes, and read absolute figures for orientation only. " +
	"\"times\" is a figure divided by that of the first cell of its table that both have."

// titleOf names a page of studies. A study that ranks systems is of no publication.
func titleOf(all []Result) string {
	switch {
	case len(all) == 1:
		return "study " + all[0].Study.Name
	case slices.ContainsFunc(all, func(r Result) bool { return r.Study.Ranks() }):
		return "Studies, run here"
	}
	return "The published studies, run again"
}

// studyDocument shows studies, each with the published figures beside ours.
func studyDocument(all []Result) document.Document {
	d := document.Document{Title: titleOf(all), Origin: "Written by " +
		"plimsoll report -f md, from saved runs of plimsoll study run; change nothing here."}
	if len(all) == 0 {
		return part.Nothing(d.Title, "studies")
	}
	published, changes := false, again(all)
	d.Brief, d.Blocks = changes, slices.Clone(changes)
	for _, r := range all {
		d.Brief = append(d.Brief, studyBrief(r)...)
		if r.Study.Ranks() {
			d.Blocks = append(d.Blocks, standingSection(r), part.Misleading(standingNotes...))
			continue
		}
		published = true
		d.Blocks = append(d.Blocks, studySection(r))
	}
	if !published {
		return d
	}
	d.Blocks = append(d.Blocks, part.Misleading(
		[2]string{"Other machines, versions and years:", "compare ratios and shapes, and read " +
			"absolute figures for orientation only."},
		[2]string{"A ratio", "is a figure divided by that of the first cell of its table that " +
			"both have. An error of that cell is in every ratio of its column."},
		[2]string{"A claim agrees or differs", "when the ratio of our figures lies on one side " +
			"of the claim's bound with all of its scatter. It holds for this machine at this " +
			fmt.Sprintf("scale. One round must pass the bound by a factor of %g, or of %g for "+
				"a latency.", study.ScatterOfRates, study.ScatterOfLatencies)},
		[2]string{"A claim is not decided", "when its cells had another share of their peaks " +
			"than the published ones, or another range; when one fell behind, plimsoll limited " +
			"it, or their limits differ; or when the scatter contains the bound."},
		[2]string{"A claim is not measured", "when one of its cells is not in the plan, still " +
			"waits, failed, or cannot be measured on this machine."},
		[2]string{"Equal levels", "are the durability level of the stronger side, where both " +
			"systems give it, or else the highest that both give. Their settings otherwise stay " +
			"those of the study."},
		[2]string{"A ratio per core of the servers", "divides each rate by the CPU time that " +
			"the servers spent. It compares what the systems do with a core, and a machine with " +
			"other limits may rank them otherwise."},
		[2]string{"A smaller scale", "has fewer partitions, shorter runs and lower rates than " +
			"the study. What differs is listed; a shape may begin beyond it."}))
	return d
}

// studyBrief has the answers of a study, for one screen of a terminal.
func studyBrief(r Result) []document.Block {
	return []document.Block{
		part.Title("", r.Study.Name+": "+r.Study.Title, scaleWords(r.Plan)),
		{Facts: part.Facts("answer", document.Main, standingAnswers(r)...)},
		part.Paragraph(document.Answer, claimsSentence(r.Outcome)),
		{Facts: slices.Concat(part.Facts("measured", "", machineOf(r)), r.ownServers(),
			part.BriefWarnings(r.cautions()))}}
}

func studySection(r Result) document.Block {
	rounds := ""
	if r.Study.RoundsAt(r.Plan.Scale) > 1 {
		rounds = roundsWords(r)
	}
	out := []document.Block{
		part.Title("study-"+r.Study.Name, r.Study.Name, scaleWords(r.Plan)),
		part.Paragraph(document.Answer, claimsSentence(r.Outcome)),
		part.Paragraph(document.Lead, sentence(r.Study.Title)+" "+r.Study.Question),
		{Facts: slices.Concat(part.Facts("measured", "", machineOf(r)), r.ownServers(),
			part.Facts("rounds", "", rounds),
			r.servers(), part.Facts("theirs", "", r.Study.Source),
			part.Facts("measured on", "", r.Study.Testbed...))},
		part.Warnings(r.cautions(studyNote)),
	}
	if len(r.Outcome.Claims) > 0 {
		out = append(out, part.Heading(2, "Their claims, and whether our figures agree"))
		out = append(out, claimBlocks(r.Outcome)...)
	}
	if all := charts(r); len(all) > 0 {
		out = append(out, document.Block{For: document.OnPage, Row: part.Charts(all...)},
			part.Only(document.OnPage, part.Paragraph(document.Note, "Figures as multiples of "+
				"those of one cell; ours with the range of their rounds, theirs dashed. A hollow "+
				"point is a figure that the load limited, and not the system.")))
	}
	for _, t := range r.Outcome.Tables {
		out = append(out, part.Table(studyTable(t)),
			document.Block{For: document.OnTerminal,
				Facts: part.Facts("*", document.Unsure, sharedRemarks(t)...)})
	}
	return document.Block{Section: slices.Concat(out, r.ending("Not the published size"),
		part.Repetition(r.Plan.Asked, r.Plan.Resolved, r.Plan.Plimsoll))}
}

// ending has the capabilities of the systems, and what differs at the scale.
func (r Result) ending(title string) []document.Block {
	return []document.Block{qualityTable(r.Outcome), part.Heading(2, title),
		{Facts: part.Facts("", "", r.Outcome.Scaled...)}}
}

// ourFigure is a measured figure, with the range of its rounds below.
func ourFigure(t study.TableOutcome, r study.Row) string {
	out := t.Unit.Known(r.Ours, r.Ours > 0)
	if r.High > 0 {
		out += "\n" + t.Unit.Print(r.Low) + " to " + t.Unit.Print(r.High)
	}
	return out
}

// studyTable has a row for each cell of a table. A bar is the share of its column's greatest
// figure.
func studyTable(t study.TableOutcome) document.Table {
	out := document.Table{ID: "study", Title: t.Table + ": " + t.Title + ", " + t.Figure,
		Note: "Theirs: " + t.From + ".",
		Bars: "A bar is the share of the greatest figure of its column."}
	for _, a := range t.Axes {
		part.AddAxis(&out, a)
	}
	out.Head = append(out.Head, document.Column{Name: "level"},
		document.Column{Name: "theirs", Keep: 3}, document.Column{Name: "ours", Keep: 3},
		document.Column{Name: "theirs, times", Keep: 2},
		document.Column{Name: "ours, times", Keep: 2},
		document.Column{For: document.OnTerminal, Keep: 3},
		document.Column{For: document.AtLength, Name: "what to know", Words: true})
	theirs, ours := 0.0, 0.0
	for _, r := range t.Rows {
		theirs, ours = max(theirs, r.Theirs), max(ours, r.Ours)
	}
	bar := func(v, most float64) int {
		if v <= 0 {
			return 0
		}
		return int(math.Ceil(v / most * 100))
	}
	for _, r := range t.Rows {
		row := document.Row{Name: r.Labels[0], Values: document.Cells(r.Labels[1:]...)}
		if r.Run != "" {
			row.Link = r.Run + "/" + result.ReportFile
		}
		level, mark := document.None, ""
		if r.Level > 0 {
			level = fmt.Sprint(r.Level)
		}
		if r.Remark != "" {
			mark = "*"
		}
		row.Values = append(row.Values, document.Cell{Words: level},
			document.Cell{Words: cmp.Or(r.Published, document.None), Bar: bar(r.Theirs, theirs)},
			document.Cell{Words: ourFigure(t, r), Bar: bar(r.Ours, ours)},
			document.Cell{Words: study.Times(r.TheirsTimes)},
			document.Cell{Words: study.Times(r.OursTimes)},
			document.Cell{Words: mark, Tone: document.Unsure}, document.Cell{Words: r.Remark})
		out.Rows = append(out.Rows, row)
	}
	return out
}

// sharedRemarks are the remarks of a table's cells, equal ones once with the number of cells.
func sharedRemarks(t study.TableOutcome) (out []string) {
	var cells phrase.Grouped[string, string]
	for _, r := range t.Rows {
		if r.Remark != "" {
			cells.Add(r.Remark, r.At)
		}
	}
	for _, remark := range cells.Keys {
		where := cells.Where(remark)
		if n := len(cells.Of[remark]); n == len(t.Rows) && n > 1 {
			where = "every cell"
		}
		out = append(out, where+": "+remark)
	}
	return out
}

// qualityTable has the result of each quality's trial.
func qualityTable(o study.Outcome) document.Block {
	t := document.Table{ID: "qualities", Title: "Capabilities of the systems", Corner: "quality",
		Note: "As tried by plimsoll probe, or in parentheses as stated; " +
			"docs/results/PROBES.md has the evidence.", Words: true,
		Head: append(document.Heads("tried"), document.Heads(o.Columns...)...)}
	for _, q := range o.Qualities {
		tried, answers := q.Probe, q.Answers
		if tried == "" {
			tried, answers = "no probe tries it", make([]string, len(o.Columns))
		}
		t.Add(q.Name, append([]string{tried}, answers...)...)
	}
	return part.Table(t)
}

// machineOf gives the number of measured cells, and the machine of the first.
func machineOf(r Result) string {
	out := fact.MeasuredCells(r.Plan.Cells,
		func(c study.Cell) (experiment.CellState, bool) { return c.State, c.Absent })
	if e := r.environment(); e != nil && e.Cores > 0 {
		out += fmt.Sprintf("; on %s, %s of memory", fact.Processors(e.CPU, e.Cores),
			quantity.Bytes(e.MemoryBytes))
	}
	return out
}

// environment is that of the first measured cell; nil: none was measured.
func (r Result) environment() *result.Environment {
	for _, m := range r.Measured {
		if m.Run != nil {
			return &m.Run.Run.Environment
		}
	}
	return nil
}

// ownServers are the clusters of the user's that took the place of targets.
func (r Result) ownServers() []document.Fact {
	var words []string
	for _, o := range r.Plan.Own {
		words = append(words, o.String())
	}
	return part.Facts("own servers", "", words...)
}

// servers names the software and version of each system's servers, in the words of the first one.
// Addresses are left out, because they differ from cluster to cluster.
func (r Result) servers() []document.Fact {
	var words []string
	for _, m := range r.Measured {
		all := m.Trials
		if m.Run != nil {
			all = []*result.Run{&m.Run.Run}
		}
		for _, run := range all {
			if len(run.System.Servers) == 0 {
				continue
			}
			is := slices.DeleteFunc(strings.Fields(run.System.Servers[0]), address.MatchString)
			line := run.System.Name + ": " + strings.Join(is, " ")
			if !slices.Contains(words, line) {
				words = append(words, line)
			}
		}
	}
	slices.Sort(words)
	return part.Facts("servers", "", words...)
}

var address = regexp.MustCompile(`\b(\d{1,3}\.){3}\d{1,3}\b`)

// sentence ends a text with a full stop, unless it ends a sentence already.
func sentence(text string) string {
	if strings.ContainsAny(text[max(0, len(text)-1):], ".?!") {
		return text
	}
	return text + "."
}
