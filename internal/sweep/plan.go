package sweep

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Cell is one combination of values, with its workload and its target.
type Cell struct {
	Values []string `json:"values"` // one of each axis
	experiment.Cell
}

// Base is the workload that a sweep varies.
type Base struct {
	File    string // of the workload, for errors
	Source  string // its YAML
	Targets []Target
	// Override sets the values that are the same in all cells.
	Override func(w *workload.Workload) error
}

// Target is a target with the name that the user gave.
type Target struct {
	Name   string
	Target *target.Target
}

// Axes returns all axes. Several targets are the first axis; the varied axes follow.
func (b Base) Axes(varied []Axis) []Axis {
	if len(b.Targets) < 2 {
		return varied
	}
	names := Axis{Key: TargetKey}
	for _, t := range b.Targets {
		names.Values = append(names.Values, t.Name)
	}
	return append([]Axis{names}, varied...)
}

// ofAxis returns the errors in single values of an axis. An error that all of them have, such as
// that of an unknown key, is returned once.
func (b Base) ofAxis(a Axis) (bad strict.Violations) {
	times := map[string]int{}
	for _, v := range a.Values {
		one := []Axis{{Key: a.Key, Values: []string{v}}}
		_, err := b.cell(b.Targets[0], one, []string{v})
		for _, found := range strict.Under("--vary "+a.Key+"="+v, err) {
			times[found.Message]++
			bad = append(bad, found)
		}
	}
	told := map[string]bool{}
	return slices.DeleteFunc(bad, func(v strict.Violation) bool {
		again := told[v.Message]
		told[v.Message] = times[v.Message] == len(a.Values)
		return again
	})
}

// Cells returns a cell for each combination of the varied values. The error is a
// strict.Violations: with all errors in single keys and values, or, when there are none, with
// all errors in combinations.
func (b Base) Cells(varied []Axis) ([]Cell, error) {
	var each [][]string
	for _, a := range b.Axes(varied) {
		each = append(each, a.Values)
	}
	combined, err := experiment.Combine(each)
	if err != nil {
		return nil, strict.Under("--vary", err)
	}
	var bad strict.Violations
	for _, a := range varied {
		if f, is := workload.FieldAt(a.Key); is && f.Fixed {
			bad = append(bad, strict.Violation{File: "--vary " + a.Key,
				Message: a.Key +
					" cannot be varied: it changes nothing that is measured, remove it"})
			continue
		}
		bad = append(bad, b.ofAxis(a)...)
	}
	if len(bad) > 0 {
		return nil, bad
	}
	var cells []Cell
	for _, values := range combined {
		to, rest := b.Targets[0], values
		if len(b.Targets) > 1 {
			to = b.Targets[slices.IndexFunc(b.Targets,
				func(t Target) bool { return t.Name == values[0] })]
			rest = values[1:]
		}
		cell, err := b.cell(to, varied, rest)
		if err != nil {
			bad = append(bad, strict.Under("--vary "+Label(varied, rest), err)...)
			continue
		}
		cell.Values = values
		for _, other := range cells {
			if other.Workload == cell.Workload && other.Target == cell.Target {
				bad = append(bad, strict.Violation{File: "--vary",
					Message: fmt.Sprintf("%s and %s are the same: keep one",
						Label(b.Axes(varied), other.Values), Label(b.Axes(varied), values))})
			}
		}
		cells = append(cells, cell)
	}
	if len(bad) > 0 {
		return nil, bad
	}
	return cells, nil
}

// cell makes one combination.
func (b Base) cell(to Target, varied []Axis, values []string) (Cell, error) {
	settings, keys := experiment.Divide(changes(varied, values))
	t := *to.Target
	t.Settings = t.Settings.With(settings)
	src, err := strict.SetAll([]byte(b.Source), keys)
	if err != nil {
		return Cell{}, err
	}
	w, err := workload.Parse(b.File, []byte(src))
	if err != nil {
		return Cell{}, err
	}
	if err := b.Override(w); err != nil {
		return Cell{}, err
	}
	return Cell{Cell: experiment.Cell{
		Workload: w.YAML(), Target: t.YAML(), State: experiment.Pending}}, nil
}

// changes returns what a combination of values changes, with its flags as places.
func changes(axes []Axis, values []string) (out strict.Pairs) {
	for i, a := range axes {
		out = append(out, strict.Pair{Name: a.Key, Value: values[i],
			At: strict.Place{File: "--vary " + a.Key + "=" + values[i]}})
	}
	return out
}

// Inputs returns the workload and the target of a cell. The places of the target's varied
// settings are their flags.
func (c Cell) Inputs(axes []Axis) (*workload.Workload, *target.Target, error) {
	w, t, err := c.Cell.Inputs()
	if err != nil {
		return nil, nil, err
	}
	settings, _ := experiment.Divide(changes(axes, c.Values))
	t.Settings = t.Settings.With(settings)
	return w, t, nil
}
