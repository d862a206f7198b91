package strict

import (
	"fmt"
	"slices"
	"strings"
)

// longestName bounds the names that Nearest compares: the work grows with the
// product of the lengths, and nobody mistypes a longer name.
const longestName = 64

// shortestPrefix is how much of a name must be there for its beginning alone
// to count as near.
const shortestPrefix = 3

// Nearest returns the valid name that the given one was probably meant to be,
// or "" when none is near. Case, and whether words are joined by a hyphen, an
// underscore, a dot or nothing, does not count as a difference.
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

// longestShown is how much of an unknown name is repeated, in characters.
const longestShown = 40

// Unknown says that nothing of the kind has that name, and which has: the
// nearest one, or all.
func Unknown(kind, name string, valid []string) string {
	if near := Nearest(name, valid); near != "" {
		return fmt.Sprintf("unknown %s %q: did you mean %q?", kind, name, near)
	}
	if runes := []rune(name); len(runes) > longestShown {
		name = string(runes[:longestShown]) + "..."
	}
	return fmt.Sprintf("unknown %s %q: the %ss are %s", kind, name, kind, strings.Join(valid, ", "))
}

// allowed is the distance up to which a name is taken for a slip of the keys:
// short names differ by little from one another, so less is forgiven there.
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

// onlyPrefixed returns the valid name that begins with the given one or with
// which the given one begins, if there is exactly one.
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

// distance is the Damerau-Levenshtein distance in its restricted form: how
// many insertions, deletions, replacements and swaps of neighbours lead from
// one name to the other, no part being edited twice.
func distance(a, b []rune) int {
	// Three rows of the table are enough: a swap looks back two.
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
