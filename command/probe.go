package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type probeCommand struct {
	Target      []string `short:"t" sep:"none" placeholder:"NAME|FILE" help:"The target to try it on: a system or one of its targets (plimsoll systems) or a YAML file; repeat it for a column each; all: every built-in target whose servers plimsoll can start. Default: ${default_target}."`
	Durability  *int     `placeholder:"1-4" help:"Durability level of the topics. Without it: 2, or the next that the target's settings allow."`
	SkipMissing bool     `help:"Leave out targets whose servers need software that this machine lacks, and name them with the package to install."`
	JSON        bool     `name:"json" xor:"form" help:"Print the findings as JSON."`
	Markdown    bool     `xor:"form" help:"Print the findings as Markdown."`
	From        string   `placeholder:"FILE" help:"Try nothing: print findings that --json wrote."`
	Runs        string   `default:"runs" type:"path" placeholder:"DIR" help:"The folder for the data of started clusters."`
}

// Run tries every probe on each target in turn and prints the findings.
func (c *probeCommand) Run(con console) error {
	if c.From != "" {
		return c.reprint(con)
	}
	jobs, err := c.jobs(con)
	if err != nil {
		return inputError{err}
	}
	ctx, done := untilInterrupted(con.err)
	defer done()
	var columns []probe.Column
	var failed error
	for _, job := range jobs {
		column, err := job.Run(ctx, con.note)
		if column.Findings != nil {
			columns = append(columns, column)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			failed = errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(columns) > 0 {
		failed = errors.Join(failed, c.print(con, columns))
	}
	return exitOf(ctx, failed, !probe.AnyUnknown(columns))
}

// reprint shows earlier findings.
func (c *probeCommand) reprint(con console) error {
	if len(c.Target) > 0 {
		return inputError{
			errors.New("--from tries nothing: leave the targets out, or leave out --from")}
	}
	raw, err := strict.ReadFile(c.From)
	if err != nil {
		return inputError{fmt.Errorf("--from: %w", err)}
	}
	columns, err := probe.Parse(raw)
	if err != nil {
		return inputError{fmt.Errorf("--from %s: %w", c.From, err)}
	}
	return c.print(con, columns)
}

func (c *probeCommand) print(con console, columns []probe.Column) error {
	switch {
	case c.JSON:
		return probe.JSON(con.out, columns)
	case c.Markdown:
		return document.Markdown(con.out, probe.Document(columns))
	}
	return show(con.out, probe.Document(columns))
}

// jobs turns the flags into checked jobs, one for each target.
func (c *probeCommand) jobs(con console) (jobs []*probe.Job, _ error) {
	for _, name := range targetNames(c.Target) {
		t, _, err := findTarget(name)
		if err != nil {
			return nil, err
		}
		job, err := c.job(t)
		if err == nil && system.Starts(job.System, t) {
			err = system.FindSoftware(job.System, job.Settings)
		}
		left, err := lacking(c.SkipMissing, name, err)
		if err != nil {
			return nil, err
		}
		if left != "" {
			fmt.Fprintf(con.err, "warning: left out: %s\n", left)
			continue
		}
		jobs = append(jobs, job)
	}
	if len(jobs) == 0 {
		return nil, errNothingLeft
	}
	return jobs, nil
}

func (c *probeCommand) job(t *target.Target) (*probe.Job, error) {
	of, err := uncheckedJob(nil, t, c.Runs)
	if err != nil {
		return nil, err
	}
	job := &probe.Job{Target: t, System: of.System, Settings: of.Settings, Secrets: of.Secrets,
		Base: c.Runs}
	if job.TLS, err = of.Trust.Config(); err != nil {
		return nil, err
	}
	if c.Durability != nil {
		job.Durability = workload.Level(*c.Durability)
		if !job.Durability.Valid() {
			return nil, fmt.Errorf("--durability %d: the levels are 1 to 4", *c.Durability)
		}
	}
	return job, job.Check()
}
