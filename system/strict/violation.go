package strict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Violation is one mistake in an input.
type Violation struct {
	File         string // empty: not from a file
	Line, Column int    // from 1; 0: unknown
	Message      string // one lower-case sentence without a full stop
	Excerpt      string // source lines with a marker, or empty
}

// Violations are all mistakes in an input. As an error it has one line for each violation,
// followed by its excerpt, in the order of the source.
type Violations []Violation

// String returns the violation as one line, followed by its excerpt.
func (v Violation) String() string {
	var b strings.Builder
	switch {
	case v.File != "" && v.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", v.File, v.Line, v.Column)
	case v.File != "":
		b.WriteString(v.File + ": ")
	case v.Line > 0:
		fmt.Fprintf(&b, "%d:%d: ", v.Line, v.Column)
	}
	b.WriteString(v.Message)
	if excerpt := strings.TrimRight(v.Excerpt, "\n"); excerpt != "" {
		b.WriteString("\n" + excerpt)
	}
	return b.String()
}

// Error returns every violation, sorted, without a newline at the end.
func (v Violations) Error() string {
	texts := make([]string, len(v))
	for i, one := range v.Sorted() {
		texts[i] = one.String()
	}
	return strings.Join(texts, "\n")
}

// Err returns the violations as an error, or nil when there are none.
func (v Violations) Err() error {
	if len(v) == 0 {
		return nil
	}
	return v
}

// Under returns the messages of an error as violations of a flag; nil: none. It drops their places,
// because the text that they are in was generated.
func Under(flag string, err error) Violations {
	if err == nil {
		return nil
	}
	var all Violations
	if !errors.As(err, &all) {
		return Violations{{File: flag, Message: err.Error()}}
	}
	out := make(Violations, len(all))
	for i, v := range all {
		out[i] = Violation{File: flag, Message: v.Message}
	}
	return out
}

// Sorted returns a copy in the order of the source: by file, line and column. Violations
// without a place come after the others of their file, in their old order.
func (v Violations) Sorted() Violations {
	sorted := slices.Clone(v)
	slices.SortStableFunc(sorted, func(a, b Violation) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			unplacedLast(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
		)
	})
	return sorted
}

func unplacedLast(a, b int) int {
	switch {
	case a == b:
		return 0
	case a == 0:
		return 1
	case b == 0:
		return -1
	}
	return cmp.Compare(a, b)
}
