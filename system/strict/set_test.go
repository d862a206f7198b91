package strict

import (
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	const src = "name: a  # the name\nmessage: {size: 1KB}\nload:\n  steps:\n    - {rate: 1k/s, " +
		"for: 10s}\n    - {rate: 2k/s, for: 10s}\nkeys: zipf\nnote: \"x: y, 'z'\"\n"
	for _, c := range []struct{ path, value, want string }{
		{"name", "b", "name: b\n"},
		{"partitions", "10", "partitions: \"10\"\n"},
		{"message.size", "64KB", "message: {size: \"64KB\"}\n"},
		{"message.incompressible", "50%", "message: {size: \"1KB\", incompressible: \"50%\"}\n"},
		{"load.steps[1].rate", "3k/s",
			"[{rate: \"1k/s\", for: \"10s\"}, {rate: \"3k/s\", for: \"10s\"}]"},
		{"keys", "{kind: zipf, count: 5}", "keys: {kind: zipf, count: \"5\"}\n"},
		{"new.deep.key", "x", "new: {deep: {key: x}}\n"},
		{"message", "{}", "message: {}\n"},
	} {
		got, err := Set([]byte(src), c.path, c.value)
		if err != nil || !strings.Contains(got, c.want) ||
			!strings.Contains(got, `note: "x: y, 'z'"`) {
			t.Errorf("%s=%s: %v\n%s", c.path, c.value, err, got)
		}
		// A value that was set reads back, and setting it again changes nothing.
		again, err := Set([]byte(got), c.path, c.value)
		if err != nil || again != got {
			t.Errorf("%s=%s again: %v\n%s", c.path, c.value, err, again)
		}
	}
	for _, c := range []struct{ path, value, want string }{
		{"keys.count", "5",
			"keys.count goes through keys, which is a single value: give all of keys at once"},
		{"load.steps[2].rate", "5", "load.steps[2].rate names an item of a list that is not there"},
		{"message[0]", "5", "message[0] names an item of a list that is not there"},
		{"load.steps[x]", "5",
			`"load.steps[x]" is not a path of keys: [x] is not the number of an item`},
		{"load..rate", "5", `"load..rate" is not a path of keys: "" is not the name of a key`},
		{"name", "[1", `"[1" is not a value that can be read: check its quotes and brackets`},
		{"name", "a\nb", "the value of name has several lines: write it in one"},
	} {
		if _, err := Set([]byte(src), c.path, c.value); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: got %v, want %s", c.path, c.value, err, c.want)
		}
	}
	if got, err := Set([]byte("{}"), "a", "b"); err != nil || got != "a: b\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzSet(f *testing.F) {
	f.Add("a: 1\nb: {c: [1, {d: x}]}\n", "b.c[1].d", "{y: z}")
	f.Add("{}", "a.b", "\"quoted\"")
	f.Fuzz(func(t *testing.T, src, path, value string) {
		got, err := Set([]byte(src), path, value)
		if err != nil {
			return
		}
		again, err := Set([]byte(got), path, value)
		if err != nil || again != got {
			t.Fatalf("what was set does not read back: %v\n%s\n%s", err, got, again)
		}
	})
}
