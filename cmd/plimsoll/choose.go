package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/systems"
)

// chooseCommand is run with other defaults.
type chooseCommand struct{ runCommand }

// chooseWarm is the longest warm-up of a target, so that four take less than ten minutes.
const chooseWarm = time.Minute

// mostNext is the number of targets that the next commands name.
const mostNext = 2

// Help is the text below the usage.
func (*chooseCommand) Help() string {
	return "The flags are those of plimsoll run. Without -t, every target is measured whose " +
		"servers plimsoll can start on this machine. Targets that lack software, or that cannot " +
		"give the durability level, are left out and named. Servers are warmed up for at most a " +
		"minute each, unless --warm says otherwise."
}

// Run measures the targets and says what to run next.
func (c *chooseCommand) Run(con console) error {
	if len(c.Target) == 0 {
		c.Target = []string{systems.AllLocal}
	}
	c.SkipMissing, c.onlyAble = true, true
	c.usual = bench.WarmUp{Auto: true, Length: chooseWarm}
	c.before = func(jobs []*bench.Job) { fmt.Fprintln(con.err, takes(jobs, c.Trials)) }
	c.after = func(runs []*result.Saved) { fmt.Fprintln(con.err, c.next(runs)) }
	return c.runCommand.Run(con)
}

// takes says how long the runs of jobs take.
func takes(jobs []*bench.Job, rounds int) string {
	var names []string
	var least, most time.Duration
	for _, job := range jobs {
		l, m := job.Takes()
		least, most = least+l, most+m
		names = append(names, job.Target.Name)
	}
	all := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * float64(rounds)).Round(time.Second)
	}
	return fmt.Sprintf("targets to measure: %d (%s); from %s to about %s in all, without the "+
		"start of servers", len(jobs), strings.Join(names, ", "), all(least), all(most))
}

// next says what to run next, on the targets that carried the load, kept their promises and have
// the lowest publish p99.
func (c *chooseCommand) next(runs []*result.Saved) string {
	var fit []*result.Saved
	for _, s := range runs {
		if ranked, _ := verdict.RankingOf(&s.Run); ranked == verdict.Ranked && !isUnsound(s) {
			fit = append(fit, s)
		}
	}
	slices.SortStableFunc(fit,
		func(a, b *result.Saved) int { return cmp.Compare(tail(a), tail(b)) })
	var targets []string
	for _, s := range fit {
		flag := " -t " + word(cmp.Or(c.named[s.Run.Name], s.Run.Name))
		if !slices.Contains(targets, flag) && len(targets) < mostNext {
			targets = append(targets, flag)
		}
	}
	if len(targets) == 0 {
		return "next: no run can be ranked, and its report says why: lower --rate, or measure " +
			"servers longer (--warm auto --duration 60s)"
	}
	load := strings.Join(targets, "") + c.loadFlags()
	return "next: does what was acknowledged survive a killed server?  plimsoll verify" + load +
		"\nnext: how much do they carry?  plimsoll peak" + load
}

// tail is the publish p99 of a run; infinite: it has none.
func tail(s *result.Saved) float64 {
	p, known := s.Run.Summary.Series(result.Publish).Point(99)
	if !known || p.Bound != result.Exact {
		return math.Inf(1)
	}
	return float64(p.LatencyNs)
}

// loadFlags repeats the flags for the load.
func (in *inputs) loadFlags() (out string) {
	if in.Workload != "default" {
		out += " -w " + word(in.Workload)
	}
	if in.Durability != nil {
		out += fmt.Sprintf(" --durability %d", *in.Durability)
	}
	if in.Rate != nil {
		out += " --rate " + word(*in.Rate)
	}
	for _, s := range in.settings() {
		name, value, _ := strings.Cut(s.flag, " ")
		out += " " + name + " " + word(value)
	}
	return out
}

// word quotes a word for a shell.
func word(text string) string {
	if !strings.ContainsAny(text, " \t\n'\"\\$`*?[]{}()<>|&;#~!") && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
