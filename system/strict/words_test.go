package strict

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	valid := []string{"partitions", "producers", "max_in_flight", "rate", "to", "for", "batch.size",
		"incompressible"}
	for name, want := range map[string]string{
		"partition": "partitions", "partitoins": "partitions", "Producers": "producers",
		"maxInFlight":   "max_in_flight",
		"max-in-flight": "max_in_flight", "rat": "rate", "arte": "rate", "ro": "", "t": "",
		"batchsize": "batch.size",
		"incomp":    "incompressible", "p": "", "pr": "", "pro": "producers", "zzz": "", "": "",
		"rates_of_all":            "rate",
		strings.Repeat("x", 1000): "",
	} {
		if got := Nearest(name, valid); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := Nearest("abc", []string{"abcdef", "abcxyz"}); got != "" {
		t.Errorf("one of two equally near was chosen: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1},
		{"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%s to %s is %d, want %d", c.a, c.b, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := []rune(rapid.String().Draw(t, "a")), []rune(rapid.String().Draw(t, "b"))
		d := distance(a, b)
		if d != distance(b, a) || d > max(len(a), len(b)) || (d == 0) != (string(a) == string(b)) {
			t.Errorf("distance %d", d)
		}
	})
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"a": "", "1kb-1_x.y": "", "": "is empty: give one or remove the key",
		"0123456789a": "is longer than 10 characters: shorten it",
		"-a":          "holds '-': use letters, digits, - _ and . and begin with a letter or digit",
		"a/..":        "holds '/': use letters, digits, - _ and . and begin with a letter or digit",
		"é":           "holds 'é': use letters, digits, - _ and . and begin with a letter or digit",
	} {
		if got := CheckName(name, 10); got != want {
			t.Errorf("CheckName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestList(t *testing.T) {
	names := []string{"a", "b", "c"}
	for n, want := range []string{"", "a", "a or b", "a, b or c"} {
		if got := List("or", names[:n]...); got != want {
			t.Errorf("%d names are %q, want %q", n, got, want)
		}
	}
}

// TestQuotedTextIsReadBack: Decode reads the output of Quote as the same text, whatever it looks
// like.
func TestQuotedTextIsReadBack(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, s string) {
		var got struct {
			Options Pairs `yaml:"options"`
		}
		doc := Decode("q", []byte("options:\n  "+Quote(s+"x")+": "+Quote(s)+"\n"), &got)
		if err := doc.Err(); err != nil || len(got.Options) != 1 || got.Options[0].Value != s ||
			got.Options[0].Name != s+"x" {
			t.Errorf("%q written as %s is %+v, %v", s, Quote(s), got, err)
		}
	}
	for _, s := range []string{"", "null", "NULL", "~", "true", "Yes", "on", "1", "-", "<<", ".inf",
		"0x1F", "2001-01-01", "a: b", "a #b", "\t", "x\n\ny", "\\n", "'", "\""} {
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.String().Filter(IsText).Draw(t, "s"))
	})
}

func TestIsPath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a/b": true, "./a": true, "x.yaml": true, "x.yml": true,
		"file": true, "folder": false, "nats": false, "": false} {
		if IsPath(name) != want {
			t.Errorf("IsPath(%q) is not %v", name, want)
		}
	}
}

func TestVeryManyViolationsAreCut(t *testing.T) {
	_, doc := decodeSample("f", []byte(strings.Repeat("x: 1\n", 1000)))
	all := doc.Err().(Violations)
	if len(all) != mostViolations+1 ||
		all[mostViolations].Message != "more is wrong: correct these first" || all[0].Line != 1 {
		t.Errorf("%d violations, the last %+v", len(all), all[len(all)-1])
	}
	_, doc = decodeSample("f", []byte("a: ["+strings.Repeat("&x 1,", 1000)+"]"))
	if len(doc.Err().(Violations)) != mostViolations+1 {
		t.Error("refused words are not cut")
	}
}
