package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type systemsCommand struct {
	Name   string `arg:"" optional:"" help:"Describe this system: its words, its durability levels, its settings, its built-in targets."`
	Levels bool   `help:"List the durability levels that each system can give, or its built-in targets, and why not."`
}

// Run lists the systems, or describes one.
func (c *systemsCommand) Run(con console) error {
	all := systems.All()
	if c.Name != "" {
		s, err := systems.Registry().Get(c.Name)
		if err != nil {
			return inputError{err}
		}
		if !c.Levels {
			return describeWhole(con, s)
		}
		all = []system.System{s}
	}
	if c.Levels {
		return listLevels(con, all)
	}
	return listSystems(con, all)
}

// listSystems prints a line for each system: its name, where its servers come from, and a
// sentence. On a terminal a line ends at its edge.
func listSystems(con console, all []system.System) error {
	width, isTerminal := terminal(con.out)
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range all {
		d := s.Describe()
		fmt.Fprintf(t, "%s\t%s\t%s\n", d.Name, serversOf(s), d.Summary)
	}
	_ = t.Flush()
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, "\n")
		if text := []rune(line); isTerminal && len(text) > width {
			line = string(text[:max(width-1, 0)]) + "…"
		}
		fmt.Fprintln(con.out, line)
	}
	return nil
}

// serversOf says whether plimsoll can start a system's servers on this machine.
func serversOf(s system.System) string {
	settings, err := system.Resolve(s.Describe().Settings, nil)
	if err != nil {
		return err.Error()
	}
	if _, embedded := s.(system.Embedded); embedded {
		return "in plimsoll"
	}
	if _, provisions := s.(system.Provisioner); !provisions {
		return "by endpoints only"
	}
	var missing *system.Missing
	switch err := system.FindSoftware(s, settings); {
	case errors.As(err, &missing):
		return "needs " + strings.Join(missing.Packages, ", ")
	case err != nil:
		return err.Error()
	}
	return "can start here"
}

// describeWhole prints all that is known of a system.
func describeWhole(con console, s system.System) error {
	if err := describe(con, s); err != nil {
		return err
	}
	if built := systems.TargetNames(s); len(built) > 0 {
		fmt.Fprintf(con.out, "  targets built in: %s\n", strings.Join(built, ", "))
	}
	return describeProbes(con, s.Describe().Name)
}

// describeProbes says what was found on a system by trying it.
func describeProbes(con console, name string) error {
	columns, err := probe.Observed(name)
	if err != nil {
		return err
	}
	for _, c := range columns {
		fmt.Fprintf(con.out, "  %s, %s (docs/results/PROBES.md has the evidence):\n", c.Name,
			c.Source())
		for _, line := range c.Brief() {
			fmt.Fprintf(con.out, "    %s\n", line)
		}
	}
	return nil
}

func describe(con console, s system.System) error {
	d := s.Describe()
	defaults, err := system.Resolve(d.Settings, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, "%s: %s (%s)\n", d.Name, d.Summary, d.Client)
	t := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	for _, term := range d.Terms {
		fmt.Fprintf(t, "  %s\t%s\n", term.Word, term.Means)
	}
	for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
		how := d.Levels[level].How
		if refusal := d.Levels[level].Refusal; refusal != "" {
			how = "cannot be had: " + refusal
		}
		fmt.Fprintf(t, "  level %d\t%s\n", level, how)
	}
	for _, s := range d.Settings {
		fmt.Fprintf(t, "  %s\t%s (default %s)\n", s.Name, s.Doc, s.Default)
	}
	_ = t.Flush()
	fmt.Fprintf(con.out, "  messages without a key: %s\n", spreadOf(s, defaults))
	return nil
}

// spreadOf says how the system's own client deals messages without a key.
func spreadOf(s system.System, settings system.Settings) string {
	spreader, has := s.(system.Spreader)
	if !has {
		return "one by one to the next partition, because its own client does not choose any"
	}
	d := spreader.Spread(settings)
	return d.How + "; " + d.Source
}
