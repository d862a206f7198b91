package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	wideWidth, wideHeight = 1040.0, 400.0
	halfWidth, halfHeight = 520.0, 330.0
	// farApart is the least ratio of the greatest rate to the least at which the axes are
	// logarithmic.
	farApart = 30
)

// sane reports whether a rate can be drawn: a file may hold any number.
func sane(rate float64) bool { return rate >= 1e-3 && rate <= 1e12 }

// usable are the trials that can be drawn.
func usable(s *peak.Saved) []*peak.Trial {
	var out []*peak.Trial
	for i := range s.Trials {
		if p := &s.Trials[i]; sane(p.TargetRate) && (sane(p.AchievedRate) || p.AchievedRate == 0) {
			out = append(out, p)
		}
	}
	return out
}

// pointOf is a trial as a mark, without its height.
func pointOf(p *peak.Trial) mark {
	word, _ := outcomeOf(p)
	return mark{x: p.TargetRate, class: word, cross: word == "unstable",
		number: fmt.Sprint(p.Number),
		tip: fmt.Sprintf("trial %d, %s: %s offered, %s achieved, publish p99 %s, backlog %s, %s",
			p.Number, kindOf(p.Kind, p.Long),
			rate(p.TargetRate), rate(p.AchievedRate), at(p.Series(result.Publish),
				99), slopeOf(p.Verdict), word)}
}

// rateScale is an axis of rates.
func rateScale(least, most float64, title string) scale {
	var s scale
	if most > least*farApart {
		s = logarithmic(least/1.5, most*1.5, rate)
	} else {
		s = linear(0, most*1.08, rate)
	}
	s.title = title
	return s
}

func bounds(trials []*peak.Trial) (least, most float64) {
	least = math.Inf(1)
	for _, p := range trials {
		least, most = min(least, p.TargetRate), max(most, p.TargetRate)
	}
	return least, most
}

// bracketBand shades the bracket in which the peak lies.
func bracketBand(s *peak.Saved) []band {
	if b := s.Bracket; sane(b.StableRate) && sane(b.UnstableRate) {
		return []band{{b.StableRate, b.UnstableRate}}
	}
	return nil
}

// words describe the trials, for readers who cannot see a drawing.
func trialWords(s *peak.Saved) string {
	var parts []string
	for _, p := range usable(s) {
		parts = append(parts, pointOf(p).tip)
	}
	return strings.Join(parts, ". ") + "."
}

// hockeyStick is the hockey stick: the achieved rate over the offered rate.
func hockeyStick(s *peak.Saved) drawing {
	f := drawing{Title: "Achieved over offered", Label: "Achieved rate over offered rate. " +
		trialWords(s),
		Note: "On the line, all offered messages were acknowledged. The peak lies in the shaded " +
			"range; numbers give the order of the trials."}
	trials := usable(s)
	if len(trials) == 0 {
		return f
	}
	least, most := bounds(trials)
	low := least
	for _, p := range trials {
		if p.AchievedRate > 0 {
			low = min(low, p.AchievedRate)
		}
	}
	d := &plot{width: wideWidth, height: wideHeight, x: rateScale(least, most, "offered"),
		y: rateScale(low, most, "achieved"), bands: bracketBand(s)}
	d.y.least, d.y.most = min(d.x.least, d.y.least), d.x.most
	d.y.place = d.x.place
	d.lines = []ruled{loadLine(d, "achieved = offered")}
	for _, p := range trials {
		m := pointOf(p)
		m.y = max(p.AchievedRate, d.y.least)
		d.points = append(d.points, m)
	}
	f.Drawing = d.svg()
	return f
}

// loadLine is the line on which the achieved rate equals the offered rate.
func loadLine(d *plot, words string) ruled {
	from, to := max(d.x.least, d.y.least), min(d.x.most, d.y.most)
	return ruled{x: []float64{from, to}, y: []float64{from, to}, class: "load", words: words}
}

// closeFigure is the hockey stick around the bracket.
func closeFigure(s *peak.Saved) drawing {
	f := drawing{Title: "Around the peak",
		Label: "Achieved rate over offered rate, around the bracket.", Note: "The same, closer."}
	b := s.Bracket
	middle := b.StableRate
	if !sane(middle) || b.UnstableRate != 0 && !sane(b.UnstableRate) {
		return f
	}
	reach := 0.08
	if b.UnstableRate > 0 {
		middle = math.Sqrt(b.StableRate * b.UnstableRate)
		reach = max(reach, min(1.5*(b.UnstableRate/middle-1), 0.9))
	}
	var trials []*peak.Trial
	for _, p := range usable(s) {
		if math.Abs(p.TargetRate/max(middle, 1e-9)-1) <= reach {
			trials = append(trials, p)
		}
	}
	if len(trials) == 0 {
		return f
	}
	low, high := middle*(1-reach), middle*(1+reach)
	d := &plot{width: halfWidth, height: halfHeight, bands: bracketBand(s),
		x: linear(low, high, rate)}
	for _, p := range trials {
		low, high = min(low, p.AchievedRate), max(high, p.AchievedRate)
	}
	d.y = linear(low, high, rate)
	d.x.title, d.y.title = "offered", "achieved"
	d.lines = []ruled{loadLine(d, "")}
	for _, p := range trials {
		m := pointOf(p)
		m.y = p.AchievedRate
		d.points = append(d.points, m)
	}
	f.Drawing = d.svg()
	return f
}

// latencyFigure is p99 over rate, with the objectives.
func latencyFigure(s *peak.Saved) drawing {
	f := drawing{Title: "Latency, p99",
		Label: "The 99th percentile of latency over offered rate. " + trialWords(s),
		Note: "Filled, with numbers: publish. Hollow: end-to-end. Dashed: objectives of p99. " +
			"An arrow marks a lower bound: the true latency lies above."}
	trials := usable(s)
	least, most := bounds(trials)
	low, high := math.Inf(1), 0.0
	see := func(ns float64) { low, high = min(low, ns), max(high, ns) }
	var points []mark
	for _, p := range trials {
		for _, series := range []result.Series{result.EndToEnd, result.Publish} {
			at, known := p.Series(series).Point(99)
			if ns := at.LatencyNs; known && ns > 0 && ns < 1e16 {
				m := pointOf(p)
				m.y, m.above = float64(ns), at.Bound != result.Exact
				if series == result.EndToEnd {
					m.class, m.number = m.class+" hollow", ""
				}
				points = append(points, m)
				see(m.y)
			}
		}
	}
	if len(points) == 0 {
		return f
	}
	var lines []ruled
	for _, text := range s.Objectives {
		if o, err := verdict.ParseObjective(text); err == nil && o.Percentile == 99 {
			lines = append(lines, ruled{y: []float64{float64(o.BelowNs), float64(o.BelowNs)},
				class: "bound", words: o.String()})
			see(float64(o.BelowNs))
		}
	}
	d := &plot{width: wideWidth, height: halfHeight, bands: bracketBand(s),
		x: rateScale(least, most, "offered"), points: points,
		y: logarithmic(low/1.6, high*1.6,
			func(ns float64) string { return quantity.Duration(int64(ns)) })}
	d.y.title = "p99"
	for i := range lines {
		lines[i].x = []float64{d.x.least, d.x.most}
	}
	d.lines = lines
	f.Drawing = d.svg()
	return f
}

// slopeFigure is the growth of the number of waiting messages, as a share of the offered rate.
func slopeFigure(s *peak.Saved) drawing {
	f := drawing{Title: "Growth of the backlog",
		Label: "Growth of the backlog over offered rate. " +
			trialWords(s),
		Note: "As a share of the offered rate, with its 95% interval. Above the dashed bound the " +
			"backlog counts as growing."}
	const bound = verdict.GrowthBound
	place := func(v float64) float64 { return math.Asinh(v / bound) }
	trials := usable(s)
	least, most := bounds(trials)
	low, high := -bound, 4*bound
	var points []mark
	for _, p := range trials {
		if v := p.Verdict; v.Sloped && sane(p.OfferedRate) && sane(1+math.Abs(v.SlopeRate)) &&
			sane(1+math.Abs(v.SlopeLow)) && sane(1+math.Abs(v.SlopeHigh)) {
			m := pointOf(p)
			m.y, m.low, m.high = v.SlopeRate/p.OfferedRate, v.SlopeLow/p.OfferedRate,
				v.SlopeHigh/p.OfferedRate
			low, high = min(low, m.low), max(high, m.high)
			points = append(points, m)
		}
	}
	if len(points) == 0 {
		return f
	}
	d := &plot{width: halfWidth, height: halfHeight, bands: bracketBand(s),
		x: rateScale(least, most, "offered"), points: points,
		y: scale{least: low * 1.3, most: high * 1.3, place: place, title: "share of offered",
			words: func(v float64) string { return fmt.Sprintf("%.3g%%", v*100) }}}
	for _, v := range []float64{-1, -0.1, -0.01, 0, 0.01, 0.1, 1} {
		if v >= d.y.least && v <= d.y.most {
			d.y.marks = append(d.y.marks, v)
		}
	}
	d.lines = []ruled{
		{x: []float64{d.x.least, d.x.most}, y: []float64{bound, bound}, class: "bound"}}
	f.Drawing = d.svg()
	return f
}
