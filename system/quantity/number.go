package quantity

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

// longest bounds the text of a quantity in bytes, so that exact arithmetic on any input
// stays cheap.
const longest = 64

// shown bounds how many bytes of an invalid text an error repeats.
const shown = 40

// splitNumber reads an unsigned decimal number off the front of s. Underscores may separate
// its digits.
func splitNumber(s string) (n *big.Rat, rest string, ok bool) {
	whole, rest, ok := digits(s)
	if !ok {
		return nil, s, false
	}
	text := whole
	if after, found := strings.CutPrefix(rest, "."); found {
		fraction, tail, ok := digits(after)
		if !ok {
			return nil, s, false
		}
		text, rest = whole+"."+fraction, tail
	}
	n, ok = new(big.Rat).SetString(text)
	return n, rest, ok
}

// digits reads digits off the front of s and returns them without underscores. An
// underscore must stand between two digits.
func digits(s string) (found, rest string, ok bool) {
	var b strings.Builder
	i := 0
	for ; i < len(s); i++ {
		if s[i] == '_' && i > 0 && s[i-1] != '_' {
			continue
		}
		if s[i] < '0' || s[i] > '9' {
			break
		}
		b.WriteByte(s[i])
	}
	if i == 0 || s[i-1] == '_' {
		return "", s, false
	}
	return b.String(), s[i:], true
}

// check refuses an empty, overlong or negative text, and says what to write instead.
func check(s, what, right string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("%s is missing: write %s", what, right)
	case len(s) > longest:
		return fmt.Errorf("%s is too long for %s: write %s", quote(s), what, right)
	case s[0] == '-' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		return fmt.Errorf("%s is negative: write %s", quote(s), right)
	}
	return nil
}

func not(s, what, right string) error {
	return fmt.Errorf("%s is not %s: write %s", quote(s), what, right)
}

func tooLarge(s, what, most string) error {
	return fmt.Errorf("%s is too large for %s: the largest is %s", quote(s), what, most)
}

func quote(s string) string {
	if len(s) <= shown {
		return fmt.Sprintf("%q", s)
	}
	cut := shown
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%q...", s[:cut])
}

// whole returns n as an int64. isWhole and fits report whether that is possible.
func whole(n *big.Rat) (value int64, isWhole, fits bool) {
	if !n.IsInt() {
		return 0, false, false
	}
	if !n.Num().IsInt64() {
		return 0, true, false
	}
	return n.Num().Int64(), true, true
}

// times multiplies n in place by a whole factor.
func times(n *big.Rat, factor int64) *big.Rat {
	return n.Mul(n, new(big.Rat).SetInt64(factor))
}
