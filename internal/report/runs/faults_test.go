package runs

import (
	"bytes"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestFaultsOfARunAreShown(t *testing.T) {
	for _, format := range []string{"table", "md", "html"} {
		var b bytes.Buffer
		if err := Report([]*result.Saved{fixture.Faulted(t)}).Write(&b, format,
			document.Layout{}); err != nil {
			t.Fatal(err)
		}
		fixture.Golden(t, "faults."+format, fixture.WithoutParts(b.Bytes()))
	}
}
