package postgres

import "github.com/plimsoll-bench/plimsoll/system"

var (
	_ system.Varied         = postgresSystem{}
	_ system.PartitionOwner = postgresSystem{}
)

// Variant returns the shape of the topics.
func (postgresSystem) Variant(o system.Options) string { return o.Settings.Text(setShape) }

// OwnsPartitions reports whether the shape is a log: the consumers of a queue share each
// partition.
func (postgresSystem) OwnsPartitions(s system.Settings) bool { return s.Text(setShape) == shapeLog }
