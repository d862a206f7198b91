package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/result"
)

type reportCommand struct {
	RunDirs []string `arg:"" name:"run" type:"path" help:"Run directories, such as runs/latest, or folders of plimsoll peak or plimsoll verify; several are laid side by side. Or the folder of a sweep, or of studies."`
	Format  string   `short:"f" default:"table" placeholder:"FORMAT" help:"${report_formats}; on standard output. To share: card (SVG), card.png and post; of a study also charts (SVG)."`
	priced
}

// Run renders runs, or the folders of experiments of one kind.
func (c *reportCommand) Run(con console) error {
	if err := c.canPrice(); err != nil {
		return inputError{err}
	}
	if _, is := terminal(con.out); is && c.Format == "card.png" {
		return inputError{errors.New("-f card.png writes a picture, which a terminal cannot " +
			"show: write it to a file, as with > card.png")}
	}
	r, err := report.Read(onceEach(c.RunDirs))
	if err != nil {
		return inputError{err}
	}
	if err := c.price(r.Measured); err != nil {
		return err
	}
	if c.Format != "table" {
		warn(con.err, r.LeftOut)
		warn(con.err, damageOf(r.Measured))
	}
	return con.whole(func(w io.Writer) error {
		if err := r.Write(w, c.Format, layoutOf(con.out)); err != nil {
			return inputError{err}
		}
		return nil
	})
}

// warn prints warnings.
func warn(w io.Writer, sentences []string) {
	for _, s := range sentences {
		fmt.Fprintln(w, "warning: "+s)
	}
}

// damageOf returns a sentence for each part of runs that could not be read.
func damageOf(runs []*result.Saved) (out []string) {
	for _, s := range runs {
		for _, d := range fact.Damage(s) {
			out = append(out, relative(s.Dir)+": "+d.Sentence)
		}
	}
	return out
}

// canPrice refuses prices for formats and folders without prices.
func (c *reportCommand) canPrice() error {
	if c.Prices == "" {
		return nil
	}
	if formats := []string{"table", "html", "md", "json"}; !slices.Contains(formats, c.Format) {
		return fmt.Errorf("%s has no prices: add -f with one of %s, or leave out --prices",
			c.Format, strings.Join(formats, ", "))
	}
	for _, dir := range c.RunDirs {
		if !result.IsRun(dir) {
			return fmt.Errorf("%s is not a run, and only runs have a price: name the runs in it",
				relative(dir))
		}
	}
	return nil
}

// onceEach drops directories that are named a second time, also by a link such as runs/latest.
func onceEach(dirs []string) []string {
	var out []string
	var seen []os.FileInfo
	for _, dir := range dirs {
		at, err := os.Stat(dir)
		again := func(other os.FileInfo) bool { return os.SameFile(at, other) }
		switch {
		case err != nil: // the reader says so
			out = append(out, dir)
		case !slices.ContainsFunc(seen, again):
			out, seen = append(out, dir), append(seen, at)
		}
	}
	return out
}

// priced is the flag of commands that print the cost of a run.
type priced struct {
	Prices string `type:"path" placeholder:"FILE" help:"Print the cost of the servers' resources, at the prices of a YAML file."`
}

// price gives runs their price, if a file of prices is named.
func (p *priced) price(runs []*result.Saved) error {
	if p.Prices == "" {
		return nil
	}
	list, err := price.Read(p.Prices)
	if err != nil {
		return inputError{err}
	}
	for _, s := range runs {
		s.Price = list.Of(&s.Run)
	}
	return nil
}
