package peak_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// curveStopper stops a search within the second trial of its curve.
type curveStopper struct {
	silent
	stop  context.CancelFunc
	along int
}

func (s *curveStopper) Trial(_ *peak.Saved, step peak.Step, _ *bench.Job) {
	if step.Kind == peak.Curve {
		s.along++
	}
}

func (s *curveStopper) Interval(i result.Interval) {
	if s.along == 2 && i.Phase == result.PhaseMeasure {
		s.stop()
	}
}

func curve(s *peak.Saved) (trials []peak.Trial) {
	for _, p := range s.Trials {
		if p.Kind == peak.Curve {
			trials = append(trials, p)
		}
	}
	return trials
}

// missing reports whether a search says that a part of its curve is missing, and how to get it.
func missing(s *peak.Saved, remedy string) bool {
	return slices.ContainsFunc(s.Caveats(), func(w result.Warning) bool {
		return strings.Contains(w.Sentence, "trials of the curve were made: "+remedy)
	})
}

var slowSystem = map[string]string{"capacity": "2k/s"}

func withCurve(w *workload.Workload, o *peak.Options) {
	o.Plan.Curve, o.Plan.StartRate = true, 500
}

// The trials of a curve are at shares of the peak, stable below and unstable above it, and the
// bracket does not depend on them.
func TestTruthACurveFollowsThePeak(t *testing.T) {
	million(t)
	s := trial{settings: slowSystem, change: withCurve}.run(t)
	if b := s.Bracket; s.End != peak.Found || missing(s, "") || b.StableRate > 2000 ||
		b.UnstableRate < 2000 || b.Width() > 0.03 {
		t.Error(story(s))
	}
	found := curve(s)
	if len(found) != len(peak.CurveShares) {
		t.Fatalf("%d trials: %s", len(found), story(s))
	}
	for i, p := range found {
		share := peak.CurveShares[i]
		if off := math.Abs(p.TargetRate/s.Bracket.StableRate/share - 1); off > 1e-9 ||
			p.Verdict.Stable != (share < 1) || p.Repeated {
			t.Errorf("trial at %v of the peak: %+v", share, p)
		}
	}
}

// A search that was interrupted within its curve completes the curve and repeats no trial.
func TestTruthAnInterruptedCurveGoesOn(t *testing.T) {
	million(t)
	ctx, cancel := context.WithCancel(context.Background())
	first := trial{settings: slowSystem, ctx: ctx, change: withCurve,
		watch: &curveStopper{stop: cancel}}.run(t)
	if len(curve(first)) != 2 || first.State != result.Interrupted ||
		!missing(first, "repeat its command with --resume") {
		t.Fatal(story(first))
	}
	rest := trial{settings: slowSystem, change: func(w *workload.Workload, o *peak.Options) {
		withCurve(w, o)
		o.Resume = first.Dir
	}}.run(t)
	if rest.State != result.Complete || rest.End != peak.Found || rest.Bracket != first.Bracket ||
		len(curve(rest)) != len(peak.CurveShares) ||
		len(rest.Trials) != len(first.Trials)+len(peak.CurveShares)-2 {
		t.Errorf("in two parts %s and %s", story(first), story(rest))
	}
	for i, p := range first.Trials[:len(first.Trials)-1] {
		if rest.Trials[i].Dir != p.Dir {
			t.Errorf("trial %d was made again", i+1)
		}
	}
}

// A curve leaves out rates that offer too few messages, and says when time ran out.
func TestTruthACurveKeepsItsBounds(t *testing.T) {
	million(t)
	s := trial{settings: slowSystem, change: func(w *workload.Workload, o *peak.Options) {
		withCurve(w, o)
		o.Plan.LeastRate, o.MaxTime = 400, 40*time.Second
	}}.run(t)
	found := curve(s)
	if len(found) == 0 || len(found) >= 5 || s.End != peak.Found ||
		!missing(s, "search again, with a longer --max-time") ||
		found[0].TargetRate != peak.CurveShares[1]*s.Bracket.StableRate {
		t.Error(story(s))
	}
}
