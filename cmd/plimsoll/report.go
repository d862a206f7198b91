package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
)

type reportCommand struct {
	RunDirs []string `arg:"" name:"run" type:"path" help:"Run directories, such as runs/latest, or folders of plimsoll peak or plimsoll verify; several are laid side by side. Or the folder of a sweep, or of studies."`
	Format  string   `short:"f" default:"table" placeholder:"FORMAT" help:"table, html, md, csv, intervals, resources, json, benchfmt or omb, or to share: card (SVG), card.png or post; on standard output."`
}

// Run renders runs.
func (c *reportCommand) Run(con console) error {
	c.RunDirs = onceEach(c.RunDirs)
	if len(c.RunDirs) == 1 && sweep.Is(c.RunDirs[0]) {
		return c.sweep(con, c.RunDirs[0])
	}
	if study.Is(c.RunDirs[0]) {
		return c.studies(con)
	}
	if all, err := c.verifications(); err != nil || len(all) > 0 {
		return c.render(con, err, func(w io.Writer) error {
			width, color := con.layout()
			return report.Verifications(all).Write(w, c.Format,
				document.Layout{Width: width, Color: color})
		})
	}
	if searches, err := c.searches(); err != nil || len(searches) > 0 {
		return c.render(con, err, func(w io.Writer) error {
			if c.Format == "table" {
				width, color := con.layout()
				return report.SearchTerminal(w, searches, width, color)
			}
			return report.RenderSearches(w, c.Format, searches)
		})
	}
	var runs []*result.Saved
	for _, dir := range c.RunDirs {
		saved, err := verdict.Read(dir)
		if err != nil {
			return inputError{err}
		}
		runs = append(runs, saved)
	}
	if c.Format == "table" {
		width, color := con.layout()
		return report.Terminal(con.out, runs, width, color)
	}
	return c.render(con, nil, func(w io.Writer) error { return report.Render(w, c.Format, runs) })
}

// onceEach drops directories that are named a second time, also by a link such as runs/latest.
func onceEach(dirs []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, dir := range dirs {
		at := dir
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			at = resolved
		}
		if whole, err := filepath.Abs(at); err == nil {
			at = whole
		}
		if !seen[at] {
			seen[at], out = true, append(out, dir)
		}
	}
	return out
}

// render writes what is rendered whole, so that an error leaves no half of it.
func (c *reportCommand) render(con console, err error, write func(io.Writer) error) error {
	var rendered bytes.Buffer
	if err == nil {
		err = write(&rendered)
	}
	if err != nil {
		return inputError{err}
	}
	_, err = rendered.WriteTo(con.out)
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
	return c.render(con, nil, func(w io.Writer) error {
		switch c.Format {
		case "table":
			width, color := con.layout()
			return report.SweepTable(w, plan, runs, width, color)
		case "html":
			return report.SweepHTML(w, plan, runs)
		}
		return report.Render(w, c.Format,
			slices.DeleteFunc(runs, func(s *result.Saved) bool { return s == nil }))
	})
}

// verifications are those that the directories hold, if they hold any.
func (c *reportCommand) verifications() ([]*verify.Saved, error) {
	return foldersOf(c.RunDirs, "verifications", verify.Is, verify.Read)
}

// studies renders studies' folders: several of them as one Markdown document.
func (c *reportCommand) studies(con console) error {
	var all []report.StudyResult
	for _, dir := range c.RunDirs {
		r, err := readStudy(dir)
		if err != nil {
			return inputError{err}
		}
		all = append(all, r)
	}
	return c.render(con, nil, func(w io.Writer) error {
		width, color := con.layout()
		return report.Studies(all).Write(w, c.Format, document.Layout{Width: width, Color: color})
	})
}

// searches are those that the directories hold, if they hold searches.
func (c *reportCommand) searches() ([]*peak.Saved, error) {
	return foldersOf(c.RunDirs, "searches for a peak", peak.Is, peak.Read)
}

// foldersOf reads those of the directories that are folders of a kind; none or
// all of them must be.
func foldersOf[T any](dirs []string, kind string, is func(string) bool,
	read func(string) (*T, error)) ([]*T, error) {
	var all []*T
	for _, dir := range dirs {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		if !is(dir) {
			continue
		}
		s, err := read(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) > 0 && len(all) < len(dirs) {
		return nil, fmt.Errorf(
			"runs and %s cannot be laid side by side: give only the one or the other", kind)
	}
	return all, nil
}
