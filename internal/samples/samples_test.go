package samples

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	lines := write("lines", "one\r\n\ntwo\nthree")
	write("many/a", "a\nb\n")
	write("many/b", "")
	write("folders/deeper/c", "c")
	for path, want := range map[string]string{
		lines: "one|two|three", filepath.Join(dir, "many"): "a\nb\n",
	} {
		got, err := Read(path)
		if said := string(bytes.Join(got, []byte("|"))); err != nil || said != want {
			t.Errorf("%s: %q, %v", path, said, err)
		}
	}
	for path, want := range map[string]string{
		write("empty", "\n\n"):        "empty has no message: write one on each line",
		filepath.Join(dir, "nowhere"): "nowhere",
		filepath.Join(dir, "folders"): "deeper",
	} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Few different sizes are kept exactly; of many, the mean and the extremes are.
func TestSizesResembleTheMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		messages, kinds := make([][]byte, rapid.IntRange(1, 2000).Draw(t, "messages")), map[int]int{}
		spread := rapid.Float64Range(0, 2).Draw(t, "spread")
		var sum float64
		least, most := math.MaxInt, 0
		for i := range messages {
			size := min(int(1000*math.Exp(spread*random.NormFloat64())), 1<<20)
			messages[i] = make([]byte, size)
			size = max(size, workload.StampBytes)
			kinds[size]++
			least, most, sum = min(least, size), max(most, size), sum+float64(size)
		}
		w := workload.Default()
		w.SetMessage(workload.Message{Sizes: Sizes(messages)})
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		parts := w.Message.Sizes.Parts
		mean := sum / float64(len(messages))
		if got := w.Message.Mean(); math.Abs(got/mean-1) > 0.05 {
			t.Fatalf("the mean is %v, of the messages %v", got, mean)
		}
		if parts[0].Least != int64(least) || w.Message.Largest() != int64(most) {
			t.Fatalf("from %d to %d, of the messages from %d to %d", parts[0].Least,
				w.Message.Largest(), least, most)
		}
		if len(kinds) > workload.MaxSizeParts {
			return
		}
		for _, p := range parts {
			want := float64(kinds[int(p.Least)]) / float64(len(messages))
			if p.Least != p.Most || p.Share != want {
				t.Fatalf("%+v, want a share of %v", p, want)
			}
		}
	})
}

func TestIncompressible(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	noise, half := make([]byte, 64<<10), make([]byte, 64<<10)
	_, _ = random.Read(noise)
	_, _ = random.Read(half[:32<<10])
	line := []byte(`{"customer": 7, "order": 1, "state": "shipped"}`)
	for _, c := range []struct {
		messages    [][]byte
		least, most float64
	}{
		{[][]byte{noise, half[:32<<10]}, 0.99, 1},
		{[][]byte{half}, 0.49, 0.52},
		{[][]byte{make([]byte, 1<<20)}, 0, 0.01},
		{[][]byte{line}, 0.5, 1},
		{times(line, 1000), 0, 0.02}, // a batch has what one message lacks
	} {
		got, err := Incompressible(c.messages)
		if err != nil || got < c.least || got > c.most {
			t.Errorf("%d messages: %v, %v, want from %v to %v", len(c.messages), got, err, c.least,
				c.most)
		}
	}
}

func times(m []byte, n int) (all [][]byte) {
	for range n {
		all = append(all, m)
	}
	return all
}
