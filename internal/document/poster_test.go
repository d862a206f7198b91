package document

import (
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func posted() *Poster {
	return &Poster{Question: "How many 1KB messages per second do nats and kafka carry?",
		Circumstances: "durability level 2, windows of 10s", Systems: []string{"nats", "kafka"},
		Figures: []Figure{{"Peak stable throughput", []string{"80k/s", "64k/s"}},
			{"Publish latency at the peak, p99", []string{"4.2ms", "6.1ms"}}},
		Chart: peakSample(), Limits: "The servers and plimsoll share one machine.",
		Command: "plimsoll peak -t nats -t kafka", Source: "plimsoll 1.0"}
}

func TestAPosterIsDrawnAsBefore(t *testing.T) {
	_, content, _ := strings.Cut(posted().SVG(), "</style>")
	goldenChart(t, "poster.svg", content)
	goldenChart(t, "poster.md", posted().Post())
	p := posted()
	p.Faults = []Figure{{"Lost", []string{"0", "20"}}, {"Unanswered", []string{"3", "42"}}}
	_, content, _ = strings.Cut(p.SVG(), "</style>")
	goldenChart(t, "poster-faults.svg", content)
	goldenChart(t, "poster-faults.md", p.Post())
}

// Whatever a poster holds, its picture is well-formed and its text short.
func TestAnyPosterIsSafeAndShort(t *testing.T) {
	word := rapid.OneOf(rapid.String(), rapid.Just(hostile),
		rapid.Just(strings.Repeat("`|*_[x](y)", 80)), rapid.Just(strings.Repeat("word ", 300)))
	words := rapid.SliceOfN(word, 0, 9)
	rapid.Check(t, func(t *rapid.T) {
		p := &Poster{Question: word.Draw(t, "question"), Circumstances: word.Draw(t, "about"),
			Systems: words.Draw(t, "systems"), Limits: word.Draw(t, "limits"),
			Command: word.Draw(t, "command"), Source: word.Draw(t, "source")}
		if rapid.Bool().Draw(t, "chart") {
			p.Chart = anyChart(t)
		}
		for range rapid.IntRange(0, 5).Draw(t, "figures") {
			p.Figures = append(p.Figures, Figure{word.Draw(t, "name"), words.Draw(t, "values")})
		}
		post := p.Post()
		prose, _, _ := strings.Cut(post, "```")
		if len(post) >= postLength || strings.Contains(prose, "<script") {
			t.Fatalf("%d bytes:\n%s", len(post), post)
		}
		d := xml.NewDecoder(strings.NewReader(p.SVG()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v:\n%s", err, p.SVG())
			}
			if e, ok := token.(xml.StartElement); ok {
				checkElement(t, e, p.SVG())
			}
		}
	})
}

func TestAPNGNeedsABrowser(t *testing.T) {
	found := slices.ContainsFunc(browsers, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
	t.Run("none", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := posted().PNG(t.Context()); !errors.Is(err, ErrNoBrowser) {
			t.Errorf("without a browser: %v", err)
		}
	})
	if !found {
		t.Skip("no browser is on the PATH, so no PNG can be drawn")
	}
	png, err := posted().PNG(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const head = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\xb0\x00\x00\x02\x76"
	if !strings.HasPrefix(string(png), head) {
		t.Errorf("no PNG of 1,200 by 630: %q", png[:min(len(png), 30)])
	}
}
