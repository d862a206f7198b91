package runs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems/kafka"
	"github.com/plimsoll-bench/plimsoll/systems/pulsar"
)

// fromOMB are two runs that another tool measured: one with all of its series
// over time, and one with a part of them. They were published in 2020, and are
// cut down.
func fromOMB(t *testing.T) []*result.Saved {
	t.Helper()
	known := omb.Known{MessageBytes: 1024, Dialects: omb.Of([]system.System{kafka.New(),
		pulsar.New()})}
	var runs []*result.Saved
	for _, name := range []string{"kafka-latency-default-sync-200k",
		"pulsar-latency-default-sync-200k"} {
		path := filepath.Join("..", "..", "omb", "testdata", "results", name+".json")
		r, err := omb.ReadResult(path)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := omb.Save(t.TempDir(), path, r, known, result.Build{Version: "0.1.0"},
			[]string{"plimsoll", "import"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := result.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		verdict.JudgeSaved(s)
		runs = append(runs, s)
	}
	return runs
}

// A figure that the other tool did not record must not read as zero, and no verdict as kept.
func TestImportedShowsNoZeros(t *testing.T) {
	runs := fromOMB(t)
	mixed := []*result.Saved{runs[0], runs[1], fixture.Small.Load(t)}
	for _, format := range []string{"table", "md"} {
		for _, some := range [][]*result.Saved{runs, runs[:1]} {
			out := string(render(t, format, some...))
			// Files that have a backlog say whether consumers kept up.
			out = strings.NewReplacer("receiving, holds", "",
				"holds       receiving", "").Replace(out)
			fixture.SaysNot(t, fmt.Sprintf("%s of %d runs", format, len(some)), out, " 0/s", " 0B",
				"0 cores", "lost 0", "holds", "ended before its messages were", "level 0",
				" 0 scheduled", "| 0 |")
		}
	}
	// A comparison with a run of plimsoll's own shows the figures of both.
	says(t, "table md", mixed, "publish", "not comparable")
	says(t, "html", mixed, verdict.ByAnother, "Send latency, uncorrected")
}
