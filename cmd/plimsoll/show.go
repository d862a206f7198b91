package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/result"
)

// layout returns the width in columns of a table on standard output, and whether the table
// has colours.
func (con console) layout() (width int, color bool) {
	width, isTerminal := terminal(con.out)
	return width, report.WantColor(isTerminal)
}

// writePage writes the report of a folder and returns its path. A report that cannot be
// rendered leaves no file.
func writePage(dir string, render func(io.Writer) error) (path string, err error) {
	var page bytes.Buffer
	if err := render(&page); err != nil {
		return "", fmt.Errorf("render the report: %w", err)
	}
	path = filepath.Join(dir, result.ReportFile)
	return path, result.ReplaceFile(path, page.Bytes())
}

// sayReport writes where a report is.
func sayReport(con console, path string) { fmt.Fprintf(con.err, "report: %s\n", relative(path)) }

// print prints a report as a table, and the path of its page; or as JSON.
func (con console) print(r report.Report, asJSON bool, page string) error {
	if asJSON {
		return r.Write(con.out, "json", document.Layout{})
	}
	width, color := con.layout()
	if err := r.Write(con.out, "table", document.Layout{Width: width, Color: color}); err != nil {
		return err
	}
	sayReport(con, page)
	return nil
}

// inTurn measures one request after another until one fails or ctx ends. It returns all that
// was measured, also together with an error.
func inTurn[Request, Saved any](
	ctx context.Context, requests []Request,
	measure func(context.Context, Request) (*Saved, error),
) (found []*Saved, err error) {
	for _, r := range requests {
		var saved *Saved
		saved, err = measure(ctx, r)
		if saved != nil {
			found = append(found, saved)
		}
		if err != nil || ctx.Err() != nil {
			break
		}
	}
	return found, err
}

// exitOf returns how a command that measured ends: interrupted, with the error, or failed when
// a check did not hold.
func exitOf(ctx context.Context, failed error, held bool) error {
	switch {
	case ctx.Err() != nil:
		return exitError(exitInterrupted)
	case failed != nil:
		return failed
	case !held:
		return exitError(exitFailed)
	}
	return nil
}

// roundsWatch shows several runs of one question. A terminal shows the picture of each run;
// other outputs leave the runs' intervals out.
type roundsWatch struct {
	*report.Live
	terminal bool
}

func newRoundsWatch(w io.Writer) roundsWatch {
	_, isTerminal := terminal(w)
	return roundsWatch{newLive(w), isTerminal}
}

func (w *roundsWatch) Interval(i result.Interval) {
	if w.terminal {
		w.Live.Interval(i)
	}
}
