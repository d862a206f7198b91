package prove

import "slices"

// Truths returns all truths in the order in which the report prints them.
func Truths() []Truth {
	return slices.Concat(latencyTruths, censoredTruths, accountTruths, queueTruths,
		searchTruths, machineTruths)
}
