package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/systems"
)

// chooseCommand is run with other defaults.
type chooseCommand struct{ runCommand }

// chooseWarm is the longest warm-up of a target, which servers on a virtual machine need on two
// cores.
const chooseWarm = 3 * time.Minute

// mostNext is the number of targets that the next commands name.
const mostNext = 2

// Help is the text below the usage.
func (*chooseCommand) Help() string {
	return "The flags are those of plimsoll run. Without -t, every target is measured whose " +
		"servers plimsoll can start on this machine. Targets that lack software, or that cannot " +
		"give the durability level, are left out and named. Servers are warmed up for at most " +
		"three minutes each, unless --warm says otherwise."
}

// Run measures the targets and says what to run next.
func (c *chooseCommand) Run(con console) error {
	if len(c.Target) == 0 {
		c.Target = []string{systems.AllLocal}
	}
	c.SkipMissing, c.onlyAble = true, true
	c.usual = bench.WarmUp{Auto: true, Length: chooseWarm}
	c.before = func(jobs []*bench.Job) { fmt.Fprintln(con.err, toMeasure(jobs, c.Trials)) }
	c.after = func(runs []*result.Saved) { fmt.Fprintln(con.err, c.next(runs)) }
	return c.runCommand.Run(con)
}

// toMeasure names the targets of jobs and how long their rounds take.
func toMeasure(jobs []*bench.Job, rounds int) string {
	var names []string
	for _, job := range jobs {
		names = append(names, job.Target.Name)
	}
	return fmt.Sprintf("targets to measure: %d (%s); %s", len(jobs), strings.Join(names, ", "),
		takes(jobs, rounds))
}

// takes says how long rounds of the jobs' runs take with their warm-ups.
func takes(jobs []*bench.Job, rounds int) string {
	var least, most time.Duration
	for _, job := range jobs {
		l, m := job.Takes()
		least, most = least+l, most+m
	}
	all := func(d time.Duration) string {
		d = time.Duration(math.Min(float64(d)*float64(rounds), math.MaxInt64/2))
		return quantity.ExactDuration(d.Round(time.Second))
	}
	return fmt.Sprintf("from %s to about %s with warm-up and drain, without the start of servers",
		all(least), all(most))
}

// next says what to run next, on the targets that gave the level that was asked for, carried the
// load, kept their promises and have the lowest publish p99, in the middle of their runs.
func (c *chooseCommand) next(runs []*result.Saved) string {
	var names, load []string
	p99s := map[string][]float64{}
	for _, s := range runs {
		ranked, _ := verdict.RankingOf(&s.Run)
		if ranked != verdict.Ranked || isUnsound(s) || s.Run.Asked.Weaker != "" {
			continue
		}
		if p99s[s.Run.Name] == nil {
			names = append(names, s.Run.Name)
		}
		p99s[s.Run.Name] = append(p99s[s.Run.Name], publishP99(s))
	}
	middle := func(name string) float64 {
		slices.Sort(p99s[name])
		return p99s[name][len(p99s[name])/2]
	}
	slices.SortStableFunc(names,
		func(a, b string) int { return cmp.Compare(middle(a), middle(b)) })
	for _, name := range names[:min(len(names), mostNext)] {
		load = append(load, "-t", cmp.Or(c.named[name], name))
	}
	if len(names) == 0 {
		return "next: no run can be ranked, and its report says why: lower --rate, or measure " +
			"servers longer (--warm auto --duration 60s)"
	}
	load = append(load, c.loadFlags()...)
	command := func(name string) string {
		return phrase.CommandLine(append([]string{"plimsoll", name}, load...))
	}
	return "next: does what was acknowledged survive a killed server?  " + command("verify") +
		"\nnext: how much do they carry?  " + command("peak")
}

// publishP99 is the publish p99 of a run in ns; infinite: it has no exact one.
func publishP99(s *result.Saved) float64 {
	if f, err := figure.Find("publish.p99"); err == nil {
		if v, known := f.Value(&s.Run); known {
			return v
		}
	}
	return math.Inf(1)
}

// loadFlags repeats the flags for the load.
func (in *inputs) loadFlags() (out []string) {
	if in.Workload != "default" {
		out = append(out, "-w", in.Workload)
	}
	if in.Durability != nil {
		out = append(out, "--durability", strconv.Itoa(*in.Durability))
	}
	if in.Rate != nil {
		out = append(out, "--rate", *in.Rate)
	}
	if in.Clients != nil {
		out = append(out, "--clients", *in.Clients)
	}
	if in.Nodes != nil {
		out = append(out, "--nodes", strconv.Itoa(*in.Nodes))
	}
	for _, s := range in.settings() {
		name, value, _ := strings.Cut(s.flag, " ")
		out = append(out, name, value)
	}
	return out
}
