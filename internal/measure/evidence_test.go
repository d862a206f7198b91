package measure

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A message that has not arrived is lost as far as something shows that it will not come.
func TestMissingMessagesAreLostByEvidenceOnly(t *testing.T) {
	// Of 10 messages of a lane 0 to 3 and 6 arrived, the last of them at the time 100. An audit has
	// read these and message 4.
	sent, got, audit := NewSent(1), NewArrived(1), NewArrived(1)
	for seq := range int64(10) {
		sent.Acked(0, seq, 0, 0)
	}
	for _, seq := range []int64{0, 1, 2, 3, 6} {
		got.Received(0, seq, Arrival{AtNs: 100})
		audit.Received(0, seq, Arrival{AtNs: 200})
	}
	audit.Received(0, 4, Arrival{AtNs: 200})
	audited := []ArrivedAccount{audit.Account()}
	for name, c := range map[string]struct {
		e    Evidence
		lost int64
	}{
		"nothing is known":           {Evidence{}, 0},
		"a later message arrived":    {Evidence{Passed: true}, 2},
		"it arrived after a change":  {Evidence{Passed: true, SinceNs: 99}, 2},
		"it arrived before a change": {Evidence{Passed: true, SinceNs: 100}, 0},
		"an audit lacks five":        {Evidence{Audited: true, Audit: audited}, 4},
		"an audit lacks four, and one was passed": {
			Evidence{Passed: true, Audited: true, Audit: audited}, 5},
		"an audit that is not whole": {Evidence{Audit: audited}, 0},
		"another partition is gone":  {Evidence{Gone: func(p int) bool { return p == 1 }}, 0},
		"the partition is gone":      {Evidence{Gone: func(p int) bool { return p == 0 }}, 5},
	} {
		lanes := sent.Lanes(false)
		lanes[0].MeasuredFrom = 5
		var l result.SubscriptionLedger
		Judge(&l, []SentAccount{{Lanes: lanes}}, []ArrivedAccount{got.Account()}, c.e,
			func(int) LaneName { return LaneName{} })
		if l.Lost != c.lost || l.Unread != 5-c.lost {
			t.Errorf("%s: %d lost, %d unread, want %d lost of 5", name, l.Lost, l.Unread, c.lost)
		}
		if c.e.Passed && l.Lost == 2 && l.LostWarmup != 1 {
			t.Errorf("%s: %d of the lost ones are the warm-up's, want 1", name, l.LostWarmup)
		}
	}
}
