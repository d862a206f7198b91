package workload

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestKeysAreDrawnByTheirShares(t *testing.T) {
	w, err := Parse("w.yaml", []byte("keys: {kind: shares, shares: 50% 1 + 30% 9 + 20% 990}"))
	if err != nil {
		t.Fatal(err)
	}
	readsBack(t, w)
	if l := w.Record(); w.Keys.Count != 1000 || l.KeyCount != 1000 ||
		l.KeyShares != "50% 1 + 30% 9 + 20% 990" {
		t.Errorf("%+v, %+v", w.Keys, l)
	}
	const n = 1_000_000
	table, random, seen := w.Keys.Table(), rand.New(rand.NewPCG(1, 2)), make([]float64, 1000)
	for range n {
		seen[table.At(random.Uint64(), random.Uint64())]++
	}
	for key, count := range seen {
		want := n * 0.2 / 990
		switch {
		case key == 0:
			want = n * 0.5
		case key < 10:
			want = n * 0.3 / 9
		}
		if math.Abs(count-want) > 5*math.Sqrt(want) {
			t.Errorf("key %d: %v of a million messages, want about %v", key, count, want)
		}
	}
}

func TestWrongSharesOfKeysAreRefused(t *testing.T) {
	for keys, want := range map[string]string{
		"{kind: shares}":                                     "must have from 1 to 64 parts",
		"{kind: shares, shares: 50% 1 + 40% 9}":              "add up to 90%",
		"{kind: shares, shares: 50% 1 + 50% 0}":              "at least one key",
		"{kind: shares, shares: 50% 1 + 9}":                  "a share and a value",
		"{kind: shares, shares: 50% 1 + 50% nine}":           "nine",
		"{kind: shares, shares: 50% 1 + 50% 11M}":            "must be from 1 to 10",
		"{kind: shares, shares: 50% 1 + 50% 9, count: 10}":   "follows from keys.shares",
		"{kind: shares, shares: 50% 1 + 50% 9, exponent: 2}": "zipf keys only",
		"{kind: zipf, shares: 50% 1 + 50% 9}":                "write kind: shares",
	} {
		_, err := Parse("w.yaml", []byte("keys: "+keys))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
	}
}

func FuzzKeyShares(f *testing.F) {
	f.Add("50% 1 + 30% 9 + 20% 990")
	f.Fuzz(func(t *testing.T, text string) {
		w := Default()
		w.Keys, w.Spread = Keys{Kind: KeysShares}, ""
		if (&keyShares{&w.Keys}).UnmarshalText([]byte(text)) != nil {
			return
		}
		if w.Keys.Count = w.Keys.count(); w.Validate() != nil {
			return
		}
		for _, random := range []uint64{0, 1 << 63, math.MaxUint64} {
			if k := w.Keys.Table().At(random, random); k >= uint64(w.Keys.Count) {
				t.Errorf("%q draws key %d of %d", text, k, w.Keys.Count)
			}
		}
		readsBack(t, w)
	})
}
