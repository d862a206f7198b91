package strict

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckName returns what is wrong with a name, as the part of a sentence that follows "name",
// or "" when the name is valid. A name becomes part of file names and tables. It consists of
// letters, digits, - _ and ., begins with a letter or digit, and has at most most bytes.
func CheckName(name string, most int) string {
	if name == "" {
		return "is empty: give one or remove the key"
	}
	if len(name) > most {
		return fmt.Sprintf("is longer than %d characters: shorten it", most)
	}
	for i, r := range name {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !plain && (i == 0 || (r != '-' && r != '_' && r != '.')) {
			return fmt.Sprintf(
				"holds %q: use letters, digits, - _ and . and begin with a letter or digit", r)
		}
	}
	return ""
}

// List joins names as a sentence does: with commas, and a word such as "and" before the last one.
func List(last string, names ...string) string {
	n := len(names) - 1
	if n < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}

// IsText reports whether s is UTF-8 of printable characters and line ends.
func IsText(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Quote returns a string as YAML that Decode reads back: plain when it is a plain word,
// otherwise in double quotes.
func Quote(s string) string {
	if isPlainWord(s) {
		return s
	}
	return strconv.Quote(s)
}

// isPlainWord is stricter than YAML, so that every parser reads the word as text.
func isPlainWord(s string) bool {
	switch strings.ToLower(s) {
	case "", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		inner := r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
		if !letter && (i == 0 || !inner) {
			return false
		}
	}
	return true
}
