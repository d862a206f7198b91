package rabbitmq

import (
	"embed"
	"io/fs"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.TargetLister = rabbitSystem{}

//go:embed targets/*.yaml
var targets embed.FS

// Targets returns a target for each type of queue.
func (rabbitSystem) Targets() fs.FS { return targets }
