package prove

import "slices"

// Truths are all truths, in the order in which they are printed.
func Truths() []Truth {
	return slices.Concat(latencyTruths, censoredTruths, accountTruths, searchTruths, machineTruths)
}
