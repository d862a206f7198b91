package plimsoll_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// What the documents show must be taken by the program.
func TestDocumentedExamplesParse(t *testing.T) {
	raw, err := os.ReadFile("docs/USAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllSubmatch(raw, -1)
	if len(blocks) < 2 {
		t.Fatalf("docs/USAGE.md shows %d examples", len(blocks))
	}
	for _, b := range blocks {
		if strings.HasPrefix(string(b[1]), "system:") {
			_, err = target.Parse("docs/USAGE.md", b[1])
		} else {
			_, err = workload.Parse("docs/USAGE.md", b[1])
		}
		if err != nil {
			t.Error(err)
		}
	}
}
