package command

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type explainCommand struct {
	leveled
	printed
}

// Run prints what a run would do.
func (c *explainCommand) Run(con console) error {
	jobs, err := c.jobs("runs", c.OrWeaker)
	if err == nil {
		err = (&warmed{}).warm(jobs)
	}
	if err != nil {
		return inputError{err}
	}
	tell(con, jobs, nil)
	d := document.Document{Title: "What a run would do", Blocks: []document.Block{
		{For: document.AtLength,
			Heading: &document.Heading{Level: 1, Words: "What a run would do"}},
		yamlOf("workload", jobs[0].Workload.YAML())}}
	for _, job := range jobs {
		d.Blocks = append(d.Blocks, explained(job)...)
	}
	return c.print(con, d)
}

func yamlOf(title, yaml string) document.Block {
	return document.Block{Code: &document.Code{Title: "# " + title, Words: strings.TrimSpace(yaml)}}
}

// explained returns a job's target, its settings, and what the run would need.
func explained(job *bench.Job) []document.Block {
	blocks := []document.Block{
		{For: document.AtLength, Heading: &document.Heading{Level: 2, Words: job.Target.Name}},
		yamlOf("target", job.Target.YAML())}
	settings := ""
	for _, s := range job.Settings.Applying(system.RunsElsewhere(job.System, job.Target),
		job.Workload.Durability) {
		settings += s.Name + ": " + s.Value + "\n"
	}
	if settings != "" {
		blocks = append(blocks, yamlOf("settings of "+job.System.Describe().Name+
			", defaults included", settings))
	}
	return append(blocks, document.Block{Facts: totals(job)})
}

// asksForOne reports whether a job's target asks for a single copy of each message, or for a single
// server.
func asksForOne(job *bench.Job) bool {
	for _, name := range job.System.Describe().Copies {
		if job.Settings.Given(name) && job.Settings.Count(name) == 1 {
			return true
		}
	}
	return !system.RunsElsewhere(job.System, job.Target) && job.Target.Testbed.Nodes == 1
}

// totals returns what the run of a job would need.
func totals(job *bench.Job) (all facts) {
	e, level := job.Estimate(), job.Workload.Durability
	meaning := level.Meaning()
	if asksForOne(job) {
		meaning += ", " + result.SingleCopy
	}
	all.add("durability", fmt.Sprintf("level %d: %s", level, meaning))
	all.add("durability", job.System.Describe().Levels[level].How)
	clients := job.Clients()
	all.add("clients", fact.Clients(&clients))
	for _, w := range job.Waits() {
		all.add("waits", fact.Wait(w))
	}
	if err := job.FindSoftware(); err != nil {
		all.add("software", err.Error())
	}
	if e.Guessed {
		all.add("closed loop",
			fmt.Sprintf("the number of messages depends on the system: these figures assume sends "+
				"of %s each", quantity.Duration(int64(bench.GuessedSend))))
	}
	if b := job.Workload.Backlog; b != nil {
		all.add("backlog",
			fmt.Sprintf("%s messages, there %s after the warm-up at the offered rate; then at "+
				"most %s to read it: these figures are for the longest run",
				quantity.Count(job.Workload.BacklogMessages()),
				quantity.Duration(int64(job.Workload.BacklogBuild())),
				quantity.ExactDuration(b.Limit)))
	}
	all.add("messages", quantity.Count(e.Messages)+", warm-up included")
	all.add("published", quantity.Bytes(e.PublishedBytes))
	all.add("delivered", quantity.Bytes(e.DeliveredBytes))
	if e.DiskBytes > 0 {
		all.add("disk", "about "+quantity.Bytes(e.DiskBytes)+" on this machine, all nodes together")
	}
	all.add("memory",
		"about "+quantity.Bytes(e.MemoryBytes)+" for plimsoll at worst, its embedded servers apart")
	all.add("cost", billOf(job))
	all.add("time", takes([]*bench.Job{job}, 1))
	return all
}

type workloadsCommand struct {
	Keys bool `help:"List the keys of a workload instead: default and meaning of each."`
	printed
}

// Run lists the built-in workloads, or the keys of a workload.
func (c *workloadsCommand) Run(con console) error {
	if c.Keys {
		t := document.Table{ID: "keys", Corner: "key", Head: document.Heads("default", "meaning")}
		for _, f := range workload.Fields() {
			t.Add(f.Path, f.Default, f.Means)
		}
		return c.print(con, listing("The keys of a workload", t))
	}
	t := document.Table{ID: "workloads", Corner: "workload", Head: document.Heads("what")}
	for _, e := range workload.Library() {
		t.Add(e.Name, e.Description)
	}
	return c.print(con, listing("The workloads that are built in", t))
}
