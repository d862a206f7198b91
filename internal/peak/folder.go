package peak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

var notInNames = regexp.MustCompile(`[^a-z0-9.]+`)

// create makes the search's folder, with peak.json in it. The latest link comes
// to it with its first probe.
func (f *finder) create() error {
	now, job := time.Now().UTC(), f.Job
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(job.Target.Name+"-"+job.Workload.Name), "-"), "-")
	f.saved = &Saved{
		SchemaVersion: SchemaVersion, ID: now.Format("2006-01-02T150405") + "-peak-" + name, Name: job.Target.Name,
		State: result.Running, StartedAt: now, PID: os.Getpid(), Plimsoll: job.Build, Asked: job.Asked, Plan: f.Plan,
		ProbeSeconds: f.Probe.Seconds(), ConfirmSeconds: f.Confirm.Seconds(), MaxSeconds: f.MaxTime.Seconds(),
		End: Unfinished, Probes: []Probe{},
	}
	for _, o := range f.Objectives {
		f.saved.Objectives = append(f.saved.Objectives, o.String())
	}
	if err := os.MkdirAll(f.root, 0o755); err != nil {
		return fmt.Errorf("create the folder for runs: %w", err)
	}
	id := f.saved.ID
	for n := 2; n < 1000; n++ {
		f.saved.Dir = filepath.Join(f.root, f.saved.ID)
		err := os.Mkdir(f.saved.Dir, 0o755)
		if err == nil {
			return f.saved.save()
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("create the folder of the search: %w", err)
		}
		f.saved.ID = fmt.Sprintf("%s-%d", id, n)
	}
	return fmt.Errorf("create the folder of the search %s: the name is taken", id)
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
