package command

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// searchRounds searches for the peak of each target round after round, until the peaks are known.
type searchRounds struct {
	share  float64
	atMost time.Duration
	all    []peak.Options // one of each target
	// search makes a search; complete returns the search of an earlier process; nil: none.
	search   func(o peak.Options) (*peak.Saved, error)
	complete func(o peak.Options) (*peak.Saved, error)
	now      func() time.Time
}

// betweenRounds is the distance of the seeds of two rounds, which is more than a search uses.
const betweenRounds = 1000

// inRound returns the search of a target in a round from 1, with a seed of its own.
func (r *searchRounds) inRound(target, round int) peak.Options {
	o := r.all[target]
	job, w := *o.Job, *o.Job.Workload
	w.Seed += uint64(round-1) * betweenRounds
	job.Workload, o.Job = &w, &job
	return o
}

// run makes rounds of searches, each with all targets in random order. It ends when the peaks are
// known, ctx is cancelled, a search fails, or the time left does not hold a round as long as the
// longest. It returns all searches and what is known after the whole rounds.
func (r *searchRounds) run(ctx context.Context) (found []*peak.Saved, known *compare.Known,
	err error) {
	peaks := make([]compare.Rounds, len(r.all))
	for i := range peaks {
		peaks[i] = compare.Rounds{Target: r.all[i].Job.Target.Name, Values: map[int]float64{},
			Figure: figure.Figure{Name: figure.Peak, Unit: figure.PerSecond}}
	}
	random := rand.New(rand.NewPCG(r.all[0].Job.Workload.Seed, 0))
	var used, longest time.Duration
	for round := 1; ; round++ {
		took := time.Duration(0)
		for _, target := range random.Perm(len(r.all)) {
			s, spent, err := r.one(r.inRound(target, round))
			if took += spent; s != nil {
				found = append(found, s)
			}
			if err != nil || ctx.Err() != nil || s == nil {
				return found, known, err
			}
			if rate, why := peakOf(s); why == "" {
				peaks[target].Values[round] = rate
			} else {
				peaks[target].Why = why
			}
		}
		used, longest = used+took, max(longest, took)
		known = compare.Judge(r.share, round, int64(used)/int64(round), peaks)
		if known.Ends() || used+longest > r.atMost || round >= experiment.MostRounds {
			return found, known, nil
		}
	}
}

// one makes a search, or takes that of an earlier process if it is complete. It returns the time
// that the search took.
func (r *searchRounds) one(o peak.Options) (*peak.Saved, time.Duration, error) {
	before, err := r.complete(o)
	switch {
	case err != nil:
		return nil, 0, err
	case before != nil && before.State == result.Complete:
		return before, before.EndedAt.Sub(before.StartedAt), nil
	case before != nil:
		o.Resume = before.Dir
	}
	began := r.now()
	s, err := r.search(o)
	return s, r.now().Sub(began), err
}

// peakOf returns the highest stable rate of a search, or why the search does not show it.
func peakOf(s *peak.Saved) (rate float64, why string) {
	switch b := s.Bracket; {
	case b.StableRate <= 0:
		return 0, "no rate was stable"
	case s.Side != nil && s.Side.Name == verdict.SideGenerator:
		return 0, "plimsoll itself was the limit"
	case b.UnstableRate <= 0:
		return 0, "the search met no limit"
	}
	return s.Bracket.StableRate, ""
}

// untilKnown searches for the peaks round after round and shows the brackets and what is known.
func (c *peakCommand) untilKnown(con console, all []peak.Options, gates []compare.Gate,
	share float64, atMost time.Duration) error {
	if c.Resume.dir != "" {
		return inputError{errors.New(
			"--resume continues all rounds of --until: leave its folder out")}
	}
	return c.followed(con, c.Runs, func(ctx context.Context, page *serve.Live) error {
		watch := &peakWatch{roundsWatch: newRoundsWatch(con.err), page: page}
		r := &searchRounds{share: share, atMost: atMost, all: all, now: time.Now}
		r.search = func(o peak.Options) (*peak.Saved, error) {
			o.Watch = watch
			return peak.Run(ctx, o)
		}
		r.complete = func(o peak.Options) (*peak.Saved, error) {
			dir, err := peak.Find(o)
			if !c.Resume.given || err != nil || dir == "" {
				return nil, err
			}
			return peak.Read(dir)
		}
		var jobs []*bench.Job
		for _, o := range all {
			jobs = append(jobs, o.Job)
		}
		var found []*peak.Saved
		var known *compare.Known
		failed := c.hired(ctx, con, jobs, func(*crew) (failed error) {
			found, known, failed = r.run(ctx)
			return failed
		})
		watch.Close()
		return c.finish(ctx, con, found, known, gates, failed)
	})
}
