package strict

import (
	"fmt"
	"slices"
	"strings"
)

// longestName bounds the names that Nearest compares, because the work grows with the product
// of the lengths.
const longestName = 64

// shortestPrefix is the length from which a prefix of a name counts as near.
const shortestPrefix = 3

// Nearest returns the valid name that was probably meant, or "" when none is near. It ignores
// case, and whether words are joined by a hyphen, an underscore, a dot or nothing.
func Nearest(name string, valid []string) string {
	given := fold(name)
	if len(given) == 0 || len(given) > longestName {
		return ""
	}
	best, bestDistance := "", allowed(given)+1
	for _, v := range valid {
		candidate := fold(v)
		if len(candidate) > longestName {
			continue
		}
		if d := distance(given, candidate); d < bestDistance {
			best, bestDistance = v, d
		}
	}
	if best == "" {
		return onlyPrefixed(given, valid)
	}
	return best
}

// Shorten bounds the length of user input in an error.
func Shorten(s string) string {
	const longest = 40 // characters
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "..."
	}
	return s
}

// Unknown returns a sentence that no thing of this kind has the name, with the nearest valid
// name or all of them.
func Unknown(kind, name string, valid []string) string {
	if near := Nearest(name, valid); near != "" {
		return fmt.Sprintf("unknown %s %q: did you mean %q?", kind, name, near)
	}
	name = Shorten(name)
	all := kind + "s"
	if stem, y := strings.CutSuffix(kind, "y"); y && !strings.HasSuffix(stem, "e") {
		all = stem + "ies" // studies, latencies; but keys
	}
	return fmt.Sprintf("unknown %s %q: the %s are %s", kind, name, all, strings.Join(valid, ", "))
}

// allowed returns the distance up to which a name counts as a typing error. It is smaller for
// short names, which differ little from one another.
func allowed(name []rune) int {
	switch n := len(name); {
	case n <= 2:
		return 0
	case n <= 4:
		return 1
	case n <= 8:
		return 2
	}
	return 3
}

// onlyPrefixed returns the valid name that is a prefix of the given name, or has it as a
// prefix, when there is exactly one.
func onlyPrefixed(given []rune, valid []string) string {
	if len(given) < shortestPrefix {
		return ""
	}
	found := ""
	for _, v := range valid {
		candidate := string(fold(v))
		ahead := strings.HasPrefix(candidate, string(given))
		behind := len(candidate) >= shortestPrefix && strings.HasPrefix(string(given), candidate)
		if !ahead && !behind {
			continue
		}
		if found != "" {
			return ""
		}
		found = v
	}
	return found
}

func fold(name string) []rune {
	return []rune(
		strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name)))
}

// distance returns the restricted Damerau-Levenshtein distance: the number of insertions,
// deletions, replacements and swaps of neighbours that turn one name into the other, where no
// part is edited twice.
func distance(a, b []rune) int {
	// Three rows of the table are enough, because a swap looks back two rows.
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := above[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = slices.Min([]int{above[j] + 1, row[j-1] + 1, replace})
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
