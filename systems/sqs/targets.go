package sqs

import (
	"embed"
	"io/fs"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.TargetLister = sqsSystem{}

//go:embed targets/*.yaml
var targets embed.FS

// Targets returns the targets that plimsoll starts: standard and FIFO queues of ElasticMQ.
func (sqsSystem) Targets() fs.FS { return targets }
