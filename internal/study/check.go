package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
)

// table checks a single table.
func (c *checker) table(path string, t *Table) {
	if !slices.Contains(measures(), string(t.Measure)) {
		c.doc.Reject(path+".measure", "must be one of "+strings.Join(measures(), ", "))
	}
	if t.Workload == "" {
		c.doc.Reject(path, "names no workload: write workload: NAME")
	}
	c.known(path+".workload", "workload", t.Workload, c.workloadNames)
	if len(t.Figures) == 0 {
		c.doc.Reject(path, "has no figures: write figures: [e2e.p99]")
	}
	for i, name := range t.Figures {
		f, err := FindFigure(name)
		at := fmt.Sprintf("%s.figures[%d]", path, i)
		switch {
		case err != nil:
			c.doc.Reject(at, "is not known: "+err.Error())
		case f.OfSearch() != (t.Measure == MeasurePeak):
			c.doc.Reject(at, fmt.Sprintf("is %s, which a table with measure: %s does not have",
				name, t.Measure))
		}
	}
	if w := c.study.workload(t.Workload); w != nil &&
		(w.Backlog != nil) != (t.Measure == MeasureBacklog || t.Measure == MeasureMixed) {
		c.doc.Reject(path+".workload",
			"must have a backlog if the table's measure is backlog or mixed, and only then")
	}
	for i, scale := range t.Leave {
		c.known(fmt.Sprintf("%s.leave_out[%d]", path, i), "scale", scale, Scales())
	}
	if len(t.Axes) == 0 {
		c.doc.Reject(path, "has no axes: write axes with a list of values each")
	}
	for i := range t.Axes {
		c.axis(fmt.Sprintf("%s.axes[%d]", path, i), &t.Axes[i])
	}
	if _, err := t.combinations(); err != nil {
		c.doc.Reject(path+".axes", "are too long: "+err.Error())
	}
}

func (c *checker) axis(path string, a *Axis) {
	if a.Name == "" {
		c.doc.Reject(path, "has no name: write a name")
	}
	if len(a.Values) == 0 {
		c.doc.Reject(path, "has no values: list them")
	}
	names(c, path+".values", a.Values, func(v Value) string { return v.Name })
	for i, v := range a.Values {
		at := fmt.Sprintf("%s.values[%d]", path, i)
		c.known(at+".target", "target", v.Target, c.targetNames)
		c.known(at+".rate", "rate", v.Rate, c.rateNames)
		for k, scale := range v.Leave {
			c.known(fmt.Sprintf("%s.leave_out[%d]", at, k), "scale", scale, Scales())
		}
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
			if !slices.ContainsFunc(places, func(at place) bool { return at.name() == p.At }) {
				c.doc.Reject(path+".published."+p.At,
					"is not a cell of the table: name one value of each axis, in order, with \", "+
						"\" between")
			}
		}
		for _, at := range places {
			for _, scale := range scales {
				if _, err := c.study.cell(t, at, scale, 0, 0); err != nil {
					c.doc.Reject(path, fmt.Sprintf("cannot be measured at %s, %s scale: %v",
						at.name(), scale.Name, firstOf(err)))
					break
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
		if !r.Own && r.Published <= 0 || r.Published <= 0 && r.Share <= 0 {
			c.doc.Reject(path, "needs a published rate, or own: true and a share above 0")
		}
		t := c.study.Table(r.Table)
		if t == nil || t.Measure != MeasurePeak {
			c.doc.Reject(path+".table", fmt.Sprintf("%q is not a table of peaks", r.Table))
			continue
		}
		if r.Own {
			c.ownRate(path, r, t)
		} else if len(r.At) == 0 {
			c.doc.Reject(path, "names no cell of its table: write at: [...]")
		}
		for _, at := range r.At {
			c.place(path+".at", t, at)
			if r.Published > 0 && r.Share <= 0 && t.place(at) != nil &&
				c.study.publishedShare(&r, at) <= 0 {
				c.doc.Reject(path, fmt.Sprintf("needs a share: table %s has no published peak "+
					"at %s", t.Name, at))
			}
		}
	}
}

func (c *checker) claim(path string, claim Claim) {
	if claim.NotAsked == "" {
		c.ratio(path, claim)
	} else if claim != (Claim{ID: claim.ID, Says: claim.Says, NotAsked: claim.NotAsked}) {
		c.doc.Reject(path+".not_asked", "stands beside cells or bounds: write one of both")
	}
	if claim.Says == "" {
		c.doc.Reject(path, "has no text: write a sentence")
	}
}

// ratio checks the cells and the bounds of a claim.
func (c *checker) ratio(path string, claim Claim) {
	t := c.study.Table(claim.Table)
	if t == nil {
		c.doc.Reject(path+".table", fmt.Sprintf("%q is not a table of the study", claim.Table))
		return
	}
	if !slices.Contains(t.Figures, claim.Figure) {
		c.doc.Reject(path+".figure", fmt.Sprintf("%q is not a figure of table %s, which has %s",
			claim.Figure, t.Name, strings.Join(t.Figures, ", ")))
	}
	if f, err := FindFigure(claim.Figure); err == nil && f.Zero {
		c.doc.Reject(path+".figure", claim.Figure+" may be 0, and has no ratio then: choose a "+
			"rate or a latency")
	}
	c.place(path+".of", t, claim.Of)
	c.place(path+".to", t, claim.To)
	if claim.AtLeast <= 0 && claim.AtMost <= 0 {
		c.doc.Reject(path, "has no bound: write at_least or at_most, a ratio")
	}
}

// place checks that a table has the named cell.
func (c *checker) place(path string, t *Table, name string) {
	if !slices.ContainsFunc(t.places(), func(at place) bool { return at.name() == name }) {
		c.doc.Reject(path,
			fmt.Sprintf("%q is not a cell of table %s: name one value of each axis, in order, "+
				"with \", \" between", name, t.Name))
	}
}
