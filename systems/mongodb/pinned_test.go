package mongodb

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

func TestPinned(t *testing.T) {
	systemtest.Pinned(t, "jars.sha256", jars)
}
