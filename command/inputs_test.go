package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeCurves: a curve of rates may be larger than a YAML file, and the sentence about one that
// is too large is about rates.
func TestLargeCurves(t *testing.T) {
	var rows strings.Builder
	for i := 0; rows.Len() < 2<<20; i++ {
		fmt.Fprintf(&rows, "%d,%d\n", i, 1000+i%7)
	}
	path := filepath.Join(inDir(t, map[string]string{"rates.csv": rows.String()}), "rates.csv")
	var out, errOut bytes.Buffer
	if code := run([]string{"import", "rates", path}, &out, &errOut); code != exitDone {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
	if err := os.Truncate(path, maxCSVBytes+1); err != nil {
		t.Fatal(err)
	}
	errOut.Reset()
	code := run([]string{"import", "rates", path}, &out, &errOut)
	const want = "is larger than 24 MiB, the most that is read of it: give a rate for each minute"
	if code != exitUsage || !strings.Contains(errOut.String(), want) {
		t.Errorf("exit code %d: %s\nwant %s", code, errOut.String(), want)
	}
}
