package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClasses(t *testing.T) {
	w, err := Parse("w.yaml", []byte("{producers: 5, classes: [{name: order, share: 20%, "+
		"size: 10KB}, {name: event, share: 80%, size: 100B..1KB}]}"))
	if err != nil {
		t.Fatal(err)
	}
	readsBack(t, w)
	for producer, want := range []int{0, 1, 1, 1, 1} {
		if got := w.ClassOf(0, producer); got != want {
			t.Errorf("producer %d is of class %d, want %d", producer, got, want)
		}
	}
	if largest, mean := w.Message.Largest(), w.Message.Mean(); largest != 10<<10 ||
		mean != 0.2*10240+0.8*562 {
		t.Errorf("the largest message has %d bytes, the mean is %v", largest, mean)
	}
	if event := w.MessageOf(1); event.Largest() != 1<<10 || event.Mean() != 562 {
		t.Errorf("%+v", event)
	}
	const one = "{name: order, share: 50%, size: 1KB}"
	for text, want := range map[string]string{
		"[" + one + "]":              "add up to 50%",
		"[" + one + ", " + one + "]": "a name of its own for each class",
		"[" + one + ", {name: Event, share: 50%, size: 1KB}]":               "small letters",
		"[" + one + ", {name: b, share: 50%, size: 8B}]":                    "at least 32B",
		"[" + one + ", {name: b, share: 50%, size: 2KB..1KB}]":              "goes from 2KB down to 1KB: write 1KB..2KB",
		"[" + one + ", {name: b, share: 50%, size: many}]":                  "size",
		"[" + one + ", {name: b, size: 1KB}]":                               "lacks share",
		"[" + one + ", {name: b, share: 50%, size: 1KB, keys: zipf 0}]":     "must be from 1 to",
		"[" + one + ", {name: b, share: 50%, size: 1KB, keys: zipf 9 1}]":   "must be above 1",
		"[" + one + ", {name: b, share: 50%, size: 1KB, keys: random 9 2}]": "like zipf 100 1.2",
		"[" + one + ", {name: b, share: 50%, size: 1KB, keys: none 9}]":     "like zipf 100 1.2",
		"[" + one + ", {name: b, share: 50%, size: 1KB, keys: shares}]":     "must be none, round",
		"[" + one + ", {name: b, share: 50%, size: 1KB, keys: zip}]":        `did you mean "zipf"?`,
		"[" + one + ", {name: b, share: 50%, size: 1KB}]\nkeys: zipf\nspread: client": "spread is " +
			"for messages without a key",
		"[{name: a, share: 20%, size: 1KB}, {name: b, share: 80%, size: 1KB}]": "is 20% of " +
			"2 producers, and a producer sends one class: write other shares, or producers: a " +
			"multiple of 5",
		"[" + one + ", {name: b, share: 50%, size: 1KB}]\nmessage: {size: 1KB}": "cannot be " +
			"combined with classes",
		"[" + one + ", {name: b, share: 50%, size: 1KB}]\nload: {closed: {in_flight: 1}}": "is for " +
			"loads with a rate",
	} {
		_, err := Parse("w.yaml", []byte("classes: "+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A class has the keys of the workload, or its own.
func TestKeysOfClasses(t *testing.T) {
	classes := func(one, other string) string {
		return "classes: [{name: a, share: 50%, size: 1KB" + one + "}, {name: b, share: 50%, " +
			"size: 1KB" + other + "}]\n"
	}
	random := Keys{Kind: KeysRandom, Count: 100}
	none := Keys{Kind: KeysNone}
	for text, want := range map[string]struct {
		of             [2]Keys
		keyed, keyless bool
	}{
		classes("", ""):                               {[2]Keys{none, none}, false, true},
		classes(", keys: random 100", ""):             {[2]Keys{random, none}, true, true},
		classes(", keys: random 100", ", keys: none"): {[2]Keys{random, none}, true, true},
		classes("", ", keys: none") + "keys: {kind: random, count: 100}": {[2]Keys{random, none}, true,
			true},
		classes(", keys: zipf 9 1.5", ", keys: zipf") + "keys: {kind: random, count: 100}": {[2]Keys{
			{Kind: KeysZipf, Count: 9, Exponent: 1.5},
			{Kind: KeysZipf, Count: 10_000, Exponent: 1.2}}, true, false},
	} {
		w, err := Parse("w.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		readsBack(t, w)
		if got := [2]Keys{w.KeysOf(0), w.KeysOf(1)}; !cmp.Equal(got, want.of) ||
			w.Keyed() != want.keyed || w.Keyless() != want.keyless ||
			(w.Spread != "") != want.keyless {
			t.Errorf("%s: %+v, spread %q", text, got, w.Spread)
		}
	}
}
