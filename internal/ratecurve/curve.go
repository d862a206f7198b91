package ratecurve

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Point is a rate at a time. Between two points the rate changes evenly; two points at one time
// are a jump.
type Point struct {
	At   time.Duration // since the first point
	Rate float64       // messages per second
}

// Curve has at least two points, in order of time, and lasts longer than nothing.
type Curve []Point

// clocks are the formats of a time. The first row decides which one a file has.
var clocks = []func(string) (time.Duration, error){
	func(s string) (time.Duration, error) { // seconds, also those since 1970
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || math.Abs(n) > math.MaxInt64/2e9 || math.IsNaN(n) {
			return 0, errors.New("no number of seconds")
		}
		return time.Duration(math.Round(n * 1e9)), nil
	},
	func(s string) (time.Duration, error) { return sinceMidnight("15:04:05", s) },
	func(s string) (time.Duration, error) { return sinceMidnight("15:04", s) },
	func(s string) (time.Duration, error) { return instant(time.RFC3339, s) },
	func(s string) (time.Duration, error) { return instant(time.DateTime, s) },
	quantity.ParseDuration,
}

func sinceMidnight(layout, s string) (time.Duration, error) {
	t, err := time.Parse(layout, s)
	return t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)), err
}

func instant(layout, s string) (time.Duration, error) {
	t, err := time.Parse(layout, s)
	if err == nil && (t.Year() < 1970 || t.Year() > 2200) {
		err = errors.New("a year that nanoseconds do not count")
	}
	return time.Duration(t.UnixNano()), err
}

// Parse reads rows of a time and a rate. The first row is a heading if it has no time. The error is
// a sentence that names the line.
func Parse(name string, src []byte) (Curve, error) {
	rows, err := strict.Table(name, src, remedy)
	if err != nil {
		return nil, err
	}
	rows.TrimLeadingSpace = true
	var c Curve
	var clock func(string) (time.Duration, error)
	var first time.Duration
	for headings := 0; ; {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, strict.RowError(name, err)
		}
		line, _ := rows.FieldPos(0)
		at, rate, err := read(row, &clock)
		switch {
		case err != nil && clock == nil && headings == 0 && !timed(row):
			headings++
			continue
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		case c == nil:
			first = at
		case at-first < c[len(c)-1].At:
			return nil, fmt.Errorf("%s:%d: %q is before the row above: sort the rows by time", name,
				line, row[0])
		}
		c = append(c, Point{at - first, rate})
	}
	if len(c) > 1 && !slices.ContainsFunc(c, func(p Point) bool { return p.Rate > 0 }) {
		return nil, fmt.Errorf("%s has no rate above 0: write how much was sent", name)
	}
	if len(c) < 2 || c[len(c)-1].At == 0 {
		return nil, fmt.Errorf("%s has no two rows with different times: "+remedy, name)
	}
	return c, nil
}

const remedy = "write a time and a rate in each row, such as 08:00,1200"

// read reads a row, and finds the clock of the first one.
func read(row []string, clock *func(string) (time.Duration, error)) (
	at time.Duration, rate float64, err error,
) {
	if len(row) != 2 {
		return 0, 0, fmt.Errorf("has %d columns: write a time and a rate", len(row))
	}
	text := strings.TrimSpace(row[1])
	if text == "" {
		return 0, 0, errors.New("the rate is empty: write messages per second, such as 1200")
	}
	if rate, err = strconv.ParseFloat(text, 64); err != nil {
		rate, err = quantity.ParseRate(text)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("the rate %w", err)
	}
	// Written so that NaN is refused too.
	if !(rate >= 0 && rate <= workload.MaxRate) {
		return 0, 0, fmt.Errorf("the rate must be 0 or more and at most %s, not %q",
			quantity.Rate(workload.MaxRate), text)
	}
	text = strings.TrimSpace(row[0])
	if *clock != nil {
		if at, err = (*clock)(text); err != nil {
			err = fmt.Errorf("the time %q is not written as in the rows above", text)
		}
		return at, rate, err
	}
	for _, c := range clocks {
		if at, err = c(text); err == nil {
			*clock = c
			return at, rate, nil
		}
	}
	return 0, 0, fmt.Errorf("has the time %q: write seconds, 15:04, 15:04:05, 1h30m or "+
		"2006-01-02T15:04:05Z", text)
}

// Length is the time between the first point and the last.
func (c Curve) Length() time.Duration { return c[len(c)-1].At }

// timed reports whether a row of two columns has a time, which a heading has not.
func timed(row []string) bool {
	return len(row) == 2 && slices.ContainsFunc(clocks,
		func(read func(string) (time.Duration, error)) bool {
			_, err := read(strings.TrimSpace(row[0]))
			return err == nil
		})
}

// In returns the curve in fast or in slow motion: its rates in another time.
func (c Curve) In(length time.Duration) Curve {
	out, ratio := make(Curve, len(c)), float64(length)/float64(c.Length())
	for i, p := range c {
		out[i] = Point{time.Duration(math.Round(float64(p.At) * ratio)), p.Rate}
	}
	return out
}

// Upto returns the curve with every rate multiplied so that the largest one is peak, in messages
// per second.
func (c Curve) Upto(peak float64) Curve {
	var most float64
	for _, p := range c {
		most = max(most, p.Rate)
	}
	out := make(Curve, len(c))
	for i, p := range c {
		out[i] = Point{p.At, rounded(p.Rate / most * peak)}
	}
	return out
}

// rounded returns a rate with six digits, which people can read in a file.
func rounded(rate float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 6, 64), 64)
	return short
}

// Segments returns the load of the curve in at most the given number of segments. Rows that are
// joined for this become a segment of their mean rate.
func (c Curve) Segments(most int) []workload.Segment {
	var parts []workload.Segment
	for i, p := range c[1:] {
		if length := p.At - c[i].At; length > 0 {
			parts = append(parts, workload.Segment{From: c[i].Rate, To: p.Rate, For: length})
		}
	}
	each := (len(parts) + most - 1) / most
	if each <= 1 {
		return parts
	}
	var joined []workload.Segment
	for ; len(parts) > 0; parts = parts[min(each, len(parts)):] {
		var messages float64
		var length time.Duration
		for _, s := range parts[:min(each, len(parts))] {
			messages += (s.From + s.To) / 2 * s.For.Seconds()
			length += s.For
		}
		mean := rounded(messages / length.Seconds())
		joined = append(joined, workload.Segment{From: mean, To: mean, For: length})
	}
	return joined
}
