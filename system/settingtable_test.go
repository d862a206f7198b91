package system

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
)

func TestSettingTable(t *testing.T) {
	table := MustSettings(`
linger duration 5ms 0s..1m
    how long a producer waits
    for a batch
batch bytes 1MB 1KB..: with less nothing fits
    most bytes
copies count 3 ..9
    copies
codec text none none|gzip
    compression
`)
	if got := table[0].Doc; got != "how long a producer waits for a batch" {
		t.Errorf("doc: %q", got)
	}
	for setting, want := range map[string]string{
		"linger=1m":   "",
		"linger=61s":  `setting "linger": must be from 0s to 1m`,
		"batch=1000":  `setting "batch": must be at least 1KB: with less nothing fits`,
		"batch=1GB":   "",
		"copies=10":   `setting "copies": must be at most 9`,
		"codec=gzip":  "",
		"codec=zstd":  `setting "codec": "zstd" is not one of none, gzip`,
		"copies=some": `"some"`,
	} {
		name, value, _ := strings.Cut(setting, "=")
		s, err := Resolve(table, []target.Setting{{Name: name, Value: value}})
		if err == nil {
			err = s.OutOfRange(table).Err()
		}
		if want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", setting, err, want)
		}
	}
}

func TestSettingTableMistakes(t *testing.T) {
	for _, table := range []string{"linger duration", "linger duration soon", "n count 0 1..",
		"codec text zip none|gzip", "n counts 0", "n count 1 one.."} {
		t.Run(table, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("MustSettings accepted the table")
				}
			}()
			MustSettings(table)
		})
	}
}

// The value of an unknown setting may be a secret: no excerpt of its line is shown.
func TestUnknownSettingsAreNotShown(t *testing.T) {
	at := func(column int) strict.Place {
		return strict.Place{File: "t.yaml", Line: 2, Column: column,
			Excerpt: "settings: {pass: hunter2, n: x}"}
	}
	_, err := Resolve(MustSettings("n count 1 0..5\n    how many\n"), []target.Setting{
		{Name: "n", Value: "x", At: at(24)}, {Name: "pass", Value: "hunter2", At: at(12)},
	})
	if err == nil || strings.Contains(err.Error(), "hunter2") ||
		!strings.Contains(err.Error(), `unknown setting "pass"`) {
		t.Errorf("%v", err)
	}
}
