package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

type calibrateCommand struct {
	Dir  string `arg:"" optional:"" default:"runs" type:"path" help:"A directory on the file system whose disk is measured: where servers keep their data (default: runs)."`
	JSON bool   `name:"json" help:"Print the limits as JSON instead of a table."`
}

// Run measures this machine and keeps what it found.
func (c *calibrateCommand) Run(con console) error {
	calibration, err := observe.Prepare(c.Dir, observe.FullEffort())
	if err != nil {
		return inputError{err}
	}
	defer func() { _ = calibration.Close() }()
	ctx, done := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer done()
	limits, err := calibration.Run(ctx,
		func(sentence string) { fmt.Fprintln(con.err, "measuring:", sentence) })
	if errors.Is(err, context.Canceled) {
		return exitError(exitInterrupted)
	}
	if err != nil {
		return err
	}
	if err := c.show(con, limits); err != nil {
		return err
	}
	path, err := calibration.Save(limits)
	if err != nil {
		return err
	}
	fmt.Fprintf(con.err, "stored: %s\n", path)
	return nil
}

func (c *calibrateCommand) show(con console, limits *result.Limits) error {
	if !c.JSON {
		return printLimits(con, limits)
	}
	encoder := json.NewEncoder(con.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(limits)
}

// printLimits prints a line for each limit.
func printLimits(con console, l *result.Limits) error {
	how := "direct I/O"
	if !l.DirectIO {
		how = "through the page cache and synced, because direct I/O is refused"
	}
	if l.Device != "" {
		how += ", on " + l.Device
	}
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "sequential write\t%s/s\t%s\n", quantity.Bytes(int64(l.SequentialWriteBytes)),
		how)
	fmt.Fprintf(w, "fdatasync\t%s\tafter 4KB at the end of a file\n", latencyText(l.SyncLatency))
	fmt.Fprintf(w, "loopback\t%s/s\tTCP within this machine\n",
		quantity.Bytes(int64(l.LoopbackBytes)))
	fmt.Fprintf(w, "round trip\t%s\tof one byte over loopback\n", latencyText(l.LoopbackRoundTrip))
	fmt.Fprintf(w, "memory copy\t%s/s\tby one core\n", quantity.Bytes(int64(l.MemoryCopyBytes)))
	fmt.Fprintf(w, "pacer error\t%s\thow late a wait ends\n", latencyText(l.PacerError))
	fmt.Fprintf(w, "clock resolution\t%s\n", quantity.Duration(l.ClockResolutionNs))
	fmt.Fprintf(w, "cores\t%d\n", l.Cores)
	return w.Flush()
}

// latencyText is a distribution in a few words.
func latencyText(all []result.Latency) string {
	if len(all) == 0 || all[0].Count == 0 {
		return "not measured"
	}
	l := all[0]
	text := ""
	for _, p := range []float64{50, 99, 99.9} {
		if ns, ok := l.At(p); ok {
			text += fmt.Sprintf("p%v %s, ", p, quantity.Duration(ns))
		}
	}
	return text + "max " + quantity.Duration(l.MaxNs)
}
