package command

import (
	"fmt"
	"os"

	"github.com/plimsoll-bench/plimsoll/internal/metrics"
	"github.com/plimsoll-bench/plimsoll/result"
)

// ownRuns finds the runs that this process makes below a folder.
func ownRuns(runs string) metrics.Options {
	return metrics.Options{Source: metrics.Below(runs),
		Only: func(r *result.Run) bool { return r.PID == os.Getpid() }}
}

// sendMetrics sends metrics of the runs that this process makes below a folder, if the
// environment asks for it. A run does not fail because of metrics that cannot be sent.
func sendMetrics(con console, runs string) (stop func()) {
	warn := func(err error) { fmt.Fprintln(con.err, "warning:", err) }
	stop, err := metrics.Export(ownRuns(runs), warn)
	if err != nil {
		warn(err)
		return func() {}
	}
	return stop
}
