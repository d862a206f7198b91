package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

type calibrateCommand struct {
	Dir  string `arg:"" optional:"" default:"runs" type:"path" help:"A directory on the file system whose disk is measured: where servers keep their data."`
	JSON bool   `name:"json" help:"Print the limits as JSON instead of a table."`
}

// Run measures this machine and stores the limits.
func (c *calibrateCommand) Run(con console) error {
	calibration, err := observe.Prepare(c.Dir, observe.FullEffort())
	if err != nil {
		return inputError{err}
	}
	defer func() { _ = calibration.Close() }()
	ctx, done := untilTold()
	defer done()
	limits, err := calibration.Run(ctx,
		func(sentence string) { fmt.Fprintln(con.err, "measuring:", sentence) })
	if errors.Is(err, context.Canceled) {
		return exitError(exitInterrupted)
	}
	if err != nil {
		return err
	}
	if err := con.show(limitsOf(limits), c.JSON, limits); err != nil {
		return err
	}
	path, err := calibration.Save(limits)
	if err != nil {
		return err
	}
	fmt.Fprintf(con.err, "stored: %s\n", path)
	return nil
}

// limitsOf has a row for each limit.
func limitsOf(l *result.Limits) document.Document {
	how := "direct I/O"
	if !l.DirectIO {
		how = "through the page cache and synced, because direct I/O is refused"
	}
	if l.Device != "" {
		how += ", on " + l.Device
	}
	perSecond := func(bytes float64) string { return quantity.Bytes(int64(bytes)) + "/s" }
	t := document.Table{ID: "limits", Corner: "limit", Head: document.Heads("of this machine", "")}
	t.Add("sequential write", perSecond(l.SequentialWriteBytes), how)
	t.Add("fdatasync", latencyText(l.SyncLatency), "after 4KB at the end of a file")
	t.Add("loopback", perSecond(l.LoopbackBytes), "TCP within this machine")
	t.Add("round trip", latencyText(l.LoopbackRoundTrip), "of one byte over loopback")
	t.Add("memory copy", perSecond(l.MemoryCopyBytes), "by one core")
	t.Add("pacer error", latencyText(l.PacerError), "how late a wait ends")
	t.Add("clock resolution", quantity.Duration(l.ClockResolutionNs), "")
	t.Add("cores", fmt.Sprint(l.Cores), "")
	return listing("The limits of this machine", t)
}

// latencyText describes a distribution in a few words.
func latencyText(all []result.Latency) string {
	if len(all) == 0 || all[0].Count == 0 {
		return "not measured"
	}
	l := all[0]
	text := ""
	for _, p := range []float64{50, 99, 99.9} {
		if ns, ok := l.At(p); ok {
			text += fmt.Sprintf("%s %s, ", result.PercentileName(p), quantity.Duration(ns))
		}
	}
	return text + "max " + quantity.Duration(l.MaxNs)
}
