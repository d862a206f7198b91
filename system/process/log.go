package process

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"
)

// tailSize is how much of a log's end Tail reads. maxSaid bounds the text of a log in an
// error. Both are in bytes.
const (
	tailSize = 64 << 10
	maxSaid  = 300
)

const (
	// MostLog is the length in bytes beyond which a log is cut.
	MostLog = 64 << 20
	headLog = 1 << 20 // bytes of its beginning that stay
	logPoll = time.Second
)

// bound cuts a log whenever it has grown beyond its bound, until its writer has ended.
func bound(path string, ended <-chan struct{}) {
	look := time.NewTicker(logPoll)
	defer look.Stop()
	for running := true; running; cut(path) {
		select {
		case <-ended:
			running = false
		case <-look.C:
		}
	}
}

// cut takes the middle out of a log that is longer than its bound, and says so there. Lines that
// are written at that moment may be lost too. A log that cannot be cut stays as it is until the
// next look.
func cut(path string) {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= MostLog {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	end := Tail(path)
	kept := fmt.Sprintf("\n(plimsoll cut %d bytes out of this log, because it was longer "+
		"than %d)\n%s",
		info.Size()-headLog-int64(len(end)), MostLog, end)
	// In this order, so that its end can be read at any time.
	if _, err := f.WriteAt([]byte(kept), headLog); err == nil {
		_ = f.Truncate(headLog + int64(len(kept)))
	}
}

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
