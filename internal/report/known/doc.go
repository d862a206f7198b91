// Package known answers how well the figures of a set of runs or searches are known: their centers
// with intervals, the rounds that are missing, and which differences have been shown.
//
// The statistics are those of internal/compare; this package has their words and their JSON.
package known
