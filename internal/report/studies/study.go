package studies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
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

// rounds is how often each cell is measured, of a study with rounds.
func (r Result) rounds() int {
	scale, _ := r.Study.Scale(r.Plan.Scale) // of an unknown scale, the study's own
	return scale.Rounds
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
			Warnings []studyWarning `json:"warnings,omitempty"`
			study.Outcome
		}{r.Study.Name, r.Study.Title, r.Study.Source, r.Plan.Scale, r.Plan.Only,
			r.Plan.Own, r.Plan.Cells,
			warnings, r.Outcome}
	}
	machines := form.JSON(json)
	if len(json) == 1 {
		machines = form.JSON(json[0])
	}
	forms := []form.Form{machines}
	if hasPoster(all) {
		forms = append(forms,
			form.Poster(func() *document.Poster { return studyPoster(all[0]) })...)
	}
	return form.Report{
		Document: func() document.Document { return studyDocument(all) },
		Kind:     "a study", Parts: "each of its cells", OfParts: export.Formats(), Forms: forms,
	}
}

// studySentence counts a study's cells by their state.
func studySentence(p *study.Plan) string {
	counts, absent := map[experiment.CellState]int{}, 0
	for _, c := range p.Cells {
		if c.Absent {
			absent++
		} else {
			counts[c.State]++
		}
	}
	out := fact.MeasuredCells(counts, len(p.Cells))
	if absent > 0 {
		out += fmt.Sprintf(", %d not possible here or left out", absent)
	}
	return out
}

// scaleWords are the scale of a study and its time.
func scaleWords(p *study.Plan) string {
	return "scale " + p.Scale + ", " +
		phrase.Moment(p.StartedAt)
}

// studyNote limits the use of a study's figures.
const studyNote = "Their figures come from other machines, versions and years: compare ratios " +
	"and shapes, and read absolute figures for orientation only. " +
	"\"times\" is a figure divided by that of the first cell of its table that both have."

// studyDocument shows studies, each with the published figures beside ours.
func studyDocument(all []Result) document.Document {
	d := document.Document{Title: "The published studies, run again", Origin: "Written by " +
		"plimsoll report -f md, from saved runs of plimsoll study run; change nothing here."}
	if len(all) == 0 {
		return part.Nothing(d.Title, "studies")
	}
	if len(all) == 1 {
		d.Title = "study " + all[0].Study.Name
	}
	published := false
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
			"scale. One round must pass the bound by a factor of 2.5, or of 5 for a latency."},
		[2]string{"A claim is not decided", "when its cells had another share of their peaks " +
			"than the published ones, or another range; when one fell behind, plimsoll limited " +
			"it, or their limits differ; or when the scatter contains the bound."},
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
	out := []document.Block{part.Title("", r.Study.Name+": "+r.Study.Title, scaleWords(r.Plan))}
	if r.Study.Ranks() {
		out = append(out, document.Block{Facts: part.Facts("answer", document.Main,
			standingAnswers(r)...)})
	}
	if len(r.Outcome.Claims) > 0 {
		out = append(out, part.Paragraph(document.Answer, claimsSentence(r.Outcome)))
	}
	return append(out, document.Block{Facts: slices.Concat(part.Facts("measured", "", machineOf(r)),
		r.ownServers(), part.BriefWarnings(r.cautions()))})
}

func studySection(r Result) document.Block {
	answer := ""
	if len(r.Outcome.Claims) > 0 {
		answer = claimsSentence(r.Outcome)
	}
	out := []document.Block{
		part.Title("study-"+r.Study.Name, r.Study.Name, scaleWords(r.Plan)),
		part.Paragraph(document.Answer, answer),
		part.Paragraph(document.Lead, sentence(r.Study.Title)+" "+r.Study.Question),
		{Facts: slices.Concat(part.Facts("measured", "", machineOf(r)), r.ownServers(),
			repeatedWords(r),
			part.Facts("theirs", "", r.Study.Source),
			part.Facts("measured on", "", r.Study.Testbed...))},
		part.Warnings(r.cautions(studyNote)),
	}
	if len(r.Outcome.Claims) > 0 {
		out = append(out, part.Heading(2, "Their claims, and whether our figures agree"),
			document.Block{Verdicts: slices.Concat(claimVerdicts(r.Outcome.Claims),
				notAskedVerdicts(r.Outcome.NotAsked))})
	}
	for _, t := range r.Outcome.Tables {
		out = append(out, part.Table(studyTable(t)),
			document.Block{For: document.OnTerminal,
				Facts: part.Facts("*", document.Unsure, sharedRemarks(t)...)})
	}
	out = append(out, qualityTable(r.Outcome), part.Heading(2, "Not the published size"),
		document.Block{Facts: part.Facts("", "", r.Outcome.Scaled...)})
	return document.Block{Section: append(out,
		part.Repetition(r.Plan.Asked, r.Plan.Resolved, r.Plan.Plimsoll)...)}
}

// repeatedWords say how often cells were measured, if that was more than once.
func repeatedWords(r Result) []document.Fact {
	if r.rounds() < 2 {
		return nil
	}
	return part.Facts("rounds", "", roundsWords(r))
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
func sharedRemarks(t study.TableOutcome) []string {
	var cells phrase.Grouped[string, string]
	for _, r := range t.Rows {
		if r.Remark != "" {
			cells.Add(r.Remark, r.At)
		}
	}
	var out []string
	for _, remark := range cells.Keys {
		where := phrase.CellsSuchAs(cells.Of[remark])
		if n := len(cells.Of[remark]); n == len(t.Rows) && n > 1 {
			where = "every cell"
		}
		out = append(out, where+": "+remark)
	}
	return out
}

// claimVerdicts are the claims with our answers, each labelled with the one that it begins with.
func claimVerdicts(all []study.Judgement) []document.Verdict {
	var out []document.Verdict
	for _, j := range all {
		v := document.Verdict{Tone: document.Unsure, Outcome: string(j.Answer),
			Name: fmt.Sprintf("%s (%s)", numbered(j.ID, j.Says), j.Bound), Sentence: j.Sentence}
		switch j.Answer {
		case study.Agrees:
			v.Tone = document.Good
		case study.Differs:
			v.Tone = document.Bad
		}
		out = append(out, v)
	}
	return out
}

// notAskedVerdicts are the claims without cells, with the reason.
func notAskedVerdicts(all []study.NotAsked) (out []document.Verdict) {
	for _, c := range all {
		out = append(out, document.Verdict{Tone: document.Unsure, Outcome: "not asked",
			Name: numbered(c.ID, c.Says), Sentence: c.Why})
	}
	return out
}

// numbered is a claim's sentence after its number.
func numbered(id, says string) string { return strings.TrimSpace(id + " " + says) }

// asked counts claims and the ratios that ask them.
func asked(all []study.Judgement) string {
	ids := map[string]bool{}
	for _, j := range all {
		ids[cmp.Or(j.ID, j.Says)] = true
	}
	claims := phrase.Plural(len(ids), "claim", "claims")
	if len(ids) == len(all) {
		return claims
	}
	return phrase.Plural(len(all), "ratio", "ratios") + ", which ask " + claims
}

// claimsSentence counts the answers, as published and at equal levels, and the claims without.
func claimsSentence(o study.Outcome) string {
	all := o.Claims
	published, equal := map[study.Answer]int{}, map[study.Answer]int{}
	limited, without := 0, 0
	for _, j := range all {
		answer := j.Published
		published[answer.Answer]++
		if j.Equal != nil {
			answer = *j.Equal
		}
		if j.NoEqual == "" {
			equal[answer.Answer]++
		} else {
			without++
		}
		if about(j.Published) || about(answer) {
			limited++
		}
	}
	out := fmt.Sprintf("Of %s, as published: %s. At equal levels: %s",
		asked(all), answers(published), answers(equal))
	if without > 0 {
		out += fmt.Sprintf("; %d have none", without)
	}
	if out += "."; limited > 0 {
		out += fmt.Sprintf(" %s about a resource that limited both sides, and not about the "+
			"study's machines.", phrase.Plural(limited, "answer is", "answers are"))
	}
	if n := len(o.NotAsked); n > 0 {
		out += fmt.Sprintf(" %s not asked.", phrase.Plural(n, "further claim is",
			"further claims are"))
	}
	return out
}

// about reports whether an answer is about a resource that limited both sides.
func about(r study.Reply) bool { return r.About != "" && r.Answer != study.NotDecided }

// answers lists how many claims have each answer.
func answers(counts map[study.Answer]int) string {
	var parts []string
	for _, a := range []study.Answer{study.Agrees, study.Differs, study.NotDecided} {
		parts = append(parts, fmt.Sprintf("%s %d", a, counts[a]))
	}
	return strings.Join(parts, ", ")
}

// qualityTable has the result of each quality's trial.
func qualityTable(o study.Outcome) document.Block {
	t := document.Table{ID: "qualities", Title: "Capabilities of the systems", Corner: "quality",
		Note: "As tried by plimsoll probe; docs/results/PROBES.md has the evidence.", Words: true,
		Head: append(document.Heads("tried"), document.Heads(o.Columns...)...)}
	for _, q := range o.Qualities {
		tried, answers := q.Probe, q.Answers
		if tried == "" {
			tried, answers = "nothing tries it", make([]string, len(o.Columns))
		}
		t.Add(q.Name, append([]string{tried}, answers...)...)
	}
	return part.Table(t)
}

// machineOf gives the number of measured cells, and the machine of the first.
func machineOf(r Result) string {
	out := studySentence(r.Plan)
	if e := r.environment(); e != nil {
		out += fmt.Sprintf("; on %s, %d cores, %s of memory", e.CPU, e.Cores,
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

// warnings are those of the runs and searches below a study, the gravest first, each once with the
// number of those that have it. Sentences that differ in their figures only are one, with the
// figures of the first.
func (r Result) warnings() (all []studyWarning, of int) {
	var sentences phrase.Grouped[result.Warning, string]
	seen := map[string]bool{}
	for i, m := range r.Measured {
		var own []result.Warning
		switch {
		case m.Run != nil:
			own = fact.Warnings(m.Run)
		case m.Search != nil:
			own = trial.SearchWarnings(m.Search)
		default:
			continue
		}
		if run := r.Plan.Cells[i].Run; run != "" {
			if seen[run] {
				continue // a measurement of several cells
			}
			seen[run] = true
		}
		of++
		told := map[result.Warning]bool{}
		for _, w := range own {
			if key := fact.WithoutFigures(w); !told[key] {
				told[key] = true
				sentences.Add(key, w.Sentence)
			}
		}
	}
	verdict.BySeverity(sentences.Keys)
	for _, key := range sentences.Keys {
		said := sentences.Of[key]
		all = append(all, studyWarning{result.Warning{Code: key.Code, Sentence: said[0]},
			len(said)})
	}
	return all, of
}

// warningSentences are the warnings below a study in words.
func (r Result) warningSentences() (out []string) {
	all, of := r.warnings()
	for _, w := range all {
		out = append(out, fmt.Sprintf("%d of %s: %s", w.Of,
			phrase.Plural(of, "run or search", "runs and searches"), w.Sentence))
	}
	return out
}

// cautions are what comes before the figures of a study: the warnings below it, notes, and what it
// cannot repeat.
func (r Result) cautions(notes ...string) []string {
	var own []string
	for _, o := range r.Plan.Own {
		own = append(own, o.Target)
	}
	if len(own) > 0 {
		notes = append(notes, fmt.Sprintf("%s: servers that plimsoll did not start. It read their "+
			"durability level back, and neither set nor read their other settings, nor warmed "+
			"them up. What is said below of servers on this machine is not about them.",
			strings.Join(own, ", ")))
	}
	return slices.Concat(r.warningSentences(), notes, r.Study.Missing)
}

// ownServers are the clusters of the user's that took the place of targets.
func (r Result) ownServers() []document.Fact {
	var words []string
	for _, o := range r.Plan.Own {
		words = append(words, o.String())
	}
	return part.Facts("own servers", "", words...)
}

// sentence ends a text with a full stop, unless it ends a sentence already.
func sentence(text string) string {
	if strings.ContainsAny(text[max(0, len(text)-1):], ".?!") {
		return text
	}
	return text + "."
}
