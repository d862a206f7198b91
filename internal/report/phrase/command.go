package phrase

import (
	"strings"
	"unicode"
)

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
