// Package keyfreq reads how often keys occur in a real system, from a CSV file, and makes the keys
// of a workload of it. Names of keys are read and forgotten.
package keyfreq
