package mqtt

import (
	"flag"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

var update = flag.Bool("update", false, "write the list of checksums anew")

func TestPinned(t *testing.T) {
	systemtest.Pinned(t, "jars.sha256", *update, distribution)
}
