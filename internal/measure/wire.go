package measure

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

// This file encodes histograms and sets for a network: compactly, and checked when they are
// read, because their reader merges them without looking again.

// Bounds of what is read.
const (
	// numberMost is the most that a sequence number of a set may be: its bitmap takes 32 MB then.
	numberMost = PageBits << 22
)

// lastPlace is the place of the last bucket.
var lastPlace = placeOf(result.HistogramMaxNs)

var errMalformed = errors.New("it is malformed")

// fields reads numbers one after the other. After an error all are zero.
type fields struct {
	b   []byte
	bad bool
}

// next returns a number from 0 to most.
func (f *fields) next(most int64) int64 {
	n, size := binary.Uvarint(f.b)
	if size <= 0 || n > uint64(most) || f.bad {
		f.bad = true
		return 0
	}
	f.b = f.b[size:]
	return int64(n)
}

// take returns bytes behind their number, which is at most most.
func (f *fields) take(most int64) []byte {
	n := f.next(min(most, int64(len(f.b))))
	if n > int64(len(f.b)) {
		f.bad = true
		return nil
	}
	taken := f.b[:n:n]
	f.b = f.b[n:]
	return taken
}

// end reports whether everything was read and good.
func (f *fields) end() error {
	if f.bad || len(f.b) > 0 {
		return errMalformed
	}
	return nil
}

const (
	// bucketMost is the most that a bucket of an interval may hold. Sums of all buckets of many
	// workers fit then.
	bucketMost = int64(1) << 38
	// histogramsMost is how many histograms are read: more than an interval has.
	histogramsMost = 256
)

// MarshalBinary encodes the histograms, whose buckets are packed.
func (all Histograms) MarshalBinary() ([]byte, error) {
	const head = 32
	room := 0
	for i := range all {
		room += head + len(all[i].Series) + len(all[i].Packed)
	}
	b := make([]byte, 0, room)
	for i := range all {
		h := &all[i]
		b = binary.AppendUvarint(b, uint64(len(h.Series)))
		b = append(b, h.Series...)
		for _, n := range []int64{int64(h.Phase), h.Clamped, h.Negative, int64(len(h.Packed))} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = append(b, h.Packed...)
	}
	return b, nil
}

// UnmarshalBinary reads what MarshalBinary wrote. The buckets of all are in one copy of b.
func (all *Histograms) UnmarshalBinary(b []byte) error {
	const nameMost = 100
	f := &fields{b: slices.Clone(b)}
	var read Histograms
	for len(f.b) > 0 && !f.bad {
		h := Histogram{Series: result.Series(f.take(nameMost)), Phase: Phase(f.next(phases - 1))}
		h.Clamped, h.Negative = f.next(bucketMost), f.next(bucketMost)
		h.Packed = packed(f.take(int64(len(f.b))))
		f.bad = f.bad || !h.Packed.check() || len(read) == histogramsMost
		read = append(read, h)
	}
	if err := f.end(); err != nil {
		return fmt.Errorf("read histograms: %w", err)
	}
	*all = read
	return nil
}

// MarshalBinary encodes the set.
func (s Set) MarshalBinary() ([]byte, error) {
	b := binary.AppendUvarint(nil, uint64(len(s.Full)))
	for _, run := range s.Full {
		b = binary.AppendUvarint(b, uint64(run.First))
		b = binary.AppendUvarint(b, uint64(run.Count))
	}
	b = binary.AppendUvarint(b, uint64(len(s.Part)))
	for i := range s.Part {
		b = binary.AppendUvarint(b, uint64(s.Part[i].Number))
		for _, word := range s.Part[i].Words {
			b = binary.LittleEndian.AppendUint64(b, word)
		}
	}
	return b, nil
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (s *Set) UnmarshalBinary(b []byte) error {
	const pagesMost = numberMost / PageBits
	f := &fields{b: b}
	read := Set{}
	past := int64(0) // the pages so far
	for range f.next(int64(len(f.b))) {
		first := f.next(pagesMost)
		count := f.next(pagesMost - first)
		f.bad = f.bad || first < past || count == 0
		past = first + count
		read.Full = append(read.Full, Pages{first, count})
		if f.bad {
			break
		}
	}
	past = 0
	for range f.next(int64(len(f.b))) {
		p := Page{Number: f.next(pagesMost)}
		if f.bad || p.Number < past || len(f.b) < len(p.Words)*8 {
			f.bad = true
			break
		}
		past = p.Number + 1
		for i := range p.Words {
			p.Words[i] = binary.LittleEndian.Uint64(f.b[8*i:])
		}
		f.b = f.b[len(p.Words)*8:]
		read.Part = append(read.Part, p)
	}
	if err := f.end(); err != nil {
		return fmt.Errorf("read a set: %w", err)
	}
	*s = read
	return nil
}
