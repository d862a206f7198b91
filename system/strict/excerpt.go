package strict

import (
	"fmt"
	"strings"
	"unicode"
)

// excerptWidth bounds the part of a line that an excerpt shows, in characters.
const excerptWidth = 100

// source is the text of an input by line.
type source struct {
	lines []string
	// hidden holds, by line, the column from which the line must not be shown, because a secret
	// may stand there.
	hidden map[int]int
}

func newSource(text string) *source {
	return &source{lines: strings.Split(text, "\n"), hidden: map[int]int{}}
}

func (s *source) hide(line, column int) {
	if from, already := s.hidden[line]; !already || column < from {
		s.hidden[line] = column
	}
}

// excerpt returns the line with its number and, below it, a caret at the column.
func (s *source) excerpt(line, column int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	text := []rune(s.lines[line-1])
	if from, hide := s.hidden[line]; hide && from-1 < len(text) {
		text = append(text[:max(from-1, 0):max(from-1, 0)], '…')
	}
	at := min(max(column-1, 0), len(text))
	text, at = window(text, at)
	var shown, blank strings.Builder
	for i, r := range text {
		if r != '\t' && !unicode.IsPrint(r) {
			r = '·' // a terminal must not be steered by what is in a file
		}
		shown.WriteRune(r)
		if i < at {
			// A tab stays a tab, so that the caret stands below its column.
			if r != '\t' {
				r = ' '
			}
			blank.WriteRune(r)
		}
	}
	number := fmt.Sprintf("%5d", line)
	return fmt.Sprintf("%s | %s\n%s | %s^", number, strings.TrimRight(shown.String(), " \t"),
		strings.Repeat(" ", len(number)), blank.String())
}

// window shortens a long line to the part around the column.
func window(text []rune, at int) ([]rune, int) {
	if len(text) <= excerptWidth {
		return text, at
	}
	from := max(0, min(at-excerptWidth/2, len(text)-excerptWidth))
	to := from + excerptWidth
	cut := append([]rune{}, text[from:to]...)
	if from > 0 {
		cut[0] = '…'
	}
	if to < len(text) {
		cut[len(cut)-1] = '…'
	}
	return cut, at - from
}
