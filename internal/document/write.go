package document

import (
	"fmt"
	"io"
	"strings"
)

// Formats are the names that Write takes.
func Formats() []string { return []string{"table", "html", "md", "json"} }

// Write writes a document in the named format. The layout is that of a table.
func Write(w io.Writer, format string, d Document, l Layout) error {
	switch format {
	case "table":
		return Terminal(w, d, l)
	case "html":
		return HTML(w, d)
	case "md":
		return Markdown(w, d)
	case "json":
		return JSON(w, d)
	}
	return fmt.Errorf("a document is not written as %q: choose one of %s", format,
		strings.Join(Formats(), ", "))
}
