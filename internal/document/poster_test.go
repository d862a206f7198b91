package document

import (
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func posted() *Poster {
	return &Poster{Question: "How many 1KB messages per second do nats and kafka carry?",
		Circumstances: "durability level 2, windows of 10s", Systems: []string{"nats", "kafka"},
		Figures: []Figure{{Name: "Peak stable throughput", Values: []string{"80k/s", "64k/s"}},
			{Name: "Publish latency at the peak, p99", Values: []string{"4.2ms", "6.1ms"},
				Unranked: []bool{false, true}}},
		Chart: peakSample(), Limits: "The servers and plimsoll share one machine.",
		Command: "plimsoll peak -t nats -t kafka", Source: "plimsoll 1.0"}
}

func TestAPosterIsDrawnAsBefore(t *testing.T) {
	_, content, _ := strings.Cut(posted().SVG(), "</style>")
	goldenChart(t, "poster.svg", content)
	goldenChart(t, "poster.md", posted().Post())
	p := posted()
	p.Faults = []Figure{{Name: "Lost", Values: []string{"0", "20"}},
		{Name: "Unanswered", Values: []string{"3", "42"}}}
	_, content, _ = strings.Cut(p.SVG(), "</style>")
	goldenChart(t, "poster-faults.svg", content)
	goldenChart(t, "poster-faults.md", p.Post())
}

// However long its words are, a poster names every system that lost messages.
func TestAPosterNamesEveryLoss(t *testing.T) {
	long := strings.Repeat("a long word ", 90)
	p := &Poster{Question: long, Circumstances: long, Limits: long, Command: long, Source: long,
		Faults: []Figure{{Name: "Lost"}, {Name: "Corrupt"}, {Name: "Unread"},
			{Name: "Unanswered"}, {Name: "Duplicate"}}}
	for i, name := range []string{"kafka", "nats", "rabbitmq", "redis", "postgres-queue", "pulsar",
		"artemis", "mongodb"} {
		p.Systems = append(p.Systems, name+"-in-a-cluster")
		for k := range p.Faults {
			p.Faults[k].Values = append(p.Faults[k].Values, strconv.Itoa(1_234_567+i))
		}
		p.Figures = append(p.Figures, Figure{Name: long, Values: make([]string, 8),
			Unranked: make([]bool, 8)})
	}
	post := p.Post()
	if len(post) >= postLength || !strings.Contains(post, "| Lost | 1234567 |") ||
		!strings.Contains(post, "Further systems. Lost: artemis-in-a-cluster 1234573, "+
			"mongodb-in-a-cluster 1234574") {
		t.Errorf("%d bytes, without a loss:\n%s", len(post), post)
	}
	few := &Poster{Systems: []string{"kafka", "rabbitmq", "nats", "postgres-queue"}, Chart: peakSample()}
	for _, name := range []string{"Lost", "Corrupt", "Unread", "Unanswered", "Duplicate"} {
		few.Faults = append(few.Faults, Figure{Name: name,
			Values: []string{"4,711", "12", "20", "31"}})
	}
	for _, grid := range []bool{false, true} {
		few.Grid = grid
		svg := few.SVG()
		for _, f := range few.Faults {
			if !strings.Contains(svg, `class="fault`) || !strings.Contains(svg, f.Name) ||
				strings.Contains(svg, "…") {
				t.Errorf("grid %v: the picture cuts %s: %s", grid, f.Name, svg)
			}
		}
	}
}

// Long names of rows have the room that short columns leave.
func TestLongNamesTakeTheRoomOfShortColumns(t *testing.T) {
	const claim = "twenty-five senders get at least four times as much into RabbitMQ as one"
	p := &Poster{Grid: true, Systems: []string{"theirs", "ours", "as published"},
		Figures: []Figure{{Name: claim, Values: []string{"5.7x", "0.60x", "not decided"}}}}
	if svg := p.SVG(); !strings.Contains(svg, claim) || !strings.Contains(svg, "not decided") {
		t.Error(svg)
	}
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
			p.Figures = append(p.Figures, Figure{Name: word.Draw(t, "name"),
				Values: words.Draw(t, "values"), Unranked: []bool{true}})
		}
		post := p.Post()
		prose, _, _ := strings.Cut(post, "```")
		if len(post) >= postLength || strings.Contains(prose, "<script") {
			t.Fatalf("%d bytes:\n%s", len(post), post)
		}
		checkMarkup(t, p.SVG())
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
