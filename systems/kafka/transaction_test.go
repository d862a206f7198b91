package kafka

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// ends holds the results of a producer's messages, by transaction.
type ends struct {
	acked, refused, unknown map[uint32]int
	arriving                []string // the payloads of those acknowledged
}

func newEnds() *ends {
	return &ends{acked: map[uint32]int{}, refused: map[uint32]int{}, unknown: map[uint32]int{}}
}

// lot sends messages of one size, and some that no batch can hold, and waits for their results.
func (e *ends) lot(t *testing.T, p system.Producer, name string, n int, tooLarge ...int) {
	t.Helper()
	all := make([]*systemtest.TestMessage, n)
	for i := range all {
		all[i] = systemtest.NewTestMessage(fmt.Sprintf("%s-%d", name, i))
		all[i].Partition = int32(i % 2)
		if slices.Contains(tooLarge, i) {
			all[i].Payload = make([]byte, 20<<10)
		}
		p.Send(&all[i].Message)
	}
	for i, l := range all {
		switch err := l.Await(t); {
		case err == nil:
			e.acked[l.Transaction]++
			e.arriving = append(e.arriving, fmt.Sprintf("%s-%d", name, i))
		case errors.Is(err, system.ErrUnknown):
			e.unknown[l.Transaction]++
			t.Logf("%s, message %d, transaction %d: %v", name, i, l.Transaction, err)
		default:
			e.refused[l.Transaction]++
		}
		if l.EndedAgain() {
			t.Errorf("%s, message %d ended twice", name, i)
		}
	}
}

// check requires that all messages of a transaction had the same result.
func (e *ends) check(t *testing.T) {
	t.Helper()
	for number := range e.acked {
		if number == 0 || e.refused[number]+e.unknown[number] > 0 {
			t.Errorf("transaction %d: %d acknowledged, %d refused, %d unknown", number,
				e.acked[number], e.refused[number], e.unknown[number])
		}
	}
	for number := range e.unknown {
		if number == 0 || e.refused[number] > 0 {
			t.Errorf("transaction %d: %d refused, %d unknown",
				number, e.refused[number], e.unknown[number])
		}
	}
}

// A transaction is aborted if one of its messages fails: all of its messages are refused, no
// reader gets one, and the next transaction is committed.
func TestTransactionsEndAsAWhole(t *testing.T) {
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncAsync,
		setBatchSize, "10KB", setTxnInterval, "20ms"))
	topic, got := systemtest.Topic(t, c, "whole", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.ExactlyOnce, got)
	p, e := systemtest.Producer(t, c, topic, 0, workload.ExactlyOnce), newEnds()
	for i := range 10 {
		if i%3 == 1 {
			e.lot(t, p, fmt.Sprint("spoilt-", i), 50, 20)
		} else {
			e.lot(t, p, fmt.Sprint("good-", i), 50)
		}
	}
	e.check(t)
	if len(e.refused) == 0 || len(e.unknown) > 0 || len(e.acked) < 7 {
		t.Errorf("transactions: %d committed, %d aborted, %d unknown",
			len(e.acked), len(e.refused), len(e.unknown))
	}
	got.AwaitAll(t, e.arriving...)
	if n := len(got.Contents()); n != len(e.arriving) {
		t.Errorf("%d messages arrived, %d were acknowledged", n, len(e.arriving))
	}
}

// A transaction whose brokers are silent for longer than transaction_timeout is aborted when they
// answer again. None of its messages is committed with the next one.
func TestTransactionThroughASilence(t *testing.T) {
	servers := sharedCluster(t)
	c := connect(t, optionsOf(t, servers, workload.SyncAsync,
		setTxnInterval, "20ms", setTxnTimeout, "2s"))
	topic, got := systemtest.Topic(t, c, "silence", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.ExactlyOnce, got)
	p, e := systemtest.Producer(t, c, topic, 0, workload.ExactlyOnce), newEnds()
	e.lot(t, p, "before", 50)
	signal := func(s syscall.Signal) {
		for _, n := range servers.Nodes() {
			if err := syscall.Kill(n.PID, s); err != nil {
				t.Error(err)
			}
		}
	}
	signal(syscall.SIGSTOP)
	goOn := time.AfterFunc(4*time.Second, func() { signal(syscall.SIGCONT) })
	defer func() {
		if goOn.Stop() {
			signal(syscall.SIGCONT)
		}
	}()
	began := time.Now()
	e.lot(t, p, "silent", 50)
	t.Logf("the ends came after %s", time.Since(began).Round(time.Millisecond))
	e.lot(t, p, "after", 50)
	e.check(t)
	t.Logf("acknowledged %v, refused %v", e.acked, e.refused)
	if len(e.refused) == 0 || len(e.unknown) > 0 {
		t.Errorf("transactions: %d committed, %d aborted, %d unknown",
			len(e.acked), len(e.refused), len(e.unknown))
	}
	got.AwaitAll(t, e.arriving...)
	if n := len(got.Contents()); n != len(e.arriving) {
		t.Errorf("%d messages arrived, %d were acknowledged", n, len(e.arriving))
	}
}

// A producer that another producer with its transactional id has fenced can commit nothing more.
// Its messages are refused, because no other producer commits them.
func TestFencedProducer(t *testing.T) {
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncAsync, setTxnInterval, "20ms"))
	topic, got := systemtest.Topic(t, c, "fenced", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.ExactlyOnce, got)
	old, before := systemtest.Producer(t, c, topic, 0, workload.ExactlyOnce), newEnds()
	before.lot(t, old, "before", 50)
	heir, after := systemtest.Producer(t, c, topic, 0, workload.ExactlyOnce), newEnds()
	after.lot(t, heir, "heir", 50)
	fenced := newEnds()
	fenced.lot(t, old, "fenced", 50)
	fenced.lot(t, old, "broken", 50)
	after.lot(t, heir, "heir-again", 50)
	for _, e := range []*ends{before, after, fenced} {
		e.check(t)
	}
	if len(before.refused)+len(before.unknown)+len(after.refused)+len(after.unknown) > 0 {
		t.Errorf("before %v, after %v: want all acknowledged", before, after)
	}
	if len(fenced.acked)+len(fenced.unknown) > 0 {
		t.Errorf("fenced off: acknowledged %v, unknown %v; want all refused",
			fenced.acked, fenced.unknown)
	}
	arriving := slices.Concat(before.arriving, after.arriving)
	got.AwaitAll(t, arriving...)
	if n := len(got.Contents()); n != len(arriving) {
		t.Errorf("%d messages arrived, %d were acknowledged", n, len(arriving))
	}
}
