package runs

import (
	"bytes"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

func render(t *testing.T, format string, runs ...*result.Saved) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Report(runs).Write(&b, format, document.Layout{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	one := fixture.Small.Load(t)
	lossy := fixture.Small
	lossy.Name, lossy.System, lossy.MedianU, lossy.StallAt, lossy.Lost = "sim-lossy", "sim", 900, 0,
		3
	two := lossy.Load(t)
	kafka, inside := fixture.KafkaThree.Load(t), fixture.NatsInside.Load(t)
	limited := fixture.KafkaThree
	limited.Name, limited.Level = "kafka-at-a-lower-level-on-a-machine-too-slow-to-offer-the-load",
		2
	unranked := limited.Load(t)
	unranked.Run.Summary.Generator.Limited, unranked.Run.Summary.Generator.OwnLagP99Ns = true, 9e9
	for _, format := range []string{"table", "md", "csv", "intervals", "resources", "json",
		"benchfmt"} {
		t.Run(format, func(t *testing.T) {
			if format != "intervals" {
				fixture.Golden(t, "cost."+format, render(t, format, kafka, inside))
			}
			if format == "table" || format == "md" {
				fixture.Golden(t, "unranked."+format, render(t, format, kafka, unranked, one))
			}
			fixture.Golden(t, "one."+format, render(t, format, one))
			if !slices.Contains([]string{"json", "intervals", "resources"}, format) {
				fixture.Golden(t, "two."+format, render(t, format, one, two))
				fixture.Golden(t, "crashed."+format, render(t, format, fixture.Crashed(t)))
			}
		})
	}
}
