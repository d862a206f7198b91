package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type explainCommand struct{ leveled }

// Run prints what a run would do.
func (c *explainCommand) Run(con console) error {
	jobs, err := c.jobs("runs", c.OrWeaker)
	if err != nil {
		return err
	}
	tell(con, jobs, nil)
	fmt.Fprintf(con.out, "# workload\n%s\n", strings.TrimSpace(jobs[0].Workload.YAML()))
	for _, job := range jobs {
		explain(con, job)
	}
	return nil
}

func explain(con console, job *bench.Job) {
	d, level := job.System.Describe(), job.Workload.Durability
	fmt.Fprintf(con.out, "\n# target\n%s\n", strings.TrimSpace(job.Target.YAML()))
	if all := job.Settings.Applying(system.RunsElsewhere(job.System, job.Target)); len(all) > 0 {
		fmt.Fprintf(con.out, "\n# settings of %s, defaults included\n", d.Name)
		for _, s := range all {
			fmt.Fprintf(con.out, "%s: %s\n", s.Name, s.Value)
		}
	}
	e := job.Estimate()
	fmt.Fprintf(con.out, "\n# totals\n")
	t := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(t, "%s\t%s\n", name, value) }
	row("durability", fmt.Sprintf("level %d: %s", level, level.Meaning()))
	row("", d.Levels[level].How)
	if err := job.FindSoftware(); err != nil {
		row("software", err.Error())
	}
	if e.Guessed {
		row("closed loop",
			fmt.Sprintf("how much is sent depends on the system: what follows is for sends that "+
				"take %s each", bench.GuessedSend))
	}
	if b := job.Workload.Backlog; b != nil {
		row("backlog",
			fmt.Sprintf("%s messages, there %s after the warm-up at the offered rate; then at "+
				"most %s to read it: what follows is for the longest run",
				quantity.Count(job.Workload.BacklogMessages()), job.Workload.BacklogBuild().Round(
					time.Millisecond), b.Limit))
	}
	row("messages", quantity.Count(e.Messages)+", warm-up included")
	row("published", quantity.Bytes(e.PublishedBytes))
	row("delivered", quantity.Bytes(e.DeliveredBytes))
	if e.DiskBytes > 0 {
		row("disk", "about "+quantity.Bytes(e.DiskBytes)+" on this machine, all nodes together")
	}
	row("memory",
		"about "+quantity.Bytes(e.MemoryBytes)+" for plimsoll at worst, its embedded servers apart")
	if sentence := billOf(job); sentence != "" {
		row("cost", sentence)
	}
	row("time", e.Length.String()+" and at most "+job.Workload.Drain.String()+" of drain")
	_ = t.Flush()
}

type workloadsCommand struct {
	Keys bool `help:"List the keys of a workload instead: default and meaning of each."`
}

// Run lists the built-in workloads, or the keys of a workload.
func (c *workloadsCommand) Run(con console) error {
	t := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	if c.Keys {
		for _, f := range workload.Fields() {
			fmt.Fprintf(t, "%s\t%s\t%s\n", f.Path, f.Default, f.Means)
		}
		return t.Flush()
	}
	for _, e := range workload.Library() {
		fmt.Fprintf(t, "%s\t%s\n", e.Name, e.Description)
	}
	return t.Flush()
}
