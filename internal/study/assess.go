package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Outcome is the result of a study beside the published figures.
type Outcome struct {
	Tables []TableOutcome `json:"tables"`
	Claims []Judgement    `json:"claims"`
	// NotAsked are the claims without cells.
	NotAsked []Claim `json:"claims_not_asked,omitempty"`
	// Standings is for a study that ranks, instead of Tables.
	Standings []Standing   `json:"standings,omitempty"`
	Qualities []QualityRow `json:"qualities,omitempty"`
	// Columns are the names of the columns of Qualities.
	Columns []string `json:"quality_columns,omitempty"`
	// Scaled has a sentence for each value that differs from the published one.
	Scaled []string `json:"scaled,omitempty"`
}

// TableOutcome is one figure of a table, cell by cell.
type TableOutcome struct {
	Table  string      `json:"table"`
	Title  string      `json:"title"`
	From   string      `json:"from"`
	Figure string      `json:"figure"`
	Unit   figure.Unit `json:"unit"`
	Axes   []string    `json:"axes"`
	Rows   []Row       `json:"rows"`
}

// Row is a figure of one cell: the published value (theirs), the measured value (ours), and both
// as multiples of the first row that has both.
type Row struct {
	At          string   `json:"at"`
	Labels      []string `json:"labels"`
	Level       int      `json:"durability_level,omitempty"`
	Theirs      float64  `json:"theirs,omitempty"` // 0: not published
	About       bool     `json:"theirs_is_rounded,omitempty"`
	Published   string   `json:"theirs_as_published,omitempty"`
	Ours        float64  `json:"ours,omitempty"`         // 0: not known
	TheirsTimes float64  `json:"theirs_times,omitempty"` // 0: not known
	OursTimes   float64  `json:"ours_times,omitempty"`
	// Ours is the median of Rounds rounds, from Low to High; 0: of one. Rounds whose servers were
	// cold or drifting are left out.
	Rounds int     `json:"rounds,omitempty"`
	Low    float64 `json:"ours_low,omitempty"`
	High   float64 `json:"ours_high,omitempty"`
	// Remark says why there is no figure, or what limited it.
	Remark string `json:"remark,omitempty"`
	// OfLoad is set when the load limited the figure, and not the system.
	OfLoad bool   `json:"load_decided,omitempty"`
	Run    string `json:"run,omitempty"`
}

// QualityRow holds the answers of a capability test for a quality, one for each column.
type QualityRow struct {
	Name    string   `json:"name"`
	Probe   string   `json:"probe,omitempty"` // empty: no test
	Answers []string `json:"answers,omitempty"`
}

// Assess compares the measured with the published figures. measured has an entry for each of the
// plan's cells.
func Assess(s *Study, p *Plan, measured []Measured) (Outcome, error) {
	var o Outcome
	for i := range s.Tables {
		t := &s.Tables[i]
		if !slices.ContainsFunc(p.Cells, func(c Cell) bool { return c.Table == t.Name }) {
			continue
		}
		for k, name := range t.Figures {
			f, err := FindFigure(name)
			if err != nil {
				return o, err
			}
			if s.Ranks() {
				o.Standings = append(o.Standings, t.standing(f, p, measured))
			} else {
				o.Tables = append(o.Tables, t.outcome(f, k, p, measured))
			}
		}
	}
	for _, c := range s.Claims {
		if c.NotAsked != "" {
			o.NotAsked = append(o.NotAsked, c)
		}
		if slices.ContainsFunc(p.Cells, func(of Cell) bool { return of.Table == c.Table }) {
			o.Claims = append(o.Claims, s.judge(c, p, measured))
		}
	}
	o.Scaled = s.scaled(p)
	return o, o.qualities(s)
}

// outcome returns a figure of a table, cell by cell.
func (t *Table) outcome(f Figure, column int, p *Plan, measured []Measured) TableOutcome {
	out := TableOutcome{Table: t.Name, Title: t.Title, From: t.From, Figure: f.Title, Unit: f.Unit}
	for _, a := range t.Axes {
		out.Axes = append(out.Axes, a.Name)
	}
	var at []int // the first cell of each row
	rounds := map[string][]rowRound{}
	waiting := map[string]int{}       // rounds that are not measured yet, by place
	changing := map[string][]string{} // those of servers that were still changing, in a word each
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Table != t.Name {
			continue
		}
		if !slices.ContainsFunc(at, func(k int) bool { return p.Cells[k].Place() == c.Place() }) {
			at = append(at, i)
		}
		if word := measured[i].unsteady(); word != "" {
			changing[c.Place()] = append(changing[c.Place()], word)
			continue
		}
		if c.waits() {
			waiting[c.Place()]++
			continue
		}
		v, known := f.Value(measured[i])
		known = known && c.State == experiment.Done
		rounds[c.Place()] = append(rounds[c.Place()],
			rowRound{v, known, c.remark(measured[i], known && v > 0)})
	}
	base := -1
	for _, i := range at {
		c := &p.Cells[i]
		ref := t.reference(c.Place(), column)
		row := Row{At: c.Place(), Labels: t.Labels(c.At), Level: c.level(), Run: c.Run,
			Theirs: ref.Value, About: ref.About, Published: ref.String()}
		row.of(rounds[row.At])
		row.Remark = withLeftOut(row.Remark, changing[row.At])
		row.awaits(waiting[row.At], c)
		out.Rows = append(out.Rows, row)
		if base < 0 && row.Theirs > 0 && row.Ours > 0 {
			base = len(out.Rows) - 1
		}
	}
	if base < 0 {
		return out
	}
	first := out.Rows[base]
	for i := range out.Rows {
		out.Rows[i].TheirsTimes, out.Rows[i].OursTimes = out.Rows[i].Theirs/first.Theirs,
			out.Rows[i].Ours/first.Ours
	}
	return out
}

// withLeftOut adds to a remark how many rounds are left out, given what their servers were.
func withLeftOut(remark string, changing []string) string {
	if len(changing) == 0 {
		return remark
	}
	return strings.TrimPrefix(fmt.Sprintf("%s; %s left out, because its servers were %s", remark,
		quantity.Plural(len(changing), "round is", "rounds are"), changing[len(changing)-1]), "; ")
}

// rowRound is a round of a row.
type rowRound struct {
	value float64
	known bool
	said  remark
}

// of sets the median and the range of some rounds, and the remark of most. Rounds that the load
// limited are left out where others are not.
func (r *Row) of(rounds []rowRound) {
	limited := func(one rowRound) bool { return one.said.ofLoad }
	spoiled := 0
	if slices.ContainsFunc(rounds, func(one rowRound) bool { return one.known && !limited(one) }) {
		n := len(rounds)
		rounds = slices.DeleteFunc(rounds, limited)
		spoiled = n - len(rounds)
	}
	var values []float64
	var remarks []remark
	for _, one := range rounds {
		remarks = append(remarks, one.said)
		if one.known {
			values = append(values, one.value)
		}
	}
	said := usual(remarks)
	if r.Remark, r.OfLoad = said.words, said.ofLoad; spoiled > 0 {
		r.Remark = strings.TrimPrefix(fmt.Sprintf("%s; %s left out", r.Remark,
			quantity.Plural(spoiled, "round, which the load limited, is",
				"rounds, which the load limited, are")), "; ")
	}
	if len(values) == 0 {
		return
	}
	slices.Sort(values)
	n := len(values)
	r.Ours = values[n/2]
	if n%2 == 0 {
		r.Ours = mean(values[n/2-1 : n/2+1])
	}
	if n > 1 {
		r.Rounds, r.Low, r.High = n, values[0], values[n-1]
	}
}

// awaits adds to the remark that some rounds of a cell are still to be measured.
func (r *Row) awaits(rounds int, c *Cell) {
	switch {
	case rounds == 0:
	case r.Ours == 0 && r.Remark == "":
		r.Remark = c.remark(Measured{}, false).words
	default:
		r.Remark = strings.TrimPrefix(fmt.Sprintf("%s; %s to be measured", r.Remark,
			quantity.Plural(rounds, "round is still", "rounds are still")), "; ")
	}
}

// level returns the durability level of a cell; 0: it has no workload.
func (c *Cell) level() int {
	if w := c.workload(); w != nil {
		return int(w.Durability)
	}
	return 0
}

// waits reports whether a cell is still to be measured.
func (c *Cell) waits() bool {
	return !c.Absent && c.State != experiment.Failed && c.State != experiment.Done
}

// remark is what a reader should know about a round of a cell. Remarks of the same kind may differ
// in their figures.
type remark struct {
	kind, words string // empty: nothing
	ofLoad      bool   // the load may have limited the cell's figure
}

// usual returns the remark of most rounds, as a claim takes the limit of most rounds. A remark of
// fewer rounds says in how many it holds.
func usual(rounds []remark) (most remark) {
	times := map[string]int{}
	for _, r := range rounds {
		times[r.kind]++
	}
	for _, r := range rounds {
		if r.kind != "" && times[r.kind] > times[most.kind] || most.kind == "" {
			most = r
		}
	}
	if n := times[most.kind]; most.kind != "" && 2*n <= len(rounds) {
		return remark{words: fmt.Sprintf("in %d of %d rounds: %s", n, len(rounds), most.words)}
	}
	return most
}

// remark returns the remark of a round.
func (c *Cell) remark(m Measured, has bool) remark {
	switch {
	case c.Absent || c.State == experiment.Failed:
		return remark{kind: "absent", words: c.Why()}
	case c.waits():
		return remark{kind: "absent", words: "not measured: " + string(c.State)}
	}
	unstable := ""
	if m.Search != nil && !has {
		unstable = fmt.Sprintf("%s; the highest acknowledged rate is %s", m.Search.Sentence(),
			quantity.Rate(mostCarried(m.Search)))
	}
	limit := m.limit()
	switch {
	case limit == verdict.SideGenerator && unstable != "":
		return remark{limit, unstable, true} // it says so
	case limit != "":
		return remark{limit, strings.TrimPrefix(unstable+"; "+nameOf(limit)+" was the limit", "; "),
			ofLoad(limit)}
	case unstable != "":
		return remark{kind: "unstable", words: unstable}
	}
	if m.Run != nil {
		r := &m.Run.Run
		if r.Summary.OfferedRate > 0 && r.Load.Closed == nil && len(r.Faults) == 0 &&
			r.Summary.AchievedRate < behind*r.Summary.OfferedRate {
			return remark{kind: "behind", words: fmt.Sprintf(
				"the system fell behind: it acknowledged %s of %s offered",
				quantity.Rate(r.Summary.AchievedRate), quantity.Rate(r.Summary.OfferedRate))}
		}
		if !verdict.Sound(r) {
			return remark{kind: "unsound", words: "the system broke a promise: see the run"}
		}
	}
	if !has {
		return remark{kind: "without", words: "measured, without this figure"}
	}
	return remark{}
}

// behind is the achieved share of the offered rate below which a run fell behind.
const behind = 0.99

// qualities adds the answers of the last capability tests of the study's systems.
func (o *Outcome) qualities(s *Study) error {
	if len(s.Qualities) == 0 {
		return nil
	}
	var columns []probe.Column
	var systems []string
	for _, t := range s.Targets {
		if t.Unavailable != "" || slices.Contains(systems, t.System) {
			continue
		}
		systems = append(systems, t.System)
		found, err := probe.Observed(t.System)
		if err != nil {
			return err
		}
		columns = append(columns, found...)
	}
	for _, c := range columns {
		o.Columns = append(o.Columns, c.Name)
	}
	for _, q := range s.Qualities {
		if len(q.Probes) == 0 {
			o.Qualities = append(o.Qualities, QualityRow{Name: q.Name})
		}
		for _, row := range q.Probes {
			r := QualityRow{Name: q.Name, Probe: row}
			for _, c := range columns {
				r.Answers = append(r.Answers, c.Finding(row).Marked())
			}
			o.Qualities = append(o.Qualities, r)
		}
	}
	return nil
}
