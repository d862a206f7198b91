package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Next implements system.Resizer.
func (i *Injector) Next(do workload.FaultKind) ([]system.Node, error) {
	cluster, able := i.bed.Cluster().(system.Resizable)
	if !able {
		return nil, errors.New("the servers run in one process, and their number cannot change")
	}
	next := cluster.Joining()
	if do == workload.FaultScaleIn {
		next = cluster.Leaving()
	}
	if len(next) == 0 {
		return nil, fmt.Errorf("the cluster was started without an extra server for %s", do)
	}
	return next, nil
}

// join starts nodes that were made ready.
func (i *Injector) join(nodes []system.Node) error {
	for _, n := range nodes {
		if err := i.restarter().Restart(n.Name); err != nil {
			return err
		}
	}
	return nil
}

// leave ends nodes for good, the last started first.
func (i *Injector) leave(ctx context.Context, nodes []system.Node) error {
	for _, n := range slices.Backward(nodes) {
		if err := i.resizable().Retire(ctx, n.Name); err != nil {
			return err
		}
	}
	return nil
}

// Operate implements system.Resizer.
func (i *Injector) Operate(ctx context.Context, node, program string) error {
	return i.resizable().Operate(ctx, node, program)
}

func (i *Injector) resizable() system.Resizable { return i.bed.Cluster().(system.Resizable) }
