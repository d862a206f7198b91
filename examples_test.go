package plimsoll_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/fleet"
	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The program accepts the examples of the documents.
func TestDocumentedExamplesParse(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range yamlBlock.FindAllSubmatch(raw, -1) {
			examples++
			switch text := string(b[1]); {
			case strings.HasPrefix(text, "on:"): // a workflow of a CI
			case strings.HasPrefix(text, "currency:"):
				_, err = price.Parse(page, b[1])
			case strings.HasPrefix(text, "listen:"):
				_, err = fleet.ParseLab(page, b[1])
			case strings.HasPrefix(text, "system:"):
				_, err = target.Parse(page, b[1])
			case strings.Contains(text, "\nquestion:"):
				_, err = study.Parse(page, b[1])
			default:
				_, err = workload.Parse(page, b[1])
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	if examples < 20 {
		t.Errorf("the pages show %d examples: is their form another one?", examples)
	}
}
