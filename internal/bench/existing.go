package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
)

// checkExisting refuses existing topics on systems where they cannot be measured.
func (j *Job) checkExisting() error {
	if j.Workload.Existing == nil {
		return nil
	}
	d := j.System.Describe()
	if why := d.WhyNotExisting(j.Settings); why != "" {
		return fmt.Errorf("existing_topics: plimsoll measures on %s only topics that it creates: "+
			"%s: remove existing_topics from the workload", d.Name, why)
	}
	if j.starts() {
		return fmt.Errorf("existing_topics: servers of %s that plimsoll starts have no topics: "+
			"give the target the endpoints of a running cluster", d.Name)
	}
	return nil
}

// findTopics reads the partitions of the workload's existing topics. From then on the session's
// job has a copy of the workload with their number.
func (s *session) findTopics(ctx context.Context) error {
	existing := s.job.Workload.Existing
	if existing == nil {
		return nil
	}
	finder, able := s.cluster.(system.TopicFinder)
	if !able {
		return errors.New("the cluster cannot find existing topics")
	}
	job, w := *s.job, *s.job.Workload
	for i, name := range existing {
		t, err := finder.FindTopic(ctx, name)
		if err != nil {
			return fmt.Errorf("find topic %s: %w", name, err)
		}
		if i > 0 && t.Partitions != w.Partitions {
			return fmt.Errorf("topic %s has %d partitions and topic %s has %d: measure topics "+
				"with different numbers of partitions in separate runs",
				existing[0], w.Partitions, name, t.Partitions)
		}
		w.Partitions = t.Partitions
	}
	if err := w.Validate(); err != nil {
		return fmt.Errorf("the topics have %d partitions each: %w", w.Partitions, err)
	}
	job.Workload = &w
	s.job, s.run.Load = &job, job.Load()
	return job.checkMemory(memoryOfMachine())
}

// deleteSubscriptions removes the run's subscriptions from topics that stay.
func (s *session) deleteSubscriptions(ctx context.Context) error {
	finder, able := s.cluster.(system.TopicFinder)
	if !able || s.plan.Prefix == "" {
		return nil
	}
	var failed []error
	for _, t := range s.plan.Topics() {
		for _, name := range s.plan.Subscriptions() {
			if err := finder.DeleteSubscription(ctx, t, name); err != nil {
				failed = append(failed, fmt.Errorf("delete subscription %s of %s: %w", name,
					t.Name, err))
			}
		}
	}
	return errors.Join(failed...)
}
