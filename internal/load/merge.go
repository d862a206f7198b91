package load

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// MergeReadiness returns the union of what the workers' consumers have proved.
func MergeReadiness(all ...Readiness) Readiness {
	var merged Readiness
	for _, r := range all {
		merged.Messages += r.Messages
		merged.Connections += max(r.Connections, 0)
		for i, set := range r.Received {
			if i == len(merged.Received) {
				merged.Received = append(merged.Received, measure.Set{})
			}
			merged.Received[i] = merged.Received[i].Union(set)
		}
	}
	return merged
}

// MergeSamples merges a sample of each worker. The samples must be of the same interval and on the
// same clock.
func MergeSamples(all ...Sample) (Sample, error) {
	if len(all) == 0 {
		return Sample{}, fmt.Errorf("there is no sample to merge")
	}
	merged := Sample{Worker: all[0].Worker, Interval: all[0].Interval, Clock: all[0].Clock}
	var histograms [][]measure.Histogram
	for i, s := range all {
		if s.Clock != merged.Clock || s.Interval != merged.Interval {
			return Sample{}, fmt.Errorf(
				"merge samples: worker %d has interval %d on %q, %d has %d on %q",
				merged.Worker, merged.Interval, merged.Clock, s.Worker, s.Interval, s.Clock)
		}
		merged.AtNs = measure.Later(merged.AtNs, s.AtNs)
		if i == 0 {
			merged.Counters = s.Counters
			merged.Counters.ReceivedWithin = slices.Clone(s.Counters.ReceivedWithin)
			merged.Counters.FreshAt = slices.Clone(s.Counters.FreshAt)
		} else {
			merged.Counters.add(s.Counters)
		}
		merged.FirstAckNs = earliest(merged.FirstAckNs, s.FirstAckNs)
		merged.LastAckNs = measure.Later(merged.LastAckNs, s.LastAckNs)
		merged.Processes = mergeProcesses(merged.Processes, s.Processes)
		histograms = append(histograms, s.Histograms)
	}
	merged.Histograms = measure.MergeHistograms(histograms...)
	return merged, nil
}

// earliest is the earlier of two times; 0: there is none. A clock may be below 0.
func earliest(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// add adds another worker's counters.
func (c *Counters) add(o Counters) {
	for _, of := range []struct {
		into *[2]int64
		n    [2]int64
	}{
		{&c.Handed, o.Handed}, {&c.Acked, o.Acked}, {&c.Failed, o.Failed}, {&c.Unsent, o.Unsent},
		{&c.Received, o.Received}, {&c.Calls, o.Calls},
	} {
		add(of.into, of.n)
	}
	c.InFlight += o.InFlight
	c.Fresh += o.Fresh
	c.Replayed += o.Replayed
	c.Used += o.Used
	c.Found += o.Found
	c.GivenBack += o.GivenBack
	c.Redelivered += o.Redelivered
	c.AckedBytes += o.AckedBytes
	c.AckedWithin += o.AckedWithin
	c.BytesWithin += o.BytesWithin
	for i, n := range o.ReceivedWithin {
		c.ReceivedWithin[i] += n
	}
	for i, n := range o.FreshAt {
		c.FreshAt[i] += n
	}
	c.BlockedNs += o.BlockedNs
	c.FirstHandedNs = earliest(c.FirstHandedNs, o.FirstHandedNs)
	c.Read += o.Read
	c.FirstReadNs = earliest(c.FirstReadNs, o.FirstReadNs)
	c.LastReceived = measure.Later(c.LastReceived, o.LastReceived)
	c.Sent = c.Sent && o.Sent
	c.Opened = c.Opened && o.Opened
	c.Unopened = cmp.Or(c.Unopened, o.Unopened)
}

func add(into *[2]int64, n [2]int64) {
	into[0] += n[0]
	into[1] += n[1]
}

// mergeProcesses adds the processes of another worker, and changes into. Of a process that is there
// already, the greater reading counts: the greater of two cumulative readings is the later one.
func mergeProcesses(into, all []Process) []Process {
	for _, p := range all {
		at := slices.IndexFunc(into, func(q Process) bool { return q.ID == p.ID })
		if at < 0 {
			into = append(into, p)
			continue
		}
		q := &into[at]
		q.CPUSeconds, q.GCCount = max(q.CPUSeconds, p.CPUSeconds), max(q.GCCount, p.GCCount)
		q.GCPauseNs, q.RSSBytes = max(q.GCPauseNs, p.GCPauseNs), max(q.RSSBytes, p.RSSBytes)
		q.HeapBytes = max(q.HeapBytes, p.HeapBytes)
		q.Goroutines = max(q.Goroutines, p.Goroutines)
		q.ThrottledNs = max(q.ThrottledNs, p.ThrottledNs)
		q.CPULimitCores = max(q.CPULimitCores, p.CPULimitCores)
		q.MemoryLimitBytes = max(q.MemoryLimitBytes, p.MemoryLimitBytes)
	}
	return into
}

// Spent returns the resources that all processes used together.
func (s Sample) Spent() (all Process) {
	for _, p := range s.Processes {
		all.CPUSeconds += p.CPUSeconds
		all.GCCount += p.GCCount
		all.GCPauseNs = max(all.GCPauseNs, p.GCPauseNs)
		all.RSSBytes += p.RSSBytes
		all.HeapBytes += p.HeapBytes
		all.Goroutines += p.Goroutines
		all.ThrottledNs += p.ThrottledNs
		all.CPULimitCores += p.CPULimitCores
		all.MemoryLimitBytes += p.MemoryLimitBytes
	}
	return all
}

// Backlog returns acknowledged x subscriptions - received, without copies.
func (c *Counters) Backlog(w *workload.Workload) int64 {
	acked := c.Acked[0] + c.Acked[1]
	// Messages that arrived before their acknowledgement can make it negative.
	return max(0, acked*int64(w.Subscriptions)-c.Fresh)
}

// Begun returns the number of messages handed over or counted unsent, by phase.
func (c *Counters) Begun() (n [2]int64) {
	add(&n, c.Handed)
	add(&n, c.Unsent)
	return n
}

// MergeAccounts merges the accounts of several workers, in the order of topics, producers and
// consumers.
func MergeAccounts(all ...Account) (Account, error) {
	if len(all) == 0 {
		return Account{}, fmt.Errorf("there is no account to merge")
	}
	merged := Account{Clock: all[0].Clock}
	counts := make(map[string]int64)
	for i, a := range all {
		if a.Clock != merged.Clock {
			return Account{}, fmt.Errorf("merge accounts: one is on the clock %q and another on %q",
				a.Clock, merged.Clock)
		}
		merged.Sent = append(merged.Sent, a.Sent...)
		for _, one := range a.Arrived {
			one.Worker = i
			merged.Arrived = append(merged.Arrived, one)
		}
		merged.MeanInFlight += a.MeanInFlight
		merged.MemoryBytes += a.MemoryBytes
		merged.Scaling = append(merged.Scaling, a.Scaling...)
		merged.Missing = append(merged.Missing, a.Missing...)
		for _, e := range a.Errors {
			counts[e.Message] += e.Count
		}
	}
	merged.Errors = errorsOf(counts)
	slices.SortStableFunc(merged.Sent, func(a, b measure.SentAccount) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Producer, b.Producer))
	})
	slices.SortStableFunc(merged.Arrived, func(a, b measure.ArrivedAccount) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Subscription, b.Subscription),
			cmp.Compare(a.Consumer, b.Consumer))
	})
	return merged, nil
}

// maxMerged bounds the distinct error messages of all clients together. The rarest ones of a
// crowd, which may name single clients, are counted together.
const maxMerged = 1_000

// errorsOf returns the errors, the most frequent first.
func errorsOf(counts map[string]int64) (errs []result.Error) {
	for text, n := range counts {
		errs = append(errs, result.Error{Message: text, Count: n})
	}
	sortErrors(errs)
	if len(errs) <= maxMerged {
		return errs
	}
	kept, others := errs[:maxMerged-1], result.Error{Message: otherErrors}
	for _, e := range errs[len(kept):] {
		others.Count += e.Count
	}
	if at := slices.IndexFunc(kept,
		func(e result.Error) bool { return e.Message == otherErrors }); at >= 0 {
		kept[at].Count += others.Count
	} else {
		kept = append(kept, others)
	}
	sortErrors(kept)
	return slices.Clone(kept) // the others can be collected
}

func sortErrors(errs []result.Error) {
	slices.SortFunc(errs, func(a, b result.Error) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Message, b.Message))
	})
}

// Evidence says what shows that messages which have not arrived are lost, as measure.Evidence does
// for one topic and subscription.
type Evidence struct {
	Passed  bool
	SinceNs int64
	// Audited: the last subscription has read everything that the system has.
	Audited bool
	// Gone reports whether the servers say that they no longer have a partition; nil: none is gone.
	Gone func(topic, partition int) bool
}

// of returns the evidence about one topic. audit is what its last subscription received.
func (e Evidence) of(topic int, audit arrivedAccounts) measure.Evidence {
	out := measure.Evidence{Passed: e.Passed, SinceNs: e.SinceNs}
	if e.Audited {
		out.Audited, out.Audit = true, audit
	}
	if e.Gone != nil {
		out.Gone = func(partition int) bool { return e.Gone(topic, partition) }
	}
	return out
}

// Judge compares the acknowledged with the received messages, for every subscription, and decides
// by the evidence whether messages that have not arrived are lost. It also returns the number of
// distinct messages due in the measured window that arrived at the workload's own subscriptions.
func (p *Plan) Judge(a Account, e Evidence) (ledger result.Ledger, arrived int64) {
	if len(a.Missing) > 0 {
		return ledger, 0
	}
	ledger = result.Ledger{Accounted: true, MemoryBytes: a.MemoryBytes}
	w, topics := &p.Workload, p.Topics()
	audits := make([]arrivedAccounts, w.Topics)
	if e.Audited {
		p.eachTopic(a, w.AllSubscriptions()-1, func(t int, _ sentAccounts,
			got arrivedAccounts) bool {
			audits[t] = got
			return true
		})
	}
	for s := range w.AllSubscriptions() {
		account := result.SubscriptionLedger{Subscription: p.subscriptionName(s)}
		p.eachTopic(a, s, func(t int, sent sentAccounts, got arrivedAccounts) bool {
			partitions := w.KindOf(t).Most
			name := func(lane int) measure.LaneName {
				return measure.LaneName{
					Topic: topics[t].Name, Producer: lane / partitions,
					Partition: lane % partitions,
				}
			}
			n := measure.Judge(&account, sent, got, e.of(t, audits[t]), name)
			if s < w.Subscriptions {
				arrived += n
			}
			return true
		})
		ledger.Subscriptions = append(ledger.Subscriptions, account)
	}
	return ledger, arrived
}

// OfClass returns an account with the producers of one class. What is judged of their messages is
// of the class; what consumers counted of all messages, such as copies, is not.
func (p *Plan) OfClass(a Account, class int) Account {
	var sent sentAccounts
	for _, s := range a.Sent {
		if p.Workload.ClassOf(s.Topic, s.Producer) == class {
			sent = append(sent, s)
		}
	}
	a.Sent = sent
	return a
}

// Missing reports whether an acknowledged message has not arrived at one of the first n
// subscriptions; a subscription that reads later is the last. Counters cannot answer this when
// messages arrived that were not acknowledged.
func (p *Plan) Missing(a Account, subscriptions int) (missing bool) {
	if len(a.Missing) > 0 {
		return false // there is nothing to wait for
	}
	for s := range subscriptions {
		p.eachTopic(a, s, func(_ int, sent sentAccounts, got arrivedAccounts) bool {
			missing = missing || measure.Missing(sent, got)
			return !missing
		})
	}
	return missing
}

// Heard reports whether the last subscription has received a message from each partition to which
// one was acknowledged.
func (p *Plan) Heard(a Account) (heard bool) {
	heard = len(a.Missing) == 0
	p.eachTopic(a, p.Workload.AllSubscriptions()-1, func(topic int, sent sentAccounts,
		got arrivedAccounts) bool {
		heard = heard && measure.Heard(sent, got, p.Workload.KindOf(topic).Most)
		return heard
	})
	return heard
}

type (
	sentAccounts    = []measure.SentAccount
	arrivedAccounts = []measure.ArrivedAccount
)

// eachTopic calls do with the accounts of each topic's producers and of a subscription's
// consumers, until it returns false.
func (p *Plan) eachTopic(
	a Account, subscription int,
	do func(topic int, sent sentAccounts, got arrivedAccounts) bool,
) {
	sent, arrived := a.Sent, a.Arrived
	ofTopic := p.Workload.AllSubscriptions() * p.Workload.Consumers
	for topic := range p.Workload.Topics {
		n := 0
		for n < len(sent) && sent[n].Topic == topic {
			n++
		}
		// A binary search, because a walk through all subscriptions for each of them would be
		// quadratic.
		near := arrived[:min(len(arrived), 2*ofTopic)]
		from := firstAt(near, place{topic, subscription})
		to := from + firstAt(near[from:], place{topic, subscription + 1})
		if !do(topic, sent[:n], arrived[from:to]) {
			return
		}
		sent, arrived = sent[n:], arrived[to:]
	}
}

// firstAt returns the index of the first account at or after a place.
func firstAt(arrived arrivedAccounts, at place) int {
	i, _ := slices.BinarySearchFunc(arrived, at, func(a measure.ArrivedAccount, at place) int {
		return cmp.Or(cmp.Compare(a.Topic, at.topic), cmp.Compare(a.Subscription, at.subscription))
	})
	return i
}
