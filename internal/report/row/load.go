package row

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// backlogFigures are the rows of a comparison that only runs with a backlog
// have.
func backlogFigures() []figureRow {
	text := func(value func(*result.Backlog) string) func(*result.Run) string {
		return func(r *result.Run) string {
			if r.Backlog == nil || r.Backlog.ReadRate == 0 {
				return document.None
			}
			return value(r.Backlog)
		}
	}
	out := []figureRow{
		{ofBacklog, "read", text(func(b *result.Backlog) string { return phrase.Rate(b.ReadRate) }),
			func(r *result.Run) (float64, bool) {
				if r.Backlog == nil {
					return 0, false
				}
				return r.Backlog.ReadRate, r.Backlog.ReadRate != 0
			}},
		{ofBacklog, "read bytes", Printed("catch_up"), nil},
		{ofBacklog, "caught up in", text(func(b *result.Backlog) string {
			if b.CaughtUpNs == 0 {
				return "never"
			}
			return quantity.Duration(b.CatchUpNs())
		}), nil},
	}
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		out = append(out, figureRow{ofBacklog, phrase.SeriesTitle(series) + " p99, × while read",
			text(func(b *result.Backlog) string {
				ratio, known := b.Effect(series, 99)
				if !known || series == result.EndToEnd && !fact.Replays(b) {
					return document.None
				}
				return fmt.Sprintf("%.2f", ratio)
			}), nil})
	}
	return out
}

// waitFigure is the row of the waits that begin in a latency.
func waitFigure(section string, series result.Series) figureRow {
	return figureRow{section, phrase.SeriesTitle(series) + ", waits on purpose",
		func(r *result.Run) string { return fact.WaitWords(r, series) }, nil}
}

// closedFigures are the rows of a comparison that only closed loops have.
func closedFigures() []figureRow {
	out := percentileFigures(ofSendCall, "send call", seriesOf(result.SendCall), 50, 95, 99)
	return append(out, figureRow{ofSendCall, "send call p95 by minute", func(r *result.Run) string {
		return MinuteFigure(r.Summary.Minutes, MinuteSeries[0].Of)
	}, nil})
}

// sendFigures are the rows of a comparison in which some runs have no publish latency.
func sendFigures(runs []*result.Saved) []figureRow {
	if !slices.ContainsFunc(fact.Runs(runs), fact.Imported) {
		return nil
	}
	return latencyFigures(ofSend, result.Send)
}
