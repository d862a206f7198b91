package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// None stands for a missing figure, or one that the samples do not support.
const None = "–"

// Clean makes text from outside safe to print on one line of a terminal: control characters
// could move the cursor or break the line.
func Clean(s string) string { return strings.TrimSpace(printable(s, "")) }

// Talk makes sentences for a terminal safe to print, as Clean does, and keeps their lines and tabs.
func Talk(s string) string { return printable(s, "\n\t") }

// printable replaces by spaces what is not text: control characters other than those kept, breaks
// of lines and paragraphs, and what Unicode and XML exclude. It mends broken UTF-8.
func printable(s, kept string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune(kept, r) ||
			strings.ContainsRune("\u2028\u2029\uFFFE\uFFFF", r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// cleanLines is Clean for text of several lines, which keeps their indentation.
func cleanLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, " \n"), "\n")
	for i, l := range lines {
		// The dot keeps Clean from trimming the indentation.
		l = Clean("." + strings.ReplaceAll(l, "\t", "    "))
		lines[i] = strings.TrimPrefix(l, ".")
	}
	return strings.Join(lines, "\n")
}

// Wrap breaks a sentence into lines of at most width columns, or 10 where width is less.
func Wrap(sentence string, width int) []string {
	width = max(width, 10)
	var lines []string
	line, length := "", 0
	for _, word := range strings.Fields(Clean(sentence)) {
		n := Columns(word)
		if n > width && line != "" {
			lines = append(lines, line)
			line, length = "", 0
		}
		for ; n > width; n -= width {
			end := 0 // of the word's first runes
			for range width {
				_, size := utf8.DecodeRuneInString(word[end:])
				end += size
			}
			lines, word = append(lines, word[:end]), word[end:]
		}
		if line != "" && length+1+n > width {
			lines = append(lines, line)
			line, length = "", 0
		}
		if line != "" {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// Columns is the approximate width of a plain text on a terminal: each rune that plimsoll prints
// is one column.
func Columns(s string) int { return utf8.RuneCountInString(s) }

// Pad fills a text with spaces to a width: on its right, or on its left when the width is
// negative.
func Pad(s string, width int) string {
	fill := max(width, -width) - Columns(s)
	if fill <= 0 {
		return s
	}
	if width < 0 {
		return strings.Repeat(" ", fill) + s
	}
	return s + strings.Repeat(" ", fill)
}

// Cut shortens a text to a width and ends it with an ellipsis.
func Cut(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return string(r[:width-1]) + "…"
}

// CutWords is Cut after a whole word.
func CutWords(s string, width int) string {
	cut := Cut(s, width)
	if cut == s {
		return s
	}
	if at := strings.LastIndexByte(cut, ' '); at > 0 {
		cut = strings.TrimRight(cut[:at], " ,;:(") + "…"
	}
	return cut
}

// Paint colours text of a terminal by its meaning, or leaves it alone.
type Paint bool

// The meanings, as codes of the 16 colours of every terminal, which its user may have changed.
const (
	StrongInk = "1"
	FaintInk  = "2"
	RedInk    = "31"
	GreenInk  = "32"
	YellowInk = "33"
	CyanInk   = "36"
)

// As returns the text in a colour.
func (p Paint) As(code, s string) string {
	if !p || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Ink is the colour of a tone.
func (t Tone) Ink() string {
	return map[Tone]string{Good: GreenInk, Bad: RedInk, Unsure: YellowInk, Main: StrongInk}[t]
}
