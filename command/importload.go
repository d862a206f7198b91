package command

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/keyfreq"
	"github.com/plimsoll-bench/plimsoll/internal/ratecurve"
	"github.com/plimsoll-bench/plimsoll/internal/samples"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// intoWorkload are the flags of commands that turn a file into a part of a workload.
type intoWorkload struct {
	Workload string `short:"w" default:"default" placeholder:"NAME|FILE" help:"The workload with everything else: a built-in one, or a YAML file."`
	Output   string `short:"o" type:"path" placeholder:"FILE" help:"Write the workload there; without it, to standard output."`
}

// maxCSVBytes is the largest CSV file that is read: about a week with a rate for each second.
const maxCSVBytes = 24 << 20

// base returns the workload with everything else, named after the file.
func (c *intoWorkload) base(file string) (*workload.Workload, error) {
	w, _, err := workload.Find(c.Workload)
	if err != nil {
		return nil, err
	}
	w.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if strict.CheckName(w.Name, workload.MaxName) != "" {
		w.Name = "imported"
	}
	w.Description = ""
	return w, nil
}

// fromCSV are the flags of commands that turn a CSV file into a part of a workload.
type fromCSV struct {
	File string `arg:"" type:"path" help:"The CSV file."`
	intoWorkload
}

// read returns the file's text and the workload. fewer says how to shorten a file that is too
// large.
func (c *fromCSV) read(fewer string) ([]byte, *workload.Workload, error) {
	src, err := strict.ReadUpTo(c.File, maxCSVBytes, fewer)
	if err != nil {
		return nil, nil, err
	}
	w, err := c.base(c.File)
	return src, w, err
}

func (c *intoWorkload) write(con console, w *workload.Workload) error {
	if err := w.Validate(); err != nil {
		return inputError{err}
	}
	return written(con, c.Output, "workload", w.YAML(), "plimsoll run -w %s")
}

type importRates struct {
	fromCSV

	In   *quantity.Span      `placeholder:"10m" help:"Play the whole curve in this time, instead of its own."`
	Peak *quantity.PerSecond `placeholder:"50k/s" help:"Multiply all rates, so that the highest is this."`
}

// Run imports a curve of rates.
func (c *importRates) Run(con console) error {
	switch {
	case c.In != nil && *c.In == 0:
		return inputError{errors.New(
			"--in: must be above 0s: leave it out for the curve's own time")}
	case c.Peak != nil && *c.Peak == 0:
		return inputError{errors.New(
			"--peak: must be above 0/s: leave it out for the curve's own rates")}
	}
	src, w, err := c.read("give a rate for each minute, instead of each second")
	if err != nil {
		return inputError{err}
	}
	curve, err := ratecurve.Parse(relative(c.File), src)
	if err != nil {
		return inputError{err}
	}
	if c.In != nil {
		curve = curve.In(time.Duration(*c.In))
	}
	if c.Peak != nil {
		curve = curve.Upto(float64(*c.Peak))
	}
	w.Duration, w.Load.Closed = curve.Length(), nil
	if w.Load.Arrivals == "" {
		w.Load.Arrivals = workload.ArrivalsConstant
	}
	w.Load.Segments = curve.Segments(workload.MaxSteps)
	if rows := len(curve) - 1; rows > workload.MaxSteps {
		fmt.Fprintf(con.err, "note: %s changes of the rate became %s steps, each with the mean of "+
			"its time\n", quantity.Count(int64(rows)), quantity.Count(int64(len(w.Load.Segments))))
	}
	return c.write(con, w)
}

type importKeys struct{ fromCSV }

// Run imports the frequencies of keys.
func (c *importKeys) Run(con console) error {
	src, w, err := c.read("keep the rows of the most frequent keys")
	if err != nil {
		return inputError{err}
	}
	counts, err := keyfreq.Parse(relative(c.File), src)
	if err != nil {
		return inputError{err}
	}
	w.Keys = workload.Keys{Kind: workload.KeysShares, Count: len(counts),
		Shares: keyfreq.Shares(counts)}
	w.Spread = ""
	return c.write(con, w)
}

type importMessages struct {
	Path string `arg:"" type:"path" help:"A file with a message on each line, or a folder with one in each file."`
	intoWorkload
}

// Run imports the sizes and the compressibility of messages.
func (c *importMessages) Run(con console) error {
	messages, err := samples.Read(relative(c.Path))
	if err != nil {
		return inputError{err}
	}
	w, err := c.base(c.Path)
	if err != nil {
		return inputError{err}
	}
	share, err := samples.Incompressible(messages)
	if err != nil {
		return err
	}
	w.SetMessage(workload.Message{Sizes: samples.Sizes(messages),
		Incompressible: math.Round(share*100) / 100})
	return c.write(con, w)
}
