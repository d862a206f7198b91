package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// offer says which durability levels a target can give.
type offer struct {
	name     string
	refusals []string // by level, from level 1 on; empty: it can be had
}

// offersOf asks a system's driver for the levels of each of its targets.
func offersOf(s system.System) ([]offer, error) {
	var all []offer
	for _, name := range systems.Variants(s) {
		t, _, err := systems.FindTarget(name)
		if err != nil {
			return nil, err
		}
		o := offer{name: name}
		for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
			w := *workload.Default()
			w.Durability = level
			job, err := uncheckedJob(systems.Registry(), &w, t, "")
			if err != nil {
				return nil, fmt.Errorf("target %s: %w", name, err)
			}
			o.refusals = append(o.refusals, refusal(job))
		}
		all = append(all, o)
	}
	return all, nil
}

// refusal returns why a job's target cannot give the job's level; empty when it can.
func refusal(job *bench.Job) string {
	described := job.System.Describe().Levels[job.Workload.Durability].Refusal
	err := job.CheckLevel()
	switch {
	case err == nil:
		return ""
	case described != "":
		return described
	}
	return reason(err)
}

// listLevels prints a table of targets by levels, and below it the reasons for the levels that
// cannot be had.
func listLevels(con console, all []system.System) error {
	var offers []offer
	for _, s := range all {
		of, err := offersOf(s)
		if err != nil {
			return err
		}
		offers = append(offers, of...)
	}
	t := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\t1\t2\t3\t4\n")
	var notes []string
	for _, o := range offers {
		row := o.name
		for _, why := range o.refusals {
			row += "\t" + mark(&notes, why)
		}
		fmt.Fprintln(t, row)
	}
	_ = t.Flush()
	fmt.Fprintln(con.out)
	for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
		fmt.Fprintf(con.out, "level %d: %s\n", level, level.Meaning())
	}
	width, _ := con.layout()
	for i, why := range notes {
		for k, line := range report.Wrap(why, width-6) {
			label := ""
			if k == 0 {
				label = fmt.Sprintf("[%d]", i+1)
			}
			fmt.Fprintf(con.out, "%-5s %s\n", label, line)
		}
	}
	return nil
}

// mark returns the cell of a level: yes, or no with the number of the note that says why.
func mark(notes *[]string, why string) string {
	if why == "" {
		return "yes"
	}
	at := slices.Index(*notes, why)
	if at < 0 {
		at, *notes = len(*notes), append(*notes, why)
	}
	return fmt.Sprintf("no [%d]", at+1)
}
