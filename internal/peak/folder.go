package peak

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// create makes the search's folder, with peak.json in it. The latest link comes
// to it with its first trial.
func (f *finder) create() error {
	now, job := time.Now().UTC(), f.Job
	f.saved = &Saved{
		SchemaVersion: SchemaVersion, Name: job.Target.Name,
		State: result.Running, StartedAt: now, PID: os.Getpid(), Plimsoll: job.Build, Asked: job.Asked, Plan: f.Plan,
		TrialSeconds: f.Trial.Seconds(), ConfirmSeconds: f.Confirm.Seconds(), MaxSeconds: f.MaxTime.Seconds(),
		End: Unfinished, Trials: []Trial{},
	}
	for _, o := range f.Objectives {
		f.saved.Objectives = append(f.saved.Objectives, o.String())
	}
	dir, err := result.NewFolder(f.root, now, "peak", job.Target.Name, job.Workload.Name)
	if err != nil {
		return err
	}
	f.saved.Dir, f.saved.ID = dir, filepath.Base(dir)
	return f.saved.save()
}

// discard removes the folder of a search that measured nothing.
func (f *finder) discard() { _ = os.RemoveAll(f.saved.Dir) }

// finish writes how the search ended.
func (f *finder) finish(ctx context.Context, err error) error {
	s := f.saved
	s.EndedAt = time.Now().UTC()
	switch {
	case ctx.Err() != nil:
		s.State, s.StateReason, s.End = result.Interrupted, "stopped on request", Stopped
	case err != nil:
		s.State, s.StateReason, s.End = result.Failed, err.Error(), Refused
	default:
		s.State = result.Complete
	}
	return s.save()
}
