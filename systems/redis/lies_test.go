package redis

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A lie is a sentence of the contract that a driver breaks while it claims to keep it.
type lie struct {
	level    workload.Level // that it claims
	settings []string
	test     string // of the conformance suite, which fails
	says     string // a part of the failure
}

// The lies.
const (
	withoutSync   = "a level without its sync"
	beforeAnswer  = "acknowledged before the answer"
	nothingBack   = "closed with nothing given back"
	beforeHandled = "acknowledged before it is handled"
)

var lies = map[string]lie{
	withoutSync: {workload.AsyncSync, nil, "durability/level_3_waits_for/sync",
		"level 3: an acknowledged message is synced to disk on one replica"},
	beforeAnswer: {workload.SyncAsync, nil,
		"durability/level_2_waits_for/answer",
		"system.Producer: a message ends without an error only after a server has answered"},
	nothingBack: {workload.SyncAsync, []string{setClaimAfter, "5m"},
		"restart_without_loss",
		"system.Consumer: messages without an acknowledgement go to another consumer when Close"},
	beforeHandled: {workload.SyncAsync, []string{setClaimAfter, "1s"},
		"unhandled_comes_again",
		"system.ConsumerOptions: the consumer acknowledges a message after Receive returns"},
}

// toldLie is the environment variable with the lie that a process of TestLiesAreFound tells.
const toldLie = "PLIMSOLL_TEST_LIE"

// The conformance suite finds each lie, and names the sentence that it breaks. It fails in a
// process of its own.
func TestLiesAreFound(t *testing.T) {
	t.Parallel()
	needServer(t)
	if name := os.Getenv(toldLie); name != "" {
		tell(t, name)
		return
	}
	for name, told := range lies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if told.level.Synced() {
				systemtest.NeedDelays(t)
			}
			began := time.Now()
			first, _, _ := strings.Cut(told.test, "/")
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.timeout", "3m", "-test.run",
				"^TestLiesAreFound$/^"+first+"$")
			c.Env = append(os.Environ(), toldLie+"="+name)
			out, err := c.CombinedOutput()
			t.Logf("the suite took %s", time.Since(began).Round(time.Second))
			if err == nil || !bytes.Contains(out, []byte("--- FAIL: TestLiesAreFound/"+told.test)) ||
				!bytes.Contains(out, []byte(told.says)) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// tell runs the suite on a driver that tells a lie.
func tell(t *testing.T, name string) {
	told := lies[name]
	systemtest.Run(t, systemtest.Harness{
		System: liar{lie: name}, Levels: []workload.Level{told.level},
		Options: func(t *testing.T, _ workload.Level) (system.Options, []system.Node) {
			return optionsOf(t, workload.SyncAsync, told.settings...), shared.Get(t).Nodes()
		},
	})
}

// liar is the driver, but for one lie.
type liar struct {
	redisSystem
	lie string
}

func (l liar) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	claimed := o.Durability
	if claimed == workload.AsyncSync {
		o.Durability = workload.AsyncAsync
	}
	c, err := l.redisSystem.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return &lyingCluster{c.(*cluster), l.lie, claimed}, nil
}

type lyingCluster struct {
	*cluster
	lie     string
	claimed workload.Level
}

func (c *lyingCluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error,
) {
	e, err := c.cluster.ReadDurability(ctx, topics)
	e.Level = c.claimed
	return e, err
}

func (c *lyingCluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error,
) {
	p, err := c.cluster.OpenProducer(ctx, o)
	if c.lie == beforeAnswer && err == nil {
		return &hastyProducer{p}, nil
	}
	return p, err
}

func (c *lyingCluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	switch c.lie {
	case beforeHandled:
		o.Delivery = workload.AtMostOnce
	case nothingBack:
		receive := o.Receive
		o.Receive = func(m system.Received) {
			time.Sleep(time.Millisecond) // so that messages wait to be handled
			receive(m)
		}
		k, err := c.cluster.OpenConsumer(ctx, o)
		return hastyConsumer{k}, err
	}
	return c.cluster.OpenConsumer(ctx, o)
}

// hastyProducer acknowledges every message at once.
type hastyProducer struct{ system.Producer }

func (p *hastyProducer) Send(m *system.Message) {
	own := &system.Message{Partition: m.Partition, Key: slices.Clone(m.Key),
		Payload: slices.Clone(m.Payload)}
	own.Bind(unheard{})
	m.Done(nil)
	p.Producer.Send(own)
}

type unheard struct{}

func (unheard) Complete(error) {}

// hastyConsumer leaves what it has read to the servers' time-out.
type hastyConsumer struct{ system.Consumer }

func (k hastyConsumer) Close(ctx context.Context) error {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_ = k.Consumer.Close(ended)
	return nil
}
