package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The bounds of a study.
const (
	maxText  = 1_000
	maxNodes = 9
	// maxRounds bounds the rounds of a study.
	maxRounds = 20
)

// checker holds the rules of a study.
type checker struct {
	doc   *strict.Document
	study *Study
	// The names of what the study has.
	rateNames, targetNames, workloadNames []string
}

// refuse rejects the value at a path if it breaks a rule.
func (c *checker) refuse(broken bool, path, format string, args ...any) {
	if broken {
		c.doc.Reject(path, fmt.Sprintf(format, args...))
	}
}

// all checks everything but the cells.
func (c *checker) all() {
	s := c.study
	c.texts()
	c.rateNames = names(c, "rates", s.Rates, func(r Rate) string { return r.Name })
	c.targets()
	c.rounds()
	for i, w := range s.Workloads {
		c.workload(fmt.Sprintf("workloads[%d]", i), w)
	}
	c.workloadNames = names(c, "workloads", s.Workloads, func(w Workload) string { return w.Name })
	names(c, "tables", s.Tables, func(t Table) string { return t.Name })
	for i := range s.Tables {
		c.table(fmt.Sprintf("tables[%d]", i), &s.Tables[i])
	}
	c.refuse(len(s.Tables) == 0, "tables", "are missing: a study has at least one")
	for i, q := range s.Qualities {
		for k, row := range q.Probes {
			c.known(fmt.Sprintf("qualities[%d].probes[%d]", i, k), "probe", row, probe.Rows())
		}
	}
}

func (c *checker) texts() {
	for _, t := range []struct{ path, text string }{{"name", c.study.Name},
		{"title", c.study.Title}, {"question", c.study.Question}, {"source", c.study.Source}} {
		c.refuse(t.text == "", t.path, "is missing: write one")
		c.refuse(len(t.text) > maxText, t.path, "is longer than %d characters", maxText)
	}
}

func (c *checker) targets() {
	c.targetNames = names(c, "targets", c.study.Targets, func(t Target) string { return t.Name })
	for i, t := range c.study.Targets {
		path := fmt.Sprintf("targets[%d]", i)
		c.refuse(t.System == "", path,
			"names no system: write system: NAME (plimsoll systems lists the names)")
		c.refuse(t.Nodes < 1 || t.Nodes > maxNodes, path+".nodes", "must be 1 to %d", maxNodes)
	}
}

// rounds checks the keys of a study with rounds.
func (c *checker) rounds() {
	s := c.study
	c.refuse(s.Rounds < 0 || s.Rounds > maxRounds, "rounds", "must be 1 to %d", maxRounds)
	for _, own := range s.Scales {
		path := "scales." + own.Name
		c.known(path, "scale", own.Name, Scales())
		c.refuse(own.Rounds > maxRounds || own.Rounds > 0 && s.Rounds == 0, path+".rounds",
			"must be 1 to %d, and of a study with rounds of its own", maxRounds)
	}
	for i, r := range s.Rates {
		c.refuse(s.Ranks() && (!r.Own || r.Published > 0), fmt.Sprintf("rates[%d]", i),
			"must be a share of the cell's own peak in a study without published figures: write "+
				"own: true and a share")
	}
	until := s.hasUntil()
	c.refuse(until && s.AtMost == 0, "at_most",
		"is missing: until needs a longest time of the further rounds, like at_most: 2h")
	c.refuse(!until && s.AtMost > 0 && (s.Rounds == 0 || len(s.Claims) == 0), "at_most",
		"bounds the time of further rounds, and no table has until: write until: "+
			"{publish.p50: 10%%} in a table, or leave it out")
}

func (c *checker) workload(path string, w Workload) {
	c.known(path+".rate", "rate", w.Rate, c.rateNames)
	if b := w.Backlog; b != nil {
		c.refuse(b.Then != workload.BacklogDrain && b.Then != workload.BacklogReplay,
			path+".backlog.then", "must be %s or %s", workload.BacklogDrain, workload.BacklogReplay)
		c.refuse(b.Size < 1, path+".backlog", "has no size: write a size like 512GB")
	}
}

// table checks a single table.
func (c *checker) table(path string, t *Table) {
	c.refuse(t.Once && c.study.Rounds == 0, path+".once",
		"is of a study with rounds: write rounds: 3, or leave it out")
	c.until(path+".until", t)
	c.refuse(!slices.Contains(measures, string(t.Measure)), path+".measure",
		"must be one of %s", strings.Join(measures, ", "))
	c.refuse(t.Workload == "", path, "names no workload: write workload: NAME")
	c.known(path+".workload", "workload", t.Workload, c.workloadNames)
	c.refuse(len(t.Figures) == 0, path, "has no figures: write figures: [e2e.p99]")
	for i, name := range t.Figures {
		f, err := FindFigure(name)
		at := fmt.Sprintf("%s.figures[%d]", path, i)
		c.refuse(err != nil, at, "is not known: %v", err)
		c.refuse(f.OfSearch() != (t.Measure == MeasurePeak), at,
			"is %s, which a table with measure: %s does not have", name, t.Measure)
	}
	w := c.study.workload(t.Workload)
	c.refuse(w != nil &&
		(w.Backlog != nil) != (t.Measure == MeasureBacklog || t.Measure == MeasureMixed),
		path+".workload",
		"must have a backlog if the table's measure is backlog or mixed, and only then")
	c.leave(path, t.Leave)
	c.refuse(len(t.Axes) == 0, path, "has no axes: write axes with a list of values each")
	for i := range t.Axes {
		c.axis(fmt.Sprintf("%s.axes[%d]", path, i), &t.Axes[i])
	}
	_, err := t.combinations()
	c.refuse(err != nil, path+".axes", "are too long: %v", err)
}

// until checks the bounds of a table's figures.
func (c *checker) until(path string, t *Table) {
	c.refuse(len(t.Until) > 0 && (c.study.Rounds == 0 || t.Once), path,
		"is of a table that is measured in rounds: write rounds: 5, and leave once out")
	for _, b := range t.Until {
		f, err := FindFigure(b.Name)
		c.refuse(err != nil || !slices.Contains(t.Figures, b.Name), path,
			"has a bound of %s, which is not a figure of the table", b.Name)
		c.refuse(f.Zero, path, "has a bound of %s, which may be 0: leave it out", b.Name)
	}
}

func (c *checker) axis(path string, a *Axis) {
	c.refuse(a.Name == "", path, "has no name: write a name")
	c.refuse(len(a.Values) == 0, path, "has no values: list them")
	names(c, path+".values", a.Values, func(v Value) string { return v.Name })
	for i, v := range a.Values {
		at := fmt.Sprintf("%s.values[%d]", path, i)
		c.known(at+".target", "target", v.Target, c.targetNames)
		c.known(at+".rate", "rate", v.Rate, c.rateNames)
		c.leave(at, v.Leave)
	}
}

// leave checks the scales at which something is left out.
func (c *checker) leave(path string, out []string) {
	for i, scale := range out {
		c.known(fmt.Sprintf("%s.leave_out[%d]", path, i), "scale", scale, Scales())
	}
}

// cells checks that each cell can be made at each scale, and that every reference to a cell
// finds it.
func (c *checker) cells() {
	total := 0
	for i := range c.study.Tables {
		t := &c.study.Tables[i]
		path := fmt.Sprintf("tables[%d]", i)
		places := t.places()
		if total += len(places); total > experiment.MaxCells {
			c.doc.Reject("tables",
				fmt.Sprintf("have more than %d cells together", experiment.MaxCells))
			return
		}
		for _, p := range t.Published {
			c.refuse(t.place(p.Name) == nil, path+".published."+p.Name,
				"is not a cell of the table: name one value of each axis, in order, with \", \" "+
					"between")
		}
		for _, at := range places {
			for _, scale := range scales {
				cell, err := c.study.cell(t, at, scale, 0, 0)
				if err == nil && t.Measure == MeasurePeak {
					if w := cell.workload(); w != nil && w.Load.Closed != nil {
						err = peak.ErrClosedLoop
					}
				}
				if err != nil {
					c.doc.Reject(path, fmt.Sprintf("cannot be measured at %s, %s scale: %v",
						at.name(), scale.Name, firstOf(err)))
				}
			}
		}
	}
	c.rates()
	for i, claim := range c.study.Claims {
		c.claim(fmt.Sprintf("claims[%d]", i), claim)
	}
}

func (c *checker) rates() {
	for i, r := range c.study.Rates {
		path := fmt.Sprintf("rates[%d]", i)
		c.refuse(r.Published <= 0 && (!r.Own || r.Share <= 0), path,
			"needs a published rate, or own: true and a share above 0")
		t := c.study.Table(r.Table)
		if t == nil || t.Measure != MeasurePeak {
			c.doc.Reject(path+".table", fmt.Sprintf("%q is not a table of peaks", r.Table))
			continue
		}
		c.refuse(!r.Own && len(r.At) == 0, path, "names no cell of its table: write at: [...]")
		if r.Own {
			c.ownRate(path, r, t)
		}
		for _, at := range r.At {
			c.place(path+".at", t, at)
			c.refuse(r.Published > 0 && r.Share <= 0 && t.place(at) != nil &&
				c.study.publishedShare(&r, at) <= 0, path,
				"needs a share: table %s has no published peak at %s", t.Name, at)
		}
	}
}

// ownRate checks that every cell with the rate has a peak at its place.
func (c *checker) ownRate(path string, r Rate, peaks *Table) {
	c.refuse(peaks.Once, path, "needs a peak in each round: leave once out of table %s", peaks.Name)
	if len(r.At) > 0 {
		return
	}
	c.refuse(r.Published > 0, path,
		"needs the peaks of its systems and levels: write at: [...]")
	for i := range c.study.Tables {
		t := &c.study.Tables[i]
		for _, at := range t.places() {
			if c.study.rateOf(t, at) != r.Name {
				continue
			}
			of := peaks.placeWithin(at.name())
			c.refuse(peaks.place(of) == nil, path,
				"has no peak for %s at %s: table %s has no cell %q", t.Name, at.name(),
				peaks.Name, of)
		}
	}
}

func (c *checker) claim(path string, claim Claim) {
	if claim.NotAsked == "" {
		c.ratio(path, claim)
	} else {
		c.refuse(claim != Claim{ID: claim.ID, Says: claim.Says, NotAsked: claim.NotAsked},
			path+".not_asked", "stands beside cells or bounds: write one of both")
	}
	c.refuse(claim.Says == "", path, "has no text: write a sentence")
}

// ratio checks the cells and the bounds of a claim.
func (c *checker) ratio(path string, claim Claim) {
	t := c.study.Table(claim.Table)
	if t == nil {
		c.doc.Reject(path+".table", fmt.Sprintf("%q is not a table of the study", claim.Table))
		return
	}
	c.claimed(path+".figure", t, claim.Figure)
	if claim.ToFigure != "" {
		c.claimed(path+".to_figure", t, claim.ToFigure)
		f, _ := FindFigure(claim.Figure)
		to, _ := FindFigure(claim.ToFigure)
		c.refuse(f.Unit != to.Unit || f.Name == to.Name, path+".to_figure",
			"must be another figure with the unit of %s", claim.Figure)
		c.refuse(claim.Of != claim.To, path+".to",
			"must be the cell of of: two figures are compared within one cell")
	}
	c.place(path+".of", t, claim.Of)
	c.place(path+".to", t, claim.To)
	c.refuse(claim.AtLeast <= 0 && claim.AtMost <= 0, path,
		"has no bound: write at_least or at_most, a ratio")
}

// claimed checks that a claim can be about a figure of a table.
func (c *checker) claimed(path string, t *Table, name string) {
	c.refuse(!slices.Contains(t.Figures, name), path,
		"%q is not a figure of table %s, which has %s", name, t.Name,
		strings.Join(t.Figures, ", "))
	f, _ := FindFigure(name)
	c.refuse(f.Zero, path, "%s may be 0, and has no ratio then: choose a rate or a latency", name)
}

// place checks that a table has the named cell.
func (c *checker) place(path string, t *Table, name string) {
	c.refuse(t.place(name) == nil, path,
		"%q is not a cell of table %s: name one value of each axis, in order, with \", \" between",
		name, t.Name)
}

// names returns the names of the items of a list, and checks that each has its own.
func names[T any](c *checker, list string, items []T, name func(T) string) (all []string) {
	for i, item := range items {
		path, n := fmt.Sprintf("%s[%d]", list, i), name(item)
		c.refuse(n == "", path, "has no name: write a name")
		c.refuse(strings.ContainsAny(n, ",/"), path+".name", "cannot hold a comma or a slash")
		c.refuse(slices.Contains(all, n), path+".name",
			"is %q, which another item has: give each its own name", n)
		all = append(all, n)
	}
	return all
}

// known checks that a name is valid. An empty name is allowed.
func (c *checker) known(path, kind, name string, valid []string) {
	switch {
	case name == "" || slices.Contains(valid, name):
	case len(valid) == 0:
		c.doc.Reject(path, fmt.Sprintf("names a %s, and the study has none", kind))
	default:
		c.doc.Reject(path, "is an "+strict.Unknown(kind, name, valid))
	}
}
