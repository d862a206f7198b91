package verdict

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// mostTold bounds the figures of one course in a sentence.
const mostTold = 4

// drift judges the trends of a window.
func drift(t *result.Trends, windowNs int64) result.Verdict {
	if t.Why != "" {
		return say(Trends, result.Unknown, "the window is not judged for trends, because %s", t.Why)
	}
	var grow, unsure, rest []string
	for _, f := range t.Figures {
		switch {
		case f.Own:
		case f.Course == result.Grows:
			grow = append(grow, growSentence(f)+pace(f))
		case f.Course == result.Falls && f.Unit == result.UnitMsgsPerSec:
			grow = append(grow, fmt.Sprintf("%s fell by %s", f.Name, perHour(f, -1)))
		case f.Course == result.Slows:
			unsure = append(unsure, fmt.Sprintf("%s grew by %s, ever more slowly: measure for "+
				"longer to see whether it stops", f.Name, perHour(f, 1)))
		case f.Course == result.MayGrow:
			unsure = append(unsure, fmt.Sprintf("%s may have grown by %s: measure for "+
				"longer to decide", f.Name, perHour(f, 1)))
		}
	}
	for _, c := range []struct {
		course result.Course
		words  func(result.Trend) string
		prefix string
	}{
		{result.WithMessages, keptWords, "grows with the messages sent: "},
		{result.LevelledOff, nameOf, "levelled off: "}, {result.Saws, nameOf, "rises and falls: "},
		{result.WithTime, nameOf, "grows with the time that passes: "},
		{result.Falls, nameOf, "fell: "},
	} {
		rest = append(rest, listed(t.Figures, c.course, c.prefix, c.words)...)
	}
	over := fmt.Sprintf("over %s in %d blocks of %s", quantity.Duration(windowNs), t.Blocks,
		quantity.Duration(t.BlockNs))
	if t.LeftOutNs > 0 {
		over += fmt.Sprintf(", without the %s in which the machine slept or plimsoll stood still",
			quantity.Duration(t.LeftOutNs))
	}
	switch {
	case len(grow) > 0:
		return say(Trends, result.Broken, "%s", told(over, grow, unsure, rest))
	case len(unsure) > 0:
		return say(Trends, result.Unknown, "%s", told(over, unsure, rest))
	}
	return say(Trends, result.Holds, "%s", told(fmt.Sprintf(
		"none of %d figures measurably drifted %s", len(t.Figures), over), rest))
}

// told joins sentences, at most mostTold of each group.
func told(first string, groups ...[]string) string {
	parts := []string{first}
	for _, g := range groups {
		parts = append(parts, g[:min(len(g), mostTold)]...)
		if more := len(g) - mostTold; more > 0 {
			parts = append(parts, fmt.Sprintf("%d more like it", more))
		}
	}
	return strings.Join(parts, "; ")
}

// listed returns the figures with a course as one sentence; empty: none.
func listed(all []result.Trend, c result.Course, prefix string,
	words func(result.Trend) string) []string {
	var names []string
	for _, f := range all {
		if f.Course == c && (c != result.Falls || f.Unit != result.UnitMsgsPerSec) && !f.Own {
			names = append(names, words(f))
		}
	}
	if len(names) == 0 {
		return nil
	}
	more := ""
	if n := len(names) - mostTold; n > 0 {
		names, more = names[:mostTold], fmt.Sprintf(" and %d more", n)
	}
	return []string{prefix + strings.Join(names, ", ") + more}
}

func nameOf(f result.Trend) string { return f.Name }

// keptWords says by how much a figure grows per message sent.
func keptWords(f result.Trend) string {
	switch {
	case f.Unit == result.UnitBytes:
		return fmt.Sprintf("%s by %s bytes a byte (%s a day)", f.Name, digits(f.PerSent),
			Amount(f.Unit, 24*f.PerHour)) + full(f)
	case f.PerSent >= withMessages:
		return fmt.Sprintf("%s by %s a message", f.Name, digits(f.PerSent))
	}
	return f.Name
}

func growSentence(f result.Trend) string {
	when := "throughout the window"
	if f.SecondHalf {
		when = "throughout the second half of the window"
	}
	return fmt.Sprintf("%s grew by %s %s", f.Name, perHour(f, 1), when)
}

// perHour prints the slope of a figure and its interval, with a sign.
func perHour(f result.Trend, sign float64) string {
	low, high := f.PerHourLow, f.PerHourHigh
	if sign < 0 {
		low, high = high, low
	}
	return fmt.Sprintf("%s/h (%s to %s)", Amount(f.Unit, sign*f.PerHour),
		Amount(f.Unit, sign*low), Amount(f.Unit, sign*high))
}

// pace says what growth at the same pace leads to.
func pace(f result.Trend) string {
	switch {
	case f.FullNs > 0:
		return full(f)
	case f.Unit == result.UnitBytes || f.Unit == "":
		return fmt.Sprintf(": %s a day, from a level of %s", Amount(f.Unit, 24*f.PerHour),
			Amount(f.Unit, f.Level))
	}
	return fmt.Sprintf(", from a median of %s", Amount(f.Unit, f.Level))
}

// full says when growth fills the machine's memory, if that is known.
func full(f result.Trend) string {
	if f.FullNs == 0 {
		return ""
	}
	return ": at that pace the memory of this machine is full in " + days(f.FullNs)
}

func days(ns int64) string {
	switch h := float64(ns) / float64(time.Hour); {
	case h < 1:
		return quantity.Duration(ns)
	case h < 48:
		return fmt.Sprintf("%.0f hours", h)
	case h < 24*730:
		return fmt.Sprintf("%.0f days", h/24)
	default:
		return fmt.Sprintf("%.0f years", h/24/365)
	}
}

// Amount prints a value of a trend's unit.
func Amount(unit string, v float64) string {
	switch {
	case math.IsNaN(v) || math.Abs(v) > math.MaxInt64/2:
		return "no bound"
	case unit == result.UnitBytes:
		return quantity.Bytes(int64(v))
	case unit == result.UnitNs:
		return quantity.Duration(int64(v))
	case unit == result.UnitMsgsPerSec:
		return quantity.Rate(v)
	case unit == "":
		return digits(v)
	}
	return digits(v) + " " + unit
}

// digits prints a number with three significant digits.
func digits(v float64) string {
	if math.Abs(v) >= 1000 {
		return quantity.Count(int64(math.Round(v)))
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		short = v
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// standstills warns of times at which the machine slept, and of growth of plimsoll's own memory.
func standstills(all *list, r *result.Run) {
	if n := len(r.Sleeps); n > 0 {
		sum := int64(0)
		for _, s := range r.Sleeps {
			sum += s.Ns
		}
		all.warn("sleep",
			"the machine slept %s, for %s in all: no latency includes this time, but the effects "+
				"of it, such as reopened connections, are in the figures",
			times(n), quantity.Duration(sum))
	}
	if r.Trends == nil {
		return
	}
	for _, f := range r.Trends.Figures {
		if f.Own && f.Course == result.Grows {
			all.warn("own_memory", "%s%s", growSentence(f), pace(f))
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return quantity.Count(int64(n)) + " times"
}
