package plimsoll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/golden"
)

// docs/FIGURES.md lists the catalogue of figures, from which it is made.
func TestFiguresAreListed(t *testing.T) {
	const path = "docs/FIGURES.md"
	var b strings.Builder
	b.WriteString("# Which figures are there?\n\nGates (`--fail-if`), `--primary`, histories and " +
		"studies take these names. The units are those of\nCSV and JSON. This page is made " +
		"from the code.\n\n| name | what it is | unit | better |\n|---|---|---|---|\n")
	for _, f := range figure.All() {
		if f.IsLatency() && f.Percentile > 0 && f.Percentile != 99 {
			continue
		}
		name, title := "`"+f.Name+"`", f.Title
		if f.Percentile > 0 {
			name = "`" + strings.Replace(f.Name, "p99", "pNN", 1) + "`"
			title = strings.Replace(title, "p99", "percentiles (p50 to p99.999)", 1)
		}
		better := "less"
		if f.More {
			better = "more"
		}
		fmt.Fprintf(&b, "| %s | %s: %s | %s | %s |\n", name, title, f.Means, f.Unit, better)
	}
	golden.Compare(t, path, b.String())
}
