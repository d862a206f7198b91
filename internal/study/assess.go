package study

import (
	"cmp"
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
	// LeftOut are those of tables that the plan does not have, because a part was asked for.
	LeftOut []Claim `json:"claims_left_out,omitempty"`
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
	r := results{s, p, measured}
	for i := range s.Tables {
		t := &s.Tables[i]
		if !p.has(t.Name) {
			continue
		}
		for k, name := range t.Figures {
			if s.Ranks() {
				o.Standings = append(o.Standings, r.standing(t, figureOf(name)))
			} else {
				o.Tables = append(o.Tables, r.outcome(t, figureOf(name), k))
			}
		}
	}
	for _, c := range s.Claims {
		switch {
		case c.NotAsked != "":
			o.NotAsked = append(o.NotAsked, c)
		case p.has(c.Table):
			o.Claims = append(o.Claims, r.judge(c))
		default:
			o.LeftOut = append(o.LeftOut, c)
		}
	}
	o.Scaled = s.scaled(p, measured)
	return o, o.qualities(s)
}

// has reports whether the plan has cells of a table.
func (p *Plan) has(table string) bool {
	return slices.ContainsFunc(p.Cells, func(c Cell) bool { return c.Table == table })
}

// inOrder returns the rounds of a table's places in the table's own order, in which a plan that was
// continued by other parts does not have them, and then those of equal levels.
func (r results) inOrder(t *Table) [][]round {
	order := map[string]int{}
	for i, p := range t.places() {
		order[p.name()] = i
	}
	all := r.byPlace(func(c *Cell) bool { return c.Table == t.Name })
	slices.SortStableFunc(all, func(a, b []round) int {
		return cmp.Or(cmp.Compare(min(a[0].Equal, 1), min(b[0].Equal, 1)),
			cmp.Compare(order[a[0].At], order[b[0].At]))
	})
	return all
}

// outcome returns a figure of a table, cell by cell.
func (r results) outcome(t *Table, f Figure, column int) TableOutcome {
	out := TableOutcome{Table: t.Name, Title: t.Title, From: t.From, Figure: f.Title, Unit: f.Unit}
	for _, a := range t.Axes {
		out.Axes = append(out.Axes, a.Name)
	}
	for _, rounds := range r.inOrder(t) {
		first := rounds[0]
		ref := t.Reference(first.Place(), column)
		row := Row{At: first.Place(), Labels: t.Labels(first.At), Level: first.level(),
			Run: first.Run, Theirs: ref.Value, About: ref.About, Published: ref.String()}
		steady, changing := steadyOf(rounds)
		var read []rowRound
		var waiting []round
		for _, one := range steady {
			if one.waits() {
				waiting = append(waiting, one)
				continue
			}
			v, known := f.in(one)
			read = append(read, rowRound{v, known, one.remark(f.limit(one.m), known && v > 0)})
		}
		row.of(read)
		row.Remark = withLeftOut(row.Remark, changing)
		row.awaits(waiting)
		out.Rows = append(out.Rows, row)
	}
	base := slices.IndexFunc(out.Rows, func(r Row) bool { return r.Theirs > 0 && r.Ours > 0 })
	if base < 0 {
		return out
	}
	first := out.Rows[base]
	for i := range out.Rows {
		row := &out.Rows[i]
		row.TheirsTimes, row.OursTimes = row.Theirs/first.Theirs, row.Ours/first.Ours
	}
	return out
}

// steadyOf returns the rounds whose servers were not changing any more, and what the servers of
// each of the others were, in a word.
func steadyOf(all []round) (steady []round, changing []string) {
	for _, r := range all {
		if word := r.m.unsteady(); word != "" {
			changing = append(changing, word)
		} else {
			steady = append(steady, r)
		}
	}
	return steady, changing
}

// withLeftOut adds to a remark how many rounds are left out, given what their servers were.
func withLeftOut(remark string, changing []string) string {
	if len(changing) == 0 {
		return remark
	}
	return joined(remark, fmt.Sprintf("%s left out, because its servers were %s",
		quantity.Plural(len(changing), "round is", "rounds are"), changing[len(changing)-1]))
}

// joined joins two remarks, of which the first may be empty.
func joined(first, second string) string { return strings.TrimPrefix(first+"; "+second, "; ") }

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
		r.Remark = joined(r.Remark, quantity.Plural(spoiled, "round, which the load limited, is",
			"rounds, which the load limited, are")+" left out")
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

// awaits adds to the remark that some rounds are still to be measured.
func (r *Row) awaits(rounds []round) {
	switch {
	case len(rounds) == 0:
	case r.Ours == 0 && r.Remark == "":
		r.Remark = rounds[0].remark("", false).words
	default:
		r.Remark = joined(r.Remark, quantity.Plural(len(rounds), "round is still",
			"rounds are still")+" to be measured")
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

// remark returns the remark of a round with a limit, which has a figure or not.
func (r round) remark(limit string, has bool) remark {
	m := r.m
	switch {
	case r.Absent || r.State == experiment.Failed:
		return remark{kind: "absent", words: r.Why()}
	case r.waits():
		return remark{kind: "absent", words: "not measured: " + string(r.State)}
	}
	unstable := ""
	if m.Search != nil && !has {
		unstable = fmt.Sprintf("%s; the highest acknowledged rate is %s", m.Search.Sentence(),
			quantity.Rate(mostCarried(m.Search)))
	}
	switch {
	case limit == verdict.SideGenerator && unstable != "":
		return remark{limit, unstable, true} // it says so
	case limit != "":
		return remark{limit, joined(unstable, nameOf(limit)+" was the limit"), ofLoad(limit)}
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
