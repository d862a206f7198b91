package process

import (
	"bytes"
	"iter"
	"os"
	"strings"
)

// tailSize is how much of a log's end Tail reads. maxSaid bounds the text of a log in an
// error. Both are in bytes.
const (
	tailSize = 64 << 10
	maxSaid  = 300
)

// Tail returns the whole lines at the end of a log, or nil when it cannot be read.
func Tail(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-tailSize)
	b := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(b, from)
	b = b[:n]
	if from > 0 {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return b
}

// TailLines returns the lines of Tail without the space around them. It skips empty lines.
func TailLines(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(string(Tail(path))) {
			if text := strings.TrimSpace(line); text != "" && !yield(text) {
				return
			}
		}
	}
}

// Said shortens the text of a server's log for an error.
func Said(text string) string {
	if len(text) > maxSaid {
		text = text[:maxSaid] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
