package command

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/internal/prove"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

type proveCommand struct {
	Only    []string `sep:"none" placeholder:"NAME" help:"Try only this truth; repeat it for several. The summary is then not stored."`
	Verbose bool     `short:"v" help:"Print every figure, not only the deciding one of each truth."`
	JSON    bool     `name:"json" help:"Print every figure as JSON instead of a table."`
}

// Help says what the table means.
func (*proveCommand) Help() string {
	return "Each truth is a short run on the simulated system, whose latencies, losses and " +
		"limits are known. The table lays the printed figure beside the planted one. A figure " +
		"may be off by the resolution of its histogram, the sampling error of its messages, and " +
		"what the run measured of plimsoll itself. \"unknown\": the run says that plimsoll was " +
		"the limit, so it claims nothing. Exit code 1 when a truth misses. The summary stands in " +
		"later results of this machine. docs/PROVE.md says more."
}

// Run tries the truths and keeps the summary.
func (c *proveCommand) Run(con console) error {
	truths, err := c.truths()
	if err != nil {
		return inputError{err}
	}
	ctx, done := untilInterrupted(con.err)
	defer done()
	tried, err := prove.Run(ctx, truths, prove.Options{
		Clock: clock.Precise(), Build: build(), Process: began,
		Tell: func(t prove.Truth) { fmt.Fprintf(con.err, "proving %s: %s\n", t.Name, t.Planted) },
	})
	if err != nil && ctx.Err() == nil {
		return err
	}
	proof := prove.NewReport(tried, build())
	if err := con.show(proof.Document(c.Verbose), c.JSON, proof); err != nil {
		return err
	}
	if ctx.Err() == nil && len(c.Only) == 0 {
		path, err := observe.SaveProof(&proof.Proof)
		if err != nil {
			return err
		}
		fmt.Fprintf(con.err, "stored: %s\n", path)
	}
	return exitOf(ctx, nil, proof.Sound())
}

// truths returns the requested truths.
func (c *proveCommand) truths() ([]prove.Truth, error) {
	names := truthNames()
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--only: %s", strict.Unknown("truth", name, names))
		}
	}
	return slices.DeleteFunc(prove.Truths(), func(t prove.Truth) bool {
		return len(c.Only) > 0 && !slices.Contains(c.Only, t.Name)
	}), nil
}

func truthNames() (names []string) {
	for _, t := range prove.Truths() {
		names = append(names, t.Name)
	}
	return names
}
