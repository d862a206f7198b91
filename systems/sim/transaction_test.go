package sim_test

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// transactions groups messages by the number of their transaction.
func transactions(t *testing.T, all []*sent) map[uint32][]*sent {
	t.Helper()
	groups := map[uint32][]*sent{}
	for i, s := range all {
		if i > 0 && s.transaction != all[i-1].transaction &&
			s.transaction != all[i-1].transaction+1 {
			t.Fatalf("message %d is of transaction %d, the one before of %d", i, s.transaction,
				all[i-1].transaction)
		}
		groups[s.transaction] = append(groups[s.transaction], s)
	}
	return groups
}

func TestTransactionsCommitTogether(t *testing.T) {
	o := offering{n: 1_000, gap: time.Millisecond, partitions: 3, delivery: workload.ExactlyOnce,
		wait: time.Second}
	all, planted := offered(t, o,
		map[string]string{"transaction_interval": "50ms", "service_time": "2ms"})
	groups := transactions(t, all)
	if len(groups) != 20 || planted.Transactions.Committed != 20 ||
		planted.Transactions.Aborted != 0 {
		t.Fatalf("%d transactions of 50 ms in a second, planted %+v", len(groups),
			planted.Transactions)
	}
	for number, group := range groups {
		commits := group[0].beganAt + 52*time.Millisecond
		for _, s := range group {
			if s.err != nil || s.answered != commits || len(s.came) != 1 || s.came[0].at < commits {
				t.Fatalf("transaction %d, which commits at %v: message %d was answered at %v "+
					"with %v, came %v",
					number, commits, s.seq, s.answered, s.err, s.came)
			}
		}
	}
}

// shown returns the number of delivered messages of a transaction.
func shown(group []*sent) int64 {
	return count(group,
		func(s *sent) bool { return len(s.came) > 0 })
}

func TestTransactionsAreAbortedShownAndReadInPart(t *testing.T) {
	o := offering{n: 20_000, gap: time.Millisecond, partitions: 3, delivery: workload.ExactlyOnce,
		wait: time.Second}
	all, planted := offered(t, o, map[string]string{
		"abort_share": "0.3", "aborted_visible_share": "0.25", "partial_share": "0.1",
	})
	got := planted.Transactions
	got.Committed, got.Aborted, got.AbortedVisible, got.Partial, got.AbortedDelivered = 0, 0, 0, 0,
		0
	for number, group := range transactions(t, all) {
		for _, s := range group {
			if (s.err == nil) != (group[0].err == nil) {
				t.Fatalf("transaction %d was acknowledged in part", number)
			}
		}
		aborted, n := group[0].err != nil, shown(group)
		switch {
		case !aborted:
			got.Committed++
		default:
			got.Aborted++
			got.AbortedDelivered += n
			if n == int64(len(group)) {
				got.AbortedVisible++
			}
		}
		if n > 0 && n < int64(len(group)) {
			got.Partial++
		} else if n == 0 && !aborted {
			t.Errorf("nothing of the committed transaction %d came", number)
		}
	}
	if got != planted.Transactions {
		t.Errorf("seen %+v, planted %+v", got, planted.Transactions)
	}
	total := float64(got.Committed + got.Aborted)
	for _, share := range []struct {
		name       string
		have, want float64
	}{
		{"aborted", float64(got.Aborted) / total, 0.3},
		{"visible", float64(got.AbortedVisible) / float64(got.Aborted), 0.225},
		{"partial", float64(got.Partial) / total, 0.1},
	} {
		if share.have < share.want*0.7 || share.have > share.want*1.3 {
			t.Errorf("share %s is %.3f, want about %.3f", share.name, share.have, share.want)
		}
	}
	lost := count(all, func(s *sent) bool { return s.err == nil && len(s.came) == 0 })
	if lost != planted.Lost {
		t.Errorf("%d acknowledged messages did not come, %d planted", lost, planted.Lost)
	}
}

// A refused message cannot be part of a committed transaction.
func TestARefusedMessageAbortsItsTransaction(t *testing.T) {
	o := offering{n: 5_000, gap: time.Millisecond, partitions: 1, delivery: workload.ExactlyOnce,
		wait: time.Second}
	all, planted := offered(t, o, map[string]string{"fail_per_million": "2k"})
	refused := count(all, func(s *sent) bool { return s.err != nil })
	if planted.Transactions.Aborted == 0 || refused != planted.Failed ||
		refused < 2*planted.Transactions.Aborted {
		t.Errorf("%d messages refused, planted %+v", refused, planted)
	}
	for number, group := range transactions(t, all) {
		if n := shown(group); group[0].err != nil && n > 0 {
			t.Errorf("%d messages of the aborted transaction %d came", n, number)
		}
	}
}
