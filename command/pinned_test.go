package command

import (
	_ "embed"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

// toolSums are the checksums of the tools of others that benchmarks run.
//
//go:embed testdata/jars.sha256
var toolSums string

func TestPinned(t *testing.T) {
	systemtest.Pinned(t, "testdata/jars.sha256", kafkaTools, perfTest)
}
