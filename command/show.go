package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/live"
	"github.com/plimsoll-bench/plimsoll/result"
)

// layoutOf returns the layout of text for a terminal or another output.
func layoutOf(to io.Writer) document.Layout {
	width, isTerminal := terminal(to)
	return document.Layout{Width: width, Color: live.WantColor(isTerminal)}
}

// show prints a document as text.
func show(to io.Writer, d document.Document) error {
	return document.Terminal(to, d, layoutOf(to))
}

// facts are names with their values, in order.
type facts []document.Fact

// add adds a value that is not empty.
func (f *facts) add(name, value string) {
	if value != "" {
		*f = append(*f, document.Fact{Name: name, Value: value})
	}
}

// show prints a document as text, or the value that it shows as JSON.
func (con console) show(d document.Document, asJSON bool, value any) error {
	if asJSON {
		return document.JSON(con.out, value)
	}
	return show(con.out, d)
}

// showFacts prints names with their values as text.
func showFacts(to io.Writer, all []document.Fact) error {
	return show(to, document.Document{Blocks: []document.Block{{Facts: all}}})
}

// listing is a document that is one table of words.
func listing(title string, t document.Table) document.Document {
	t.Words = true
	return document.Document{Title: title, Blocks: []document.Block{{For: document.AtLength,
		Heading: &document.Heading{Level: 1, Words: title}}, {Table: &t}}}
}

// printed is the flag of commands whose result is a document.
type printed struct {
	Format string `short:"f" default:"table" enum:"table,html,md,json" placeholder:"FORMAT" help:"table, html, md or json, on standard output."`
}

// print prints a document, whole or not at all.
func (p *printed) print(con console, d document.Document) error {
	return con.whole(func(w io.Writer) error {
		return document.Write(w, p.Format, d, layoutOf(con.out))
	})
}

// whole prints what render writes: all of it, or nothing with an error.
func (con console) whole(render func(io.Writer) error) error {
	var out bytes.Buffer
	if err := render(&out); err != nil {
		return err
	}
	_, err := out.WriteTo(con.out)
	return err
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

// note writes a sentence. It may be called from any goroutine.
func (con console) note(sentence string) { fmt.Fprintln(con.err, sentence) }

// say writes a sentence, wrapped where a terminal would break a word.
func (con console) say(sentence string) {
	if width, is := terminal(con.err); is && document.Columns(sentence) > width {
		sentence = strings.Join(document.Wrap(sentence, width), "\n")
	}
	fmt.Fprintln(con.err, sentence)
}

// extent is the flag of commands that measure: how much of their result they print.
type extent struct {
	Verbose bool `short:"v" help:"Print every figure, not only the answer and what it rests on."`
}

// print writes the page of a report into a folder. It prints the report as text, brief unless
// everything is asked for, and the path of the page; or the report as JSON.
func (con console) print(r form.Report, dir string, of extent, asJSON bool) error {
	page, err := writePage(dir, r.Page)
	if err != nil {
		return err
	}
	if asJSON {
		return r.Write(con.out, "json", document.Layout{})
	}
	layout := layoutOf(con.out)
	layout.Brief = !of.Verbose
	if err := document.Terminal(con.out, r.Document(), layout); err != nil {
		return err
	}
	if of.Verbose {
		con.note("report: " + relative(page))
	} else {
		con.say("report: " + relative(page) + "    -v prints everything")
	}
	return nil
}

// exitOf returns how a command that measured ends: interrupted, with the error, or failed when
// a check did not hold. Of an interrupted command it tells what was left behind, and which of
// several targets had failed before.
func exitOf(ctx context.Context, failed error, held bool) error {
	switch {
	case ctx.Err() != nil:
		told := bench.LeftBy(failed)
		if several, is := errors.AsType[targetsFailed](failed); is {
			told = errors.Join(several, told)
		}
		return interrupted{told}
	case failed != nil:
		return failed
	case !held:
		return exitError(exitFailed)
	}
	return nil
}

// roundsWatch shows several runs of one question. A terminal shows a live picture of each run;
// other outputs omit the runs' intervals.
type roundsWatch struct {
	*live.View
	terminal bool
}

func newRoundsWatch(w io.Writer) roundsWatch {
	_, isTerminal := terminal(w)
	return roundsWatch{newLive(w), isTerminal}
}

func (w *roundsWatch) Interval(i result.Interval) {
	if w.terminal {
		w.View.Interval(i)
	}
}
