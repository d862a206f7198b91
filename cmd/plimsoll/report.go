package main

import (
	"bytes"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

type reportCommand struct {
	RunDirs []string `arg:"" name:"run" type:"path" help:"Run directories, such as runs/latest; several are laid side by side."`
	Format  string   `short:"f" default:"table" placeholder:"FORMAT" help:"table, html, md, csv, intervals, json or benchfmt, on standard output."`
}

// Run renders runs.
func (c *reportCommand) Run(con console) error {
	var runs []*result.Saved
	for _, dir := range c.RunDirs {
		saved, err := readRun(dir)
		if err != nil {
			return inputError{err}
		}
		runs = append(runs, saved)
	}
	if c.Format == "table" {
		width, isTerminal := terminal(con.out)
		return report.Terminal(con.out, runs, width, report.WantColor(isTerminal))
	}
	// Rendered whole first, so that an error leaves no half of it.
	var rendered bytes.Buffer
	if err := report.Render(&rendered, c.Format, runs); err != nil {
		return inputError{err}
	}
	_, err := rendered.WriteTo(con.out)
	return err
}

// readRun reads a run and judges it by what this plimsoll knows.
func readRun(dir string) (*result.Saved, error) {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	saved, err := result.Read(dir)
	if err != nil {
		return nil, err
	}
	verdict.JudgeSaved(saved)
	return saved, nil
}
