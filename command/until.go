package command

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// untilFlags are the flags of commands that measure until figures are known.
type untilFlags struct {
	Until  string `placeholder:"SHARE" help:"Measure round after round of all targets, in random order, until the 95% interval of each primary figure (of peak, the highest stable rate) reaches at most this share above it ('10%'), or until every pair of targets differs or is equal within it. Looking after each round does not raise the error."`
	AtMost string `name:"at-most" placeholder:"LENGTH" help:"The longest time of all rounds of --until; 30m if it is not given. No round begins that the time left cannot hold."`
}

// The bounds of the flags.
const (
	leastUntil    = 0.01
	mostAtMost    = 30 * 24 * time.Hour
	defaultAtMost = "30m"
)

// goal reads the flags. Its share is 0 if the number of rounds is fixed.
func (f *untilFlags) goal(primary string) (goal compare.Goal, atMost time.Duration, err error) {
	if goal.Primary, err = compare.FindPrimary(primary); err != nil {
		return goal, 0, fmt.Errorf("--primary: %w", err)
	}
	if f.Until == "" {
		if f.AtMost != "" {
			err = errors.New("--at-most bounds the time of --until, which is missing: give " +
				"--until '10%', or leave --at-most out")
		}
		return goal, 0, err
	}
	if goal.Share, err = quantity.ParseShare(f.Until); err != nil {
		return goal, 0, fmt.Errorf("--until: %w", err)
	}
	if goal.Share < leastUntil {
		return goal, 0, fmt.Errorf("--until: must be %s to 100%%, not %s",
			quantity.ExactShare(leastUntil), f.Until)
	}
	atMost, err = f.longest()
	return goal, atMost, err
}

// longest returns the longest time of all rounds.
func (f *untilFlags) longest() (time.Duration, error) {
	return parseAtMost(cmp.Or(f.AtMost, defaultAtMost))
}

func parseAtMost(text string) (time.Duration, error) {
	atMost, err := quantity.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--at-most: %w", err)
	case atMost <= 0 || atMost > mostAtMost:
		return 0, fmt.Errorf("--at-most: must be above 0s and at most %s, not %s",
			quantity.ExactDuration(mostAtMost), text)
	}
	return atMost, nil
}

// until returns the rule that ends a set of trials; nil: their number is fixed.
func (f *untilFlags) until(primary string) (*experiment.Until, error) {
	goal, atMost, err := f.goal(primary)
	if err != nil || goal.Share == 0 {
		return nil, err
	}
	return &experiment.Until{Share: goal.Share, Primary: primary, AtMost: atMost,
		Ends: func(runs []*result.Saved) bool { return compare.NewKnown(goal, runs).Ends() }}, nil
}

// tellTooShort warns of a time that cannot hold as many rounds of the jobs as a decision needs.
func (c *runCommand) tellTooShort(con console, until *experiment.Until, jobs []*bench.Job) {
	if until == nil || c.Resume {
		return
	}
	var round time.Duration
	for _, job := range jobs {
		least, _ := job.Takes()
		round += least
	}
	if least := compare.LeastRounds * round; least > until.AtMost {
		fmt.Fprintf(con.err, "warning: nothing will be known within --at-most %s: a decision "+
			"needs %d rounds, which take %s or more\n", quantity.ExactDuration(until.AtMost),
			compare.LeastRounds, quantity.ExactDuration(least.Round(time.Second)))
	}
}
