package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/live"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// began is taken as early as possible, for the time to the first message.
var began = time.Now()

// commands is the command line.
type commands struct {
	Run       runCommand       `cmd:"" default:"withargs" help:"Measure: offer a workload to one or more targets and account for every message (the default command)."`
	Choose    chooseCommand    `cmd:"" set:"default_target=all" help:"Measure every system that can start here at one load and durability level, side by side, and say what to run next."`
	Peak      peakCommand      `cmd:"" help:"Find the highest rate that stays stable: a search of runs that ends with a confirmed bracket and the limiting resource."`
	Verify    verifyCommand    `cmd:"" set:"default_workload=verify" help:"Break servers while load is offered and say whether acknowledged messages survive, and whether other promises hold."`
	Sweep     sweepCommand     `cmd:"" help:"Measure every combination of values of some keys of the workload, or settings of the target, a run each."`
	Study     studyCommand     `cmd:"" help:"Measure the grid of a study here: of a published comparison, with the figures beside theirs, or of systems at equal levels, ranked."`
	Explain   explainCommand   `cmd:"" help:"Print what a run would do, every default spelled out, with its totals; nothing is started."`
	Testbed   testbedCommand   `cmd:"" help:"Start, list and end clusters that stay up on this machine."`
	Compare   compareCommand   `cmd:"" help:"Say whether two sets of runs differ, by how much and how surely; --fail-if makes it a gate."`
	Serve     serveCommand     `cmd:"" help:"Show all experiments below a folder in a browser: search, open, compare, tag, delete to a trash folder."`
	Report    reportCommand    `cmd:"" help:"Render run directories: ${report_formats}."`
	History   historyCommand   `cmd:"" help:"Show one figure of all experiments below a folder over time, with changes marked; csv for Apache Otava."`
	Host      hostCommand      `cmd:"" help:"Run servers for an experiment on another machine, whose command was given --hosts; it dials in and has no open port of its own."`
	Worker    workerCommand    `cmd:"" help:"Offer load for an experiment on another machine, whose command was given --workers; it dials in and has no open port."`
	Fleet     fleetCommand     `cmd:"" help:"Prepare a fleet: the coordinator's identity, the manifest for Kubernetes, and the transfer of results."`
	Import    importCommand    `cmd:"" help:"Make run directories and targets from files of the OpenMessaging Benchmark, and workloads from rates, keys or messages of a real system."`
	Probe     probeCommand     `cmd:"" help:"Try what a system does beside carrying load: order, redelivery, routing, replay and so on, with the evidence."`
	Systems   systemsCommand   `cmd:"" help:"List the systems, what their words mean, the durability levels they give and their settings."`
	Workloads workloadsCommand `cmd:"" help:"List the workloads that are built in."`
	Calibrate calibrateCommand `cmd:"" help:"Measure this machine's limits once, so that results show their share of them; takes about 10 seconds."`
	Prove     proveCommand     `cmd:"" help:"Compare plimsoll's own figures with planted truths on this machine; takes about two minutes."`
	Version   versionCommand   `cmd:"" help:"Print the version."`

	Completion completionCommand `cmd:"" help:"Print the script that completes plimsoll's words in bash, zsh or fish."`
	Complete   completeCommand   `cmd:"" hidden:"" help:"Print what a word can become; only the completion scripts call this."`

	PrintVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

var description = "plimsoll measures messaging systems at equal guarantees: how much they " +
	"carry, how fast,\nhow much of it arrives, and what their acknowledgement is worth.\n\n" +
	"Sizes have powers of 1,024: 1KB is 1,024 bytes. Counts and rates have powers of 1,000.\n" +
	"Exit codes: " + exitList()

// Main is plimsoll: it runs the command that the process was given and returns the exit code. The
// version is the one to be printed and recorded; if it is empty, Go's own record of the build
// has it. A program that adds a system (systems.Add) does so before.
func Main(version string) int {
	linked = version
	return run(os.Args[1:], os.Stdout, unbroken(os.Stderr))
}

// inputError is an error in the user's input.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// exitError ends the program with an exit code and without a message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// interrupted ends the program after the user's interrupt. told is what the user must know all the
// same; nil: nothing.
type interrupted struct{ told error }

func (interrupted) Error() string { return "interrupted" }
func (interrupted) Unwrap() error { return exitError(exitInterrupted) }

// console holds a command's outputs: out for results, err for the rest.
type console struct {
	out io.Writer
	err io.Writer
}

// newParser returns the parser of the command line. After a flag that ends the program, such as
// --help, it calls exit with the exit code.
func newParser(out, errOut io.Writer, exit func(code int)) (*kong.Kong, error) {
	return kong.New(&commands{}, append(nodeCommands(), kong.Name("plimsoll"),
		kong.NamedMapper("path", kong.MapperFunc(decodePath)),
		kong.Description(description),
		kong.Vars{"default_target": systems.Default,
			"default_workload": workload.Default().Name, "version": versionLine(),
			"default_image": defaultImage(), "default_primary": compare.Primary,
			"any_port":       anyPort,
			"report_formats": strings.Join(export.Formats(), ", "),
			"any_fault":      anyFault()},
		kong.Writers(out, errOut), kong.Exit(exit), kong.ValueFormatter(withDefault),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))...)
}

// run is the program with its arguments and outputs; it returns the exit code.
func run(args []string, out, errOut io.Writer) int {
	errOut = talk{errOut, new(atomic.Pointer[live.View])}
	exited := -1
	parser, err := newParser(out, errOut, func(code int) { exited = code })
	if err != nil {
		fmt.Fprintln(errOut, "plimsoll:", err)
		return exitFailed
	}
	parsed, err := parser.Parse(helping(args))
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintln(errOut, "plimsoll:", misread(err))
		return exitUsage
	}
	if removes(parsed) {
		leftover.Sweep(testbed.Removers(),
			func(sentence string) { fmt.Fprintln(errOut, sentence) })
	}
	checked := &checkedWriter{Writer: out}
	err = parsed.Run(console{out: checked, err: errOut})
	if err == nil && checked.failed != nil {
		err = fmt.Errorf("write the result: %w", checked.failed)
	}
	return exitCode(err, errOut)
}

// removes reports whether a command begins with the removal of what killed processes left. Commands
// that only plimsoll itself calls do not.
func removes(parsed *kong.Context) bool {
	for n := parsed.Selected(); n != nil; n = n.Parent {
		if n.Hidden {
			return false
		}
	}
	return true
}

// talk is standard error. What it says may name files and quote other machines, whose control
// characters must not reach a terminal.
type talk struct {
	io.Writer
	panel *atomic.Pointer[live.View] // holds the one on the same terminal, or nil
}

func (t talk) Write(b []byte) (int, error) {
	text := document.Talk(string(b))
	if live := t.panel.Load(); live != nil {
		live.Say(text)
		return len(b), nil
	}
	if _, err := io.WriteString(t.Writer, text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// checkedWriter keeps the first error of writing, so that a lost result is an error.
type checkedWriter struct {
	io.Writer
	failed error
}

func (w *checkedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if err != nil && w.failed == nil {
		w.failed = err
	}
	return n, err
}

// exitCode prints the error and returns its exit code.
func exitCode(err error, errOut io.Writer) int {
	if err == nil {
		return exitDone
	}
	if is, ok := errors.AsType[interrupted](err); ok {
		if is.told != nil {
			complain(errOut, is.told)
		}
		return exitInterrupted
	}
	if code, is := errors.AsType[exitError](err); is {
		return int(code)
	}
	if violations, is := errors.AsType[strict.Violations](err); is {
		fmt.Fprintln(errOut, violations)
		return exitUsage
	}
	if _, several := errors.AsType[targetsFailed](err); several {
		complain(errOut, err)
	} else {
		fmt.Fprintln(errOut, "plimsoll:", strings.TrimSpace(err.Error()))
	}
	_, input := errors.AsType[inputError](err)
	_, unwritable := errors.AsType[*result.Unwritable](err)
	if input || unwritable {
		return exitUsage
	}
	return exitFailed
}

// complain prints an error that has several sentences, each on a line of its own.
func complain(errOut io.Writer, err error) {
	for line := range strings.SplitSeq(strings.TrimSpace(err.Error()), "\n") {
		fmt.Fprintln(errOut, "plimsoll:", line)
	}
}

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitSpent       = 3
	exitInterrupted = 130
)

// exitCodes are the exit codes with their meanings, for the help.
var exitCodes = []struct {
	code  int
	means string
}{
	{exitDone, "done"},
	{exitFailed, "the run failed or a check did not hold"},
	{exitUsage, "wrong input"},
	{exitSpent, "a run stopped at --max-cost"},
	{exitInterrupted, "interrupted"},
}

// exitList returns all exit codes in one sentence.
func exitList() string {
	var all []string
	for _, e := range exitCodes {
		all = append(all, fmt.Sprintf("%d %s", e.code, e.means))
	}
	return strings.Join(all, ", ") + "."
}
