package phrase

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Grouped are values by their key, with the keys in the order in which they came.
type Grouped[K comparable, V any] struct {
	Keys []K
	Of   map[K][]V
}

// Add adds a value to the group of its key.
func (g *Grouped[K, V]) Add(key K, v V) {
	if g.Of == nil {
		g.Of = map[K][]V{}
	}
	if g.Of[key] == nil {
		g.Keys = append(g.Keys, key)
	}
	g.Of[key] = append(g.Of[key], v)
}

// Where names the first of the cells that are the values of a key, and their number.
func (g *Grouped[K, V]) Where(key K) string {
	cells := g.Of[key]
	if len(cells) == 1 {
		return fmt.Sprint(cells[0])
	}
	return fmt.Sprintf("%d cells, such as %v", len(cells), cells[0])
}

// List joins names as a sentence does: the first three of many.
func List(names []string) string {
	if n := len(names); n > 3 {
		names = append(names[:3:3], fmt.Sprintf("%d others", n-3))
	}
	return strict.List("and", names...)
}

// Repeated merges equal neighbours into one text with their number.
func Repeated(texts []string) []string {
	var out []string
	for i := 0; i < len(texts); {
		n := 1
		for i+n < len(texts) && texts[i+n] == texts[i] {
			n++
		}
		text := texts[i]
		if n > 1 {
			text = fmt.Sprintf("%d × %s", n, text)
		}
		out = append(out, text)
		i += n
	}
	return out
}

// CommandLine is a command as a shell reads it.
func CommandLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsFunc(w, quoted) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// quoted reports whether a rune may have a special meaning in a shell.
func quoted(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._/=:,@%+-", r)
}
