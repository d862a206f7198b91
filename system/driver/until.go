package driver

import (
	"context"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// Retry is Until for a call that is repeated after every error.
func Retry(ctx context.Context, pause time.Duration, try func() error) error {
	return Until(ctx, pause, func() (bool, error) {
		err := try()
		return err != nil, err
	})
}

// Resend calls try, and repeats it as long as try asks for that, the time has not passed and life
// has not ended.
func Resend(life context.Context, within time.Duration, try func() (again bool)) {
	deadline := time.Now().Add(within)
	for try() && time.Now().Before(deadline) && clock.Sleep(life, RetryPause) {
	}
}

// Until calls try until again is false, with a pause between two calls, and returns the
// error of the last call. If ctx ends first, it returns the last error before the end, because the
// error of a call that ctx has ended explains nothing.
func Until(ctx context.Context, pause time.Duration, try func() (again bool, err error)) error {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	var last error
	for {
		again, err := try()
		if !again {
			return err
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return last
		}
	}
}
