package artemis

import (
	"embed"
	"io/fs"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.TargetLister = artemisSystem{}

//go:embed targets/*.yaml
var targets embed.FS

// Targets returns a target for each kind of replication.
func (artemisSystem) Targets() fs.FS { return targets }
