package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var (
	_ system.Roller  = (*cluster)(nil)
	_ system.Resizer = (*cluster)(nil)
	_ system.Scaler  = (*cluster)(nil)
)

// plantLimit bounds the wait for messages into which faults are planted: a load that has ended
// brings none.
const plantLimit = 2 * time.Second

var errUnanswered = fmt.Errorf("the connection was lost before the answer came: %w",
	system.ErrUnknown)

// LostMessage identifies a message that was acknowledged and never delivered: number Seq of its
// producer in its partition.
type LostMessage struct {
	Producer, Partition int
	Seq                 int64
}

// outage is the effect of a fault on the simulator and on arriving messages. The simulator's lock
// guards it.
type outage struct {
	per       [faultKinds]int64 // messages at each fault
	refuses   bool              // arriving messages are refused; otherwise they wait
	slowNs    int64             // added by a slow disk, and while copies move
	recoverNs int64             // after the heal
	stop      time.Duration     // of a machine, in a rolling restart and as it leaves
	syncNs    int64             // after the heal, and of the moves of copies
	machines  int64

	under   bool  // a fault is under way
	untilNs int64 // nothing is answered or delivered before; since the simulator began
	failing bool  // messages are answered with a refusal
	slowed  bool
	left    [faultKinds]int64 // messages still to plant
	planted chan struct{}     // closed when all are planted
	syncAt  int64             // when the machines are in sync, since the simulator began
	then    func()            // continues the fault when they are
	moving  bool              // copies move until syncAt
	joined  int64             // machines beside the first ones
}

func newOutage(s system.Settings) outage {
	o := outage{
		refuses: s.Text("fault_messages") == "refused", slowNs: int64(
			s.Duration("fault_slow")), recoverNs: int64(s.Duration("fault_recovery")),
	}
	o.stop, o.syncNs = s.Duration("fault_stop"), int64(s.Duration("fault_sync"))
	o.machines = s.Count("fault_machines")
	o.per[lose], o.per[duplicate] = s.Count("fault_lose"), s.Count("fault_duplicate")
	o.per[swap], o.per[unanswered] = s.Count("fault_swap"), s.Count("fault_unknown")
	return o
}

// plant chooses the planted fault of a message that is being answered. free says that its producer
// holds nothing back in its partition.
func (o *outage) plant(what fault, free bool) fault {
	if o.then == nil || what != none {
		return what
	}
	for kind := lose; kind < faultKinds; kind++ {
		if o.left[kind] == 0 || kind == swap && !free {
			continue
		}
		o.left[kind]--
		return kind
	}
	return none
}

// begin starts the fault's effect when everything is planted.
func (o *outage) begin() {
	if o.then != nil && o.left == [faultKinds]int64{} {
		o.then()
		o.then = nil
		close(o.planted)
	}
}

// Inject first plants the settings' faults into the next messages, and then starts the effect of
// the kind of fault. So the planted messages are the last ones acknowledged before it. The
// simulated system is one node.
func (c *cluster) Inject(ctx context.Context, f workload.Fault, _ string) (system.Injected, error) {
	l := c.simulator
	l.Lock()
	o := &l.outage
	if o.under {
		l.Unlock()
		return system.Injected{}, errors.New("inject a fault: another is not healed yet")
	}
	o.under, o.left, o.planted = true, o.per, make(chan struct{})
	sentence := "answers and deliveries stop"
	o.then = func() { o.untilNs = clock.Never }
	switch {
	case f.Do == workload.FaultScaleOut:
		sentence, o.then = "it has no copies yet", func() {}
	case f.Do == workload.FaultSlowDisk:
		sentence = fmt.Sprintf("each answer takes %s longer", time.Duration(o.slowNs))
		o.then = func() { o.slowed = true }
	case o.refuses || f.Do == workload.FaultFullDisk:
		sentence = "every message is refused"
		o.then = func() { o.failing = true }
	}
	o.begin()
	planted := o.planted
	l.Unlock()
	timer := time.NewTimer(plantLimit)
	defer timer.Stop()
	select {
	case <-planted:
	case <-ctx.Done():
	case <-timer.C:
	}
	l.Lock()
	o.left = [faultKinds]int64{}
	o.begin()
	l.Unlock()
	stops := f.Do == workload.FaultRollingRestart || f.Do == workload.FaultScaleIn
	if stops {
		clock.Sleep(ctx, o.stop)
	}
	if err := ctx.Err(); err != nil {
		return system.Injected{}, fmt.Errorf("inject a fault: %w", err)
	}
	if f.Do == workload.FaultRollingRestart {
		return system.Injected{Nodes: []string{string(f.Target)},
			Sentence: fmt.Sprintf("stopped %s: %s", f.Target, sentence)}, nil
	}
	if f.Do.Resizes() {
		next, err := c.Next(f.Do)
		word := map[bool]string{true: "stopped", false: "started"}[stops]
		return system.Injected{Nodes: []string{next[0].Name},
			Sentence: fmt.Sprintf("%s %s: %s", word, next[0].Name, sentence)}, err
	}
	return system.Injected{Nodes: []string{"sim"},
		Sentence: fmt.Sprintf("%s of the simulated system: %s", f.Do, sentence)}, nil
}

// Heal ends the fault. Waiting messages continue after the recovery time.
func (c *cluster) Heal(context.Context) error {
	l := c.simulator
	l.Lock()
	defer l.Unlock()
	o := &l.outage
	if !o.under {
		return nil
	}
	o.under, o.failing, o.slowed, o.moving = false, false, false, false
	now := l.clock.Now() - l.startNs
	o.syncAt = now + o.syncNs
	if o.untilNs != 0 {
		o.untilNs = now + o.recoverNs
	}
	l.wake()
	return nil
}

// Machines are only names: each stands for the whole system.
func (c *cluster) Machines() []string {
	var names []string
	c.simulator.Lock()
	defer c.simulator.Unlock()
	for i := range c.simulator.outage.machines + c.simulator.outage.joined {
		names = append(names, fmt.Sprintf("m%d", i+1))
	}
	return names
}

// InSync returns nil when the configured time since the last heal has passed.
func (c *cluster) InSync(context.Context, []system.Topic) error {
	l := c.simulator
	l.Lock()
	defer l.Unlock()
	if left := l.outage.syncAt - (l.clock.Now() - l.startNs); left > 0 {
		return fmt.Errorf("a machine is in sync in %s", time.Duration(left))
	}
	return nil
}

// Next implements system.Resizer. Like other machines, those that join are only names.
func (c *cluster) Next(do workload.FaultKind) ([]system.Node, error) {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	n := c.simulator.outage.machines + c.simulator.outage.joined
	if do == workload.FaultScaleOut || c.simulator.outage.joined == 0 { // one was there beside
		n++
	}
	return []system.Node{{Name: fmt.Sprintf("m%d", n)}}, nil
}

// Operate implements system.Resizer. There is nothing to run.
func (c *cluster) Operate(context.Context, string, string) error { return nil }

// Join implements system.Scaler.
func (c *cluster) Join(_ context.Context, r system.Resize) (string, error) {
	c.move(1)
	return "copies move to " + r.Nodes[0].Name, nil
}

// Leave implements system.Scaler.
func (c *cluster) Leave(_ context.Context, r system.Resize) (string, error) {
	c.move(0)
	return "copies move from " + r.Nodes[0].Name, nil
}

// Forget implements system.Scaler.
func (c *cluster) Forget(context.Context, system.Resize) (string, error) {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	c.simulator.outage.joined = max(0, c.simulator.outage.joined-1)
	return "", nil
}

// move begins a move of copies, which makes answers slower.
func (c *cluster) move(joined int64) {
	l := c.simulator
	l.Lock()
	defer l.Unlock()
	l.outage.joined += joined
	l.outage.moving, l.outage.syncAt = true, l.clock.Now()-l.startNs+l.outage.syncNs
}

// slows reports whether answers take longer now, in nanoseconds since the simulator began.
func (o *outage) slows(nowNs int64) bool { return o.slowed || o.moving && nowNs < o.syncAt }
