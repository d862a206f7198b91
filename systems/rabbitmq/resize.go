package rabbitmq

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

var _ system.Scaler = (*cluster)(nil)

// Programs of RabbitMQ's operators, which no API replaces before 3.13.
const (
	queuesScript  = "rabbitmq-queues"
	controlScript = "rabbitmqctl"
)

// operating is the node that runs the programs about a node that leaves: the first of NodeNames.
const operating = "n1"

// Names of programs: growing gives every queue a copy on the node that runs it; the others end with
// the name of the node that leaves.
const (
	growing    = "grow"
	shrinking  = "shrink "
	forgetting = "forget "
)

// nameOperations names the programs with which servers join and leave.
func (s starter) nameOperations(c serverConfig) {
	if s.provision.Extra == 0 {
		return
	}
	run := func(on *driver.Node, name, script string, args ...string) {
		on.Program(name, process.Spec{
			Path: filepath.Join(filepath.Dir(s.programs.server), script),
			Args: append([]string{"--longnames", "--node", erlangName(on)}, args...),
			Env:  append(c.erlang(), "RABBITMQ_CTL_ERL_ARGS="+distribution(on))})
	}
	first := c.nodes[0]
	for i, n := range c.nodes {
		run(n, growing, queuesScript, growing, erlangName(n), "all")
		if i >= s.provision.Nodes {
			run(first, shrinking+n.Name, queuesScript, "shrink", erlangName(n))
			run(first, forgetting+n.Name, controlScript, "forget_cluster_node", erlangName(n))
		}
	}
}

// refuseResize says that only quorum queues with a copy on every server can move copies.
func refuseResize(r system.Check) string {
	p := planOf(r.Settings, r.Durability)
	switch {
	case p.kind != quorum:
		return fmt.Sprintf("%s queues cannot move copies: take quorum queues, --durability 1 or 2",
			p.kind)
	case r.Nodes > 0 && int64(r.Nodes) != p.replicas():
		return fmt.Sprintf("queues grow to a copy on every server, and %s is %d of %d servers: "+
			"make them the same", setReplicas, p.replicas(), r.Nodes)
	}
	return ""
}

// Join implements system.Scaler as operators do it: every queue gets one more copy.
func (c *cluster) Join(ctx context.Context, r system.Resize) (string, error) {
	joining := r.Nodes[0]
	err := driver.Retry(ctx, settlePoll, func() error {
		nodes, err := c.api.nodes(ctx)
		if err == nil && !slices.ContainsFunc(nodes, func(n nodeReport) bool {
			return n.Running && strings.HasPrefix(n.Name, joining.Name+"@")
		}) {
			err = fmt.Errorf("%s is not in the cluster", joining.Name)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	c.joined.Add(1)
	if err := r.Operate(ctx, joining.Name, growing); err != nil {
		return "", err
	}
	return joining.Name + " joined, and every queue has grown by a copy on it (rabbitmq-queues " +
		"grow)", nil
}

// Leave implements system.Scaler: a queue that would have too few copies without the server gets
// one on each of the others first.
func (c *cluster) Leave(ctx context.Context, r system.Resize) (string, error) {
	leaving := r.Nodes[0].Name
	lacking, err := c.lacking(ctx, r)
	if err != nil {
		return "", err
	}
	for _, name := range lacking {
		if err := r.Operate(ctx, name, growing); err != nil {
			return "", err
		}
	}
	if len(lacking) > 0 {
		err := driver.Retry(ctx, settlePoll, func() error { return c.InSync(ctx, r.Topics) })
		if err != nil {
			return "", err
		}
	}
	if err := r.Operate(ctx, operating, shrinking+leaving); err != nil {
		return "", err
	}
	return "no queue has a copy on " + leaving + " any more (rabbitmq-queues grow, shrink)", nil
}

// lacking returns the servers on which queues need a copy so that they can do without the one that
// leaves.
func (c *cluster) lacking(ctx context.Context, r system.Resize) ([]string, error) {
	nodes, err := c.api.nodes(ctx)
	if err != nil {
		return nil, err
	}
	leaves := func(member string) bool { return strings.HasPrefix(member, r.Nodes[0].Name+"@") }
	var all []string
	for _, t := range r.Topics {
		queues, err := c.api.queues(ctx, c.cfg.Text(setVhost), t.Name)
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", t.Name, err)
		}
		for _, q := range queues {
			if len(q.Members) > int(c.cfg.replicas()) || !slices.ContainsFunc(q.Members, leaves) {
				continue
			}
			for _, n := range nodes {
				name, _, _ := strings.Cut(n.Name, "@")
				if !leaves(n.Name) && !slices.Contains(q.Members, n.Name) &&
					!slices.Contains(all, name) {
					all = append(all, name)
				}
			}
		}
	}
	return all, nil
}

// Forget implements system.Scaler.
func (c *cluster) Forget(ctx context.Context, r system.Resize) (string, error) {
	left := r.Nodes[0].Name
	c.joined.Add(-1)
	if err := r.Operate(ctx, operating, forgetting+left); err != nil {
		return "", err
	}
	return "the servers forgot " + left, nil
}
