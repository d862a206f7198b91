package bench

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// A result has the number of keys of a load, and the rule for messages without a key, each only if
// it applies.
func TestLoadSaysKeysSpreadAndAudit(t *testing.T) {
	for _, c := range []struct {
		keys     workload.Keys
		count    int
		exponent float64
		spread   string
	}{
		{workload.Keys{Kind: workload.KeysNone, Count: 5, Exponent: 2}, 0, 0, "client"},
		{workload.Keys{Kind: workload.KeysRandom, Count: 10, Exponent: 2}, 10, 0, ""},
		{workload.Keys{Kind: workload.KeysZipf, Count: 1_000_000, Exponent: 1.1}, 1_000_000, 1.1,
			""},
	} {
		for _, audit := range []bool{false, true} {
			j := Job{Workload: &workload.Workload{
				Keys: c.keys, Spread: workload.SpreadClient, Duration: time.Second, Audit: audit,
			}}
			l := j.Load()
			keys := l.KeyCount == c.count && l.KeyExponent == c.exponent
			if !keys || l.Spread != c.spread || l.Audit != audit {
				t.Errorf("%+v, audit %v: %+v", c.keys, audit, l)
			}
		}
	}
}
