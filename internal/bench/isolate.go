package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
)

// checkIsolation refuses a workload whose isolate key cannot be fulfilled.
func (j *Job) checkIsolation() error {
	if !j.Workload.Isolate.DropPageCache || j.OnHosts > 0 { // a host says whether it can
		return nil
	}
	if !j.embedded() && !j.starts() && len(j.Target.Processes) == 0 &&
		!load.SharesMachine(j.Target.Endpoints) {
		return errors.New(
			"isolate.drop_page_cache drops the page cache of this machine, and none of the " +
				"servers runs on it: take it out of the workload")
	}
	if err := canDropPageCache(); err != nil {
		return fmt.Errorf("isolate.drop_page_cache: %w", err)
	}
	return nil
}

// coldReads makes sure that a backlog is read from disk, if the workload asks for it.
func (j *Job) coldReads() error {
	if !j.Workload.Isolate.DropPageCache {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), prepareLimit)
	defer cancel()
	if err := j.dropPageCache(ctx); err != nil {
		return fmt.Errorf("drop the page cache before the backlog is read: %w", err)
	}
	return nil
}

// dropPageCache drops the page cache of the machine, or of each machine, that servers run on.
func (j *Job) dropPageCache(ctx context.Context) error {
	if j.Hosts != nil {
		return j.Hosts.DropPageCache(ctx)
	}
	return DropPageCache()
}

// isolate prepares the machine before a run as the workload asks.
func (s *session) isolate(ctx context.Context) error {
	if err := s.separate(); err != nil {
		return err
	}
	if !s.job.Workload.Isolate.DropPageCache {
		return nil
	}
	if err := s.job.dropPageCache(ctx); err != nil {
		return fmt.Errorf("drop the page cache: %w", err)
	}
	whose := "this machine"
	if s.job.Hosts != nil {
		whose = "the hosts"
	}
	return s.writer.Event(result.Event{AtNs: s.sinceBegan(), Kind: "note",
		Sentence: "the page cache of " + whose + " was written out and dropped"})
}
