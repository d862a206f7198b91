package bench

import (
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/result"
)

// checkIsolation refuses a workload whose isolate key cannot be fulfilled.
func (j *Job) checkIsolation() error {
	if !j.Workload.Isolate.DropPageCache {
		return nil
	}
	if !j.embedded() && !j.starts() && len(j.Target.Processes) == 0 &&
		!onThisHost(j.Target.Endpoints) {
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
	if err := dropPageCache(); err != nil {
		return fmt.Errorf("drop the page cache before the backlog is read: %w", err)
	}
	return nil
}

// isolate prepares the machine before a run as the workload asks.
func (s *session) isolate() error {
	if err := s.separate(); err != nil {
		return err
	}
	if !s.job.Workload.Isolate.DropPageCache {
		return nil
	}
	if err := dropPageCache(); err != nil {
		return fmt.Errorf("drop the page cache: %w", err)
	}
	return s.writer.Event(result.Event{AtNs: s.sinceBegan(), Kind: "note",
		Sentence: "the page cache of this machine was written out and dropped"})
}
