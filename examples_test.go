package plimsoll_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The program accepts the examples of the documents.
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
		switch text := string(b[1]); {
		case strings.HasPrefix(text, "currency:"):
			_, err = price.Parse("docs/USAGE.md", b[1])
		case strings.HasPrefix(text, "system:"):
			_, err = target.Parse("docs/USAGE.md", b[1])
		case strings.Contains(text, "\nquestion:"):
			_, err = study.Parse("docs/USAGE.md", b[1])
		default:
			_, err = workload.Parse("docs/USAGE.md", b[1])
		}
		if err != nil {
			t.Error(err)
		}
	}
}
