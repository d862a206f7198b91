package fleet

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var _ bench.Crew = (*Coordinator)(nil)

// Deal gives every worker its share of a run and has it connect to the target. dismiss ends their
// part.
func (c *Coordinator) Deal(ctx context.Context, d bench.Deal) (
	workers []load.Worker, dismiss func() error, err error,
) {
	a, err := assignmentOf(d)
	if err != nil {
		return nil, nil, err
	}
	team := c.team()
	for i, m := range team {
		m.listen(d.Tell)
		workers = append(workers, newRemote(m, i, &d.Plan, c.options.Clock))
	}
	dismiss = func() error {
		for _, m := range team {
			m.listen(nil)
		}
		return load.Together(workers, func(i int) error {
			return unlessLost(workers[i].(*remote).order(actionFinish, nil, nil))
		})
	}
	err = load.Together(workers, func(i int) error {
		mine := a
		mine.Plan.Share.Worker, mine.Plan.Share.Workers = i, len(workers)
		mine.Options.MaxUSD /= float64(len(workers))
		return team[i].ask(ctx, actionBegin, mine, nil)
	})
	return workers, dismiss, err
}

// Describe returns what a result says of the fleet's workers, and of this machine's clock.
func (c *Coordinator) Describe() (all []result.Worker, own *result.Chrony) {
	for _, m := range c.team() {
		all = append(all, m.describe(c.kernel))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return all, (*result.Chrony)(c.chrony)
}

// describe is what a result says of a worker before its figures are known.
func (m *member) describe(kernel string) result.Worker {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := result.Worker{Name: m.hello.Name, Host: m.hello.Host, Cores: m.hello.Cores,
		SameClock: m.sharesClock(kernel), Chrony: (*result.Chrony)(m.hello.Chrony)}
	if m.lost != nil {
		w.Lost = strings.ReplaceAll(m.lost.Error(), "\n", " ")
	}
	if m.clock != nil {
		w.ClockOffsetNs, w.ClockBoundNs = m.clock.OffsetNs, m.boundNs
	}
	return w
}

// assignmentOf returns what all workers of a run need. The workload travels as YAML, which the
// worker reads with the parser of any file; a workload that does not read back as the same one is
// refused.
func assignmentOf(d bench.Deal) (a Assignment, err error) {
	text := d.Plan.Workload.YAML()
	read, err := workload.Parse("plan", []byte(text))
	if err != nil {
		return a, fmt.Errorf("write the plan for workers: %w", err)
	}
	read.Partitions = d.Plan.Workload.Partitions // may have been read from topics that exist
	if !reflect.DeepEqual(*read, d.Plan.Workload) {
		return a, fmt.Errorf("the workload %s cannot be sent to workers: its YAML does not read "+
			"back as the same workload", d.Plan.Workload.Name)
	}
	return Assignment{
		Workload: text, System: d.Target.System, Settings: d.Target.Settings,
		Plan: PlannedRun{Run: d.Plan.Run, Prefix: d.Plan.Prefix, Spread: d.Plan.Spread,
			Share: d.Plan.Share, Partitions: read.Partitions},
		Options: Connection{Endpoints: d.Options.Endpoints, Credentials: d.Options.Credentials,
			Trust: d.Trust, MaxUSD: d.Options.MaxUSD},
	}, nil
}
