package main

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

type reportCommand struct {
	RunDirs []string `arg:"" name:"run" type:"path" help:"Run directories, such as runs/latest; several are laid side by side. Or the folder of a sweep."`
	Format  string   `short:"f" default:"table" placeholder:"FORMAT" help:"table, html, md, csv, intervals, resources, json, benchfmt or omb, on standard output."`
}

// Run renders runs.
func (c *reportCommand) Run(con console) error {
	if len(c.RunDirs) == 1 && sweep.Is(c.RunDirs[0]) {
		return c.sweep(con, c.RunDirs[0])
	}
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

// sweep renders a sweep's folder: as a table or a page of its cells, and in any
// other format the cells' runs.
func (c *reportCommand) sweep(con console, dir string) error {
	plan, err := sweep.Read(dir)
	if err != nil {
		return inputError{err}
	}
	runs := readSweep(dir, plan)
	if c.Format == "table" {
		width, isTerminal := terminal(con.out)
		return report.SweepTable(con.out, plan, runs, width, report.WantColor(isTerminal))
	}
	var rendered bytes.Buffer
	if c.Format == "html" {
		err = report.SweepHTML(&rendered, plan, runs)
	} else {
		err = report.Render(&rendered, c.Format, slices.DeleteFunc(runs, func(s *result.Saved) bool { return s == nil }))
	}
	if err != nil {
		return inputError{err}
	}
	_, err = rendered.WriteTo(con.out)
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
