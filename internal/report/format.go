package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// none stands for a missing figure, or one that the samples do not support.
const none = document.None

// The words of a terminal, which the live view lays out by itself.
var clean, wrap, columns, pad, cut = document.Clean, document.Wrap, document.Columns,
	document.Pad, document.Cut

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// rate prints a number per second.
func rate(v float64) string { return figure.PerSecond.Print(v) }

// bytesPerSecond prints a rate of bytes.
func bytesPerSecond(v float64) string { return figure.BytesPerSecond.Print(v) }

// nanoseconds prints a length of time.
func nanoseconds(ns float64) string { return figure.Nanoseconds.Print(ns) }

// rounded prints three significant digits and no unit.
func rounded(v float64) string { return figure.Number.Print(v) }

// share prints part of whole in per cent: with a digit after the point, and
// never as 100% or 0% when it is not.
func share(part, whole float64) string {
	if !finite(part) || !finite(whole) || whole <= 0 {
		return none
	}
	percent := part / whole * 100
	switch {
	case part != whole && percent >= 99.95 && percent < 100.05:
		return "~100%"
	case percent > 0 && percent < 0.05:
		return "<0.1%"
	}
	return strconv.FormatFloat(math.Round(percent*10)/10, 'f', -1, 64) + "%"
}

// achievedShare prints the share of the offered rate that was acknowledged. One that misses the
// bound of the verdict never reads like the bound.
func achievedShare(s result.Summary) string {
	out := share(s.AchievedRate, s.OfferedRate)
	v := s.AchievedRate / s.OfferedRate
	if v < verdict.AchievedBound && out == share(verdict.AchievedBound, 1) {
		return quantity.PercentBeside(v, verdict.AchievedBound)
	}
	return out
}

// percentileName prints 99.9 as p99.9.
func percentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// seconds prints a planned length.
func seconds(s float64) string {
	if !finite(s) || s < 0 || s > 1e9 {
		return none
	}
	return quantity.Duration(int64(s * 1e9))
}

// moment prints the time of a run, to the minute and in UTC, so that two reports of one run
// are equal.
func moment(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// plural prints a count with its noun.
func plural[N int | int64](n N, one, many string) string { return quantity.Plural(n, one, many) }

// exact prints a figure for machines, with all digits and without an exponent.
func exact(v float64) string {
	if !finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// level prints a durability level.
func level(n int) string { return fmt.Sprintf("level %d", n) }

// levelRead is the level that was read back, and whether there is a single copy.
func levelRead(d result.Durability) string { return level(d.Level) + singleCopy(d) }

func singleCopy(d result.Durability) string {
	if d.Single() {
		return ", " + result.SingleCopy
	}
	return ""
}
