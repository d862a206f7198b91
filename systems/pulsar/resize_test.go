package pulsar

import "testing"

// A ledger is still on a bookie when any segment of it has the bookie in its ensemble.
func TestLedgersOfBookiesThatLeft(t *testing.T) {
	ledgers := map[string]string{
		"1": "state=CLOSED, ensembles={0=[127.1.2.1:3181, 127.1.2.2:3181], 9=[127.1.2.4:3181]}",
		"2": "state=OPEN, ensembles={0=[127.1.2.1:3181, 127.1.2.5:3181]}",
		"3": "state=OPEN, ensembles={0=[127.1.2.1:3181, 127.1.2.2:3181]}",
	}
	for _, c := range []struct {
		bookies []string
		want    int
	}{
		{nil, 0}, {[]string{"127.1.2.4:3181"}, 1}, {[]string{"127.1.2.4:3181", "127.1.2.5:3181"}, 2},
		{[]string{"127.1.2.3:3181"}, 0}, {[]string{"127.1.2.1:3181"}, 3},
	} {
		if got := stillOn(ledgers, c.bookies); got != c.want {
			t.Errorf("%v: %d ledgers, want %d", c.bookies, got, c.want)
		}
	}
}
