package runs

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestHTMLGolden(t *testing.T) {
	one := fixture.Small.Load(t)
	lossy := fixture.Small
	lossy.Name, lossy.System, lossy.MedianU, lossy.StallAt, lossy.Lost = "sim-lossy", "sim", 900, 0,
		3
	fixture.Golden(t, "one.html", fixture.WithoutParts(render(t, "html", one)))
	fixture.Golden(t, "two.html", fixture.WithoutParts(render(t, "html", one, lossy.Load(t))))
	kafka, inside := fixture.KafkaThree.Load(t), fixture.NatsInside.Load(t)
	fixture.Golden(t, "cost.html", fixture.WithoutParts(render(t, "html", kafka)))
	fixture.Golden(t, "three.html", fixture.WithoutParts(render(t, "html", kafka, inside, one)))
	fixture.Golden(t, "crashed.html", fixture.WithoutParts(render(t, "html", fixture.Crashed(t))))
	fixture.Golden(t, "none.html", fixture.WithoutParts(render(t, "html")))
}

func TestHostileTextStaysText(t *testing.T) {
	s := fixture.Hostile(t)
	for _, runs := range [][]*result.Saved{{s}, {s, fixture.Small.Load(t)}} {
		page := string(render(t, "html", runs...))
		for _, bad := range []string{"<script>alert", "<img", "onerror=alert(1)>"} {
			if strings.Contains(page, bad) {
				t.Errorf("the page holds %s", bad)
			}
		}
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
	if out := string(render(t, "md", s)); strings.Contains(out, "<img") ||
		strings.Contains(out, "[x](") {
		t.Error("markdown lets markup through")
	}
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
			for _, bad := range []string{"NaN", "Inf", "null,null,null,null,null,null", "<nil>"} {
				if bytes.Contains(out, []byte(bad)) {
					t.Errorf("%s of %d runs holds %s", format, len(runs), bad)
				}
			}
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

func TestTerminalColour(t *testing.T) {
	var plain, coloured bytes.Buffer
	runs := []*result.Saved{fixture.Small.Load(t)}
	for _, c := range []struct {
		b     *bytes.Buffer
		color bool
	}{{&plain, false}, {&coloured, true}} {
		if err := document.Terminal(c.b, runDocument(runs),
			document.Layout{Width: 80, Color: c.color}); err != nil {
			t.Fatal(err)
		}
	}
	stripped := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured.String(), "")
	if fixture.Words(stripped) != fixture.Words(plain.String()) {
		t.Error("colour changes the words")
	}
	if !strings.Contains(plain.String(), "lost 0") {
		t.Error("the account does not say: lost 0")
	}
}

func TestLimitedByPlimsollIsSaidEverywhere(t *testing.T) {
	s := fixture.Small.Load(t)
	s.Run.Summary.Generator.Limited = true
	for _, format := range []string{"table", "html", "md", "benchfmt"} {
		if out := fixture.Words(string(render(t, format, s))); !strings.Contains(out,
			"limited by plimsoll itself") {
			t.Errorf("%s does not say that plimsoll was the limit", format)
		}
	}
}
