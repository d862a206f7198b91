package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

type compareCommand struct {
	Sets     []string `arg:"" name:"set" help:"Two sets of runs, A and B: each a run, a folder of runs, a quoted pattern, or several of these with commas between. Or one run of a set made by plimsoll run --trials: its two targets are compared."`
	Primary  string   `default:"publish.p99,e2e.p99" placeholder:"FIGURES" help:"The figures that decide, with commas between: publish.p99, e2e.p50, rate, received, cpu and the like. The fewer they are, the smaller a difference of each is shown."`
	FailIf   []string `sep:"none" placeholder:"CONDITION" help:"Exit with 1 when the condition certainly holds: 'publish.p99 > 1.10x' (of A's), 'publish.p99 > 20ms', 'lost > 0'; may be repeated."`
	Anyway   bool     `help:"Compare runs that are not comparable: of different loads or durability, or limited by plimsoll itself. The output says so."`
	JSON     bool     `name:"json" xor:"form" help:"Print JSON instead of a table."`
	Markdown bool     `xor:"form" help:"Print Markdown instead of a table."`
}

// Run compares two sets of runs.
func (c *compareCommand) Run(con console) error {
	primary, gates, err := c.asked()
	if err != nil {
		return inputError{err}
	}
	a, b, notes, err := sides(c.Sets)
	if err != nil {
		return inputError{err}
	}
	v := report.Versus{Objections: compare.Objections(a, b), Notes: append(notes, unsound(a, b)...)}
	if len(v.Objections) > 0 && !c.Anyway {
		return inputError{
			fmt.Errorf("%s; --anyway compares them nevertheless", strings.Join(v.Objections, "; "))}
	}
	if v.Comparison, err = compare.New(a, b, primary...); err != nil {
		return inputError{err}
	}
	if v.Rulings, err = v.Rule(gates); err != nil {
		return inputError{err}
	}
	if err := c.write(con, v); err != nil {
		return err
	}
	if slices.ContainsFunc(v.Rulings, func(r compare.Ruling) bool { return r.Fails }) {
		return exitError(exitFailed)
	}
	return nil
}

// asked reads the flags; the error names all mistakes in the gates.
func (c *compareCommand) asked() (primary []compare.Figure, gates []compare.Gate, err error) {
	primary, err = compare.FindPrimary(c.Primary)
	if err != nil {
		return primary, nil, fmt.Errorf("--primary: %w", err)
	}
	var errs []error
	for _, text := range c.FailIf {
		g, err := compare.ParseGate(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--fail-if: %w", err))
		}
		gates = append(gates, g)
	}
	return primary, gates, errors.Join(errs...)
}

// unsound names the runs that broke a promise, whatever their figures.
func unsound(sides ...compare.Side) []string {
	var out []string
	for _, side := range sides {
		for _, s := range side.Runs {
			if !verdict.Sound(&s.Run) {
				out = append(out, fmt.Sprintf(
					"run %s lost or damaged messages, or did not have the requested durability: "+
						"its fast figures do not count", s.Run.ID))
			}
		}
	}
	return out
}

// write prints the comparison.
func (c *compareCommand) write(con console, v report.Versus) error {
	return con.whole(func(w io.Writer) error {
		switch {
		case c.JSON:
			return report.VersusJSON(w, v)
		case c.Markdown:
			return document.Markdown(w, v.Document())
		}
		return document.Terminal(w, v.Document(), layoutOf(con.out))
	})
}

// showTrials prints a set of trials: its runs side by side and, of two targets,
// how they compare.
func showTrials(con console, runs []*result.Saved) error {
	var sorted []*result.Saved
	for _, side := range byTarget(runs) {
		sorted = append(sorted, side.Runs...)
	}
	blocks := report.SideBySide(sorted)
	kept, notes := completed(runs)
	all, next := byTarget(kept), ""
	switch {
	case len(all) == 1:
		blocks = append(blocks, report.Medians(all[0].Runs)...)
	case len(all) == 2:
		if why := compare.Objections(all[0], all[1]); len(why) > 0 {
			next = "not compared: " + strings.Join(why, "; ") + "\n"
			break
		}
		primary, err := compare.FindPrimary(compare.Primary)
		if err != nil {
			return err
		}
		v := report.Versus{Notes: append(notes, unsound(all...)...)}
		if v.Comparison, err = compare.New(all[0], all[1], primary...); err != nil {
			return err
		}
		blocks = append(blocks, v.Document().Blocks...)
		next = fmt.Sprintf("again, with other figures or a gate: plimsoll compare %s\n",
			relative(runs[0].Dir))
	case len(all) > 2:
		next = fmt.Sprintf(
			"to compare two of the %d targets, name the runs of each: plimsoll compare %s %s\n",
			len(all), argumentOf(all[0]), argumentOf(all[1]))
	}
	if err := show(con.out, document.Document{Blocks: blocks}); err != nil {
		return err
	}
	fmt.Fprint(con.err, next)
	return nil
}

// argumentOf returns the runs of a side as an argument of compare.
func argumentOf(side compare.Side) string {
	var dirs []string
	for _, s := range side.Runs {
		dirs = append(dirs, relative(s.Dir))
	}
	return strings.Join(dirs, ",")
}
