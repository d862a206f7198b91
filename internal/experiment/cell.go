package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Cell is one measurement of a grid: a workload on a target, and its progress.
type Cell struct {
	Workload string    `json:"workload_yaml"`
	Target   string    `json:"target_yaml"`
	State    CellState `json:"state"`
	// Run is the directory of the run, or of the experiment measured instead, in the experiment's
	// folder.
	Run    string `json:"run,omitempty"`
	Reason string `json:"reason,omitempty"` // why it failed, or cannot be measured
}

// CellState is the progress of a cell.
type CellState string

// The states of a cell.
const (
	Pending CellState = "pending"
	Running CellState = "running"
	Done    CellState = "done" // its run is complete
	Failed  CellState = "failed"
)

// Inputs returns the workload and the target of a cell.
func (c *Cell) Inputs() (*workload.Workload, *target.Target, error) {
	w, err := workload.Parse("the cell's workload", []byte(c.Workload))
	if err != nil {
		return nil, nil, err
	}
	t, err := target.Parse("the cell's target", []byte(c.Target))
	return w, t, err
}

// Set records a cell's progress.
func (c *Cell) Set(state CellState, run, reason string) {
	c.State, c.Run, c.Reason = state, run, reason
}

// Reconcile records that a cell's run is complete, or, without one, that the cell is pending.
func (c *Cell) Reconcile(complete string) {
	c.Set(Pending, "", "")
	if complete != "" {
		c.Set(Done, complete, "")
	}
}

// Take records the outcome of a cell's measurement. An interrupted cell stays pending. A run that
// stopped itself, at its limit of cost, has failed, because a repetition would cost as much again.
func (c *Cell) Take(ctx context.Context, o Outcome) {
	run := ""
	if o.Dir != "" {
		run = filepath.Base(o.Dir)
	}
	switch reason := o.Reason(); {
	case o.State == result.Complete && o.Err == nil:
		c.Set(Done, run, "")
	case ctx.Err() != nil:
		c.Set(Pending, run, "")
	default:
		c.Set(Failed, run, reason)
	}
}

// Identity is equal for two cells that are the same measurement.
type Identity struct{ Kind, Workload, Target string }

// Complete returns the names of the complete runs in a folder. It reads the runs themselves,
// because the process may have ended before it saved its plan.
func Complete(dir string) (map[Identity]string, error) {
	return completeIn(dir, func(path string) (result.Asked, bool) {
		s, err := verdict.Read(path)
		if err != nil || s.Run.State != result.Complete {
			return result.Asked{}, false // a directory that cannot be read as a run does not count
		}
		return s.Run.Asked, true
	}, "")
}

// Complete returns the names of the complete experiments of this kind in a folder.
func (k *Kind[S]) Complete(dir string) (map[Identity]string, error) {
	return completeIn(dir, func(path string) (result.Asked, bool) {
		saved, err := k.Read(path)
		if err != nil || k.Head(saved).State != result.Complete {
			return result.Asked{}, false
		}
		return k.Head(saved).Asked, true
	}, k.Name)
}

func completeIn(
	dir string, read func(path string) (result.Asked, bool), kind string,
) (map[Identity]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the experiment's folder: %w", err)
	}
	complete := map[Identity]string{}
	for _, e := range entries {
		if !e.IsDir() || hidden(e.Name()) {
			continue
		}
		if asked, is := read(filepath.Join(dir, e.Name())); is {
			complete[Identity{kind, asked.Workload, asked.Target}] = e.Name()
		}
	}
	return complete, nil
}
