package document

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
)

// every has a block of each kind, filled with a text.
func every(text string) Document {
	chart := &Chart{ID: "c", Title: text, Note: text, Label: text,
		X: Axis{Title: text, Unit: Seconds}, Y: Axis{Title: text, Unit: Nanos, Scale: Log},
		Series: []Series{{Name: text, X: Values{1, 2, 3}, Y: Values{1e3, math.NaN(), 3e6},
			Marks: []Mark{{At: 0, Words: text, Tip: text, Cross: true}}}},
		Spans: []Span{{From: 1, To: 2, Words: text}}}
	cells := []Cell{{Words: text, Tone: Bad, Bar: 40}, {Words: text + "\n12us", Link: text}}
	return Document{Title: text, Origin: text, Blocks: []Block{
		{Section: []Block{
			{Heading: &Heading{Level: 1, ID: text, Words: text, Beside: text}},
			{Text: &Text{Style: Lead, Begin: text, Words: text}},
			{Warnings: &Warnings{Title: text, Sentences: []string{text, "second"}}},
			{Cards: []Card{{Label: text, Number: "12", Unit: text,
				Details: []Fact{{Name: text, Value: text}}}}},
			{Verdicts: []Verdict{{Bad, "broken", text, text}, {Good, "holds", "it", text}}},
			{Facts: []Fact{{Name: text, Value: text}, {Name: text, Value: "again"},
				{Value: text, Tone: Good}}},
			{Contents: []Contents{{text, text}}},
			{Heading: &Heading{Level: 2, Words: "tables"}},
			{Table: &Table{ID: text, Title: text, Note: text, Corner: text, Runs: true,
				Head: []Column{{Name: text, Mark: text}, {Name: "b", Words: true}},
				Rows: []Row{{Section: text, Name: text, Values: cells}, {Name: "short"}}}},
			{Row: []Block{{Table: &Table{ID: "e", Title: "empty", Empty: text}},
				{Code: &Code{Title: text, Words: text + "\n\tindented\n```"}}}},
			{Row: []Block{{Chart: chart}}},
			{Details: &Details{Summary: text, Blocks: []Block{{Text: &Text{Words: text}}}}},
			{Heading: &Heading{Level: 2, Words: "bare"}},
		}},
		{For: OnTerminal, Text: &Text{Words: "for a terminal"}},
		{For: OnPage, Text: &Text{Words: "for a page"}},
		{For: InMarkdown, Text: &Text{Words: "for Markdown"}},
	}}
}

// rendered is a document in all forms.
func rendered(t testing.TB, d Document) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"html":     func(b *bytes.Buffer) error { return HTML(b, d) },
		"md":       func(b *bytes.Buffer) error { return Markdown(b, d) },
		"json":     func(b *bytes.Buffer) error { return JSON(b, d) },
		"text":     func(b *bytes.Buffer) error { return Terminal(b, d, Layout{}) },
		"narrow":   func(b *bytes.Buffer) error { return Terminal(b, d, Layout{Width: 40}) },
		"coloured": func(b *bytes.Buffer) error { return Terminal(b, d, Layout{Color: true}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = b.String()
	}
	return out
}

// withoutParts leaves out the script and the style, which have files of their own.
func withoutParts(page string) string {
	page = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(page, "<script/>")
	page = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(page, "<style/>")
	return regexp.MustCompile(`sha256-(?:[^&]|&#43;)*`).ReplaceAllString(page, "sha256-…")
}

func TestGolden(t *testing.T) {
	for name, got := range rendered(t, every("a name that is longer than a column")) {
		if name == "html" {
			got = withoutParts(got)
		}
		golden.Compare(t, "testdata/every."+name, got)
	}
}

func TestPageRefersToNothingOutside(t *testing.T) {
	page := rendered(t, every("x"))["html"]
	for _, p := range []string{`\bsrc\s*=`, `url\(`, `@import`, `<link`, `<iframe`, `\bfetch\(`,
		`XMLHttpRequest`, `WebSocket`, `import\(`, ` style=`, ` on[a-z]+=`} {
		if found := regexp.MustCompile(p).FindString(page); found != "" {
			t.Errorf("the page holds %q, which could load something or which its policy forbids",
				found)
		}
	}
	for _, tag := range []string{"script", "style"} {
		_, rest, _ := strings.Cut(page, "<"+tag+">")
		content, _, _ := strings.Cut(rest, "</"+tag+">")
		want := strings.NewReplacer("'", "&#39;", "+", "&#43;").Replace(Hash(content))
		if !strings.Contains(page, want) {
			t.Errorf("the policy does not allow the page's own %s: it has no %s", tag, want)
		}
	}
}

const hostileText = "</script><script>alert(1)</script>\x1b[2J<img src=x onerror=alert(1)> " +
	"`|*[x](javascript:alert(1))\" ' \r\n# =cmd $(rm -rf) \u2028"

// FuzzTextStaysText fills every field of a document with a text.
func FuzzTextStaysText(f *testing.F) {
	for _, seed := range []string{hostileText, "", " ", "javascript:alert(1)", "\xff\xfe", "a\nb",
		strings.Repeat("x", 300), "` `` ```", "-", "12us", "\x9b31m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := rendered(t, every(text))
		page, harmless := all["html"], rendered(t, every("harmless"))["html"]
		for _, tag := range []string{"<script", "</script", "<img", "<style", "<a ", "<details",
			`href="javascript:`} {
			if strings.Count(page, tag) > strings.Count(harmless, tag) {
				t.Errorf("the page holds %s", tag)
			}
		}
		for _, name := range []string{"text", "narrow", "md", "html"} {
			if i := strings.IndexFunc(all[name], func(r rune) bool {
				return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028')
			}); i >= 0 {
				t.Errorf("%s lets a control character through at %q", name, all[name][i:min(i+60, len(all[name]))])
			}
		}
		d := every(text)
		d.Blocks[0].Section[9].Row = nil // code is as it was written
		d.Blocks[0].Section[10].Row = nil
		tags := regexp.MustCompile(`</?(details|summary|br)>`)
		if md := tags.ReplaceAllString(rendered(t, d)["md"], ""); strings.Contains(md, "<") {
			t.Errorf("markdown lets markup through: %s", md)
		}
		if !json.Valid([]byte(all["json"])) {
			t.Error("the document is no JSON")
		}
	})
}

func TestTextFitsItsWidth(t *testing.T) {
	for _, text := range []string{hostileText, strings.Repeat("long ", 40), strings.Repeat("x", 200)} {
		for _, width := range []int{40, 60, 80, 120} {
			d := every(text)
			d.Blocks[0].Section[9].Row = d.Blocks[0].Section[9].Row[:1] // code keeps its lines
			var b bytes.Buffer
			if err := Terminal(&b, d, Layout{Width: width}); err != nil {
				t.Fatal(err)
			}
			for l := range strings.Lines(b.String()) {
				if n := Columns(strings.TrimSuffix(l, "\n")); n > width {
					t.Errorf("a line of %d columns on a terminal of %d: %q", n, width, l)
				}
			}
		}
	}
}

func TestColourChangesNoWord(t *testing.T) {
	all := rendered(t, every("words"))
	plain := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(all["coloured"], "")
	if got, want := strings.Fields(plain), strings.Fields(all["text"]); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestNarrowTablesDropTheLeastImportantColumns(t *testing.T) {
	table := &Table{Head: []Column{{Name: "kept", Keep: 1}, {Name: "dropped"},
		{Name: "dropped first"}}}
	table.Rows = []Row{{Name: "a name of twenty c", Values: []Cell{{Words: "1"}, {Words: "2"},
		{Words: "3"}}}}
	for width, want := range map[int]string{80: "kept dropped dropped first", 42: "kept dropped"} {
		table.Rows[0].Values[0].Words = strings.Repeat("1", 10)
		var b bytes.Buffer
		d := Document{Blocks: []Block{{Table: table}}}
		if err := Terminal(&b, d, Layout{Width: width}); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(b.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// A word of megabytes is wrapped in time and memory that grow with its length.
func TestWrapLongWord(t *testing.T) {
	const size, width = 2 << 20, 100
	word := strings.Repeat("wörter", size/6)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines := Wrap("so "+word+" it is", width)
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 30*uint64(len(word)) {
		t.Errorf("%d MB were allocated for a word of %d MB", spent>>20, len(word)>>20)
	}
	if lines[0] != "so" || Columns(lines[1]) != width ||
		strings.Join(lines[1:], "") != word+" it is" {
		t.Errorf("%d lines begin with %q and %q", len(lines), lines[0], lines[1])
	}
}

func TestCutWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two…"},
		{"one two, three", 11, "one two…"},
		{"one two three", 8, "one…"},
		{"unbreakable", 5, "unbr…"},
		{"", 3, ""},
		{"a b", 0, ""},
	} {
		if got := CutWords(c.text, c.width); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// A cell breaks long words after their signs, and never an address.
func TestCellsBreakAtSigns(t *testing.T) {
	for in, want := range map[string]string{
		"127.102.226.1:5672":                    "127.102.226.1:5672",
		"127.102.226.1:5672,127.102.226.2:5672": "127.102.226.1:5672,<wbr>127.102.226.2:5672",
		"SHOW <b> & more":                       "SHOW &lt;b&gt; &amp; more",
		"org.apache.kafka.clients.Assignor":     "org.<wbr>apache.<wbr>kafka.<wbr>clients.<wbr>Assignor",
		"a?<script>alert(1)</script>&b=c,d":     "a?<wbr>&lt;script&gt;alert(1)&lt;/<wbr>script&gt;&amp;<wbr>b=<wbr>c,<wbr>d",
	} {
		if got := string(breakable(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
