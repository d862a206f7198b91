package command

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// offer says which durability levels a target can give.
type offer struct {
	name     string
	refusals []string // by level, from level 1 on; empty: the level is available
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
			job, err := uncheckedJob(&w, t, "")
			if err != nil {
				return nil, fmt.Errorf("target %s: %w", name, err)
			}
			o.refusals = append(o.refusals, refusal(job))
		}
		all = append(all, o)
	}
	return all, nil
}

// refusal returns the reason why a job's target cannot give the job's level; empty: it can.
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

// levelsOf returns a table of targets by levels, and the reasons for refused levels.
func levelsOf(all []system.System) (document.Document, error) {
	t := document.Table{ID: "levels", Corner: "target", Head: document.Heads("1", "2", "3", "4")}
	var notes []string
	for _, s := range all {
		offers, err := offersOf(s)
		if err != nil {
			return document.Document{}, err
		}
		for _, o := range offers {
			var marks []string
			for _, why := range o.refusals {
				marks = append(marks, mark(&notes, why))
			}
			t.Add(o.name, marks...)
		}
	}
	var meanings, reasons facts
	for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
		meanings.add(fmt.Sprintf("level %d", level), level.Meaning())
	}
	for i, why := range notes {
		reasons.add(fmt.Sprintf("[%d]", i+1), why)
	}
	d := listing("The durability levels", t)
	d.Blocks = append(d.Blocks, document.Block{Facts: meanings}, document.Block{Facts: reasons})
	return d, nil
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
