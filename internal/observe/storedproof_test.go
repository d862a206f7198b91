package observe

import (
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestProofsAreKeptPerMachine(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if got := StoredProof(); got != nil {
		t.Fatalf("StoredProof without a stored proof: %+v", got)
	}
	p := &result.Proof{
		At: time.Unix(1_700_000_000, 0).UTC(), Cores: runtime.NumCPU(), Held: 24, Missed: 1,
		MissedTruths: []string{"stall"},
		Worst: &result.ProofError{
			Truth: "stall", Figure: "publish p99", Unit: "ns", Error: -5,
		},
	}
	path, err := SaveProof(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := StoredProof(); !reflect.DeepEqual(got, p) {
		t.Errorf("read back %+v", got)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for name, foreign := range map[string]string{
		"another machine": strings.Replace(text, machine(), "0123456789ab", 1),
		"another version": strings.Replace(text, `"schema_version": 1`, `"schema_version": 9`, 1),
		"other cores":     strings.Replace(text, `"cores": `, `"cores": 9`, 1),
		"torn":            text[:len(text)/2],
	} {
		if foreign == text {
			t.Fatalf("%s: the stored file lacks the text to replace", name)
		}
		if err := os.WriteFile(path, []byte(foreign), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := StoredProof(); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
