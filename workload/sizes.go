package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Sizes is a distribution of payload sizes: a histogram or, when Parts is nil, a lognormal
// distribution.
type Sizes struct {
	Parts []SizePart
	// A lognormal distribution has a median and a 99th percentile. Larger sizes than Most are cut
	// down to it.
	Median, P99, Most int64
}

// SizePart is a bar of a histogram: a share of the messages with sizes drawn evenly from Least to
// Most, both included.
type SizePart struct {
	Share       float64
	Least, Most int64
}

// MaxSizeParts bounds the bars of a histogram.
const MaxSizeParts = 64

// Mean returns the mean size of a payload in bytes.
func (m Message) Mean() float64 {
	if m.Sizes == nil {
		return float64(m.Size)
	}
	if m.Sizes.Parts == nil {
		var sum float64
		for _, size := range m.Sizes.quantiles() {
			sum += float64(size)
		}
		return sum / lognormalSizes
	}
	var mean float64
	for _, p := range m.Sizes.Parts {
		mean += p.Share * (float64(p.Least) + float64(p.Most)) / 2
	}
	return mean
}

// Largest returns the size of the largest payload in bytes.
func (m Message) Largest() int64 {
	if m.Sizes == nil {
		return m.Size
	}
	most := m.Sizes.Most
	for _, p := range m.Sizes.Parts {
		most = max(most, p.Most)
	}
	return most
}

// String returns the sizes as a file has them: 80% 1KB + 20% 64KB, 100B..64KB, or
// lognormal p50 1KB p99 64KB max 1MB.
func (s *Sizes) String() string {
	if s.Parts == nil {
		return fmt.Sprintf("lognormal p50 %s p99 %s max %s", quantity.ExactBytes(s.Median),
			quantity.ExactBytes(s.P99), quantity.ExactBytes(s.Most))
	}
	parts := make([]string, len(s.Parts))
	for i, p := range s.Parts {
		parts[i] = sizeRange{p.Least, p.Most}.String()
		if len(s.Parts) > 1 || p.Share != 1 {
			parts[i] = quantity.ExactShare(p.Share) + " " + parts[i]
		}
	}
	return strings.Join(parts, " + ")
}

// messageSize is message.size as a file has it.
type messageSize struct{ *Message }

// String returns the size or the sizes.
func (m *messageSize) String() string {
	if m.Sizes == nil {
		return quantity.ExactBytes(m.Size)
	}
	return m.Sizes.String()
}

// UnmarshalText reads what String returns.
func (m *messageSize) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	words := strings.Fields(s)
	var sizes Sizes
	var err error
	switch {
	case len(words) > 0 && words[0] == "lognormal":
		err = sizes.readLognormal(words[1:])
	case strings.ContainsAny(s, "+%") || strings.Contains(s, ".."):
		err = sizes.readParts(s)
	default:
		size, err := quantity.ParseBytes(string(text))
		if err == nil {
			m.Size, m.Sizes = size, nil
		}
		return err
	}
	if err == nil {
		m.Size, m.Sizes = 0, &sizes
	}
	return err
}

// readLognormal reads the words after lognormal.
func (s *Sizes) readLognormal(words []string) error {
	const right = "write it like lognormal p50 1KB p99 64KB max 1MB"
	given := map[string]*int64{"p50": &s.Median, "p99": &s.P99, "max": &s.Most}
	if len(words) != 2*len(given) {
		return errors.New("is a lognormal distribution without p50, p99 and max: " + right)
	}
	for i := 0; i < len(words); i += 2 {
		into := given[words[i]]
		if into == nil {
			return fmt.Errorf("has %q where p50, p99 or max is expected, each once: %s",
				strict.Shorten(words[i]), right)
		}
		size, err := quantity.ParseBytes(words[i+1])
		if err != nil {
			return err
		}
		*into = size
		delete(given, words[i])
	}
	return nil
}

// readParts reads a histogram.
func (s *Sizes) readParts(text string) error {
	shares, err := readShares(text, "80% 1KB + 20% 1KB..64KB", MaxSizeParts)
	if err != nil {
		return err
	}
	for _, one := range shares {
		p := SizePart{Share: one.share}
		var r sizeRange
		if err := r.UnmarshalText([]byte(one.of)); err != nil {
			return err
		}
		p.Least, p.Most = r.least, r.most
		s.Parts = append(s.Parts, p)
	}
	return nil
}

// shareText is a share of the messages, with the text of its size.
type shareText struct {
	share float64
	of    string
}

// readShares reads shares that are joined by plus signs: 80% A + 20% B. A single part may leave
// its share out, which is then the whole.
func readShares(text, right string, most int) ([]shareText, error) {
	texts := strings.Split(text, "+")
	if len(texts) > most {
		return nil, fmt.Errorf("has %s parts: keep it to %d", quantity.Count(int64(len(texts))),
			most)
	}
	var parts []shareText
	for _, one := range texts {
		one = strings.TrimSpace(one)
		first, rest, found := strings.Cut(one, " ")
		if len(texts) == 1 && !strings.Contains(one, "%") {
			parts = append(parts, shareText{1, one})
			continue
		}
		if !found {
			return nil, fmt.Errorf("has %q where a share and a value are expected: write them "+
				"like %s", strict.Shorten(one), right)
		}
		share, err := quantity.ParseShare(first)
		if err != nil {
			return nil, err
		}
		parts = append(parts, shareText{share, strings.TrimSpace(rest)})
	}
	return parts, nil
}

// checkShares rejects shares that are not positive or do not add up to the whole.
func checkShares(doc *strict.Document, path string, shares []float64) {
	sum := 0.0
	for _, share := range shares {
		if !(share > 0 && share <= 1) {
			doc.Reject(path, fmt.Sprintf("has a share of %v: write shares above 0%%, together "+
				"100%%", share))
			return
		}
		sum += share
	}
	if math.Abs(sum-1) > 1e-6 {
		doc.Reject(path, fmt.Sprintf("has shares that add up to %.6g%%: make them 100%%", sum*100))
	}
}

// check checks the rules of a distribution of sizes.
func (s *Sizes) check(doc *strict.Document) {
	const path = "message.size"
	if s.Parts == nil {
		checkSize(doc, path, s.Median)
		checkSize(doc, path, s.Most)
		if !doc.Failed(path) && (s.Median >= s.P99 || s.P99 > s.Most) {
			doc.Reject(path, fmt.Sprintf("has p50 %s, p99 %s and max %s: write p50 below p99, "+
				"and p99 at most max", quantity.Bytes(s.Median), quantity.Bytes(s.P99),
				quantity.Bytes(s.Most)))
		}
		return
	}
	if len(s.Parts) == 0 || len(s.Parts) > MaxSizeParts {
		doc.Reject(path, fmt.Sprintf("must have from 1 to %d parts, not %d", MaxSizeParts,
			len(s.Parts)))
		return
	}
	var shares []float64
	for _, p := range s.Parts {
		shares = append(shares, p.Share)
		sizeRange{p.Least, p.Most}.check(doc, path)
	}
	checkShares(doc, path, shares)
}

// sizeRange is a size, or two with all between: 10KB, or 1KB..10KB.
type sizeRange struct{ least, most int64 }

func (r sizeRange) String() string {
	if r.least == r.most {
		return quantity.ExactBytes(r.least)
	}
	return quantity.ExactBytes(r.least) + ".." + quantity.ExactBytes(r.most)
}

// UnmarshalText reads what String returns.
func (r *sizeRange) UnmarshalText(text []byte) (err error) {
	from, to, isRange := strings.Cut(strings.TrimSpace(string(text)), "..")
	if r.least, err = quantity.ParseBytes(from); err != nil {
		return err
	}
	if r.most = r.least; isRange {
		r.most, err = quantity.ParseBytes(to)
	}
	return err
}

// check rejects sizes that no payload can have, and a range that falls.
func (r sizeRange) check(doc *strict.Document, path string) {
	checkSize(doc, path, r.least)
	if r.most != r.least {
		checkSize(doc, path, r.most)
	}
	if r.least > r.most {
		doc.Reject(path, fmt.Sprintf("goes from %[1]s down to %[2]s: write %[2]s..%[1]s",
			quantity.ExactBytes(r.least), quantity.ExactBytes(max(r.most, 0))))
	}
}

// checkSize rejects a size that no payload can have.
func checkSize(doc *strict.Document, path string, size int64) {
	switch {
	case size < StampBytes:
		doc.Reject(path, fmt.Sprintf("must be at least %dB, not %s: the stamp that carries due "+
			"time and sequence takes %d bytes", StampBytes, quantity.Bytes(size), StampBytes))
	case size > MaxMessageBytes:
		doc.Reject(path, fmt.Sprintf("must be at most %s, not %s",
			quantity.Bytes(MaxMessageBytes), quantity.Bytes(size)))
	}
}

// lognormalSizes is the number of equally likely sizes that stand for a lognormal distribution. A
// table of whole numbers gives the same sizes on every machine.
const lognormalSizes = 4096

// quantiles returns the sizes that stand for the lognormal distribution, in ascending order.
func (s *Sizes) quantiles() []int64 {
	const z99 = 2.3263478740408408 // the 99th percentile of the standard normal distribution
	sizes := make([]int64, lognormalSizes)
	sigma := math.Log(float64(s.P99)/float64(s.Median)) / z99
	for i := range sizes {
		z := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/lognormalSizes-1)
		size := math.Round(float64(s.Median) * math.Exp(sigma*z))
		// Written so that NaN becomes the least size.
		if !(size > StampBytes) {
			size = StampBytes
		}
		sizes[i] = int64(min(size, float64(s.Most)))
	}
	return sizes
}

// SizeTable draws sizes. It is immutable.
type SizeTable struct {
	// upTo are the cumulative shares of the parts on the scale of 64 bits; nil: all parts are
	// equally likely, and their number is a power of 2.
	upTo  []uint64
	least []int64
	span  []uint64 // the number of sizes of a part; nil: one each
	shift uint     // with equally likely parts: of the bits that choose the part
}

// Table returns the table of a valid message's sizes; nil: all have one size.
func (m Message) Table() *SizeTable {
	switch s := m.Sizes; {
	case s == nil:
		return nil
	case s.Parts == nil:
		return &SizeTable{least: s.quantiles(), shift: 64 - 12} // 2^12 is lognormalSizes
	default:
		t := &SizeTable{}
		shares := make([]float64, len(s.Parts))
		for i, p := range s.Parts {
			shares[i] = p.Share
			t.least = append(t.least, p.Least)
			t.span = append(t.span, uint64(p.Most-p.Least)+1)
		}
		t.upTo = cumulative(shares)
		return t
	}
}

// At returns the size that belongs to two random numbers.
func (t *SizeTable) At(first, second uint64) int64 {
	if t.upTo == nil {
		return t.least[first>>t.shift]
	}
	i := drawn(t.upTo, first)
	return t.least[i] + int64(second%t.span[i])
}

// cumulative returns the cumulative shares on the scale of 64 bits. The last one is the largest
// number, whatever the shares add up to.
func cumulative(shares []float64) []uint64 {
	upTo, sum := make([]uint64, len(shares)), 0.0
	for i, share := range shares {
		sum += share
		upTo[i] = uint64(min(sum, 0x1.fffffffffffffp-1) * (1 << 64))
	}
	upTo[len(upTo)-1] = math.MaxUint64
	return upTo
}

// drawn returns the part to which a random number belongs.
func drawn(upTo []uint64, random uint64) int {
	i, _ := slices.BinarySearch(upTo, random)
	return i
}
