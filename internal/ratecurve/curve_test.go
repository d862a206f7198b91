package ratecurve

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestTimesAreWrittenInSixWays(t *testing.T) {
	for _, rows := range []string{
		"0,100\n60,200\n60,400\n180,400\n",
		"time,msgs\n1700000000.0,100\n1700000060,200\n1700000060,400\n1700000180,400\n",
		"08:00,100\n08:01,200\n08:01,400\n08:03,400\n",
		"08:00:00, 100/s\n08:01:00, 200/s\n08:01:00, 0.4k/s\n08:03:00, 400\n",
		"2026-01-02T08:00:00Z,100\n2026-01-02T09:01:00+01:00,200\n" +
			"2026-01-02T08:01:00Z,400\n2026-01-02T08:03:00Z,400\n",
		"2026-01-02 08:00:00,100\n2026-01-02 08:01:00,200\n2026-01-02 08:01:00,400\n" +
			"2026-01-02 08:03:00,400\n",
		"# a comment\n0s,100\n1m,200\n1m,400\n3m,400\n",
	} {
		c, err := Parse("day.csv", []byte(rows))
		if err != nil {
			t.Error(err)
			continue
		}
		got := fmt.Sprint(c.Segments(10))
		if want := "[{100 200 1m0s} {400 400 2m0s}]"; got != want {
			t.Errorf("%q: %s, want %s", rows, got, want)
		}
	}
}

func TestWrongRowsAreNamed(t *testing.T) {
	for rows, want := range map[string]string{
		"":                               "has no two rows with different times",
		"0,100\n0,200\n":                 "has no two rows with different times",
		"time,rate\nwhen,what\n0,1\n":    "day.csv:2: the rate",
		"0,0\n10,0\n":                    `day.csv has no rate above 0: write how much was sent`,
		"0,100\n10,-1\n":                 `day.csv:2: the rate must be 0 or more and at most`,
		"0,100\n10,NaN\n":                "day.csv:2: the rate must be 0 or more",
		"0,100\n10,1e300\n":              "day.csv:2: the rate must be 0 or more",
		"0,100\n10,200\n\n5,300\n":       `day.csv:4: "5" is before the row above`,
		"08:00,100\n600,200\n":           `day.csv:2: the time "600" is not written as in the rows`,
		"0,100,3\n1,100,3\n":             "day.csv:2: has 3 columns",
		"x,y\nnoon,100\n":                `day.csv:2: has the time "noon"`,
		"0001-01-01T00:00:00Z,1\nx,1\n":  "day.csv:2: has the time",
		"time,rate\n0,100\n10,200\nx,1":  `day.csv:4: the time "x"`,
		"0,100\nNaN,100\n":               `day.csv:2: the time "NaN"`,
		"0,100\n10,200 apples\n20,100\n": "day.csv:2: the rate",

		// A quotation mark is told by its line, in plain words.
		"0,100\n\"10,200\n": `day.csv:2: has a quotation mark without its other one: write ` +
			`quotation marks around a whole field, and double each one inside it`,
		"time,rate\n0,\"1\n":      "day.csv:2: has a quotation mark without its other one",
		"time,rate\n0,1\"2\"\n":   "day.csv:2: has a quotation mark without its other one",
		"{\"rates\": [1, 2]}":     "day.csv is JSON, which is not read: write a time and a rate",
		"[\n{\"at\": 0}\n]\n":     "day.csv is JSON, which is not read: write a time and a rate",
		"time,rate\n0,\n10,200\n": `day.csv:2: the rate is empty: write messages per second`,

		// A first row with a time is no heading.
		"0, \n10,200\n20,100\n":        "day.csv:1: the rate is empty",
		"08:00,-1\n09:00,2\n10:00,1\n": "day.csv:1: the rate must be 0 or more",
		"\uFEFF0,-1\n10,2\n20,1\n":     "day.csv:1: the rate must be 0 or more",
	} {
		if _, err := Parse("day.csv", []byte(rows)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", rows, err, want)
		}
	}
}

// However a curve is stretched, raised and joined, it has its length, its highest rate where rows
// are not joined, and its messages.
func TestACurveKeepsItsMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Curve{{0, rapid.Float64Range(1, 1e4).Draw(t, "first")}}
		for range rapid.IntRange(1, 200).Draw(t, "rows") {
			step := time.Duration(rapid.IntRange(0, 3600).Draw(t, "step")) * time.Second
			c = append(c, Point{c[len(c)-1].At + step, rapid.Float64Range(1, 1e4).Draw(t, "rate")})
		}
		if c.Length() == 0 {
			c[len(c)-1].At = time.Second
		}
		length := time.Duration(rapid.IntRange(60, 3600).Draw(t, "length")) * time.Second
		most := rapid.IntRange(1, 250).Draw(t, "most")
		segments := c.In(length).Upto(5e4).Segments(most)
		var want, got, highest float64
		for i, p := range c[1:] {
			want += (p.Rate + c[i].Rate) / 2 * (p.At - c[i].At).Seconds()
		}
		for _, p := range c {
			highest = max(highest, p.Rate)
		}
		want *= 5e4 / highest * length.Seconds() / c.Length().Seconds()
		var lasts time.Duration
		for _, s := range segments {
			got += (s.From + s.To) / 2 * s.For.Seconds()
			lasts += s.For
		}
		if len(segments) > most || lasts != length || math.Abs(got/want-1) > 1e-5 {
			t.Fatalf("%d segments of %s with %v messages, want at most %d of %s with %v",
				len(segments), lasts, got, most, length, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("time,rate\n08:00,100\n08:01,1k/s\n")
	f.Add("0,100\n1e9,3\n")
	f.Fuzz(func(t *testing.T, rows string) {
		c, err := Parse("f", []byte(rows))
		if err != nil {
			return
		}
		var lasts time.Duration
		for _, s := range c.In(time.Minute).Segments(workload.MaxSteps) {
			if s.For <= 0 || !(s.From > 0 && s.To > 0) {
				t.Fatalf("%q gives %v", rows, s)
			}
			lasts += s.For
		}
		if lasts != time.Minute {
			t.Fatalf("%q lasts %s", rows, lasts)
		}
	})
}
