package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/runs"
	"github.com/plimsoll-bench/plimsoll/internal/report/searches"
	"github.com/plimsoll-bench/plimsoll/result"
)

// render writes a report on runs.
func render(t *testing.T, format string, all ...*result.Saved) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := runs.Report(all).Write(&b, format, document.Layout{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every form that names the durability says that there is a single copy.
func TestSingleCopyIsNamed(t *testing.T) {
	one, other := fixture.Single(t, "redis-1"), fixture.Single(t, "kafka-1")
	several := fixture.Small.Load(t)
	for _, side := range [][]*result.Saved{{one}, {one, other}, {one, several}} {
		for _, format := range fixture.Texts(export.Formats()) {
			if slices.Contains([]string{"intervals", "resources", "omb"}, format) {
				continue // figures of each second, and another tool's fields
			}
			out := fixture.Words(render(t, format, side...))
			if format == "csv" {
				head, rows, _ := strings.Cut(out, " ")
				at := slices.Index(strings.Split(head, ","), "durability_copies")
				if at < 0 || strings.Split(strings.Fields(rows)[0], ",")[at] != "1" {
					t.Errorf("csv has no column with a single copy: %s", out)
				}
				continue
			}
			if !strings.Contains(out, result.SingleCopy) {
				t.Errorf("%s of %d runs does not say that there is a single copy:\n%s", format,
					len(side), out)
			}
		}
	}
	out := fixture.Words(string(render(t, "table", one, several)))
	if !strings.Contains(out, "not comparable: some keep a single copy of each message") {
		t.Errorf("a single copy is ranked beside several:\n%s", out)
	}
	var b strings.Builder
	found := fixture.Searched("redis-1")
	found.Durability = one.Run.Durability
	if err := searches.Report([]*peak.Saved{found}).Write(&b, "table",
		document.Layout{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fixture.Words(b.String()), result.SingleCopy) {
		t.Errorf("a search does not say that there is a single copy:\n%s", &b)
	}
	if names := export.Formats(); !slices.Contains(names, "card") || !slices.Contains(names,
		"post") {
		t.Errorf("the formats are %v", names)
	}
}
