package keyfreq

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestParse(t *testing.T) {
	got, err := Parse("keys.csv", []byte("key,messages\nb, 2\na,7\n# none\nc,0\n\"d,e\",1e3\n"))
	if err != nil || !slices.Equal(got, []float64{1000, 7, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	for rows, want := range map[string]string{
		"":               "has no key with messages",
		"a,0\n":          "has no key with messages",
		"a,b\nc,d\n":     `keys.csv:2: "d" is no number of messages`,
		"a,1\nb,-1\n":    `keys.csv:2: "-1" is no number`,
		"a,NaN\n":        `keys.csv:1: "NaN" is no number`,
		"a,1\nb\n":       "keys.csv:2: has 1 columns",
		"a,1\nb,1e300\n": "is no number of messages",

		// A quotation mark is told by its line, in plain words.
		"a,1\n\"b,2\n": `keys.csv:2: has a quotation mark without its other one: write ` +
			`quotation marks around a whole field, and double each one inside it`,
		"a,1\nb\"c,2\n":   "keys.csv:2: has a quotation mark without its other one",
		"a,1\n\"b\"c,2\n": "keys.csv:2: has a quotation mark without its other one",
		"{\n\"a\": 1,\n\"b\": 2}": "keys.csv is JSON, which is not read: write a key and its " +
			"number of messages in each row, such as customer-7,1200",
		"[1, 2]": "keys.csv is JSON",

		// The parts of a key with two rows are no keys.
		"key,count\na,10\na,5\nb,15\n": `keys.csv:3: the key "a" has a row already, line 2: ` +
			`write each key once, with all its messages`,
		"\"a\",1\n# none\na,0\n": `keys.csv:3: the key "a" has a row already, line 1`,
		"\uFEFFa,1\na,2\n":       `keys.csv:2: the key "a" has a row already, line 1`,
	} {
		if _, err := Parse("keys.csv", []byte(rows)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", rows, err, want)
		}
	}
}

// A workload has all keys and all messages; the most frequent keys keep their own shares, and no
// key's share is further from its own than the least and the most of its part.
func TestSharesHoldEveryKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 15, 16, 17, 1000, 200_000}).Draw(t, "keys")
		skew := rapid.Float64Range(0, 2).Draw(t, "skew")
		counts, total := make([]float64, n), 0.0
		for i := range counts {
			counts[i] = 1e9 / math.Pow(float64(i+1), skew)
			total += counts[i]
		}
		parts := Shares(counts)
		w := workload.Default()
		w.Spread = ""
		w.Keys = workload.Keys{Kind: workload.KeysShares, Count: n, Shares: parts}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		keys := 0
		for _, p := range parts {
			share := p.Share / float64(p.Count)
			least, most := counts[keys+p.Count-1]/total, counts[keys]/total
			if share < least*0.999999 || share > most*1.000001 {
				t.Fatalf("keys from %d on have %v, which is not from %v to %v", keys, share, least,
					most)
			}
			keys += p.Count
		}
		if keys != n || len(parts) > workload.MaxKeyParts {
			t.Fatalf("%d keys in %d parts, want %d", keys, len(parts), n)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("key,messages\na,2\nb,1\n")
	f.Fuzz(func(t *testing.T, rows string) {
		counts, err := Parse("f", []byte(rows))
		if err != nil {
			return
		}
		if parts := Shares(counts); len(parts) == 0 || len(parts) > workload.MaxKeyParts {
			t.Fatalf("%q has %d parts", rows, len(parts))
		}
	})
}
