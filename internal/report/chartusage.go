package report

import (
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// usageCharts are the small charts of what a run's processes and its machine used, and the
// names of the figures without a chart: they stayed at zero, or the kernel did not report them.
func usageCharts(s *result.Saved) (out []*document.Chart, flat, unknown []string) {
	u := newUsage(s)
	if u == nil {
		return nil, nil, nil
	}
	spans := slices.DeleteFunc(runSpans(s), func(s document.Span) bool {
		return s.Tone == document.Unsure // too many for a small chart
	})
	for i, c := range u.Charts {
		d := u.drawing(c)
		d.ID, d.X, d.Spans = "usage-"+integer(int64(i)), timeAxis(s), append(d.Spans, spans...)
		out = append(out, d)
	}
	return out, u.Flat, u.Unknown
}

// units are those of the formats of figures.
var units = map[string]document.Unit{inCores: document.Cores, inBytes: document.Bytes,
	inBytesPerS: document.BytesRate, inPerS: document.PerSecond, asShare: document.Share}

func (u *usage) drawing(c usageChart) *document.Chart {
	view := c.view(0, 0)
	d := &document.Chart{Small: true, Title: c.Title, Note: view.Note, Label: view.Label,
		Y: document.Axis{Unit: units[c.Format]}}
	if c.Top > 0 {
		d.Y.To = &c.Top
	}
	most := 0.0
	for _, l := range c.Lines {
		s := document.Series{Name: l.Label, Color: l.Color, X: document.Values(u.Seconds),
			Y: document.Values(u.Lines[l.Of])}
		if l.Dash {
			s.Dash = 1
		}
		if l.Color >= document.Colors {
			s.Color, s.Dash = l.Color%document.Colors, l.Color/document.Colors%document.Dashes
		}
		for _, v := range s.Y {
			if finite(v) {
				most = max(most, v)
			}
		}
		d.Series = append(d.Series, s)
	}
	// The limit is worth its line once the values come near enough for both to be seen.
	const near = 0.3
	if c.Limit > 0 && most > near*c.Limit {
		d.Spans = []document.Span{{Level: true, From: c.Limit, Words: "limit"}}
	}
	d.Title = strings.TrimSpace(d.Title)
	return d
}
