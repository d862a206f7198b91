package study

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Plan is the content of a study's file: the request, and the recorded progress.
type Plan struct {
	experiment.Record

	Scale string   `json:"scale"`
	Only  []string `json:"only,omitempty"`
	// Study is the content of the study's file, so that the folder can be read when the file has
	// changed.
	Study string `json:"study_yaml"`
	// Own are the targets that clusters of the user's replace, in the order of their names.
	Own   []Own  `json:"own_targets,omitempty"`
	Cells []Cell `json:"cells"`
	// AtMostNs takes the place of the study's own AtMost; 0: it does not.
	AtMostNs int64 `json:"at_most_ns,omitempty"`
	// FurtherNs is the time of the rounds that were added until figures were known.
	FurtherNs int64 `json:"further_ns,omitempty"`
	// Footings belong to the claims whose sides were published with unequal durability levels.
	Footings []Footing `json:"equal_levels,omitempty"`
}

func (p *Plan) check() error {
	for _, c := range p.Cells {
		if err := experiment.CheckName(c.Run); err != nil {
			return err
		}
	}
	return experiment.CheckCount(len(p.Cells))
}

// Left returns the number of cells that are still to be measured.
func (p *Plan) Left() int {
	n := 0
	for _, c := range p.Cells {
		if c.State != experiment.Done && !c.Absent {
			n++
		}
	}
	return n
}

// NewPlan returns the plan of a study at a scale. only names the tables, targets and systems of
// the plan; without names the plan has all cells. A cell whose rate is a share of peaks adds the
// cells of those peaks.
func NewPlan(s *Study, scale Scale, only []string) (*Plan, error) {
	p := &Plan{Record: experiment.Record{Name: s.Name}, Scale: scale.Name, Only: only,
		Study: s.YAML, Own: s.own}
	pick, err := s.pick(only)
	if err != nil {
		return p, err
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		if slices.Contains(t.Leave, scale.Name) {
			continue
		}
		for _, at := range t.places() {
			cells, err := s.cellsAt(t, at, scale, 0)
			if err != nil {
				return p, fmt.Errorf("table %s at %s: %w", t.Name, at.name(), err)
			}
			p.Cells = append(p.Cells, cells...)
		}
	}
	needed := map[[2]string]bool{}
	for i := range p.Cells {
		c := &p.Cells[i]
		if pick(c) && c.Rate != "" && s.rate(c.Rate).shared(scale) && !c.Absent {
			for _, at := range s.peaksOf(p, c) {
				needed[[2]string{s.rate(c.Rate).Table, at}] = true
			}
		}
	}
	p.Cells = slices.DeleteFunc(p.Cells,
		func(c Cell) bool { return !pick(&c) && !needed[[2]string{c.Table, c.At}] })
	if len(p.Cells) == 0 {
		return p, errors.New(
			"--only leaves no cell: name tables and systems that have cells in common")
	}
	return p, nil
}

// pick returns a filter for --only: cells of the named tables, of the named targets, systems and
// values that have a target, and of the other named values. Without a name of a kind, that kind
// does not restrict the cells. A name that a target and its system share is that of the target.
func (s *Study) pick(only []string) (func(*Cell) bool, error) {
	var valid, served []string // all names, and those of targets, systems and values with a target
	add := func(name string) {
		if !slices.Contains(valid, name) {
			valid = append(valid, name)
		}
	}
	for _, t := range s.Tables {
		add(t.Name)
	}
	for _, t := range s.Targets {
		add(t.System)
		add(t.Name)
		served = append(served, t.System, t.Name)
	}
	for _, t := range s.Tables {
		for _, a := range t.Axes {
			for _, v := range a.Values {
				add(v.Name)
				if v.Target != "" {
					served = append(served, v.Name)
				}
			}
		}
	}
	var tables, systems, values []string
	for _, name := range only {
		switch {
		case s.Table(name) != nil:
			tables = append(tables, name)
		case slices.Contains(served, name):
			systems = append(systems, name)
		case slices.Contains(valid, name):
			values = append(values, name)
		default:
			return nil, errors.New("--only: " +
				strict.Unknown("table, system or value", name, valid))
		}
	}
	return func(c *Cell) bool {
		has := func(names []string) bool {
			return slices.ContainsFunc(s.Table(c.Table).place(c.At),
				func(v Value) bool { return slices.Contains(names, v.Name) })
		}
		of := s.target(s.targetAt(c))
		return (len(tables) == 0 || slices.Contains(tables, c.Table)) &&
			(len(systems) == 0 || slices.Contains(systems, of.Name) || has(systems) ||
				s.target(of.System) == nil && slices.Contains(systems, of.System)) &&
			(len(values) == 0 || has(values))
	}, nil
}

// targetAt returns the name of a cell's target.
func (s *Study) targetAt(c *Cell) string { return s.Table(c.Table).place(c.At).target() }

// Folders are the folders of studies.
var Folders = experiment.Kind[Plan]{Name: experiment.Study, Work: "study",
	Head: func(p *Plan) *experiment.Record { return &p.Record }, Check: (*Plan).check}

// Folder is a study's folder whose lock this process holds.
type Folder = experiment.Folder[Plan]

// Create makes a study's folder below runs. The folder appears whole or not at all.
func Create(runs string, plan *Plan) (*Folder, error) {
	return Folders.Create(runs, plan, "study", plan.Name, plan.Scale)
}

// Read reads the plan in a study's folder, and the study of the plan.
func Read(dir string) (*Plan, *Study, error) {
	p, err := Folders.Read(dir)
	if err != nil {
		return nil, nil, err
	}
	s, err := Parse(filepath.Join(dir, "the study"), []byte(p.Study))
	if err == nil {
		p.lengthen(s)
		err = s.Replace(p.Own)
	}
	return p, s, err
}

// lengthen gives the study's further rounds the time of the plan.
func (p *Plan) lengthen(s *Study) { s.AtMost = cmp.Or(quantity.Span(p.AtMostNs), s.AtMost) }

// named reports whether two plans are of the same study and scale; they may be of different parts.
func (p *Plan) named(other *Plan) bool { return p.Name == other.Name && p.Scale == other.Scale }

// FindFolder returns the newest folder below runs of the same study, scale and targets. It prefers
// one with the same content of the study's file. If there is none, it returns the newest with other
// targets, which GoOn refuses.
func FindFolder(runs string, like *Plan) (dir string, err error) {
	alike := func(p *Plan) bool { return p.named(like) && p.sameTargets(like) }
	for _, suits := range []func(p *Plan) bool{
		func(p *Plan) bool { return alike(p) && p.Study == like.Study }, alike, like.named,
	} {
		if dir, err = Folders.Newest(runs, "", suits); err != nil || dir != "" {
			return dir, err
		}
	}
	return "", fmt.Errorf("there is no study of %s at scale %s in %s: start it without --resume",
		like.Name, like.Scale, runs)
}

// GoOn prepares a folder to resume the study. wanted must ask for the same study, scale and
// targets; cells of parts that it does not ask for stay. Complete cells are not repeated.
func GoOn(f *Folder, wanted *Plan) error {
	p := f.Saved
	if !p.named(wanted) {
		return fmt.Errorf("the study in %s is of %s at scale %s: give the same name and --scale",
			f.Dir(), p.Name, p.Scale)
	}
	if p.Study != wanted.Study {
		return fmt.Errorf("the file of the study in %s has changed since the study was begun: "+
			"restore the file, or start the study without --resume", f.Dir())
	}
	if !p.sameTargets(wanted) {
		return fmt.Errorf("the study in %s was begun %s, or start it without --resume", f.Dir(),
			p.onTargets())
	}
	for i := range wanted.Cells {
		c := &wanted.Cells[i]
		for _, before := range p.Cells {
			if before.Table != c.Table || before.Name() != c.Name() {
				continue
			}
			c.Twice = before.Twice && before.State == experiment.Done
			if c.Rate != "" && before.Workload != "" {
				c.Workload = before.Workload // it has the rate from the peaks
			}
		}
	}
	p.Only, p.AtMostNs = wanted.Only, cmp.Or(wanted.AtMostNs, p.AtMostNs)
	for _, f := range p.Footings {
		if wanted.footing(Claim{Table: f.Table, Of: f.Of, To: f.To}) == nil {
			wanted.Footings = append(wanted.Footings, f)
		}
	}
	p.Cells, p.Footings = slices.Concat(wanted.Cells, p.kept(wanted)), wanted.Footings
	complete, err := completeIn(f.Dir())
	if err == nil {
		p.reconcile(complete)
	}
	return err
}

// Measurements reads the results of a plan's cells; the zero Measured where there is none, or it
// cannot be read.
func Measurements(dir string, p *Plan) []Measured {
	out := make([]Measured, len(p.Cells))
	for i, c := range p.Cells {
		at := filepath.Join(dir, c.Run)
		switch {
		case c.Run == "":
		case c.Measure == MeasurePeak:
			if s, err := peak.Folders.Read(at); err == nil {
				out[i] = Measured{Search: s, Trials: trialsOf(s)}
				if s.Warming == nil && len(out[i].Trials) > 0 { // of a search of an earlier version
					s.Warming = out[i].Trials[0].Warming
				}
			}
		default:
			if r, err := verdict.Read(at); err == nil {
				out[i].Run = r
			}
		}
	}
	return out
}

// trialsOf returns the runs of a search's trials within its bracket, as far as they can be read.
func trialsOf(s *peak.Saved) (out []*result.Run) {
	b := s.Bracket
	for _, t := range s.Trials {
		if !t.Judged || t.Repeated || t.TargetRate < b.StableRate ||
			b.UnstableRate > 0 && t.TargetRate > b.UnstableRate {
			continue
		}
		if r, err := result.ReadHead(filepath.Join(s.Dir, t.Dir)); err == nil {
			out = append(out, r)
		}
	}
	return out
}
