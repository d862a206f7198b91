package observe

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// clockResolution returns the smallest observed step of the clock, in ns.
func clockResolution(c clock.Clock) int64 {
	const looks = 100_000
	smallest, last := int64(time.Hour), c.Now()
	for range looks {
		now := c.Now()
		if step := now - last; step > 0 && step < smallest {
			smallest = step
		}
		last = now
	}
	return smallest
}

// pacerError measures how late the pacers' waits end. The waits are as long as those between
// the messages of a busy producer.
func pacerError(
	ctx context.Context, c clock.Clock, length time.Duration,
) ([]result.Latency, error) {
	const shortest, longest = int64(50 * time.Microsecond), int64(450 * time.Microsecond)
	late := newTimed()
	random := rand.New(rand.NewPCG(1, 1))
	done := make(chan struct{})
	// The alarm locks its thread, so it gets a goroutine of its own.
	go func() {
		defer close(done)
		alarm := c.NewAlarm()
		defer alarm.Close()
		for until := c.Now() + int64(length); c.Now() < until && ctx.Err() == nil; {
			due := c.Now() + shortest + random.Int64N(longest-shortest)
			now := c.Now()
			for ; now < due; now = c.Now() {
				alarm.WaitUntil(due)
			}
			late.add(now - due)
		}
	}()
	<-done
	return late.latency(seriesPacer), ctx.Err()
}

// memoryCopy measures how fast one core copies memory that exceeds all caches, in bytes per
// second.
func memoryCopy(ctx context.Context, length time.Duration) (bytesPerS float64, err error) {
	const size = 64 << 20
	from, to := make([]byte, size), make([]byte, size)
	for i := range from {
		from[i] = byte(i)
	}
	copy(to, from) // so that the kernel has allocated the memory
	var copied int64
	began := clock.Now()
	for clock.Now() < began+int64(length) && ctx.Err() == nil {
		copied += int64(copy(to, from))
	}
	return float64(copied) / time.Duration(clock.Now()-began).Seconds(), ctx.Err()
}
