package activemq

import (
	"embed"
	"io/fs"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.TargetLister = activeSystem{}

//go:embed targets/*.yaml
var targets embed.FS

// Targets returns a target for each store.
func (activeSystem) Targets() fs.FS { return targets }
