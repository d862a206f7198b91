package command

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/keyfreq"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/internal/ratecurve"
	"github.com/plimsoll-bench/plimsoll/internal/samples"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type importCommand struct {
	Omb       importResults  `cmd:"" help:"Make a run directory from each OMB result file, for report and similar commands."`
	OmbDriver importDriver   `cmd:"" name:"omb-driver" help:"Make a target from an OMB driver file."`
	Rates     importRates    `cmd:"" help:"Make a workload from the rates of a system: a CSV file with a time and a rate in each row."`
	Messages  importMessages `cmd:"" help:"Make a workload from a system's messages: their sizes, and how far a codec shrinks them."`
	Keys      importKeys     `cmd:"" help:"Make a workload from the frequencies of keys: a CSV file with a key and its number of messages in each row."`
}

type importResults struct {
	Files       []string `arg:"" name:"file" type:"path" help:"OMB result files (JSON)."`
	Runs        string   `default:"runs" type:"path" placeholder:"DIR" help:"The folder for the run directories."`
	MessageSize string   `placeholder:"1KB" help:"Size of the messages, for files that do not say it, such as those of 2020."`
}

// Run imports results. All are read before the first directory is created, so that a wrong file
// leaves nothing behind.
func (c *importResults) Run(con console) error {
	known := omb.Known{Dialects: omb.Of(systems.All())}
	if c.MessageSize != "" {
		n, err := quantity.ParseBytes(c.MessageSize)
		if err != nil {
			return inputError{fmt.Errorf("--message-size: %w", err)}
		}
		known.MessageBytes = n
	}
	var results []*omb.Result
	for _, file := range c.Files {
		r, err := omb.ReadResult(file)
		if err != nil {
			return inputError{err}
		}
		results = append(results, r)
	}
	for i, r := range results {
		dir, err := omb.Save(c.Runs, c.Files[i], r, known, build(), os.Args)
		if err != nil {
			return err
		}
		saved, err := verdict.Keep(dir)
		if err != nil {
			return err
		}
		if why := saved.Run.StateReason; why != "" {
			fmt.Fprintf(con.err, "warning: %s: the run has failed: %s\n", c.Files[i], why)
		}
		fmt.Fprintln(con.out, relative(dir))
	}
	return nil
}

type importDriver struct {
	File   string `arg:"" type:"path" help:"OMB driver file (YAML)."`
	Output string `short:"o" type:"path" placeholder:"FILE" help:"Write the target there; without it, to standard output."`
}

// Run imports a driver.
func (c *importDriver) Run(con console) error {
	src, err := strict.ReadFile(c.File)
	if err != nil {
		return inputError{fmt.Errorf("driver file %w", err)}
	}
	d, err := omb.ParseDriver(omb.Of(systems.All()), relative(c.File), src)
	if err != nil {
		return inputError{err}
	}
	for _, note := range d.Notes {
		fmt.Fprintf(con.err, "note: %s\n", note)
	}
	return written(con, c.Output, "target", d.YAML(),
		fmt.Sprintf("plimsoll run -t %%s --durability %d", d.Level))
}

// written writes an imported file and prints how to use it, or prints the content.
func written(con console, file, kind, text, use string) error {
	if file == "" {
		_, err := fmt.Fprint(con.out, text)
		return err
	}
	if err := result.ReplaceFile(file, []byte(text)); err != nil {
		return result.InFolder(filepath.Dir(file), "write the "+kind, err)
	}
	fmt.Fprintf(con.err, "%s: %s\nuse it with: "+use+"\n", kind, relative(file), relative(file))
	return nil
}

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
