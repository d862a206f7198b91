package document

import "testing"

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
