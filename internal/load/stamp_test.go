package load

import (
	"bytes"
	"compress/flate"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestStampRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := stamp{
			run: rapid.Uint32().Draw(t, "run"), lane: rapid.Uint32().Draw(t, "lane"),
			seq: rapid.Int64Range(0, seqMask).Draw(t, "seq"), dueNs: rapid.Int64().Draw(t, "due"),
			transaction: uint32(rapid.IntRange(0, transactionMask).Draw(t, "transaction")),
		}
		var b [workload.StampBytes]byte
		want.put(b[:])
		if got, state := readStamp(b[:], want.run); state != stampGood || got != want {
			t.Fatalf("read %+v (%d), put %+v", got, state, want)
		}
		if _, state := readStamp(b[:], want.run+1); state != stampForeign {
			t.Fatalf("a message of another run reads as %d", state)
		}
		at := rapid.IntRange(4, len(b)-1).Draw(t, "damaged byte")
		b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "damage"))
		if _, state := readStamp(b[:], want.run); state == stampGood {
			t.Fatalf("damage at byte %d goes unseen", at)
		}
	})
}

func TestStrangersAreForeign(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("hello"), make([]byte, 1024)} {
		if _, state := readStamp(b, 1); state != stampForeign {
			t.Errorf("%q reads as %d", b[:min(len(b), 8)], state)
		}
	}
}

func TestPayloadIsAFunctionOfItsSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := workload.Message{
			Size:           int64(rapid.IntRange(workload.StampBytes, 3000).Draw(t, "size")),
			Incompressible: rapid.Float64Range(0, 1).Draw(t, "incompressible"),
		}
		if rapid.Bool().Draw(t, "sizes differ") {
			m.Sizes = &workload.Sizes{Parts: []workload.SizePart{
				{Share: 0.5, Least: 100, Most: 2000}, {Share: 0.5, Least: 32, Most: 32}}}
		}
		p := newPayload(m, rapid.Uint64().Draw(t, "seed"))
		lane, seq := rapid.Uint32().Draw(t, "lane"), rapid.Int64Range(0, 1<<40).Draw(t, "seq")
		// The second buffer has held other messages.
		used, filled := make([]byte, p.most), 0
		for i := range int64(rapid.IntRange(0, 3).Draw(t, "messages before")) {
			_, filled = p.fill(used, lane, seq+1+i, filled)
		}
		b, _ := p.fill(make([]byte, p.most), lane, seq, 0)
		again, _ := p.fill(used, lane, seq, filled)
		if !bytes.Equal(b, again) || !p.intact(b, lane, seq) {
			t.Fatal("filled twice, it differs")
		}
		if len(b) == workload.StampBytes {
			return
		}
		if p.intact(b[:len(b)-1], lane, seq) {
			t.Fatal("a truncated payload passes for intact")
		}
		damaged := slices.Clone(b)
		damaged[rapid.IntRange(workload.StampBytes, len(b)-1).Draw(t, "damaged byte")] ^= 1
		if p.intact(damaged, lane, seq) {
			t.Fatal("a damaged payload passes for intact")
		}
	})
}

// A codec must find the configured incompressible share in a batch of messages.
func TestIncompressibleShareIsReal(t *testing.T) {
	for _, share := range []float64{0, 0.25, 0.5, 1} {
		p := newPayload(workload.Message{Size: 1024, Incompressible: share}, 1)
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		const n = 1000
		for i := range int64(n) {
			b := make([]byte, p.most)
			stamp{seq: i}.put(b)
			p.fill(b, 0, i, 0)
			_, _ = w.Write(b)
		}
		_ = w.Close()
		got := float64(packed.Len()) / (n * 1024)
		if got < share*0.96 || got > share+0.04 {
			t.Errorf("share %v compresses to %v", share, got)
		}
	}
}

func TestKeysArePure(t *testing.T) {
	for _, kind := range []workload.KeyKind{workload.KeysNone, workload.KeysRoundRobin,
		workload.KeysRandom, workload.KeysZipf, workload.KeysShares} {
		t.Run(string(kind), func(t *testing.T) {
			w := &workload.Workload{Keys: workload.Keys{Kind: kind, Count: 50, Exponent: 1.2,
				Shares: []workload.KeyPart{{Share: 0.5, Count: 1}, {Share: 0.5, Count: 49}}},
				Partitions: 7, Seed: 3}
			one, two := newChooser(w, system.Spread{}), newChooser(w, system.Spread{})
			counts, partitionOf := map[string]int{}, map[string]int32{}
			const n = 20_000
			for seq := int64(n - 1); seq >= 0; seq-- {
				two.choose(make([]byte, keyBytes), seq, 0, seq, 0, 7)
			}
			for seq := range int64(n) {
				a, pa := one.choose(make([]byte, keyBytes), seq, 0, seq, 0, 7)
				b, pb := two.choose(make([]byte, keyBytes), seq, 0, seq, 0, 7)
				if !bytes.Equal(a, b) || pa != pb {
					t.Fatalf("message %d: key %q or %q, partition %d or %d", seq, a, b, pa, pb)
				}
				if was, seen := partitionOf[string(a)]; kind != workload.KeysNone && seen &&
					was != pa {
					t.Fatalf("key %q goes to partitions %d and %d", a, was, pa)
				}
				partitionOf[string(a)] = pa
				counts[string(a)]++
			}
			checkSpread(t, kind, counts, n)
		})
	}
}

// Messages without a key stay with a partition for as long as the system's own client
// would, then go to the next; round_robin changes the partition with each message.
func TestSpreadFollowsTheClient(t *testing.T) {
	const msNs = 1_000_000
	w := &workload.Workload{
		Keys: workload.Keys{Kind: workload.KeysNone}, Partitions: 3, Message: workload.Message{
			Size: 1024},
		Spread: workload.SpreadClient,
	}
	with := func(change func(*workload.Workload)) *workload.Workload {
		other := *w
		change(&other)
		return &other
	}
	inTurn := with(func(w *workload.Workload) { w.Spread = workload.SpreadRoundRobin })
	large := with(func(w *workload.Workload) { w.Message.Size = 8 << 10 })
	huge := with(func(w *workload.Workload) { w.Message.Size = 1 << 20 })
	linger := system.Spread{Stay: 5 * time.Millisecond}
	both := system.Spread{Stay: 5 * time.Millisecond, StayBytes: 16 << 10}
	for _, c := range []struct {
		name     string
		w        *workload.Workload
		spread   system.Spread
		producer int
		want     func(i int64) int64 // of the i-th message, due at i ms
	}{
		{"linger", w, linger, 0, func(i int64) int64 { return i / 5 }},
		{"another producer", w, linger, 2, func(i int64) int64 { return 2 + i/5 }},
		{"batch size", w, system.Spread{StayBytes: 16 << 10}, 1,
			func(i int64) int64 { return 1 + i/16 }},
		{"linger, which ends before a batch is full", w, both, 0,
			func(i int64) int64 { return i / 16 }},
		{"linger, in which batches fill up", large, both, 0,
			func(i int64) int64 { return i / 5 }},
		{"linger, and messages larger than a batch", huge, both, 0,
			func(i int64) int64 { return i / 5 }},
		{"a client without a way of its own", w, system.Spread{}, 0,
			func(i int64) int64 { return i }},
		{"round_robin", inTurn, linger, 1, func(i int64) int64 { return 1 + i }},
	} {
		t.Run(c.name, func(t *testing.T) {
			chooser := newChooser(c.w, c.spread)
			for i := range int64(200) {
				key, got := chooser.choose(nil, 7*i, c.producer, i, i*msNs, 3)
				if want := int32(c.want(i) % 3); key != nil || got != want {
					t.Fatalf("message %d goes to partition %d with key %q, want %d without a key",
						i, got, key, want)
				}
			}
		})
	}
}

func checkSpread(t *testing.T, kind workload.KeyKind, counts map[string]int, n int) {
	t.Helper()
	most := 0
	for _, c := range counts {
		most = max(most, c)
	}
	switch kind {
	case workload.KeysNone:
		if len(counts) != 1 {
			t.Errorf("unkeyed messages have %d keys", len(counts))
		}
	case workload.KeysRoundRobin:
		if len(counts) != 50 || most != n/50 {
			t.Errorf("%d keys, the most frequent %d times", len(counts), most)
		}
	case workload.KeysRandom:
		if len(counts) != 50 || most > n/50*5/4 {
			t.Errorf("%d keys, the most frequent %d times", len(counts), most)
		}
	case workload.KeysShares:
		if len(counts) != 50 || most < n*48/100 || most > n*52/100 {
			t.Errorf("%d keys, the most frequent %d times", len(counts), most)
		}
	case workload.KeysZipf:
		if most < n/5 {
			t.Errorf("the most frequent key has %d of %d messages: not skewed", most, n)
		}
	}
}
