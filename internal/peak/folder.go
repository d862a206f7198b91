package peak

import (
	"context"
	"os"
)

// create makes the search's folder with peak.json in it. The latest link points to it
// from the first trial on.
func (f *finder) create() error {
	job := f.Job
	record, err := document.Begin(f.root, job.Target.Name, job.Build, job.Asked,
		"peak", job.Target.Name, job.Workload.Name)
	if err != nil {
		return err
	}
	f.saved = &Saved{
		Record: record, Plan: f.Plan, End: Unfinished, Trials: []Trial{},
		TrialSeconds: f.Trial.Seconds(), ConfirmSeconds: f.Confirm.Seconds(),
		MaxSeconds: f.MaxTime.Seconds(),
	}
	for _, o := range f.Objectives {
		f.saved.Objectives = append(f.saved.Objectives, o.String())
	}
	return f.saved.save()
}

// discard removes the folder of a search that measured nothing.
func (f *finder) discard() { _ = os.RemoveAll(f.saved.Dir) }

// finish saves how the search ended.
func (f *finder) finish(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		f.saved.End = Stopped
	case err != nil:
		f.saved.End = Refused
	}
	f.saved.Finish(ctx, err)
	return f.saved.save()
}
