package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/overview"
	"github.com/plimsoll-bench/plimsoll/internal/report/versus"
	"github.com/plimsoll-bench/plimsoll/result"
)

type compareCommand struct {
	Sets     []string `arg:"" name:"set" help:"Two sets of runs, A and B: each a run, a folder of runs, a quoted pattern, or several of these separated by commas. Or one run of a set made by plimsoll run --trials or --until: its two targets are compared."`
	Primary  string   `default:"${default_primary}" placeholder:"FIGURES" help:"The figures that decide, separated by commas: publish.p99, e2e.p50, rate, received, cpu and the like. The fewer they are, the smaller a difference of each is shown."`
	FailIf   []string `sep:"none" placeholder:"CONDITION" help:"Exit with 1 when the condition certainly holds, or when B broke a promise or alone was overloaded: 'publish.p99 > 1.10x' (of A's), 'publish.p99 > 20ms', 'lost > 0', 'unknown > 0'; may be repeated."`
	Anyway   bool     `help:"Compare runs that are not comparable: of different loads or durability, limited by plimsoll itself, or of latencies under overload. The output says so."`
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
	if err != nil || c.JSON || c.Markdown {
		warn(con.err, notes)
	}
	if err != nil {
		return inputError{err}
	}
	objections := compare.Objects(a, b)
	asked := primary
	if len(gates) > 0 {
		asked = nil
		for _, g := range gates {
			asked = append(asked, g.Figure)
		}
	}
	against := objections.To(asked)
	v, err := compared(a, b, primary, objections, c.Anyway)
	if err != nil {
		return inputError{err}
	}
	v.Notes = slices.Concat(notes, damageOf(a.Runs), damageOf(b.Runs), v.Notes)
	if len(gates) > 0 {
		v.Rulings = append(compare.BrokenPromises(gates, b.Runs), b.FailedRuns()...)
	}
	if len(against) > 0 && !c.Anyway {
		return c.refuse(con, v, gates, against)
	}
	ruled, err := v.Rule(gates)
	if err != nil {
		return inputError{err}
	}
	v.Rulings = append(ruled, v.Rulings...)
	if err := c.write(con, v); err != nil {
		return err
	}
	if slices.ContainsFunc(v.Rulings, fails) {
		return exitError(exitFailed)
	}
	return nil
}

// compared compares two sets by all figures, or by their rates only if there are objections and
// they are not to be compared anyway.
func compared(a, b compare.Side, primary []figure.Figure, objections compare.Objections,
	anyway bool) (v versus.Comparison, err error) {
	v.Notes = unsound(slices.Concat(a.Runs, b.Runs))
	if len(objections) == 0 || anyway {
		v.Objections = objections.Sentences()
		v.Comparison, err = compare.New(a, b, primary...)
	} else {
		v.OnlyRates = objections.Sentences()
		v.Comparison, err = compare.NewRates(a, b, primary...)
	}
	return v, err
}

// refuse ends a comparison of sets that must not be compared. B may fail its gates nevertheless:
// by a broken promise or a count, for which no comparison is needed, or because it alone gives the
// reason.
func (c *compareCommand) refuse(con console, v versus.Comparison, gates []compare.Gate,
	against compare.Objections) error {
	if len(gates) > 0 {
		v.Rulings = slices.Concat(v.Counts(gates), v.Rulings, against.FailB())
	}
	v.Refused, v.OnlyRates = against.Sentences(), nil
	failed := slices.ContainsFunc(v.Rulings, fails)
	if failed || c.JSON || c.Markdown {
		if err := c.write(con, v); err != nil {
			return err
		}
	} else {
		warn(con.err, v.Notes)
	}
	if failed {
		return exitError(exitFailed)
	}
	way := "--anyway compares them nevertheless"
	if len(against.To(nil)) == 0 {
		way = "--primary rate compares their rates, and --anyway all figures"
	}
	return inputError{fmt.Errorf("%s; %s", against, way)}
}

func fails(r compare.Ruling) bool { return r.Fails }

// asked reads the flags; the error names all mistakes in the gates.
func (c *compareCommand) asked() (primary []figure.Figure, gates []compare.Gate, err error) {
	primary, err = compare.FindPrimary(c.Primary)
	if err != nil {
		return primary, nil, fmt.Errorf("--primary: %w", err)
	}
	gates, err = readGates("--fail-if", c.FailIf, compare.ParseGate)
	return primary, gates, err
}

// readGates reads the conditions of a flag or a key; the error names all mistakes.
func readGates(of string, texts []string, parse func(string) (compare.Gate, error)) (
	gates []compare.Gate, _ error) {
	var errs []error
	for _, text := range texts {
		g, err := parse(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", of, err))
		}
		gates = append(gates, g)
	}
	return gates, errors.Join(errs...)
}

// unsound names the runs that broke a promise, whatever their figures.
func unsound(runs []*result.Saved) (out []string) {
	for _, s := range runs {
		if isUnsound(s) {
			out = append(out, fmt.Sprintf(
				"run %s lost or damaged messages, or did not have the requested durability: "+
					"its fast figures do not count", s.Run.ID))
		}
	}
	return out
}

// write prints the comparison.
func (c *compareCommand) write(con console, v versus.Comparison) error {
	return con.whole(func(w io.Writer) error {
		switch {
		case c.JSON:
			return versus.JSON(w, v)
		case c.Markdown:
			return document.Markdown(w, v.Document())
		}
		return document.Terminal(w, v.Document(), layoutOf(con.out))
	})
}

// showTrials prints a set of trials: its runs side by side and, of two targets,
// how they compare.
func showTrials(con console, runs []*result.Saved, deciding string, of extent) error {
	var sorted []*result.Saved
	for _, side := range compare.ByTarget(runs) {
		sorted = append(sorted, side.Runs...)
	}
	blocks := overview.Brief(sorted)
	if of.Verbose {
		blocks = overview.SideBySide(sorted)
	}
	kept, notes := completed(runs)
	all, next := compare.ByTarget(kept), ""
	switch {
	case len(all) == 1 && of.Verbose:
		blocks = append(blocks, versus.Medians(all[0].Runs)...)
	case len(all) == 2:
		primary, err := compare.FindPrimary(deciding)
		if err != nil {
			return err
		}
		objections := compare.Objects(all[0], all[1])
		if why := objections.To(nil); len(why) > 0 {
			next = "not compared: " + why.String() + "\n"
			break
		}
		v, err := compared(all[0], all[1], primary, objections, false)
		if err != nil {
			return err
		}
		v.Notes = append(notes, v.Notes...)
		if of.Verbose {
			blocks = append(blocks, v.Document().Blocks...)
		} else {
			blocks = append(blocks, v.Brief()...)
		}
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
