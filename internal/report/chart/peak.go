package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Peak are the charts of a search: the achieved rate over the offered one, the same
// closer to the bracket, latency, and the growth of the backlog.
func Peak(s *peak.Saved) []*document.Chart {
	return []*document.Chart{Sticks(s), bracketChart(s), trialLatencyChart(s), growthChart(s)}
}

// outcomes are the trials of a search by their outcome, each a series with a colour of its own:
// that of its tone, if it has one.
var outcomes = []struct {
	word  string
	tone  document.Tone
	color int
}{{"stable", document.Good, 0}, {"unstable", document.Bad, 0}, {"repeated", "", 0},
	{"undecided", document.Unsure, 0}, {"stopped", "", 3}, {"limited by plimsoll", "", 4}}

// trialSeries are the trials with a value, a series for each outcome; numbered writes their
// numbers beside them.
func trialSeries(trials []*peak.Trial, numbered bool, value func(*peak.Trial) (trialValue, bool),
) []document.Series {
	var out []document.Series
	for _, o := range outcomes {
		s := document.Series{Name: o.word, Color: o.color, Alone: true}
		for _, p := range trials {
			v, ok := value(p)
			if word, _ := trial.Outcome(p); word != o.word || !ok {
				continue
			}
			m := document.Mark{At: len(s.X), Tone: o.tone, Cross: o.word == "unstable",
				Above: v.above, Tip: tipOf(p)}
			if numbered {
				m.Words = fmt.Sprint(p.Number)
			}
			s.X, s.Y = append(s.X, p.TargetRate), append(s.Y, v.y)
			if v.low < v.high {
				s.Low, s.High = append(s.Low, v.low), append(s.High, v.high)
			}
			s.Marks = append(s.Marks, m)
		}
		if len(s.X) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// trialValue is a figure of a trial, with its interval where low is below high.
type trialValue struct {
	y, low, high float64
	above        bool // the true value lies above
}

// tipOf is a trial in words.
func tipOf(p *peak.Trial) string {
	word, _ := trial.Outcome(p)
	return phrase.Micro(fmt.Sprintf(
		"trial %d, %s: %s offered, %s achieved, publish p99 %s, backlog %s, %s", p.Number,
		trial.Kind(p.Kind, p.Long), phrase.Rate(p.TargetRate), phrase.Rate(p.AchievedRate),
		latency.At(p.Series(result.Publish), 99), trial.Slope(p.Verdict), word))
}

// sane reports whether a rate can be drawn: a file may hold any number.
func sane(rate float64) bool { return rate >= 1e-3 && rate <= 1e12 }

// farApart is the least ratio of the greatest rate to the least at which the axes are
// logarithmic.
const farApart = 30

// Usable are the trials that can be drawn.
func Usable(s *peak.Saved) []*peak.Trial {
	var out []*peak.Trial
	for i := range s.Trials {
		if p := &s.Trials[i]; sane(p.TargetRate) && (sane(p.AchievedRate) || p.AchievedRate == 0) {
			out = append(out, p)
		}
	}
	return out
}

// Bounds are the least and the greatest rate of trials.
func Bounds(trials []*peak.Trial) (least, most float64) {
	least = math.Inf(1)
	for _, p := range trials {
		least, most = min(least, p.TargetRate), max(most, p.TargetRate)
	}
	return least, most
}

// trialWords describe the trials, for readers who cannot see a drawing.
func trialWords(s *peak.Saved) string {
	var parts []string
	for _, p := range Usable(s) {
		parts = append(parts, tipOf(p))
	}
	return strings.Join(parts, ". ") + "."
}

// rateAxis is an axis of rates: logarithmic where they are far apart, else from zero.
func rateAxis(trials []*peak.Trial, title string) document.Axis {
	a := document.Axis{Title: title, Unit: document.PerSecond}
	least, most := Bounds(trials)
	if most > least*farApart {
		a.Scale = document.Log
		return a
	}
	a.From, a.To = new(0.0), new(most*1.06)
	return a
}

// bracketSpans shade the bracket in which the peak lies.
func bracketSpans(s *peak.Saved) []document.Span {
	if b := s.Bracket; sane(b.StableRate) && sane(b.UnstableRate) {
		return []document.Span{{From: b.StableRate, To: b.UnstableRate, Words: "the peak"}}
	}
	return nil
}

// overRates is a chart over the offered rate, with its trials in words and the bracket shaded.
// Where trials can be drawn, draw adds them.
func overRates(s *peak.Saved, c document.Chart, draw func(*document.Chart, []*peak.Trial),
) *document.Chart {
	c.Label += " " + trialWords(s)
	if trials := Usable(s); len(trials) > 0 {
		c.X, c.Spans = rateAxis(trials, "offered"), bracketSpans(s)
		draw(&c, trials)
	}
	return &c
}

// achieved are the trials with their achieved rates.
func achieved(trials []*peak.Trial) []document.Series {
	return trialSeries(trials, true,
		func(p *peak.Trial) (trialValue, bool) { return trialValue{y: p.AchievedRate}, true })
}

// Sticks are the trials of a search over their offered rates.
func Sticks(s *peak.Saved) *document.Chart {
	about := document.Chart{ID: "achieved", Title: "Achieved over offered",
		Label: "Achieved rate over offered rate.",
		Note: "On the line, all offered messages were acknowledged. The peak lies in the shaded " +
			"range; numbers give the order of the trials.",
		Empty: "No trial has a rate that could be drawn."}
	return overRates(s, about, func(c *document.Chart, trials []*peak.Trial) {
		c.Y = rateAxis(trials, "achieved")
		least, most := Bounds(trials)
		c.Series = append(achieved(trials), equalRates(min(least, most/2), most*1.06))
	})
}

// equalRates is the line on which the achieved rate equals the offered rate.
func equalRates(from, to float64) document.Series {
	return document.Series{Name: "achieved = offered", Color: document.Grey, Dash: 1, Faint: true,
		X: document.Values{from, to}, Y: document.Values{from, to}}
}

func bracketChart(s *peak.Saved) *document.Chart {
	c := &document.Chart{ID: "bracket", Title: "Around the peak",
		Label: "Achieved rate over offered rate, around the bracket.", Note: "The same, closer.",
		Empty: "No rate was stable, so there is no bracket."}
	b := s.Bracket
	if !sane(b.StableRate) || b.UnstableRate != 0 && !sane(b.UnstableRate) {
		return c
	}
	middle, reach := b.StableRate, 0.08
	if b.UnstableRate > 0 {
		middle = math.Sqrt(b.StableRate * b.UnstableRate)
		reach = max(reach, min(1.5*(b.UnstableRate/middle-1), 0.9))
	}
	trials := slices.DeleteFunc(Usable(s), func(p *peak.Trial) bool {
		return math.Abs(p.TargetRate/middle-1) > reach
	})
	low, high := middle*(1-reach), middle*(1+reach)
	c.X = document.Axis{Title: "offered", Unit: document.PerSecond, From: &low, To: &high}
	least, most := low, high
	for _, p := range trials {
		least, most = min(least, p.AchievedRate), max(most, p.AchievedRate)
	}
	c.Y = document.Axis{Title: "achieved", Unit: document.PerSecond, From: &least, To: &most}
	c.Series = append(achieved(trials), equalRates(low, high))
	c.Spans = bracketSpans(s)
	return c
}

// trialLatency is a percentile of a trial, or the latency that it exceeds.
func trialLatency(p *peak.Trial, series result.Series, percentile float64) (trialValue, bool) {
	at, known := p.Series(series).Point(percentile)
	ns := float64(at.LatencyNs)
	return trialValue{y: ns, above: at.Bound != result.Exact}, known && ns > 0 && ns < 1e16
}

func trialLatencyChart(s *peak.Saved) *document.Chart {
	about := document.Chart{ID: "trial-latency", Title: "Latency, p99",
		Label: "The 99th percentile of latency over offered rate.",
		Note: "Filled, with numbers: publish. Hollow: end-to-end. Dashed: objectives of p99. An " +
			"arrow marks a lower bound: the true latency lies above.",
		Empty: "No trial has a latency."}
	return overRates(s, about, func(c *document.Chart, trials []*peak.Trial) {
		c.Y = document.Axis{Title: "p99", Unit: document.Nanos, Scale: document.Log}
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			all := trialSeries(trials, series == result.Publish,
				func(p *peak.Trial) (trialValue, bool) { return trialLatency(p, series, 99) })
			for _, one := range all {
				if series == result.EndToEnd {
					one.Name, one.Faint = "", true
				}
				c.Series = append(c.Series, one)
			}
		}
		for _, text := range s.Objectives {
			if o, err := verdict.ParseObjective(text); err == nil && o.Percentile == 99 {
				c.Spans = append(c.Spans, document.Span{Level: true, From: float64(o.BelowNs),
					Words: phrase.Micro(o.String())})
			}
		}
	})
}

func growthChart(s *peak.Saved) *document.Chart {
	about := document.Chart{ID: "growth", Title: "Growth of the backlog",
		Label: "Growth of the backlog over offered rate.",
		Note: "As a share of the offered rate, with its 95% interval. Above the dashed bound the " +
			"backlog counts as growing.",
		Empty: "No trial was long enough to see its backlog grow."}
	return overRates(s, about, func(c *document.Chart, trials []*peak.Trial) {
		c.Y = document.Axis{Title: "share of offered", Unit: document.Share,
			Scale: document.Signed}
		c.Series = trialSeries(trials, false, growthOf)
		c.Spans = append(c.Spans, document.Span{Level: true, From: verdict.GrowthBound})
	})
}

// growthOf is the growth of a trial's backlog, as a share of the offered rate.
func growthOf(p *peak.Trial) (trialValue, bool) {
	v := p.Verdict
	ok := v.Sloped && sane(p.OfferedRate) && sane(1+math.Abs(v.SlopeRate)) &&
		sane(1+math.Abs(v.SlopeLow)) && sane(1+math.Abs(v.SlopeHigh))
	return trialValue{y: v.SlopeRate / p.OfferedRate, low: v.SlopeLow / p.OfferedRate,
		high: v.SlopeHigh / p.OfferedRate}, ok
}

// kneePercentiles are the lines of each system in a chart of the knee.
var kneePercentiles = []struct {
	at    float64
	faint bool
	dash  int
}{{50, true, 0}, {99, false, 0}, {99.9, false, 2}}

// Knees show latency over the offered rate of several searches, for each series of
// latency. They are nil where no trial has a latency.
func Knees(searches []*peak.Saved) []*document.Chart {
	var out []*document.Chart
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		if c := kneeChart(searches, series); c != nil {
			out = append(out, c)
		}
	}
	return out
}

func kneeChart(searches []*peak.Saved, series result.Series) *document.Chart {
	title := "The knee: " + phrase.SeriesTitle(series) + " latency over offered rate"
	c := &document.Chart{ID: "knee-" + string(series), Title: title, Label: title + ".",
		Note: "Lines join the trials that were stable; the upright line marks the peak, the " +
			"highest rate that was found stable. Crosses are p99 of trials in which the system " +
			"fell behind: such a latency grows with the length of the trial. An arrow marks a " +
			"lower bound.",
		Y: document.Axis{Title: "latency", Unit: document.Nanos, Scale: document.Log}}
	var all []*peak.Trial
	for i, s := range searches {
		stable, beyond := sides(s)
		all = append(all, append(slices.Clone(stable), beyond...)...)
		for _, k := range kneePercentiles {
			line := kneeLine(stable, series, k.at)
			line.Name = kneeName(searches, s) + result.PercentileName(k.at)
			line.Color, line.Faint, line.Dash = i%document.Colors, k.faint, k.dash
			if len(line.X) > 0 {
				c.Series = append(c.Series, line)
			}
		}
		crosses := kneeLine(beyond, series, 99)
		crosses.Name, crosses.Color = kneeName(searches, s)+"p99, unstable", i%document.Colors
		crosses.Dots, crosses.Alone = false, true
		for j := range crosses.Marks {
			crosses.Marks[j].Cross = true
		}
		if len(crosses.X) > 0 {
			c.Series = append(c.Series, crosses)
		}
		if b := s.Bracket; sane(b.StableRate) {
			c.Spans = append(c.Spans, document.Span{From: b.StableRate, To: b.StableRate,
				Color: new(i % document.Colors), Words: kneeName(searches, s) +
					phrase.Rate(b.StableRate)})
			c.Label += " " + document.Clean(s.Name) + ": stable at " + phrase.Rate(b.StableRate) +
				"."
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	c.X = rateAxis(all, "offered")
	return c
}

// kneeName is a search's name before a word, where there are several.
func kneeName(searches []*peak.Saved, s *peak.Saved) string {
	if len(searches) < 2 {
		return ""
	}
	return document.Cut(document.Clean(s.Name), 30) + " "
}

// sides are the judged trials of a search, one for each rate, in the order of their rates: those
// that were stable and those in which the system fell behind. Of several trials at a rate the
// longest counts, of equally long ones the last.
func sides(s *peak.Saved) (stable, beyond []*peak.Trial) {
	of := map[float64]*peak.Trial{}
	for _, p := range Usable(s) {
		if before := of[p.TargetRate]; p.Judged && !p.Repeated &&
			(before == nil || p.WindowSeconds >= before.WindowSeconds) {
			of[p.TargetRate] = p
		}
	}
	for _, p := range of {
		switch {
		case p.Verdict.Stable:
			stable = append(stable, p)
		case !p.Verdict.Undecided && !p.Verdict.OwnLimit():
			beyond = append(beyond, p)
		}
	}
	byRate := func(a, b *peak.Trial) int { return cmp.Compare(a.TargetRate, b.TargetRate) }
	slices.SortFunc(stable, byRate)
	slices.SortFunc(beyond, byRate)
	return stable, beyond
}

func kneeLine(trials []*peak.Trial, series result.Series, percentile float64) document.Series {
	s := document.Series{Dots: true}
	for _, p := range trials {
		if v, ok := trialLatency(p, series, percentile); ok {
			s.Marks = append(s.Marks, document.Mark{At: len(s.X), Above: v.above, Tip: tipOf(p)})
			s.X, s.Y = append(s.X, p.TargetRate), append(s.Y, v.y)
		}
	}
	return s
}
