package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var _ system.Scaler = (*cluster)(nil)

// partition names a partition.
type partition struct {
	Topic     string
	Partition int32
}

// placement is where the replicas of partitions are, the preferred leader's first.
type placement map[partition][]int32

// Join implements system.Scaler by a reassignment. Internal topics stay where they are.
func (c *cluster) Join(ctx context.Context, r system.Resize) (string, error) {
	id := brokerOf(r)
	brokers, err := c.awaitBroker(ctx, id)
	if err != nil {
		return "", err
	}
	c.joined.Add(1)
	now, err := c.placed(ctx, namesOf(r.Topics)...)
	if err != nil {
		return "", err
	}
	next := now.shareWith(id, len(brokers))
	return fmt.Sprintf("broker %d joined, and takes %d of %d replicas", id, len(next),
		now.replicas()), c.reassign(ctx, next)
}

// Leave implements system.Scaler by a reassignment of all topics.
func (c *cluster) Leave(ctx context.Context, r system.Resize) (string, error) {
	id := brokerOf(r)
	brokers, err := c.awaitBroker(ctx, id)
	if err != nil {
		return "", err
	}
	now, err := c.placed(ctx)
	if err != nil {
		return "", err
	}
	next, err := now.without(id, brokers)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("broker %d hands over its %d replicas", id, len(next)),
		c.reassign(ctx, next)
}

// Forget implements system.Scaler: the controllers forget the broker.
func (c *cluster) Forget(ctx context.Context, r system.Resize) (string, error) {
	c.joined.Add(-1)
	id := brokerOf(r)
	request := kmsg.NewPtrUnregisterBrokerRequest()
	request.BrokerID = id
	// The controllers refuse until the session of the stopped broker has ended.
	err := driver.Until(ctx, settlePoll, func() (bool, error) {
		answer, err := request.RequestWith(ctx, c.client)
		if err == nil {
			err = kerr.ErrorForCode(answer.ErrorCode)
		}
		return err != nil, err
	})
	if err != nil {
		return "", fmt.Errorf("unregister broker %d: %w", id, c.explain(err))
	}
	return fmt.Sprintf("the controllers forgot broker %d", id), nil
}

// brokerOf returns the number of the broker that joins or leaves, as its node's name has it.
func brokerOf(r system.Resize) int32 {
	id, _ := strconv.ParseInt(r.Nodes[0].Name[1:], 10, 32) // a name of NodeNames
	return int32(id)
}

// awaitBroker waits until a broker is registered, and returns the numbers of all.
func (c *cluster) awaitBroker(ctx context.Context, id int32) (brokers []int32, err error) {
	err = driver.Until(ctx, settlePoll, func() (bool, error) {
		all, err := c.admin.ListBrokers(ctx)
		if err != nil {
			return true, c.explain(err)
		}
		if brokers = all.NodeIDs(); !slices.Contains(brokers, id) {
			return true, fmt.Errorf("broker %d is not registered", id)
		}
		return false, nil
	})
	return brokers, err
}

// moving returns an error while replicas move between brokers.
func (c *cluster) moving(ctx context.Context) error {
	request := kmsg.NewPtrListPartitionReassignmentsRequest() // of all topics
	request.TimeoutMillis = int32(askWithin.Milliseconds())
	answer, err := request.RequestWith(ctx, c.client)
	if err == nil {
		err = kerr.ErrorForCode(answer.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("ask for the reassignments under way: %w", c.explain(err))
	}
	if len(answer.Topics) > 0 {
		return of(answer.Topics[0].Topic, errors.New("replicas move to other brokers"))
	}
	return nil
}

// placed returns where the replicas of topics are; without names, of all topics.
func (c *cluster) placed(ctx context.Context, names ...string) (placement, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	told, err := c.admin.Metadata(ctx, names...)
	if err != nil {
		return nil, c.explain(err)
	}
	all := placement{}
	for _, t := range told.Topics.Sorted() {
		if t.Err != nil {
			return nil, of(t.Topic, t.Err)
		}
		for _, p := range t.Partitions.Sorted() {
			if p.Err != nil {
				return nil, of(t.Topic, p.Err)
			}
			all[partition{Topic: t.Topic, Partition: p.Partition}] = p.Replicas
		}
	}
	return all, nil
}

// reassign has the brokers move replicas.
func (c *cluster) reassign(ctx context.Context, to placement) error {
	var request kadm.AlterPartitionAssignmentsReq
	for p, replicas := range to {
		request.Assign(p.Topic, p.Partition, replicas)
	}
	answer, err := c.admin.AlterPartitionAssignments(ctx, request)
	if err == nil {
		err = answer.Error()
	}
	if err != nil {
		return fmt.Errorf("reassign %d partitions: %w", len(to), c.explain(err))
	}
	return nil
}

// sorted returns the partitions in order.
func (p placement) sorted() []partition {
	return slices.SortedFunc(maps.Keys(p), func(a, b partition) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), int(a.Partition-b.Partition))
	})
}

func (p placement) replicas() (n int) {
	for _, on := range p {
		n += len(on)
	}
	return n
}

// shareWith returns the partitions that a new broker takes a replica of, as they are then: its
// share of all replicas, at least one, and with it the same share of preferred leaders.
func (p placement) shareWith(id int32, brokers int) placement {
	next := placement{}
	share := max(1, p.replicas()/brokers)
	for _, at := range p.sorted() {
		if len(next) == share {
			break
		}
		on := slices.Clone(p[at])
		on[len(next)%len(on)] = id
		next[at] = on
	}
	return next
}

// without returns the partitions with a replica on a leaving broker, as they are without it. The
// replica goes to the broker with the fewest of those that have none.
func (p placement) without(id int32, brokers []int32) (placement, error) {
	load := map[int32]int{}
	for _, on := range p {
		for _, b := range on {
			load[b]++
		}
	}
	next := placement{}
	for _, at := range p.sorted() {
		i := slices.Index(p[at], id)
		if i < 0 {
			continue
		}
		free := slices.DeleteFunc(slices.Clone(brokers),
			func(b int32) bool { return slices.Contains(p[at], b) })
		if len(free) == 0 {
			return nil, of(at.Topic, errors.New("every other broker has a replica already"))
		}
		to := slices.MinFunc(free, func(a, b int32) int { return load[a] - load[b] })
		load[to]++
		on := slices.Clone(p[at])
		on[i] = to
		next[at] = on
	}
	return next, nil
}
