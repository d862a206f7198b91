package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what was written with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with: go test ./internal/report -update)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), if that is meant: go test ./internal/report -update\n%s",
			name, diff)
	}
}

func render(t *testing.T, format string, runs ...*result.Saved) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Runs(runs).Write(&b, format, document.Layout{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// texts returns the formats but card.png, which are the pixels of card: a browser draws them, in
// seconds, and the tests of document have it draw one.
func texts(formats []string) []string {
	return slices.DeleteFunc(formats, func(name string) bool { return name == "card.png" })
}

func TestGolden(t *testing.T) {
	one := small.load(t)
	lossy := small
	lossy.name, lossy.system, lossy.medianU, lossy.stallAt, lossy.lost = "sim-lossy", "sim", 900, 0,
		3
	two := lossy.load(t)
	kafka, inside := kafkaThree.load(t), natsInside.load(t)
	limited := kafkaThree
	limited.name, limited.level = "kafka-at-a-lower-level-on-a-machine-too-slow-to-offer-the-load",
		2
	unranked := limited.load(t)
	unranked.Run.Summary.Generator.Limited, unranked.Run.Summary.Generator.OwnLagP99Ns = true, 9e9
	for _, format := range []string{"table", "md", "csv", "intervals", "resources", "json",
		"benchfmt"} {
		t.Run(format, func(t *testing.T) {
			if format != "intervals" {
				golden(t, "cost."+format, render(t, format, kafka, inside))
			}
			if format == "table" || format == "md" {
				golden(t, "unranked."+format, render(t, format, kafka, unranked, one))
			}
			golden(t, "one."+format, render(t, format, one))
			if !slices.Contains([]string{"json", "intervals", "resources"}, format) {
				golden(t, "two."+format, render(t, format, one, two))
				golden(t, "crashed."+format, render(t, format, crashed(t)))
			}
		})
	}
}
