package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/systems/rabbitmq"
)

// At 1,000 messages a second, where messages come one by one, latency is told in
// far less than milliseconds: a clock of whole milliseconds would leave one
// remainder, one of seconds nothing at all. Where the values lie is the
// machine's; only how finely they lie is held.
func TestRabbitMQLatencyIsFine(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a RabbitMQ cluster, for about 40 s")
	}
	if err := rabbitmq.Installed(); err != nil {
		t.Skipf("%s: %v", t.Name(), err)
	}
	dir := t.TempDir()
	plimsoll(t, dir, "run", "-t", "rabbitmq", "--rate", "1k/s", "--duration", "10s")
	saved, err := result.Read(filepath.Join(dir, "runs", result.LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	const (
		grain = int64(10 * time.Microsecond) // what remainders are told apart by
		least = 20                           // of the 100 that there are in a millisecond
	)
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		h := saved.Total(series)
		remainders, below, values := map[int64]bool{}, 0, 0
		closest, last := int64(time.Hour), int64(0)
		for _, bar := range h.Distribution() {
			if bar.Count == 0 {
				continue
			}
			values++
			remainders[bar.From%int64(time.Millisecond)/grain] = true
			if bar.From < int64(time.Millisecond) {
				below++
			}
			if last > 0 {
				closest = min(closest, bar.From-last)
			}
			last = bar.From
		}
		t.Logf("%s: %d messages, p50 %s, p99 %s, %d distinct values of which %d below 1 ms, %d of 100 remainders of a millisecond, the closest two values %s apart",
			series, h.TotalCount(), time.Duration(h.ValueAtQuantile(50)), time.Duration(h.ValueAtQuantile(99)), values, below, len(remainders), time.Duration(closest))
		if h.TotalCount() < 9_000 || len(remainders) < least || closest > int64(100*time.Microsecond) {
			t.Errorf("%s is not told in less than a millisecond", series)
		}
	}
}
