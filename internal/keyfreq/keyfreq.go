package keyfreq

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// mostCount is the largest count of a key: sums of MaxKeys of them are exact enough.
const mostCount = 1e15

// Parse reads rows of a key and the number of its messages, in any order, and returns the numbers
// in descending order. A first row without a number is a heading. Each key has one row: with two,
// its parts would have shares of their own, as if they were two keys. The error is a sentence that
// names the line.
func Parse(name string, src []byte) ([]float64, error) {
	rows, err := strict.Table(name, src, remedy)
	if err != nil {
		return nil, err
	}
	rows.ReuseRecord = true
	var counts []float64
	seed := maphash.MakeSeed()
	lines := map[uint64]int{} // of each key, by its hash: the keys themselves may take gigabytes
	for first := true; ; first = false {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, strict.RowError(name, err)
		}
		line, _ := rows.FieldPos(0)
		if len(row) != 2 {
			return nil, fmt.Errorf("%s:%d: has %d columns: write a key and its number of messages",
				name, line, len(row))
		}
		text := strings.TrimSpace(row[1])
		n, err := strconv.ParseFloat(text, 64)
		// Written so that NaN is refused too.
		if err != nil || !(n >= 0 && n <= mostCount) {
			if err != nil && first {
				continue
			}
			return nil, fmt.Errorf("%s:%d: %.40q is no number of messages: write one from 0 to %g",
				name, line, text, mostCount)
		}
		hash := maphash.String(seed, row[0])
		if before, maybe := lines[hash]; maybe && keyAt(name, src, before) == row[0] {
			return nil, fmt.Errorf("%s:%d: the key %.40q has a row already, line %d: write each "+
				"key once, with all its messages", name, line, row[0], before)
		}
		lines[hash] = line
		if n > 0 {
			counts = append(counts, n)
		}
	}
	if len(counts) == 0 {
		return nil, fmt.Errorf("%s has no key with messages: "+remedy, name)
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	return counts, nil
}

// keyAt returns the key of a line that was read before.
func keyAt(name string, src []byte, line int) string {
	rows, err := strict.Table(name, src, remedy)
	for err == nil {
		var row []string
		if row, err = rows.Read(); err == nil {
			if at, _ := rows.FieldPos(0); at == line {
				return row[0]
			}
		}
	}
	return ""
}

const remedy = "write a key and its number of messages in each row, such as customer-7,1200"

// alone is how many of the most frequent keys have a part of their own. Each later part has a
// third more keys than the one before.
const (
	alone  = 16
	growth = 4.0 / 3
)

// Shares returns the keys of a workload with these numbers of messages, which are in descending
// order. Keys that are about equally frequent share a part.
func Shares(counts []float64) []workload.KeyPart {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	var parts []workload.KeyPart
	size := 1.0
	for len(counts) > 0 {
		if len(parts) >= alone {
			size *= growth
		}
		n := min(int(size), len(counts))
		if len(parts) == workload.MaxKeyParts-1 {
			n = len(counts)
		}
		sum := 0.0
		for _, count := range counts[:n] {
			sum += count
		}
		if share := sum / total; share > 0 {
			parts = append(parts, workload.KeyPart{Share: share, Count: n})
		}
		counts = counts[n:]
	}
	return parts
}
