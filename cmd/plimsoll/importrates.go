package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/ratecurve"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type importRates struct {
	File     string             `arg:"" type:"path" help:"CSV file: a time and a rate in each row."`
	Workload string             `short:"w" default:"default" placeholder:"NAME|FILE" help:"The workload that gets the load: a built-in one, or a YAML file."`
	In       quantity.Span      `placeholder:"10m" help:"Play the whole curve in this time, instead of its own."`
	Peak     quantity.PerSecond `placeholder:"50k/s" help:"Multiply all rates, so that the highest is this."`
	Output   string             `short:"o" type:"path" placeholder:"FILE" help:"Write the workload there; without it, to standard output."`
}

// Run imports a curve of rates.
func (c *importRates) Run(con console) error {
	src, err := strict.ReadFile(c.File)
	if err != nil {
		return inputError{fmt.Errorf("rates: %w", err)}
	}
	curve, err := ratecurve.Parse(relative(c.File), src)
	if err != nil {
		return inputError{err}
	}
	w, _, err := workload.Find(c.Workload)
	if err != nil {
		return inputError{err}
	}
	if c.In != 0 {
		curve = curve.In(max(0, time.Duration(c.In)))
	}
	if c.Peak != 0 {
		curve = curve.Upto(float64(c.Peak))
	}
	w.Name = strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	if strict.CheckName(w.Name, workload.MaxName) != "" {
		w.Name = "rates"
	}
	w.Description = ""
	w.Duration, w.Load.Closed = curve.Length(), nil
	if w.Load.Arrivals == "" {
		w.Load.Arrivals = workload.ArrivalsConstant
	}
	w.Load.Segments = curve.Segments(workload.MaxSteps)
	if err := w.Validate(); err != nil {
		return inputError{err}
	}
	if rows := len(curve) - 1; rows > workload.MaxSteps {
		fmt.Fprintf(con.err, "note: %s changes of the rate became %s steps, each with the mean of "+
			"its time\n", quantity.Count(int64(rows)), quantity.Count(int64(len(w.Load.Segments))))
	}
	return written(con, c.Output, "workload", w.YAML(), "plimsoll run -w %s")
}
