package process

import (
	"bytes"
	"os"
	"strings"
)

// tailSize is how much of a log's end is read, and maxSaid bounds what of it
// goes into an error, both in bytes.
const (
	tailSize = 64 << 10
	maxSaid  = 300
)

// Tail is the end of a server's log, whole lines only; nothing when it cannot
// be read.
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

// Said is what a server's log says, short enough for an error.
func Said(text string) string {
	if len(text) > maxSaid {
		text = text[:maxSaid] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
