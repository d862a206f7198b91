package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/systems"
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
