package samples

import (
	"bytes"
	"compress/flate"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// mostBytes bounds the messages that are read.
	mostBytes = 64 << 20
	// mostMessages bounds their number: each takes memory beside its bytes.
	mostMessages = 1_000_000
	fewer        = "take a sample of the messages"
)

// Read returns the messages of a file, one on each line, or of a folder, one in each file. Empty
// lines and files are no messages. A folder must have nothing but files. The error is a sentence.
func Read(path string) ([][]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return readFolder(path)
	}
	raw, err := strict.ReadUpTo(path, mostBytes, fewer)
	if err != nil {
		return nil, err
	}
	var messages [][]byte
	for line := range bytes.Lines(raw) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			messages = append(messages, line)
		}
		if len(messages) > mostMessages {
			break // check says so
		}
	}
	return messages, check(path, messages)
}

func readFolder(path string) ([][]byte, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var messages [][]byte
	total := 0
	for _, e := range entries {
		// A folder is refused here too, by a sentence that says so.
		m, err := strict.ReadUpTo(filepath.Join(path, e.Name()), mostBytes, fewer)
		if err != nil {
			return nil, err
		}
		if total += len(m); total > mostBytes {
			return nil, fmt.Errorf("%s has more than %s: %s", path, quantity.Bytes(mostBytes),
				fewer)
		}
		if len(m) > 0 {
			messages = append(messages, m)
		}
	}
	return messages, check(path, messages)
}

func check(path string, messages [][]byte) error {
	switch n := len(messages); {
	case n == 0:
		return fmt.Errorf("%s has no message: write one on each line, or give a folder with one "+
			"in each file", path)
	case n > mostMessages:
		return fmt.Errorf("%s has more than %s messages: %s", path, quantity.Count(mostMessages),
			fewer)
	}
	return nil
}

// Sizes returns the distribution of the messages' sizes. A message that is smaller than plimsoll's
// stamp counts as large as that, because the stamp is part of each payload.
func Sizes(messages [][]byte) *workload.Sizes {
	sizes := make([]int64, len(messages))
	for i, m := range messages {
		sizes[i] = int64(max(len(m), workload.StampBytes))
	}
	slices.Sort(sizes)
	all := []bar{sizes}
	for len(all) < workload.MaxSizeParts {
		worst := 0
		for i := range all {
			if all[i].error() > all[worst].error() {
				worst = i
			}
		}
		if all[worst].error() == 0 {
			break
		}
		at := all[worst].split()
		all = slices.Replace(all, worst, worst+1, all[worst][:at], all[worst][at:])
	}
	d := &workload.Sizes{}
	for _, b := range all {
		d.Parts = append(d.Parts, workload.SizePart{
			Share: float64(len(b)) / float64(len(sizes)), Least: b[0], Most: b[len(b)-1]})
	}
	return d
}

// bar is a part of the sorted sizes, which becomes a bar of the histogram.
type bar []int64

// error bounds how far the sizes that are drawn from the bar may be from its own, added up.
func (b bar) error() int64 { return int64(len(b)) * (b[len(b)-1] - b[0]) }

// split returns where the bar falls into two with the least errors together.
func (b bar) split() int {
	best, least := 1, int64(-1)
	for at := 1; at < len(b); at++ {
		if b[at] == b[at-1] {
			continue // equal sizes stay together
		}
		if sum := b[:at].error() + b[at:].error(); least < 0 || sum < least {
			best, least = at, sum
		}
	}
	return best
}

// batchBytes is how much a codec sees at a time, as much as a batch of a producer.
const batchBytes = 256 << 10

// Incompressible returns the share of the messages' bytes that remains when DEFLATE compresses
// them, several in a batch, as producers do.
func Incompressible(messages [][]byte) (float64, error) {
	var packed counter
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return 0, err
	}
	total, batch := 0, 0
	for _, m := range messages {
		if _, err := w.Write(m); err != nil {
			return 0, err
		}
		total += len(m)
		if batch += len(m); batch >= batchBytes {
			if err := w.Close(); err != nil {
				return 0, err
			}
			w.Reset(&packed)
			batch = 0
		}
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return min(float64(packed)/float64(total), 1), nil
}

// counter counts what is written.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
