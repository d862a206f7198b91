package phrase

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Counts print numbers of messages.
func Counts(numbers ...int64) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = quantity.Count(n)
	}
	return out
}

// Upper capitalizes the first letter of a phrase.
func Upper(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}

// BoundedTime prints a length of time that may be a lower bound.
func BoundedTime(ns int64, bound result.Bound) string {
	if bound == result.AtLeast {
		return "≥ " + quantity.Duration(ns)
	}
	return quantity.Duration(ns)
}

// YesNo is a truth in a word.
func YesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// Finite reports whether a value is a number that can be shown.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Rate prints a number per second.
func Rate(v float64) string { return figure.PerSecond.Print(v) }

// BytesPerSecond prints a rate of bytes.
func BytesPerSecond(v float64) string { return figure.BytesPerSecond.Print(v) }

// Nanoseconds prints a length of time.
func Nanoseconds(ns float64) string { return figure.Nanoseconds.Print(ns) }

// Rounded prints three significant digits and no unit.
func Rounded(v float64) string { return figure.Number.Print(v) }

// Share prints part of whole in per cent: with a digit after the point, and
// never as 100% or 0% when it is not.
func Share(part, whole float64) string {
	if !Finite(part) || !Finite(whole) || whole <= 0 {
		return document.None
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

// AchievedShare prints the share of the offered rate that was acknowledged. One that misses the
// bound of the verdict never reads like the bound.
func AchievedShare(s result.Summary) string {
	out := Share(s.AchievedRate, s.OfferedRate)
	v := s.AchievedRate / s.OfferedRate
	if v < verdict.AchievedBound && out == Share(verdict.AchievedBound, 1) {
		return quantity.PercentBeside(v, verdict.AchievedBound)
	}
	return out
}

// Seconds prints a planned length.
func Seconds(s float64) string {
	if !Finite(s) || s < 0 || s > 1e9 {
		return document.None
	}
	return quantity.Duration(int64(s * 1e9))
}

// Moment prints the time of a run, to the minute and in UTC, so that two reports of one run
// are equal.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// Plural prints a count with its noun.
func Plural[N int | int64](n N, one, many string) string { return quantity.Plural(n, one, many) }

// Level prints a durability level.
func Level(n int) string { return fmt.Sprintf("level %d", n) }

// LevelRead is the level that was read back, and whether there is a single copy.
func LevelRead(d result.Durability) string { return Level(d.Level) + SingleCopy(d) }

// SingleCopy follows a level whose messages are kept once; empty for others.
func SingleCopy(d result.Durability) string {
	if d.Single() {
		return ", " + result.SingleCopy
	}
	return ""
}

// WholeSeconds prints a waiting time in whole seconds.
func WholeSeconds(ns int64) string {
	return quantity.Duration((max(ns, 0) + 5e8) / 1e9 * 1e9)
}

// Micro writes microseconds with the sign µ.
func Micro(printed string) string { return strings.ReplaceAll(printed, "us", "µs") }

// longestSizes is the length of the longest distribution that a sentence quotes.
const longestSizes = 60

// Size is the size of a load's messages: 1KB, or 13.6KB on average (80% 1KB + 20% 64KB).
func Size(l result.Load) string {
	size := quantity.Bytes(l.MessageBytes)
	switch sizes := document.Clean(l.MessageSizes); {
	case sizes == "":
		return size
	case len(sizes) > longestSizes:
		return size + " on average (a histogram)"
	default:
		return size + " on average (" + sizes + ")"
	}
}

// Messages are a load's messages with their size.
func Messages(l result.Load) string {
	if l.MessageSizes == "" {
		return Size(l) + " messages"
	}
	return "messages of " + Size(l)
}

// SeriesTitle is what a table calls a latency series.
func SeriesTitle(series result.Series) string {
	for _, w := range SeriesWords {
		if w.Series == series {
			return w.Title
		}
	}
	return string(series)
}

// SeriesWords says what each latency series is, in the order of tables.
var SeriesWords = []struct {
	Series result.Series
	Title  string
}{
	{result.SendCall, "send call"},
	{result.Publish, "publish"},
	{result.Request, "request to the servers"},
	{result.EndToEnd, "end-to-end"},
	{result.Copies, "copies"},
	{result.CatchUp, "catch-up"},
	{result.Redelivered, "redelivery"},
	{result.Send, "send (uncorrected)"},
	{result.Lag, "schedule lag"},
	{result.Hiccup, "hiccup"},
}
