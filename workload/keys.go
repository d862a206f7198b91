package workload

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// KeyPart is a share of the messages, and the number of keys that have it, each equally often.
type KeyPart struct {
	Share float64
	Count int
}

// MaxKeyParts bounds the parts of keys with shares.
const MaxKeyParts = 64

// keyShares is keys.shares as a file has it.
type keyShares struct{ *Keys }

// String returns the shares, like 50% 1 + 30% 9 + 20% 990; empty: there are none.
func (k *keyShares) String() string {
	parts := make([]string, len(k.Shares))
	for i, p := range k.Shares {
		parts[i] = quantity.ExactShare(p.Share) + " " + quantity.Whole(p.Count).String()
	}
	return strings.Join(parts, " + ")
}

// UnmarshalText reads what String returns.
func (k *keyShares) UnmarshalText(text []byte) error {
	parts, err := readShares(strings.TrimSpace(string(text)), "50% 1 + 30% 9 + 20% 990",
		MaxKeyParts)
	if err != nil {
		return err
	}
	k.Shares = nil
	for _, one := range parts {
		n, err := quantity.ParseCount(one.of)
		if err != nil {
			return err
		}
		k.Shares = append(k.Shares, KeyPart{one.share, int(n)})
	}
	return nil
}

// count returns the number of keys of all parts. It saturates.
func (k Keys) count() int {
	sum := 0
	for _, p := range k.Shares {
		sum = min(sum+min(max(p.Count, 0), MaxKeys+1), MaxKeys+1)
	}
	return sum
}

// checkShares checks the shares of keys.
func (k Keys) checkShares(doc *strict.Document) {
	const path = "keys.shares"
	if k.Kind != KeysShares {
		if len(k.Shares) > 0 {
			doc.Reject(path, "is for keys with shares: write kind: shares or remove it")
		}
		return
	}
	if len(k.Shares) == 0 || len(k.Shares) > MaxKeyParts {
		doc.Reject(path, fmt.Sprintf("must have from 1 to %d parts, not %d: write shares of the "+
			"messages and numbers of keys, like 50%% 1 + 30%% 9 + 20%% 990", MaxKeyParts,
			len(k.Shares)))
		return
	}
	var shares []float64
	for _, p := range k.Shares {
		shares = append(shares, p.Share)
		if p.Count < 1 {
			doc.Reject(path, "has a share for no keys: write at least one key for each share")
		}
	}
	checkShares(doc, path, shares)
}

// KeyTable draws keys with shares. It is immutable.
type KeyTable struct {
	upTo  []uint64 // as in SizeTable
	first []uint64 // the first key of a part
	count []uint64
}

// Table returns the table of valid keys with shares; nil: the keys have none.
func (k Keys) Table() *KeyTable {
	if k.Kind != KeysShares {
		return nil
	}
	t, shares, next := &KeyTable{}, []float64{}, uint64(0)
	for _, p := range k.Shares {
		shares = append(shares, p.Share)
		t.first, t.count = append(t.first, next), append(t.count, uint64(p.Count))
		next += uint64(p.Count)
	}
	t.upTo = cumulative(shares)
	return t
}

// At returns the key, from 0, that belongs to two random numbers.
func (t *KeyTable) At(first, second uint64) uint64 {
	i := drawn(t.upTo, first)
	return t.first[i] + second%t.count[i]
}
