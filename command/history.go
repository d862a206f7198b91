package command

import (
	"fmt"
	"io"

	"github.com/plimsoll-bench/plimsoll/internal/history"
)

type historyCommand struct {
	Dir    string `arg:"" type:"path" help:"The folder below which the experiments are, such as runs."`
	Figure string `default:"publish.p99" placeholder:"NAMES" help:"The figures to show, separated by commas: those of plimsoll compare (publish.p99, rate, cpu, lost, ...), or peak."`
	Series string `placeholder:"TEXT" help:"Show only the series whose names contain this text, such as a target."`
	Tag    string `placeholder:"TAG" help:"Show only experiments with this tag, which plimsoll serve gives."`
	By     string `default:"time" enum:"time,plimsoll,servers" placeholder:"ROWS" help:"The rows of a table: time, an experiment each; plimsoll or servers, a version each."`
	Format string `short:"f" default:"table" enum:"table,csv,json" placeholder:"FORMAT" help:"table; csv, one series as Apache Otava reads it; or json."`
}

// Run shows figures of many experiments.
func (c *historyCommand) Run(con console) error {
	figures, err := history.FindFigures(c.Figure)
	if err != nil {
		return inputError{fmt.Errorf("--figure: %w", err)}
	}
	h, err := history.Read(c.Dir, c.Tag, figures)
	if err != nil {
		return inputError{err}
	}
	for _, sentence := range h.LeftOut {
		fmt.Fprintln(con.err, sentence)
	}
	if len(h.Series) == 0 {
		tagged := ""
		if c.Tag != "" {
			tagged = "the tag " + c.Tag + " and "
		}
		return inputError{fmt.Errorf("%s holds no experiment with %sthe figure %s that can be "+
			"compared: name a folder of runs, or another --figure",
			relative(c.Dir), tagged, c.Figure)}
	}
	if h.Keep(c.Series); len(h.Series) == 0 {
		return inputError{fmt.Errorf("no series has %q in its name: see plimsoll history %s",
			c.Series, relative(c.Dir))}
	}
	switch c.Format {
	case "csv":
		return con.whole(func(w io.Writer) error {
			if err := h.CSV(w); err != nil {
				return inputError{err}
			}
			return nil
		})
	case "json":
		return con.whole(h.JSON)
	}
	return show(con.out, h.Document(history.By(c.By)))
}
