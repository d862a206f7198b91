package sim

import "github.com/plimsoll-bench/plimsoll/system"

var _ system.PartitionOwner = (*System)(nil)

// OwnsPartitions says that each partition belongs to one consumer of a subscription.
func (*System) OwnsPartitions(system.Settings) bool { return true }
