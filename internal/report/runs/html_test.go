package runs

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestHostileTextStaysText(t *testing.T) {
	s := fixture.Hostile(t)
	for _, runs := range [][]*result.Saved{{s}, {s, fixture.Small.Load(t)}} {
		page := string(render(t, "html", runs...))
		fixture.SaysNot(t, "the page", page, "<script>alert", "<img", "onerror=alert(1)>")
		if n := strings.Count(page, "</script>"); n != 1 {
			t.Errorf("the page ends %d scripts, it has 1", n)
		}
	}
	for _, format := range []string{"table", "md", "csv", "intervals", "resources", "benchfmt"} {
		out := string(render(t, format, s, fixture.Small.Load(t)))
		if strings.ContainsAny(out, "\x1b\r\u2028") {
			t.Errorf("%s lets control characters through", format)
		}
	}
	fixture.SaysNot(t, "Markdown", render(t, "md", s), "<img", "[x](")
	for _, row := range strings.Split(string(render(t, "csv", s)), "\n") {
		if strings.HasPrefix(row, "=") {
			t.Error("csv lets a formula through")
		}
	}
}

func TestNothingIsNotANumber(t *testing.T) {
	s := fixture.Small.Load(t)
	sum := &s.Run.Summary
	sum.OfferedRate, sum.AchievedRate, sum.ReceivedRate = math.NaN(), math.Inf(1), math.Inf(-1)
	sum.BytesPerS, sum.Generator.CPUShare, sum.InFlight = math.NaN(), math.NaN(), math.Inf(1)
	s.Run.Load.TargetRate = math.NaN()
	whole := fixture.KafkaThree
	whole.Spends.EndsAt = 0
	odd := whole.Load(t)
	spoil(odd)
	for _, runs := range [][]*result.Saved{{s}, {odd}, {odd, s}, {fixture.Crashed(t)}, {s,
		fixture.Crashed(t)},
		{{}}, nil} {
		for _, format := range fixture.Texts(export.Formats()) {
			if format == "json" && len(runs) > 0 && (runs[0] == s || runs[0] == odd) {
				continue // JSON has no such numbers, so no saved run has them
			}
			if format == "omb" && len(runs) != 1 {
				continue // it holds one run
			}
			out := render(t, format, runs...)
			if format == "html" {
				out = fixture.WithoutParts(out)
			}
			fixture.SaysNot(t, fmt.Sprintf("%s of %d runs", format, len(runs)), out, "NaN", "Inf",
				"null,null,null,null,null,null", "<nil>")
		}
	}
}

func TestHTMLIsBounded(t *testing.T) {
	for _, c := range []struct{ intervals, most int }{{20, 300_000}, {1500, 600_000}} {
		size := len(render(t, "html", fixture.Long(c.intervals)))
		if size > c.most {
			t.Errorf("the page of %d intervals has %d bytes, more than %d", c.intervals, size,
				c.most)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	for given, want := range map[string]string{
		"htlm":  `did you mean "html"?`,
		"bench": `did you mean "benchfmt"?`,
		"pdf":   "formats are table, html, md, csv, intervals, resources, json, benchfmt",
	} {
		err := Report(nil).Write(&bytes.Buffer{}, given, document.Layout{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", given, err, want)
		}
	}
}

func TestTerminalFitsItsWidth(t *testing.T) {
	runs := []*result.Saved{fixture.Small.Load(t), fixture.Crashed(t), fixture.Hostile(t)}
	for _, width := range []int{60, 80, 120} {
		var b bytes.Buffer
		if err := document.Terminal(&b, runDocument(runs),
			document.Layout{Width: width}); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if document.Columns(l) > width {
				t.Errorf("a line of %d columns on a terminal of %d: %q", document.Columns(l),
					width, l)
			}
		}
	}
}

func TestLimitedByPlimsollIsSaidEverywhere(t *testing.T) {
	s := fixture.Small.Load(t)
	s.Run.Summary.Generator.Limited = true
	says(t, "table html md benchfmt", []*result.Saved{s}, "limited by plimsoll itself")
}
