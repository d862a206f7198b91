package plimsoll_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// README counts the answers of the published studies as their pages do, and what docs/STUDY.md
// quotes of a page stands there.
func TestWhatIsQuotedOfResultsStandsThere(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer(`\~`, "~", "**", "", "> ", "").Replace(string(text))
		return strings.Join(strings.Fields(plain), " ")
	}
	readme := read("README.md")
	counts := regexp.MustCompile(`Of (\d+) ratios, which ask \d+ claims, as published: ` +
		`agrees (\d+), differs (\d+), not decided (\d+)(?:, not measured (\d+))?\.`)
	for _, study := range []string{"confluent-2020", "streamnative-2020", "softwaremill-2017",
		"ufcg-2020"} {
		page := "docs/results/" + study + ".md"
		c := counts.FindStringSubmatch(read(page))
		if c == nil {
			t.Errorf("%s has no counts", page)
			continue
		}
		var parts []string
		for i, verb := range []string{"agree", "differ", "not decided", "not measured"} {
			switch n := c[i+2]; {
			case n == "" || n == "0":
			case i == 1 && n == "1":
				parts = append(parts, "1 differs")
			default:
				parts = append(parts, n+" "+verb)
			}
		}
		if want := fmt.Sprintf("[of %s ratios: %s](%s)", c[1], strings.Join(parts, ", "),
			page); !strings.Contains(readme, want) {
			t.Errorf("README.md lacks %s", want)
		}
	}
	quote := regexp.MustCompile(`mirroring costs RabbitMQ .*?107MB/s\)`).
		FindString(read("docs/STUDY.md"))
	if quote == "" || !strings.Contains(read("docs/results/confluent-2020.md"), quote) {
		t.Errorf("docs/results/confluent-2020.md lacks what docs/STUDY.md quotes: %q", quote)
	}
}
